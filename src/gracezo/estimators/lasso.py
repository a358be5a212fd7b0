"""The Lasso's gradient: a debiased sparse regression of slopes on random signs.

Wang, Du, Balakrishnan & Singh, *Stochastic zeroth-order optimization in high
dimensions*, AISTATS 2018, Algorithm 1: the slopes along q rows of random signs
are regressed on the rows, with an intercept, which takes up the curvature
ε·tr(∇²f)/2 that all rows of signs share. The paper regresses f(x + ε·z)/ε;
f(x)/ε, which is known here, is taken off before, since the intercept would
only have to take it up in less exact arithmetic. The estimate is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gracezo.core.asks import Ask, DenseRows, Point, Role, Steps
from gracezo.core.keys import Key
from gracezo.core.result import GradientEstimate
from gracezo.estimators.rows import signs
from gracezo.sparse.lasso import debiased_lasso


@dataclass(frozen=True)
class DebiasedLasso:
    """The estimator.

    Parameters
    ----------
    eps
        ε for step t = 1, 2, ….
    queries
        q, the number of rows.
    penalty
        λ, see `debiased_lasso`; None for a share of the least that leaves no coefficient.
    """

    eps: Callable[[int], float]
    queries: int
    penalty: float | None

    def estimate(self, at: Point, step: int, key: Key) -> Steps[GradientEstimate]:
        """Estimate every coordinate."""
        eps = self.eps(step)
        rows = signs(key.generator(), self.queries, len(at.x))
        slopes = ((yield Ask(at.x, DenseRows(rows, eps), Role.PROBE)) - at.value) / eps
        return GradientEstimate.full(debiased_lasso(rows, slopes, self.penalty), flat=not slopes.any())
