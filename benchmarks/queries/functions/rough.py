"""Many local minima: differences at a point say little of what lies farther off.

f(x) = Σ z_i² + a (1 − cos(2π z_i/ℓ)), z = x − c, over a hidden support or all coordinates, and Σ z_i² on the
rest; x0 = 0. With a = 10, ℓ = 1 this is Rastrigin's function; a small a and ℓ makes a bowl with ripples.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from benchmarks.queries.problem import Problem

from gracezo.core.types import FloatArray


def _rippled(seed: int, d: int, s: int, height: float, length: float, reach: float) -> Problem:
    rng = np.random.default_rng(seed)
    support = rng.choice(d, s, replace=False)
    goal = np.zeros(d)
    goal[support] = rng.uniform(-reach, reach, s)

    def f(x: FloatArray) -> float:
        z = x - goal
        waves = 1.0 - np.cos(2.0 * np.pi * z[support] / length)
        return float((z * z).sum() + height * waves.sum())

    def gradient(x: FloatArray) -> FloatArray:
        z = x - goal
        slope = 2.0 * z
        slope[support] += height * 2.0 * np.pi / length * np.sin(2.0 * np.pi * z[support] / length)
        return slope

    about = f"bowl with waves of height {height:g} and length {length:g} on {s} coordinates"
    return Problem(about, f, gradient, np.zeros(d), s, 0.0, goal)


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "ripples-2k-s10": partial(_rippled, 8201, 2_000, 10, 0.05, 0.3, 2.0),
    "ripples-200": partial(_rippled, 8202, 200, 200, 0.05, 0.3, 2.0),
    "rastrigin-50": partial(_rippled, 8203, 50, 50, 10.0, 1.0, 3.0),
}
