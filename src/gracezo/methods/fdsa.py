"""The recipe: descent along plain finite differences."""

from __future__ import annotations

from collections.abc import Callable

from gracezo.core.method import Problem, uses
from gracezo.estimators.fdsa import FDSA
from gracezo.methods.descent import Descent
from gracezo.methods.options import difference, positive
from gracezo.updates import plain


@uses("bounds")
def fdsa(problem: Problem, *, step_size: float = 0.5, eps: float | Callable[[int], float] = 1e-6) -> Descent:
    """FDSA: a finite difference along every coordinate, d queries a gradient.

    Parameters
    ----------
    problem
        What is known of the problem.
    step_size
        η.
    eps
        The finite difference ε, or a function of the step t = 1, 2, ….
    """
    update = plain(positive("step_size", step_size))
    return Descent(FDSA(difference(eps), problem.bounds), update, problem.bounds)
