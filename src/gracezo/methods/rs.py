"""RS, random search: descent along the slope in one Gaussian direction.

Nesterov & Spokoiny, *Random gradient-free minimization of convex functions*,
Foundations of Computational Mathematics 17, 2017.
"""

from __future__ import annotations

from collections.abc import Callable

from gracezo.core.method import Problem
from gracezo.estimators.average import Average
from gracezo.estimators.rows import gaussian
from gracezo.methods.descent import Descent
from gracezo.methods.options import averaging_step, difference, whole
from gracezo.updates import plain


def rs(
    problem: Problem,
    *,
    step_size: float | None = None,
    eps: float | Callable[[int], float] = 1e-6,
    queries: int = 1,
) -> Descent:
    """RS: descends along the slope in one random Gaussian direction.

    Parameters
    ----------
    problem
        What is known of the problem.
    step_size
        η; by default 0.5/(1 + (d+1)/q).
    eps
        The finite difference ε, or a function of the step t = 1, 2, ….
    queries
        q, the directions of a step.
    """
    q = whole("queries", queries)
    return Descent(Average(gaussian, difference(eps), q), plain(averaging_step(step_size, q, problem.d)))
