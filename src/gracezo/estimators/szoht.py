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
from gracezo.estimators.rows import placed, sphere


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
        subsets = np.stack([random.choice(d, self.sparsity, replace=False) for _ in range(self.queries)])
        rows = sphere(random, self.queries, self.sparsity)
        changes = (yield Ask(at.x, placed(rows, subsets, eps), Role.PROBE)) - at.value
        if not changes.any():  # a gap is not flat
            return GradientEstimate.nothing(d, flat=self._ground.everywhere(at, subsets))
        changes, rows, subsets = answered(changes, rows, subsets)
        if len(changes) == 0:
            return GradientEstimate.nothing(d)
        weights = changes[:, None] * rows * (d / (len(changes) * eps))
        touched, place = np.unique(subsets, return_inverse=True)
        values = np.zeros(len(touched))
        np.add.at(values, place.ravel(), weights.ravel())
        return GradientEstimate(d, touched, values)
