"""The entry point for least squares: functions with many outputs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, OptimizeResult

from gracezo import checks
from gracezo.api import minimize
from gracezo.conduct import Call
from gracezo.core.keys import SeedLike
from gracezo.core.result import Result
from gracezo.documented import like
from gracezo.evaluators.choose import Workers
from gracezo.journal.settings import Journal

P = ParamSpec("P")
R = TypeVar("R")

_OF_SCIPY = {  # what scipy.optimize.least_squares takes beside, and what there is here instead
    "jac": "the columns that matter are found by queries; leave it out",
    "jac_sparsity": "which columns matter is found; support= names those that are suspected",
    "method": "there is one; leave it out",
    "max_nfev": "give max_queries=, which counts every call",
    "x_scale": "give scale=, the typical size of a change of each coordinate",
    "xtol": "give ftol= or gtol=",
    "diff_step": "the distance of differences is found; scale= says what a typical change is",
    "tr_solver": "there is nothing to choose; leave it out",
    "tr_options": "there is nothing to choose; leave it out",
    "kwargs": "give args=, or functools.partial(fun, ...)",
    "verbose": "give progress=True",
}


def _unlike_scipy(entry: Callable[P, R]) -> Callable[P, R]:
    """Name what there is instead of SciPy's arguments that are not taken."""

    @wraps(entry)
    def told(*args: P.args, **keywords: P.kwargs) -> R:
        for name in keywords:
            if name in _OF_SCIPY:
                raise TypeError(f"least_squares takes no {name}: {_OF_SCIPY[name]}")
        third = args[2] if len(args) > 2 else ()
        if callable(third) or isinstance(third, str):  # SciPy's jac
            raise TypeError(f"the third argument is args, and least_squares takes no jac: {_OF_SCIPY['jac']}")
        return entry(*args, **keywords)

    return told


@_unlike_scipy
@like(minimize)
def least_squares(
    fun: Callable[..., Any],
    x0: npt.ArrayLike,
    args: tuple[Any, ...] = (),
    *,
    bounds: object = None,
    loss: str | Callable[..., Any] = "linear",
    f_scale: float = 1.0,
    ftol: float = 1e-8,
    gtol: float = 1e-8,
    support: npt.ArrayLike | None = None,
    f0: npt.ArrayLike | None = None,
    known: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    noise: float | None = None,
    names: Sequence[object] | None = None,
    scale: npt.ArrayLike | None = None,
    max_queries: int | None = None,
    max_steps: int | None = None,
    max_seconds: float | None = None,
    target: float | None = None,
    vectorized: bool = False,
    workers: Workers = None,
    batch: int = 1,
    copy: bool = True,
    on_failure: str | tuple[str, int] = "raise",
    timeout: float | None = None,
    seed: SeedLike | None = None,
    rng: SeedLike | None = None,
    callback: Callable[[OptimizeResult], object] | None = None,
    progress: bool = False,
    journal: str | os.PathLike[str] | Journal | None = None,
) -> Result:
    """Fit the few parameters that matter, so that the sum of squares of many outputs is least.

    Parameters
    ----------
    fun
        The residuals. Gets a float64 array in x0's shape, then `args`, and returns m finite numbers,
        always as many; with `vectorized`, gets (k, *x0.shape) and returns (k, m).
    bounds
        As in `minimize`: a pair for each coordinate, or a `scipy.optimize.Bounds`. Also SciPy's pair
        (lower, upper), of numbers or arrays; but for two coordinates, where it could be either, only
        `Bounds` is taken.
    loss
        What of a residual counts: "linear", "soft_l1", "huber", "cauchy", "arctan", or a function, as in
        `scipy.optimize.least_squares`.
    f_scale
        The margin between what fits and what is an outlier.
    ftol
        Converged when the measured slopes promise no more than this share of the cost.
    gtol
        Or when no column of the Jacobian has a larger cosine with the residual.
    support
        Coordinates that are suspected to matter: their columns are measured, a query each, and nothing is
        searched for at first. What else begins to matter is found and joins.
    f0
        The residuals at x0, when they are known.
    known
        Points with their residuals that are already paid for: (X, F), a row each. The model uses those that
        differ from x0 in the coordinates that matter only.
    noise
        The standard deviation of the noise of the outputs; 0: exact; None: it is looked for.
    scale
        The typical size of a change of each coordinate, one number or one for each. If not given, the
        size of the coordinate itself, but at least 1.
    target
        A cost at which to stop.

    Returns
    -------
    Result
        As of `minimize`, with `cost` (½ Σ f_scale²·ρ((r/f_scale)²)), `fun` (the residuals), `columns` (the
        coordinates that were found to matter) and along them `jac` (m × k), `grad`, `active_mask`,
        `stderr` and `cov` (of the fitted parameters, from the residuals; NaN where m ≤ k), and
        `optimality`, as SciPy has them. `status` has our meanings: 0 converged or target reached, 1
        queries, steps or seconds spent, and so on. The trace is one of costs.

    Examples
    --------
    >>> import numpy as np, gracezo
    >>> times = np.linspace(0, 1, 20)
    >>> def simulate(x):  # two of 10,000 parameters matter
    ...     return np.exp(x[123] * times) + x[4567] * times**2
    >>> truth = np.zeros(10_000)
    >>> truth[[123, 4567]] = 0.5, -1.0
    >>> measured = simulate(truth)
    >>> result = gracezo.least_squares(lambda x: simulate(x) - measured, np.zeros(10_000), seed=0)
    >>> sorted(result.columns.tolist()), result.x[[123, 4567]].round(6).tolist(), result.nfev < 20
    ([123, 4567], [0.5, -1.0], True)
    """
    call = Call(locals())
    setup = call.setup(
        method="least_squares",
        options={"loss": loss, "f_scale": f_scale, "ftol": ftol, "gtol": gtol},
        bounds=_either(bounds, np.size(x0)),
    )
    return call.carry_out(setup)


def _either(bounds: object, size: int) -> object:
    """Return bounds as `minimize` takes them: SciPy's (lower, upper) too, where it cannot be two pairs."""
    if not isinstance(bounds, (tuple, list)) or len(bounds) != 2 or size <= 1:
        return bounds
    if size == 2:
        raise ValueError(
            "bounds of two coordinates could be (lower, upper) or two pairs (low, high): "
            f"give scipy.optimize.Bounds(lower, upper); given: {checks.clipped(bounds)}"
        )
    return Bounds(*(np.asarray(side, np.float64) for side in bounds))
