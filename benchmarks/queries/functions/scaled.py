"""Coordinates whose scales differ by orders of magnitude: one difference or step for all of them fails.

f(x) = Σ ((x_i − c_i)/ℓ_i)² + ½ ((x_i − c_i)/ℓ_i)⁴ on a hidden support (or all), ℓ_i drawn log-uniformly from
10⁻³ to 10³, |c_i| about ℓ_i, and Σ (x_i/ℓ_i)² on the rest; x0 = 0. Each coordinate matters as much as any
other, measured in its own units.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from benchmarks.queries.problem import Problem

from gracezo.core.types import FloatArray


def _scaled(seed: int, d: int, s: int) -> Problem:
    rng = np.random.default_rng(seed)
    scales = 10.0 ** rng.uniform(-3.0, 3.0, d)
    support = rng.choice(d, s, replace=False)
    quartic = np.zeros(d)
    quartic[support] = 0.5
    goal = np.zeros(d)
    goal[support] = scales[support] * rng.uniform(0.5, 1.5, s) * rng.choice([-1.0, 1.0], s)

    def f(x: FloatArray) -> float:
        square = ((x - goal) / scales) ** 2
        return float((square * (1.0 + quartic * square)).sum())

    def gradient(x: FloatArray) -> FloatArray:
        z = (x - goal) / scales
        slope: FloatArray = z * (2.0 + 4.0 * quartic * z * z) / scales
        return slope

    about = f"scales from 10⁻³ to 10³, {s} coordinates off their place"
    return Problem(about, f, gradient, np.zeros(d), s, 0.0, goal)


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "scaled-5k-s20": partial(_scaled, 8001, 5_000, 20),
    "scaled-300-s300": partial(_scaled, 8002, 300, 300),
}
