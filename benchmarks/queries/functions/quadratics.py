"""Quadratics that are not separable: a rotated one on a hidden support, a diagonal one on the rest.

f(x) = ½ (x_S − c)ᵀ Q (x_S − c) + ½ Σ_{i ∉ S} w_i x_i², x0 = 0. Q's eigenvalues run from 1/condition to 1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from benchmarks.queries.problem import Problem, random_rotation, spread

from gracezo.core.types import FloatArray


def _quadratic(seed: int, d: int, s: int, condition: float) -> Problem:
    rng = np.random.default_rng(seed)
    support = np.sort(rng.choice(d, s, replace=False))
    rotation = random_rotation(rng, s)
    q = (rotation * spread(rng, s, condition)) @ rotation.T
    goal = np.zeros(d)
    goal[support] = rng.standard_normal(s)
    weights = rng.random(d)
    weights[support] = 0.0

    def f(x: FloatArray) -> float:
        on = x[support] - goal[support]
        return 0.5 * float(on @ q @ on + (weights * x * x).sum())

    def gradient(x: FloatArray) -> FloatArray:
        slope = weights * x
        slope[support] = q @ (x[support] - goal[support])
        return slope

    about = f"rotated quadratic on {s} hidden coordinates, condition {condition:g}"
    return Problem(about, f, gradient, np.zeros(d), s, 0.0, goal)


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "quadratic-10k-s20-k10": partial(_quadratic, 7301, 10_000, 20, 10.0),
    "quadratic-10k-s20-k1e2": partial(_quadratic, 7302, 10_000, 20, 1e2),
    "quadratic-10k-s20-k1e4": partial(_quadratic, 7303, 10_000, 20, 1e4),
    "quadratic-10k-s20-k1e6": partial(_quadratic, 7304, 10_000, 20, 1e6),
    "quadratic-5k-s200-k1e2": partial(_quadratic, 7305, 5_000, 200, 1e2),
}
