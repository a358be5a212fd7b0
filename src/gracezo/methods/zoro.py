"""ZORO: descent along the sparse gradient that CoSaMP recovers.

Cai, McKenzie, Yin & Zhang, *Zeroth-order regularized optimization (ZORO):
approximately sparse gradients and adaptive sampling*, SIAM Journal on
Optimization 32(2), 2022; without a regulariser and with a fixed number of
queries a step, as in the comparison of the GraCe paper.
"""

from __future__ import annotations

from collections.abc import Callable

from gracezo.core.method import Problem
from gracezo.estimators.zoro import ZORO
from gracezo.methods.descent import Descent
from gracezo.methods.options import difference, positive, required_sparsity, sketch_size, whole
from gracezo.sparse.cosamp import CoSaMP
from gracezo.updates import plain


def zoro(
    problem: Problem,
    *,
    step_size: float = 0.5,
    eps: float | Callable[[int], float] = 1e-6,
    queries: int | None = None,
    iterations: int = 10,
    tolerance: float = 0.5,
) -> Descent:
    """ZORO: recovers a sparse gradient from random-sign measurements by CoSaMP.

    Parameters
    ----------
    problem
        What is known of the problem; `sparsity` is required.
    step_size
        η.
    eps
        The finite difference ε, or a function of the step t = 1, 2, ….
    queries
        q, the measurements of a step; by default ⌈2·s·(1 + ln(d/s))⌉. They are kept in memory, 4·q·d bytes.
    iterations
        The most iterations of CoSaMP.
    tolerance
        The relative residual at which CoSaMP stops.
    """
    s = required_sparsity(problem, "zoro")
    recovery = CoSaMP(s, whole("iterations", iterations), positive("tolerance", tolerance))
    estimator = ZORO(difference(eps), sketch_size(queries, s, problem.d), recovery)
    return Descent(estimator, plain(positive("step_size", step_size)))
