"""SZOHT's estimator: directions on the sphere of few random coordinates.

de Vazelhes, Zhang, Wu, Yuan & Gu, *Zeroth-order hard-thresholding: gradient
error vs. expansivity*, NeurIPS 2022:

    g = (d/q)·Σ_i ((f(x + ε·z_i) − f(x)) / ε)·z_i,

with z_i uniform on the unit sphere of a random subset of s coordinates, a
fresh one for each row. g is the gradient in expectation, up to O(ε).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gracezo.core.answers import answered
from gracezo.core.asks import Ask, Point, Role, Steps
from gracezo.core.keys import Key
from gracezo.core.result import GradientEstimate
from gracezo.estimators.flatness import FlatGround
from gracezo.estimators.rows import batches, placed, sphere

_NUMBERS = 8  # of 4 bytes that one entry of a row takes: its coordinate twice, its value in both precisions


@dataclass
class SubsetSphere:
    """The estimator.

    Parameters
    ----------
    eps
        ε for step t = 1, 2, ….
    queries
        q, the number of rows.
    sparsity
        s, the coordinates of a row.
    """

    eps: Callable[[int], float]
    queries: int
    sparsity: int
    _ground: FlatGround = field(default_factory=FlatGround, init=False)

    def estimate(self, at: Point, step: int, key: Key) -> Steps[GradientEstimate]:
        """Estimate the coordinates that the rows touch."""
        d, eps = len(at.x), self.eps(step)
        random = key.generator()
        total = np.zeros(d)
        covered, flat, used = False, True, 0
        for count, after in batches(self.queries, _NUMBERS * self.sparsity):
            subsets = np.stack([random.choice(d, self.sparsity, replace=False) for _ in range(count)])
            rows = sphere(random, count, self.sparsity)
            changes = (yield Ask(at.x, placed(rows, subsets, eps), Role.PROBE, reserve=after)) - at.value
            if changes.any():  # a gap is not flat
                flat = False
            elif flat:
                covered = self._ground.everywhere(at, subsets)
            changes, rows, subsets = answered(changes, rows, subsets)
            weights = changes[:, None] * rows * (d / (self.queries * eps))
            total += np.bincount(subsets.ravel(), weights.ravel(), minlength=d)
            used += len(changes)
        if flat or used == 0:
            return GradientEstimate.nothing(d, flat=flat and covered)
        if used < self.queries:  # the mean is over what was answered
            total *= self.queries / used
        touched = np.flatnonzero(total)
        return GradientEstimate(d, touched, total[touched])
