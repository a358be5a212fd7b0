"""Least squares as a recipe: for functions with many outputs, called by `gracezo.least_squares`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gracezo.core.method import Problem, uses
from gracezo.methods.auto.method import auto
from gracezo.methods.options import positive
from gracezo.vectors.least_squares import LeastSquares
from gracezo.vectors.losses import Loss


@uses("bounds", "noise", "scale", "support", "known")
def least_squares(
    problem: Problem,
    *,
    loss: str | Callable[..., Any] = "linear",
    f_scale: float = 1.0,
    ftol: float = 1e-8,
    gtol: float = 1e-8,
) -> LeastSquares:
    """Least squares: fits the few parameters that matter, by residuals alone.

    Parameters
    ----------
    problem
        What is known.
    loss
        What of a residual counts: linear, soft_l1, huber, cauchy, arctan, or a function, as SciPy takes it.
    f_scale
        The margin between what fits and what is an outlier.
    ftol
        Converged when the measured slopes promise no more than this share of the cost.
    gtol
        Or when no column has a larger cosine with the residual.
    """
    single = auto(Problem(problem.d, batch=problem.batch, bounds=problem.bounds, noise=problem.noise))
    return LeastSquares(
        problem,
        Loss(loss, positive("f_scale", f_scale)),
        positive("ftol", ftol),
        positive("gtol", gtol),
        single.estimator,
    )
