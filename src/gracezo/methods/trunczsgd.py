"""TruncZSGD: descent along the largest entries of a Gaussian average.

Balasubramanian & Ghadimi, *Zeroth-order nonconvex stochastic optimization:
handling constraints, high dimensionality, and saddle points*, Foundations of
Computational Mathematics 22(1), 2022. The estimate is truncated, as in the
comparison of the GraCe paper.
"""

from __future__ import annotations

from collections.abc import Callable

from gracezo.core.method import Problem
from gracezo.estimators.average import Average
from gracezo.estimators.rows import gaussian
from gracezo.methods.descent import Descent
from gracezo.methods.options import difference, positive, required_sparsity, whole
from gracezo.updates import along, plain, truncate


def trunczsgd(
    problem: Problem,
    *,
    step_size: float = 0.02,
    eps: float | Callable[[int], float] = 1e-6,
    queries: int = 50,
) -> Descent:
    """TruncZSGD: descends along the s largest entries of an average over Gaussian directions.

    Parameters
    ----------
    problem
        What is known of the problem; `sparsity` is required.
    step_size
        η.
    eps
        The finite difference ε, or a function of the step t = 1, 2, ….
    queries
        q, the directions of a step.
    """
    s = required_sparsity(problem, "trunczsgd")
    estimator = Average(gaussian, difference(eps), whole("queries", queries))
    return Descent(estimator, along(truncate(s), plain(positive("step_size", step_size))))
