"""Supports that move or grow during the run: what mattered at x0 is not what matters later.

- Stages: blocks of hidden coordinates, r_k the squared distance of block k to its goal over that at x0.
  f = K + Σ_k (r_k − 1) Π_{j<k} max(0, 1 − r_j)². A block is flat until the one before it nears its goal, and
  has no gradient once it is there.
- Chain: ½ (y_1 − 1)² + ½ Σ (y_{k+1} − y_k)² on hidden coordinates y, the quadratic on which first-order
  methods are slowest (Nesterov). At x0 = 0 only the first has a gradient; it spreads by one a step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from benchmarks.queries.problem import Problem

from gracezo.core.types import FloatArray


def _stages(seed: int, d: int, blocks: int, size: int) -> Problem:
    rng = np.random.default_rng(seed)
    places = rng.choice(d, (blocks, size), replace=False)
    on = places.ravel()
    goals = rng.uniform(0.5, 1.5, (blocks, size)) * rng.choice([-1.0, 1.0], (blocks, size))
    scales = (goals**2).sum(axis=1)
    weights = rng.random(d)
    weights[on] = 0.0
    goal = np.zeros(d)
    goal[on] = goals.ravel()

    def ratios(x: FloatArray) -> FloatArray:
        r: FloatArray = ((x[places] - goals) ** 2).sum(axis=1) / scales
        return r

    def gates(r: FloatArray) -> FloatArray:
        """Return Π_{j<k} max(0, 1 − r_j)² for each k."""
        return np.concatenate([[1.0], np.cumprod(np.maximum(0.0, 1.0 - r[:-1]) ** 2)])

    def f(x: FloatArray) -> float:
        r = ratios(x)
        return float(blocks + ((r - 1.0) * gates(r)).sum() + 0.5 * (weights * x * x).sum())

    def gradient(x: FloatArray) -> FloatArray:
        r = ratios(x)
        by_ratio = gates(r)
        for j in range(blocks - 1):  # the gates that block j opens: those of all later blocks
            others = r.copy()
            others[j] = 0.0  # its factor is then 1
            later = ((r - 1.0) * gates(others))[j + 1 :].sum()
            by_ratio[j] -= 2.0 * max(0.0, 1.0 - r[j]) * later
        slope = weights * x
        slope[places] = by_ratio[:, np.newaxis] * 2.0 * (x[places] - goals) / scales[:, np.newaxis]
        return slope

    about = f"{blocks} blocks of {size}, each flat until the one before is solved"
    return Problem(about, f, gradient, np.zeros(d), size, 0.0, goal)


def _chain(seed: int, d: int, length: int) -> Problem:
    rng = np.random.default_rng(seed)
    places = rng.choice(d, length, replace=False)
    weights = rng.random(d)
    weights[places] = 0.0
    goal = np.zeros(d)
    goal[places] = 1.0

    def links(x: FloatArray) -> FloatArray:
        return np.diff(x[places], prepend=1.0)

    def f(x: FloatArray) -> float:
        link = links(x)
        return 0.5 * float(link @ link + (weights * x * x).sum())

    def gradient(x: FloatArray) -> FloatArray:
        slope = weights * x
        slope[places] = -np.diff(links(x), append=0.0)
        return slope

    about = f"chain of {length} hidden coordinates, pulled at one end"
    return Problem(about, f, gradient, np.zeros(d), length, 0.0, goal)


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "stages-10k-5x4": partial(_stages, 7601, 10_000, 5, 4),
    "stages-2k-12x2": partial(_stages, 7602, 2_000, 12, 2),
    "chain-10k-12": partial(_chain, 7603, 10_000, 12),
    "chain-3k-40": partial(_chain, 7604, 3_000, 40),
}
