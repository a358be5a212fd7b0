"""Gradients that fall off as a power of their rank: approximately sparse, never exactly.

f(x) = Σ w_i (x_i − c_i)² with w ~ U(½, 3/2) and |∂f/∂x_(k)| = k^−a at x0 = 0, in random order with random
signs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from benchmarks.queries.problem import Problem, effective_sparsity

from gracezo.core.types import FloatArray


def _power_law(seed: int, d: int, exponent: float) -> Problem:
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.5, 1.5, d)
    slopes = rng.permutation(np.arange(1.0, d + 1.0) ** -exponent) * rng.choice([-1.0, 1.0], d)
    goal = slopes / (2.0 * weights)

    def f(x: FloatArray) -> float:
        return float((weights * (x - goal) ** 2).sum())

    def gradient(x: FloatArray) -> FloatArray:
        slope: FloatArray = 2.0 * weights * (x - goal)
        return slope

    about = f"separable, gradient falls as rank^−{exponent:g}"
    return Problem(about, f, gradient, np.zeros(d), effective_sparsity(slopes), 0.0, goal)


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "power-law-2k-0.6": partial(_power_law, 7501, 2_000, 0.6),
    "power-law-10k-1": partial(_power_law, 7502, 10_000, 1.0),
    "power-law-10k-1.5": partial(_power_law, 7503, 10_000, 1.5),
    "power-law-100k-2": partial(_power_law, 7504, 100_000, 2.0),
}
