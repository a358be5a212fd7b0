"""The Lasso's gradient: a debiased sparse regression of slopes on random signs.

Wang, Du, Balakrishnan & Singh, *Stochastic zeroth-order optimization in high
dimensions*, AISTATS 2018, Algorithm 1: the values f(x + ε·z)/ε along q rows of
random signs are regressed on the rows, with an intercept.

f(x) is known here, and by default f(x)/ε is taken off the values before. In
exact arithmetic this changes nothing, because the intercept takes it up; in
floating point it saves the digits that a small ε would cost. The intercept
stays: it takes up ε·tr(∇²f)/2, the curvature that all rows of signs share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gracezo.core.answers import answered
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
    differenced
        Whether f(x)/ε is taken off before the regression.
    """

    eps: Callable[[int], float]
    queries: int
    penalty: float | None
    differenced: bool = True

    def estimate(self, at: Point, step: int, key: Key) -> Steps[GradientEstimate]:
        """Estimate every coordinate."""
        eps = self.eps(step)
        rows = signs(key.generator(), self.queries, len(at.x))
        values = yield Ask(at.x, DenseRows(rows, eps), Role.PROBE)
        values, rows = answered(values, rows)
        if len(values) < 2:  # the intercept takes one
            return GradientEstimate.nothing(len(at.x))
        changes = values - at.value
        samples = (changes if self.differenced else values) / eps
        estimate = debiased_lasso(rows, samples, self.penalty)
        flat = len(values) == self.queries and not changes.any()
        return GradientEstimate.full(estimate, flat=flat)
