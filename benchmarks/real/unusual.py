"""More shapes: singular minima, simulators, cross terms, solvers' errors, symmetries, stairs in x.

See `shapes`, whose rules hold: least at y = 0 with the value 0, unless said otherwise.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np
from benchmarks.real.shapes import Rng, Shape, begin, weights

from gracezo.core.types import FloatArray


def singular(rng: Rng, _: int) -> Shape:
    """Draw Powell's function, whose second derivatives are singular at the minimum."""

    def value(y: FloatArray) -> float:
        a, b, c, d = y
        return float((a + 10 * b) ** 2 + 5 * (c - d) ** 2 + (b - 2 * c) ** 4 + 10 * (a - d) ** 4)

    return Shape(value, begin(rng, 4))


def decay(rng: Rng, s: int) -> Shape:
    """Draw a fit of sums of exponentials to their own data, parameters as logarithms: a sloppy model."""
    terms = max(1, min(s // 2, 3))
    times, truth = np.linspace(0, 4, 25), rng.uniform(-0.5, 0.5, 2 * terms) + np.tile([0.0, 0.5], terms)
    truth[1::2] += np.arange(terms)

    def model(p: FloatArray) -> FloatArray:
        rates = np.exp(np.clip(p[1::2], -50, 50))
        return np.asarray(np.exp(np.clip(p[::2], -50, 50)) @ np.exp(-rates[:, None] * times))

    data = model(truth)
    return Shape(lambda y: float(((model(truth + y) - data) ** 2).sum()), 0.5 * begin(rng, 2 * terms))


def crossed(rng: Rng, s: int) -> Shape:
    """Draw (1 − y₀y₁)² begun at 0, where nothing shows unless both move, beside a parabola."""
    w = weights(rng, s := max(3, s))
    start, least = begin(rng, s), np.zeros(s)
    start[:2], least[:2] = 0.0, 1.0
    return Shape(lambda y: float((1 - y[0] * y[1]) ** 2 + w[2:] @ y[2:] ** 2), start, optimum=least)


def symmetric(rng: Rng, s: int) -> Shape:
    """Draw Σ (y_i − y_{i+1})² + (Σ y)²: minimal where all are alike, and 0."""
    k = 10.0 ** rng.uniform(-2, 1)
    return Shape(lambda y: float((np.diff(y) ** 2).sum() + k * y.mean() ** 2), begin(rng, max(2, s)))


def mean(rng: Rng, s: int) -> Shape:
    """Draw log cosh of the mean alone: all derivatives are the same, all curvature is in one direction."""
    return Shape(lambda y: float(np.logaddexp(y.mean(), -y.mean()) - np.log(2)), np.abs(begin(rng, s)))


def periodic(rng: Rng, s: int) -> Shape:
    """Draw Σ w (1 − cos y): every step that is too long arrives in another, equal valley."""
    w = weights(rng, s)
    return Shape(lambda y: float(w @ (1 - np.cos(y))), begin(rng, s))


def quotient(rng: Rng, s: int) -> Shape:
    """Draw a Rayleigh quotient: no curvature along y, saddles at each eigenvector."""
    s = max(2, min(s, 8))
    q, _ = np.linalg.qr(rng.standard_normal((s, s)))
    eigenvalues = np.concatenate(([0.0], rng.uniform(0.3, 2.0, s - 1)))
    half = (q * np.sqrt(eigenvalues)).T
    return Shape(lambda y: float(((half @ y) ** 2).sum() / (y @ y + 1e-300)), begin(rng, s), optimum=q[:, 0])


def ravine(rng: Rng, _: int) -> Shape:
    """Draw (y₀ − ky₁)² + e·y₁², e from 1e-6 to 1e-2, begun on the bottom of the ravine."""
    k, e = rng.uniform(0.5, 2.0), 10.0 ** rng.uniform(-6, -2)
    return Shape(lambda y: float((y[0] - k * y[1]) ** 2 + e * y[1] ** 2), np.array([k, 1.0]))


def lopsided(rng: Rng, s: int) -> Shape:
    """Draw y² on one side, 100 y² on the other: curvature jumps at the minimum."""
    w = weights(rng, s)
    return Shape(lambda y: float(w @ np.where(y > 0, y * y, 100 * y * y)), begin(rng, s), separable=True)


def barrier(rng: Rng, s: int) -> Shape:
    """Draw y² − μ log(1.5² − y²), and 1e10 outside: the log barrier of an interior point method."""
    mu, w = 10.0 ** rng.uniform(-3, 0), weights(rng, s)

    def value(y: FloatArray) -> float:
        if np.abs(y).max() >= 1.5:
            return 1e10
        return float(w @ (y * y) - mu * np.log1p(-((y / 1.5) ** 2)).sum())

    return Shape(value, begin(rng, s))


def squared_hinge(rng: Rng, s: int) -> Shape:
    """Draw Σ max(0, a·y − 1)² + y²/10 over more planes than coordinates."""
    a = rng.standard_normal((3 * (s := min(s, 20)), s)) * 2
    return Shape(lambda y: float((np.maximum(0, a @ y - 1) ** 2).sum() + 0.1 * (y @ y)), begin(rng, s))


def single(rng: Rng, s: int) -> Shape:
    """Draw a parabola about one, returned in single precision: solved if at its grain."""
    w = weights(rng, s)
    return Shape(
        lambda y: float(np.float32(1 + w @ (y * y)) - np.float32(1)), begin(rng, s), fits=("noise", "coarse"),
        grain=20 * np.sqrt(s) * 1.2e-7,
    )  # fmt: skip


def solver(rng: Rng, s: int) -> Shape:
    """Draw a parabola with an error of 1e-8 to 1e-3 of its height that depends on the point alone."""
    w, start = weights(rng, s := min(s, 10)), begin(rng, s)
    size = 10.0 ** rng.uniform(-8, -3) * float(w @ (start * start))

    def value(y: FloatArray) -> float:
        error = zlib.crc32(np.ascontiguousarray(y).tobytes()) / 2**31 - 1  # from −1 to 1
        return float(w @ (y * y) + size * (1 + error))

    return Shape(value, start, fits=("noise", "rough"), grain=2 * size * s)


def rounded_inputs(rng: Rng, s: int) -> Shape:
    """Draw a parabola of coordinates rounded to quarters or hundredths: stairs in x."""
    w, steps = weights(rng, s := min(s, 10)), rng.choice([4.0, 100.0])
    return Shape(
        lambda y: float(w @ (np.round(steps * y) / steps) ** 2), begin(rng, s), fits=("coarse", "flat")
    )


def error_rate(rng: Rng, _: int) -> Shape:
    """Draw the share of 300 separable samples that a linear classifier gets wrong."""
    a = rng.standard_normal((300, 4))
    truth = rng.standard_normal(4)
    labels = np.sign(a @ truth)
    start = -truth + rng.standard_normal(4)
    return Shape(lambda y: float((np.sign(a @ (truth + y)) != labels).mean()), start, fits=("coarse", "flat"))


KINDS: dict[str, dict[str, Callable[[Rng, int], Shape]]] = {
    "smooth": {
        shape.__name__: shape
        for shape in (
            singular, decay, crossed, symmetric, mean, periodic, quotient, ravine, lopsided, barrier,
            squared_hinge,
        )
    },
    "coarse": {shape.__name__: shape for shape in (single, rounded_inputs, error_rate)},
    "rough": {"solver": solver},
}  # fmt: skip
