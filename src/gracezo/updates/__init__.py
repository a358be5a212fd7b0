"""From a point and a gradient estimate to the next point. Pure: an update never queries.

Small pieces, composed. A `Transform` changes the estimate (its sign, its
largest entries, its moments); an `Update` makes the step; a cut follows it:

    along(sign, plain(η))        thresholded(plain(η), s)

Pieces with a memory (moments) are made anew for each run.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from gracezo.core.places import displaced
from gracezo.core.result import GradientEstimate
from gracezo.core.types import FloatArray
from gracezo.sparse.largest import keep_largest, largest

Update: TypeAlias = Callable[[FloatArray, GradientEstimate], FloatArray]
Transform: TypeAlias = Callable[[GradientEstimate], GradientEstimate]


# ---------------------------------------------------------------- steps


def plain(step_size: float) -> Update:
    """X − η·g."""

    def update(x: FloatArray, gradient: GradientEstimate) -> FloatArray:
        if len(gradient.indices) == gradient.size:
            step = step_size * gradient.values
            return np.subtract(x, step, out=step)
        return displaced(x, gradient.indices, -step_size * gradient.values)

    return update


def mirror(step_size: float, d: int) -> Update:
    """Mirror descent in a geometry where d coordinates cost only log d.

    ∇ψ(x') = ∇ψ(x) − η·g with ψ(x) = ‖x‖_a² / (2(a−1)), a = 2·ln d / (2·ln d − 1); then ψ is strongly
    convex in ‖·‖_1 up to a constant. Its conjugate is ψ*(y) = (a−1)·‖y‖_b² / 2 with b = 2·ln d. In few
    dimensions b is held at 2, where this is the plain step.
    """
    b = max(2.0, 2.0 * math.log(d))
    a = b / (b - 1.0)

    def update(x: FloatArray, gradient: GradientEstimate) -> FloatArray:
        dual = _power_gradient(x, a) / (a - 1.0)
        dual[gradient.indices] -= step_size * gradient.values
        return _power_gradient(dual, b) * (a - 1.0)

    return update


def _power_gradient(x: FloatArray, p: float) -> FloatArray:
    """Return the gradient of ‖x‖_p²/2: ‖x‖_p^{2−p}·sign(x_i)·|x_i|^{p−1}, scaled so as not to overflow."""
    top = np.abs(x).max()
    if top == 0:
        return np.zeros_like(x)
    scaled = np.abs(x) / top
    norm = (scaled**p).sum() ** (1.0 / p)
    result: FloatArray = np.sign(x) * scaled ** (p - 1.0) * (norm ** (2.0 - p) * top)
    return result


# ---------------------------------------------------------------- what happens to the estimate before a step


def along(transform: Transform, update: Update) -> Update:
    """Make the step along the transformed estimate."""
    return lambda x, gradient: update(x, transform(gradient))


def sign(gradient: GradientEstimate) -> GradientEstimate:
    """Keep the sign of each entry only."""
    return replace(gradient, values=np.sign(gradient.values))


def truncate(count: int) -> Transform:
    """Keep the `count` entries of largest magnitude."""

    def transform(gradient: GradientEstimate) -> GradientEstimate:
        kept = largest(gradient.values, count)
        return GradientEstimate(
            gradient.size, gradient.indices[kept], gradient.values[kept], flat=gradient.flat
        )

    return transform


def amsgrad(beta1: float, beta2: float) -> Transform:
    """Replace g by m/√v̂, zero where v̂ = 0, without bias correction.

    m ← β₁·m + (1−β₁)·g; v ← β₂·v + (1−β₂)·g²; v̂ ← max(v̂, v). Reddi, Kale & Kumar, *On the convergence
    of Adam and beyond*, ICLR 2018, Algorithm 2.
    """
    mean = second = highest = np.zeros(0)

    def transform(gradient: GradientEstimate) -> GradientEstimate:
        nonlocal mean, second, highest
        values = gradient.toarray().ravel()
        if len(mean) == 0:
            mean = second = highest = np.zeros(gradient.size)
        mean = beta1 * mean + (1.0 - beta1) * values
        second = beta2 * second + (1.0 - beta2) * values**2
        highest = np.maximum(highest, second)
        step = np.divide(mean, np.sqrt(highest), out=np.zeros_like(mean), where=highest > 0)
        return GradientEstimate.full(step, flat=gradient.flat)

    return transform


# ---------------------------------------------------------------- what happens to the point after a step


def thresholded(update: Update, count: int) -> Update:
    """Cut the new point to its `count` largest entries: the hard-thresholding operator."""
    return lambda x, gradient: keep_largest(update(x, gradient), count)
