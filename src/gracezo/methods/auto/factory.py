"""`auto` as the catalogue makes it: its options, checked."""

from __future__ import annotations

import math

from gracezo.core.method import Problem, uses
from gracezo.methods.auto.constants import Constants
from gracezo.methods.auto.method import Auto


@uses("support", "known", "bounds", "noise", "scale", "tol")
def auto(problem: Problem, *, eps: float | None = None) -> Auto:
    """Auto: the fewest queries, with nothing to tune; splits sets, remembers, steps by quasi-Newton.

    Parameters
    ----------
    problem
        What is known before the first query.
    eps
        A fixed finite difference, in units of `scale` where that is given; by default it follows the size
        of the set, the curvature met and the precision of f.

    Examples
    --------
    >>> from gracezo.core.method import Problem
    >>> method = auto(Problem(d=100))
    """
    if eps is not None and not (math.isfinite(eps) and eps > 0.0):
        raise ValueError(f"eps must be positive and finite, or None to let the method choose; got {eps!r}")
    return Auto(problem, Constants(), eps)
