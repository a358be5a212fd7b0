"""TPGE: descent along the doubly smoothed two-point estimate.

Duchi, Jordan, Wainwright & Wibisono, *Optimal rates for zero-order convex
optimization: the power of two function evaluations*, IEEE Transactions on
Information Theory 61(5), 2015.
"""

from __future__ import annotations

from collections.abc import Callable

from gracezo.core.method import Problem
from gracezo.estimators.tpge import TPGE
from gracezo.methods.descent import Descent
from gracezo.methods.options import averaging_step, difference, whole
from gracezo.updates import plain


def tpge(
    problem: Problem,
    *,
    step_size: float | None = None,
    eps: float | Callable[[int], float] = 1e-6,
    queries: int = 2,
) -> Descent:
    """TPGE: descends along the slope between two random points near x.

    Parameters
    ----------
    problem
        What is known of the problem.
    step_size
        η; by default 0.5/(1 + (d+1)/p) with p = q/2 pairs.
    eps
        The finite difference ε, or a function of the step t = 1, 2, ….
    queries
        q, an even number: the queries of a step, two a pair.
    """
    if whole("queries", queries, least=2) % 2:
        raise ValueError(f"option queries must be even, two a pair; given: {queries!r}")
    pairs = queries // 2
    return Descent(TPGE(difference(eps), pairs), plain(averaging_step(step_size, pairs, problem.d)))
