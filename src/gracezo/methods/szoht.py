"""SZOHT: hard thresholding of the point after each step.

de Vazelhes, Zhang, Wu, Yuan & Gu, *Zeroth-order hard-thresholding: gradient
error vs. expansivity*, NeurIPS 2022.
"""

from __future__ import annotations

from collections.abc import Callable

from gracezo.core.method import Problem
from gracezo.estimators.szoht import SubsetSphere
from gracezo.methods.descent import Descent
from gracezo.methods.options import averaging_step, difference, required_sparsity, whole
from gracezo.updates import plain, thresholded


def szoht(
    problem: Problem,
    *,
    step_size: float | None = None,
    eps: float | Callable[[int], float] = 1e-6,
    queries: int = 50,
) -> Descent:
    """SZOHT: directions on few random coordinates, then all but the s largest |x| are set to zero.

    Parameters
    ----------
    problem
        What is known of the problem; `sparsity` is required.
    step_size
        η; by default 0.5/(1 + (d+1)/q).
    eps
        The finite difference ε, or a function of the step t = 1, 2, ….
    queries
        q, the directions of a step, each on s random coordinates.
    """
    s = required_sparsity(problem, "szoht")
    q = whole("queries", queries)
    estimator = SubsetSphere(difference(eps), q, s)
    return Descent(estimator, thresholded(plain(averaging_step(step_size, q, problem.d)), s))
