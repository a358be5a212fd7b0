"""The recipe: descent along IPW's estimate, the ancestor of GraCe's.

Indyk, Price & Woodruff, *On the power of adaptivity in sparse recovery*, FOCS 2011.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gracezo.core.method import Problem, uses
from gracezo.estimators.ipw import INDEPENDENT
from gracezo.methods.descent import Descent
from gracezo.methods.grace import search_descent


@uses("bounds")
def ipw(
    problem: Problem,
    *,
    step_size: float = 0.5,
    eps: float | Callable[[int], float] = 1e-6,
    repeats: int = 1,
    gamma: float = 0.7,
    group_size: int | None = None,
    first_division: int = 20,
    schedule: Iterable[int] | None = None,
) -> Descent:
    """IPW: GraCe's search with groups and blocks drawn independently for each coordinate.

    Parameters
    ----------
    problem
        What is known of the problem; `sparsity` is required.
    step_size, eps, repeats, gamma, group_size, first_division, schedule
        As in `grace`; group and block sizes are what GraCe's would be, in expectation.
    """
    return search_descent(
        "ipw", problem, INDEPENDENT, step_size, eps, repeats, gamma, group_size, first_division, schedule
    )
