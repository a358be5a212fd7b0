"""Shapes of random functions, in units of their own: least at y = 0 with the value 0, unless said otherwise.

A shape is drawn for s coordinates. `start` says where they begin; `fits` says what may truly be said of a run
that does not solve it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from benchmarks.real.meter import Function

from gracezo.core.types import FloatArray

Rng = np.random.Generator


@dataclass(frozen=True, eq=False)
class Shape:
    """One function of s coordinates.

    Attributes
    ----------
    value
        The function.
    start
        Where it begins.
    separable
        Whether bounds may cut coordinates off: each is least at 0, or as near to it as it can come.
    fits
        See `Case`.
    least
        The least value.
    grain, noise
        See `Case`.
    judged
        What is judged in its place, where `value` falls by so many orders that 1e-4 of it says nothing.
    optimum
        Where it is least, if not at 0.
    corner
        Where it is least between two corners, if not at 0 or as near to it as can be.
    error
        The error of a value, drawn, where it is not normal noise of one size.
    """

    value: Function
    start: FloatArray
    separable: bool = False
    fits: tuple[str, ...] = ()
    least: float = 0.0
    grain: float = 0.0
    noise: float = 0.0
    judged: Function | None = None
    optimum: FloatArray | None = None
    corner: Callable[[FloatArray, FloatArray], FloatArray] | None = None
    error: Callable[[float, Rng], float] | None = None


def begin(rng: Rng, s: int) -> FloatArray:
    return np.asarray(rng.uniform(0.3, 1.0, s) * rng.choice([-1.0, 1.0], s))


def weights(rng: Rng, s: int) -> FloatArray:
    return 10.0 ** rng.uniform(-rng.uniform(0, 1.5), 0, s)


# ---------------------------------------------------------------- smooth


def parabola(rng: Rng, s: int) -> Shape:
    w = weights(rng, s)
    return Shape(lambda y: float(w @ (y * y)), begin(rng, s), separable=True)


def rotated(rng: Rng, s: int) -> Shape:
    s = min(s, 40)
    q, _ = np.linalg.qr(rng.standard_normal((s, s)))
    half = (q * 10.0 ** rng.uniform(-rng.uniform(0, 1.5), 0, s)).T
    return Shape(lambda y: float(((half @ y) ** 2).sum()), begin(rng, s))


def power(rng: Rng, s: int) -> Shape:
    """Draw Σ w |y|^p, p from 1.3 to 6: sharper or flatter than a parabola."""
    w, p = weights(rng, s), rng.choice([1.3, 1.7, 3.0, 4.0, 6.0])
    return Shape(lambda y: float(w @ np.abs(y) ** p), begin(rng, s), separable=True)


def exponentials(rng: Rng, s: int) -> Shape:
    """Draw Σ w (e^{ay} − ay − 1)."""
    w, a = weights(rng, s), rng.uniform(0.5, rng.choice([2, 10]), s) * rng.choice([-1.0, 1.0], s)
    return Shape(
        lambda y: float(w @ (np.expm1(np.minimum(a * y, 250)) - a * y)), begin(rng, s), separable=True
    )


def explosive(rng: Rng, s: int) -> Shape:
    """Draw e^{k|y|²} − 1, which falls by up to forty orders; judged is |y|²."""
    k, w = 10.0 ** rng.uniform(-1, 1), weights(rng, s := min(s, 10))

    def judged(y: FloatArray) -> float:
        return float(w @ (y * y))

    return Shape(lambda y: float(np.expm1(min(k * judged(y), 250.0))), begin(rng, s), judged=judged)


def logarithm(rng: Rng, s: int) -> Shape:
    """Draw log(1 + k|y|²), k up to 1e8: steeper the nearer."""
    k, w = 10.0 ** rng.uniform(0, 8), weights(rng, s)
    return Shape(lambda y: float(np.log1p(k * float(w @ (y * y)))), begin(rng, s))


def saturated(rng: Rng, s: int) -> Shape:
    """Draw Σ w (1 − 1/(1 + ky²)): almost flat far from the minimum."""
    w, k = weights(rng, s), 10.0 ** rng.uniform(0, 2)
    return Shape(lambda y: float(w @ (1 - 1 / (1 + k * y * y))), begin(rng, s), separable=True)


def cosh(rng: Rng, s: int) -> Shape:
    """Draw Σ w log cosh ky: straight far from the minimum."""
    w, k = weights(rng, s), 10.0 ** rng.uniform(0, 2)
    return Shape(
        lambda y: float(w @ (np.logaddexp(k * y, -k * y) - np.log(2))), begin(rng, s), separable=True
    )


def valley(rng: Rng, s: int) -> Shape:
    """Draw Rosenbrock's valley on pairs."""
    pairs, k = max(1, min(s // 2, 3)), rng.choice([1.0, 10.0, 100.0])
    start = np.tile([-2.2, 0.0], pairs) * rng.uniform(0.8, 1.0, 2 * pairs)

    def value(y: FloatArray) -> float:
        u, v = y[::2] + 1, y[1::2] + 1
        return float((k * (v - u * u) ** 2 + (1 - u) ** 2).sum())

    return Shape(value, start)


def saddle(rng: Rng, s: int) -> Shape:
    """Draw Σ w (y² − 1)² begun at 0 on some coordinates: no slope there, but a way down to both sides."""
    w = weights(rng, s)
    start = begin(rng, s) * (rng.random(s) < 0.5)
    nearest = np.where(start < 0.0, -1.0, 1.0)  # bounds may hold the way to the other one
    return Shape(lambda y: float(w @ (y * y - 1) ** 2), start, optimum=nearest)


def coupled(rng: Rng, s: int) -> Shape:
    """Draw k (Σ y)² + Σ w y²: slopes that are alike and cancel."""
    w, k = weights(rng, s), 10.0 ** rng.uniform(0, 2)
    return Shape(lambda y: float(k * y.sum() ** 2 + w @ (y * y)), begin(rng, s))


def leader(rng: Rng, s: int) -> Shape:
    """Draw y₀² + Σ w (y − c φ)²: the others show only after the first has moved."""
    w, c = weights(rng, s), rng.uniform(0.5, 1.0, s)
    start = np.zeros(s)
    start[0] = rng.choice([-1.0, 1.0])
    start[1:] = c[1:]

    def value(y: FloatArray) -> float:
        return float(y[0] ** 2 + w[1:] @ (y[1:] - c[1:] * y[0] ** 2) ** 2)

    return Shape(value, start)


def moat(rng: Rng, s: int) -> Shape:
    """Draw a parabola with a flat bottom, Σ w max(0, |y| − 0.2)²."""
    w = weights(rng, s)
    return Shape(lambda y: float(w @ np.maximum(0, np.abs(y) - 0.2) ** 2), begin(rng, s), separable=True)


def spectrum(rng: Rng, s: int) -> Shape:
    """Draw a parabola whose start lies at i^−α: slopes that fade as a power law."""
    start = np.arange(1, s + 1) ** -rng.uniform(0.8, 2.5) * rng.choice([-1.0, 1.0], s)
    w = rng.uniform(0.5, 2.0, s)
    return Shape(lambda y: float(w @ (y * y)), start, separable=True)


def background(rng: Rng, s: int) -> Shape:
    """Draw a parabola that begins with some slopes of size one, all others of a thousandth or less."""
    start = 10.0 ** rng.uniform(-7, -3) * rng.standard_normal(s)
    some = rng.choice(s, min(s, 5), replace=False)
    start[some] = begin(rng, len(some))
    w = rng.uniform(0.5, 2.0, s)
    return Shape(lambda y: float(w @ (y * y)), start, separable=True)


def penalty(rng: Rng, s: int) -> Shape:
    """Draw a parabola and, behind a wall 0.1 to 2 beyond the start, a penalty of up to 1e300."""
    w, start = weights(rng, s), begin(rng, s)
    reach, height = np.abs(start).max() + rng.uniform(0.1, 2.0), 10.0 ** rng.uniform(2, rng.choice([6, 300]))
    return Shape(lambda y: height if np.abs(y).max() > reach else float(w @ (y * y)), start)


def cliff(rng: Rng, s: int) -> Shape:
    """Draw the same with the wall right beside the start: a step outward costs up to 1e300."""
    w, start = weights(rng, s), begin(rng, s)
    reach, height = np.abs(start).max() * (1.0 + 1e-7), 10.0 ** rng.uniform(2, rng.choice([6, 300]))
    return Shape(
        lambda y: height if np.abs(y).max() > reach else float(w @ (y * y)), start, fits=("wall", "rough")
    )


# ---------------------------------------------------------------- kinks


def absolute(rng: Rng, s: int) -> Shape:
    w = weights(rng, s)
    return Shape(lambda y: float(w @ np.abs(y)), begin(rng, s), separable=True, fits=("kinks",))


def largest(rng: Rng, s: int) -> Shape:
    w = weights(rng, s := min(s, 8))
    return Shape(lambda y: float((w * np.abs(y)).max()), begin(rng, s), fits=("kinks",))


def network(rng: Rng, s: int) -> Shape:
    """Draw ‖Ay‖₁, and a parabola."""
    a = rng.standard_normal((s, s := min(s, 6)))
    return Shape(lambda y: float(np.abs(a @ y).sum() + y @ y), begin(rng, s), fits=("kinks",))


def single_network(rng: Rng, s: int) -> Shape:
    """Draw ‖Ay‖₁ of two to six coordinates in single precision: kinks across them, and rounded values."""
    s = max(2, min(s, 6))
    a = rng.standard_normal((s, s))
    return Shape(
        lambda y: float(np.float32(np.abs(a @ y).sum())), begin(rng, s), fits=("kinks", "coarse", "noise")
    )


def cone(rng: Rng, s: int) -> Shape:
    w = weights(rng, s)
    return Shape(lambda y: float(np.sqrt(w @ (y * y))), begin(rng, s), fits=("kinks",))


def elastic(rng: Rng, s: int) -> Shape:
    """Draw Σ |y| + w y², where kinks and curvature share the slope."""
    w = 10.0 ** rng.uniform(-1, 2, s)
    return Shape(
        lambda y: float(np.abs(y).sum() + w @ (y * y)), begin(rng, s), separable=True, fits=("kinks",)
    )


# ---------------------------------------------------------------- coarse, rough, flat, without a lower bound


def stair(rng: Rng, s: int) -> Shape:
    """Draw the floor of a parabola times 5 to 500."""
    w, steps = weights(rng, s := min(s, 20)), 10.0 ** rng.uniform(0.7, 2.7)
    return Shape(
        lambda y: float(np.floor(steps * (w @ (y * y))) / steps), begin(rng, s), fits=("coarse", "flat")
    )


def digits(rng: Rng, s: int) -> Shape:
    """Draw a parabola whose values have 2 to 8 decimals: solved if ten units of the last are left."""
    w, places = weights(rng, s), int(rng.integers(2, 9))
    grain = 10 * np.sqrt(s) * 10.0**-places
    return Shape(
        lambda y: round(float(w @ (y * y)), places), begin(rng, s), fits=("coarse", "noise"), grain=grain
    )


def plateau(rng: Rng, s: int) -> Shape:
    """Draw min(Σ y², r) begun outside or inside: flat, or to be solved."""
    start = begin(rng, s := min(s, 6))
    r = float(start @ start) * 10.0 ** rng.uniform(-0.5, 0.5)
    return Shape(lambda y: float(min(y @ y, r)), start, fits=("flat",))


def waves(rng: Rng, s: int) -> Shape:
    """Draw a parabola with ripples of 0.1 to 5 % and lengths of 0.01 to 0.1: solved if at their level."""
    w, length, depth = weights(rng, s), 10.0 ** rng.uniform(-2, -1), 10.0 ** rng.uniform(-3, -1.3)
    start = begin(rng, s)
    depth *= float(w @ (start * start)) / s

    def value(y: FloatArray) -> float:
        return float(w @ (y * y) + depth * (1 - np.cos(2 * np.pi * y / length)).sum())

    return Shape(value, start, fits=("rough", "noise"), grain=2 * depth * s)


def noisy(rng: Rng, s: int) -> Shape:
    """Draw a parabola with noise of 1e-6 to 1 of its height: solved if a deviation a coordinate is left."""
    w, start = weights(rng, s := min(s, 10)), begin(rng, s)
    noise = 10.0 ** rng.uniform(-6, 0) * float(w @ (start * start))
    return Shape(lambda y: float(w @ (y * y)), start, True, ("noise",), grain=s * noise, noise=noise)


def slope(rng: Rng, s: int) -> Shape:
    """Draw a linear function, which has no least value without bounds."""
    w = weights(rng, s) * rng.choice([-1.0, 1.0], s)
    return Shape(
        lambda y: float(w @ y),
        begin(rng, s),
        separable=True,
        fits=("unbounded",),
        least=-np.inf,
        corner=lambda low, high: np.where(w > 0, low, high),
    )


def summit(rng: Rng, s: int) -> Shape:
    """Draw −Σ w y², which has no least value."""
    w = weights(rng, s)
    return Shape(lambda y: -float(w @ (y * y)), begin(rng, s), fits=("unbounded",), least=-np.inf)


KINDS: dict[str, dict[str, Callable[[Rng, int], Shape]]] = {
    "smooth": {
        shape.__name__: shape
        for shape in (
            parabola, rotated, power, exponentials, explosive, logarithm, saturated, cosh, valley, saddle,
            coupled, leader, moat, spectrum, background, penalty, cliff,
        )
    },
    "kinks": {shape.__name__: shape for shape in (absolute, largest, network, single_network, cone, elastic)},
    "coarse": {shape.__name__: shape for shape in (stair, digits, plateau)},
    "rough": {"waves": waves},
    "noise": {"noisy": noisy},
    "unbounded": {shape.__name__: shape for shape in (slope, summit)},
}  # fmt: skip
