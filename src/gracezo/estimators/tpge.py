"""TPGE: the two-point gradient estimate with double smoothing.

Duchi, Jordan, Wainwright & Wibisono, *Optimal rates for zero-order convex
optimization: the power of two function evaluations*, IEEE Transactions on
Information Theory 61(5), 2015:

    g = ((f(x + ε·z₁ + ε·z₂) − f(x + ε·z₁)) / ε)·z₂,    z₁, z₂ standard normal.

The first displacement smooths functions that are not differentiable at x. The
paper lets the two smoothings differ; here both are ε.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gracezo.core.answers import answered
from gracezo.core.asks import Ask, DenseRows, Point, Role, Steps
from gracezo.core.keys import Key
from gracezo.core.result import GradientEstimate
from gracezo.core.types import FloatArray
from gracezo.estimators.rows import drawn, gaussian
from gracezo.sparse.products import combined


@dataclass(frozen=True)
class TPGE:
    """The estimator: `pairs` pairs of queries, `eps` gives ε for step t = 1, 2, …."""

    eps: Callable[[int], float]
    pairs: int

    def estimate(self, at: Point, step: int, key: Key) -> Steps[GradientEstimate]:
        """Estimate every coordinate from pairs of queries."""
        d, eps = len(at.x), self.eps(step)
        total: FloatArray | None = None
        flat = True
        used = 0
        for pairs, after in drawn(gaussian, key, self.pairs, 2 * d):
            count = len(pairs)
            first, second = pairs[:, :d], pairs[:, d:]
            rows = np.empty((2 * count, d), np.float32)
            rows[:count] = first
            np.add(first, second, out=rows[count:])
            values = yield Ask(at.x, DenseRows(rows, eps), Role.PROBE, reserve=2 * after)
            flat = flat and bool(np.all(values == at.value))
            changes, second = answered(values[count:] - values[:count], second)
            if len(changes):
                part = combined(changes, second)
                total = part if total is None else total + part
                used += len(changes)
        if total is None:
            return GradientEstimate.nothing(d)
        total /= used * eps
        return GradientEstimate.full(total, flat=flat)
