"""ZO-signSGD: steps of one length in every coordinate.

Liu, Chen, Chen & Hong, *signSGD via zeroth-order oracle*, ICLR 2019.
"""

from __future__ import annotations

from collections.abc import Callable

from gracezo.core.method import Problem
from gracezo.estimators.average import Average
from gracezo.estimators.rows import sphere
from gracezo.methods.descent import Descent
from gracezo.methods.options import difference, positive, whole
from gracezo.updates import along, plain, sign


def zo_signsgd(
    problem: Problem,
    *,
    step_size: float = 1e-3,
    eps: float | Callable[[int], float] = 1e-6,
    queries: int = 50,
) -> Descent:
    """ZO-signSGD: steps along the signs of an average over directions on the sphere.

    Parameters
    ----------
    problem
        What is known of the problem.
    step_size
        η, how far every coordinate moves.
    eps
        The finite difference ε, or a function of the step t = 1, 2, ….
    queries
        q, the directions of a step.
    """
    estimator = Average(sphere, difference(eps), whole("queries", queries), weight=problem.d)
    return Descent(estimator, along(sign, plain(positive("step_size", step_size))))
