"""A gradient that is sparse at x0 and dense after the first step: what x0 shows holds for x0 only.

Leader and followers: f(x) = ½ (x_L − 1)² + ½ Σ_{i ≠ L} w_i (x_i − c_i φ(x_L))², x0 = 0, Σ w_i c_i² = 1 or so.
At x0 only the leader L has a gradient. Once it moves, all followers have one and hold it back. φ(t) = t, or
φ(t) = t² (3 − t)/2, which opens later and bends.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from benchmarks.queries.problem import Problem

from gracezo.core.types import FloatArray


def _leader(seed: int, d: int, bent: bool) -> Problem:
    rng = np.random.default_rng(seed)
    leader = int(rng.integers(d))
    weights = rng.uniform(0.5, 1.5, d)
    weights[leader] = 0.0
    pulls = rng.standard_normal(d) / np.sqrt(d)
    pulls[leader] = 0.0
    goal = pulls.copy()
    goal[leader] = 1.0

    def phase(t: float) -> float:
        return 0.5 * t * t * (3.0 - t) if bent else t

    def phase_slope(t: float) -> float:
        return 0.5 * t * (6.0 - 3.0 * t) if bent else 1.0

    def f(x: FloatArray) -> float:
        rest = x - pulls * phase(x[leader])
        return 0.5 * float((x[leader] - 1.0) ** 2 + (weights * rest * rest).sum())

    def gradient(x: FloatArray) -> FloatArray:
        slope: FloatArray = weights * (x - pulls * phase(x[leader]))
        slope[leader] = (x[leader] - 1.0) - phase_slope(x[leader]) * float(slope @ pulls)
        return slope

    about = f"one leader, {d - 1} followers" + (", a bent path" if bent else "")
    return Problem(about, f, gradient, np.zeros(d), 1, 0.0, goal)


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "leader-1k": partial(_leader, 8101, 1_000, False),
    "leader-bent-2k": partial(_leader, 8102, 2_000, True),
}
