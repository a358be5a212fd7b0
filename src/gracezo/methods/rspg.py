"""RSPG: descent along the average slope in several Gaussian directions.

Ghadimi, Lan & Zhang, *Mini-batch stochastic approximation methods for
nonconvex stochastic composite optimization*, Mathematical Programming 155,
2016; without a constraint, so that there is no projection.
"""

from __future__ import annotations

from collections.abc import Callable

from gracezo.core.method import Problem
from gracezo.methods.descent import Descent
from gracezo.methods.rs import rs


def rspg(
    problem: Problem,
    *,
    step_size: float | None = None,
    eps: float | Callable[[int], float] = 1e-6,
    queries: int = 50,
) -> Descent:
    """RSPG: descends along the average slope in several random Gaussian directions.

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
    return rs(problem, step_size=step_size, eps=eps, queries=queries)
