"""ZO-AdaMM: adaptive momentum.

Chen, Liu, Xu, Li, Lin, Hong & Cox, *ZO-AdaMM: Zeroth-order adaptive momentum
method for black-box optimization*, NeurIPS 2019; without a constraint.
"""

from __future__ import annotations

from collections.abc import Callable

from gracezo.core.method import Problem
from gracezo.estimators.average import Average
from gracezo.estimators.rows import sphere
from gracezo.methods.descent import Descent
from gracezo.methods.options import difference, fraction, positive, whole
from gracezo.updates import along, amsgrad, plain


def zo_adamm(
    problem: Problem,
    *,
    step_size: float = 1e-3,
    eps: float | Callable[[int], float] = 1e-6,
    queries: int = 1,
    beta1: float = 0.9,
    beta2: float = 0.5,
) -> Descent:
    """ZO-AdaMM: AMSGrad's moments over slopes in directions on the sphere.

    Parameters
    ----------
    problem
        What is known of the problem.
    step_size
        η, about how far a coordinate moves at most.
    eps
        The finite difference ε, or a function of the step t = 1, 2, ….
    queries
        q, the directions of a step.
    beta1, beta2
        β₁ and β₂, how much of the first and the second moment is kept from step to step.
    """
    estimator = Average(sphere, difference(eps), whole("queries", queries), weight=problem.d)
    moments = amsgrad(fraction("beta1", beta1), fraction("beta2", beta2))
    return Descent(estimator, along(moments, plain(positive("step_size", step_size))))
