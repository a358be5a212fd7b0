"""SparseSZO: descent along Gaussian directions within a mask.

Ohta, Berger, Sokolov & Riezler, *Sparse perturbations for improved convergence
in stochastic zeroth-order optimization*, LOD 2020.
"""

from __future__ import annotations

from collections.abc import Callable

from gracezo.core.method import Problem
from gracezo.estimators.sparseszo import SparseSZO
from gracezo.methods.descent import Descent
from gracezo.methods.options import averaging_step, difference, required_sparsity, whole
from gracezo.updates import plain


def sparseszo(
    problem: Problem,
    *,
    step_size: float | None = None,
    eps: float | Callable[[int], float] = 1e-6,
    queries: int = 50,
    mask_period: int = 5,
) -> Descent:
    """SparseSZO: random Gaussian directions within the s coordinates of largest |x|.

    Parameters
    ----------
    problem
        What is known of the problem; `sparsity` is required.
    step_size
        η; by default 0.5/(1 + (d+1)/q).
    eps
        The finite difference ε, or a function of the step t = 1, 2, ….
    queries
        q, the directions of a step.
    mask_period
        How many steps a mask is kept; there is none in the steps before this one.
    """
    s = required_sparsity(problem, "sparseszo")
    q = whole("queries", queries)
    estimator = SparseSZO(difference(eps), q, s, whole("mask_period", mask_period))
    return Descent(estimator, plain(averaging_step(step_size, q, problem.d)))
