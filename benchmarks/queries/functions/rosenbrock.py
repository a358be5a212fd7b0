"""Rosenbrock's curved valley on a hidden support, in random order, and a bowl on the rest.

f(x) = Σ_k 100 (y_{k+1} − y_k²)² + (1 − y_k)² with y = x_S, + ½ Σ_{i ∉ S} w_i x_i²; x0 = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from benchmarks.queries.problem import Problem

from gracezo.core.types import FloatArray


def _rosenbrock(seed: int, d: int, s: int) -> Problem:
    rng = np.random.default_rng(seed)
    support = rng.choice(d, s, replace=False)
    weights = rng.random(d)
    weights[support] = 0.0
    goal = np.zeros(d)
    goal[support] = 1.0

    def f(x: FloatArray) -> float:
        y = x[support]
        bend = y[1:] - y[:-1] ** 2
        return float(100.0 * (bend @ bend) + ((1.0 - y[:-1]) ** 2).sum() + 0.5 * (weights * x * x).sum())

    def gradient(x: FloatArray) -> FloatArray:
        y = x[support]
        bend = y[1:] - y[:-1] ** 2
        slope = weights * x
        on = np.zeros(s)
        on[1:] = 200.0 * bend
        on[:-1] -= 400.0 * bend * y[:-1] + 2.0 * (1.0 - y[:-1])
        slope[support] = on
        return slope

    return Problem(f"Rosenbrock on {s} hidden coordinates", f, gradient, np.zeros(d), s, 0.0, goal)


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "rosenbrock-10k-s4": partial(_rosenbrock, 7401, 10_000, 4),
    "rosenbrock-10k-s20": partial(_rosenbrock, 7402, 10_000, 20),
}
