"""LASSO: descent along the debiased Lasso's estimate.

Wang, Du, Balakrishnan & Singh, *Stochastic zeroth-order optimization in high
dimensions*, AISTATS 2018: plain descent (its Algorithm 2) and mirror descent
(its Algorithm 3, here without a constraint).
"""

from __future__ import annotations

from collections.abc import Callable

from gracezo.core.method import Problem
from gracezo.estimators.lasso import DebiasedLasso
from gracezo.methods.descent import Descent
from gracezo.methods.options import difference, flag, one_of, positive, whole
from gracezo.sparse.lasso import require_lasso
from gracezo.updates import mirror, plain


def lasso(
    problem: Problem,
    *,
    step_size: float = 0.1,
    eps: float | Callable[[int], float] = 1e-6,
    queries: int = 50,
    penalty: float | None = None,
    differenced: bool = True,
    form: str = "plain",
) -> Descent:
    """LASSO: descends along a debiased sparse regression of the slopes in random-sign directions.

    Parameters
    ----------
    problem
        What is known of the problem.
    step_size
        η.
    eps
        The finite difference ε, or a function of the step t = 1, 2, ….
    queries
        q, the directions of a step, at least 2.
    penalty
        λ in ‖y − Z·g − μ‖²/(2q) + λ·‖g‖_1. By default a tenth of the least that leaves no coefficient,
        anew in every step. From that least one on the estimate is the average of mean-centred values
        times their rows.
    differenced
        Whether f(x) is taken off the values before the regression. It makes a difference in rounding only.
    form
        "plain" (x − η·g) or "mirror" (mirror descent with ‖x‖_a², a = 2·ln d/(2·ln d − 1)).

    Notes
    -----
    The LASSO row of the GraCe paper's table is ``penalty=s/(2*eps), differenced=False, form="plain"``: no
    coefficient is left. On Attack its rounding matters. All rows of signs have the same value at the kink
    x = 0, so that the exact estimate is zero and the method would stay there; the mean of values that are
    not differenced is off by a last digit, and a step multiplies that by η/ε until the kink is left.
    """
    require_lasso()
    estimator = DebiasedLasso(
        difference(eps),
        whole("queries", queries, least=2),
        None if penalty is None else positive("penalty", penalty),
        flag("differenced", differenced),
    )
    eta = positive("step_size", step_size)
    update = one_of("form", form, {"plain": plain(eta), "mirror": mirror(eta, problem.d)})
    return Descent(estimator, update)
