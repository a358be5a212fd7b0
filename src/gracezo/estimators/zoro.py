"""ZORO's estimator: a sparse gradient from random-sign measurements by CoSaMP.

Cai, McKenzie, Yin & Zhang, *Zeroth-order regularized optimization (ZORO):
approximately sparse gradients and adaptive sampling*, SIAM Journal on
Optimization 32(2), 2022. The slopes along q rows z_i of random signs,

    y_i = (f(x + ε·z_i) − f(x)) / ε = z_i·∇f(x) + O(ε),

are linear measurements of the gradient. The rows are drawn once a run. (The
paper divides rows and slopes by √q, which makes no difference to CoSaMP.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from gracezo.core.answers import answered
from gracezo.core.asks import Ask, DenseRows, Point, Role, Steps
from gracezo.core.keys import Key
from gracezo.core.result import GradientEstimate
from gracezo.estimators.rows import RowBlock, signs
from gracezo.sparse.cosamp import CoSaMP


@dataclass
class ZORO:
    """The estimator.

    Parameters
    ----------
    eps
        ε for step t = 1, 2, ….
    queries
        q, the number of rows.
    recovery
        How the gradient is found in the slopes.
    """

    eps: Callable[[int], float]
    queries: int
    recovery: CoSaMP
    _rows: RowBlock | None = field(default=None, init=False)

    def estimate(self, at: Point, step: int, key: Key) -> Steps[GradientEstimate]:
        """Estimate the large coordinates."""
        eps = self.eps(step)
        if self._rows is None:
            self._rows = signs(key.generator(), self.queries, len(at.x))
        slopes = ((yield Ask(at.x, DenseRows(self._rows, eps), Role.PROBE)) - at.value) / eps
        flat = not slopes.any()  # a gap is not flat
        slopes, rows = answered(slopes, self._rows)
        support, values = self.recovery.recover(rows, slopes)
        return GradientEstimate(len(at.x), support, values, flat=flat)
