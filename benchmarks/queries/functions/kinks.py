"""Sums of absolute values: the minimum is a corner.

- Corner: Σ_{i ∈ S} a_i |x_i − c_i| + ½ Σ_{i ∉ S} w_i x_i². Smooth at x0 = 0, a corner at the end.
- All corners: Σ a_i |x_i − c_i| over all d coordinates, c sparse: x0 = 0 itself is a kink of every other.
- Differences: Σ |y_{k+1} − y_k − c_k| + |y_1 − c_0| on hidden coordinates y, + ½ Σ w_i x_i² elsewhere. Kinks
  that lie across the coordinates; a point may be stuck although no single coordinate can improve it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from benchmarks.queries.problem import Problem

from gracezo.core.types import FloatArray


def _hidden(rng: np.random.Generator, d: int, s: int) -> tuple[np.ndarray, FloatArray]:
    support = rng.choice(d, s, replace=False)
    goal = np.zeros(d)
    goal[support] = rng.uniform(0.5, 1.5, s) * rng.choice([-1.0, 1.0], s)
    return support, goal


def _corner(seed: int, d: int, s: int) -> Problem:
    rng = np.random.default_rng(seed)
    support, goal = _hidden(rng, d, s)
    sizes = np.zeros(d)
    sizes[support] = rng.uniform(0.5, 1.5, s)
    weights = rng.random(d)
    weights[support] = 0.0

    def f(x: FloatArray) -> float:
        on = np.abs(x[support] - goal[support]) * sizes[support]
        return float(on.sum() + 0.5 * (weights * x * x).sum())

    def gradient(x: FloatArray) -> FloatArray:
        slope: FloatArray = sizes * np.sign(x - goal) + weights * x
        return slope

    return Problem(f"|x − c| on {s} hidden coordinates", f, gradient, np.zeros(d), s, 0.0, goal)


def _all_corners(seed: int, d: int, s: int) -> Problem:
    rng = np.random.default_rng(seed)
    _, goal = _hidden(rng, d, s)
    sizes = rng.uniform(0.5, 1.5, d)

    def f(x: FloatArray) -> float:
        return float((sizes * np.abs(x - goal)).sum())

    def gradient(x: FloatArray) -> FloatArray:
        slope: FloatArray = sizes * np.where(x < goal, -1.0, 1.0)
        return slope

    about = f"|x − c| on all coordinates, {s} of c not zero"
    return Problem(about, f, gradient, np.zeros(d), s, 0.0, goal)


def _differences(seed: int, d: int, length: int) -> Problem:
    rng = np.random.default_rng(seed)
    support = rng.choice(d, length, replace=False)
    steps = rng.uniform(0.5, 1.5, length) * rng.choice([-1.0, 1.0], length)
    goal = np.zeros(d)
    goal[support] = np.cumsum(steps)
    weights = rng.random(d)
    weights[support] = 0.0

    def links(x: FloatArray) -> FloatArray:
        link: FloatArray = np.diff(x[support], prepend=0.0) - steps
        return link

    def f(x: FloatArray) -> float:
        return float(np.abs(links(x)).sum() + 0.5 * (weights * x * x).sum())

    def gradient(x: FloatArray) -> FloatArray:
        slope = weights * x
        slope[support] = -np.diff(np.sign(links(x)), append=0.0)
        return slope

    about = f"|differences| along {length} hidden coordinates"
    return Problem(about, f, gradient, np.zeros(d), length, 0.0, goal)


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "corner-10k-s10": partial(_corner, 7801, 10_000, 10),
    "all-corners-2k-s10": partial(_all_corners, 7802, 2_000, 10),
    "differences-2k-s8": partial(_differences, 7803, 2_000, 8),
}
