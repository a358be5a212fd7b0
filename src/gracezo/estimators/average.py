"""The average over random directions: the estimator behind most dense methods.

    g = (w/q)·Σ_i ((f(x + ε·z_i) − f(x)) / ε)·z_i,    q queries,

with rows z_i that are standard normal and w = 1 (Nesterov & Spokoiny,
*Random gradient-free minimization of convex functions*, Foundations of
Computational Mathematics 17, 2017), or uniform on the unit sphere and w = d
(Flaxman, Kalai & McMahan, *Online convex optimization in the bandit setting*,
SODA 2005). Either way g is the gradient in expectation, up to O(ε).
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
from gracezo.estimators.rows import DrawRows, drawn
from gracezo.sparse.products import combined


@dataclass(frozen=True)
class Average:
    """The estimator.

    Parameters
    ----------
    draw
        Where the rows come from: `rows.gaussian` or `rows.sphere`.
    eps
        ε for step t = 1, 2, ….
    queries
        q, the number of rows.
    weight
        w: 1 for Gaussian rows, d for rows on the sphere.
    """

    draw: DrawRows
    eps: Callable[[int], float]
    queries: int
    weight: float = 1.0

    def estimate(self, at: Point, step: int, key: Key) -> Steps[GradientEstimate]:
        """Estimate every coordinate from q directions."""
        d, eps = len(at.x), self.eps(step)
        scale = self.weight / (self.queries * eps)
        total: FloatArray | None = None
        flat = True
        used = 0
        for block, after in drawn(self.draw, key, self.queries, d):
            values = yield Ask(at.x, DenseRows(block, eps), Role.PROBE, reserve=after)
            changes = values - at.value
            flat = flat and not np.count_nonzero(changes)
            changes, rows = answered(changes, block)
            if len(changes):
                part = combined(scale * changes, rows)
                total = part if total is None else total + part
                used += len(changes)
        if total is None:
            return GradientEstimate.nothing(d)
        if used < self.queries:  # the mean is over what was answered
            total *= self.queries / used
        return GradientEstimate.full(total, flat=flat)
