"""The entry point for one gradient."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy.typing as npt

from gracezo import checks
from gracezo.api import minimize
from gracezo.conduct import Call
from gracezo.core.asks import Steps
from gracezo.core.keys import Key, SeedLike
from gracezo.core.method import Estimator, HasEstimator
from gracezo.core.result import Finish, GradientEstimate, Status
from gracezo.core.steps import valued
from gracezo.documented import like
from gracezo.evaluators.choose import Workers
from gracezo.setup import Setup


@like(minimize)
def estimate_gradient(
    fun: Callable[..., Any],
    x: npt.ArrayLike,
    args: tuple[Any, ...] = (),
    method: str = "auto",
    *,
    dim: int | None = None,
    bounds: object = None,
    sparsity: int | None = None,
    f0: float | None = None,
    noise: float | None = None,
    names: Sequence[object] | None = None,
    groups: object = None,
    scale: npt.ArrayLike | None = None,
    tol: float | None = None,
    max_queries: int | None = None,
    vectorized: bool = False,
    workers: Workers = None,
    batch: int = 1,
    copy: bool = True,
    on_failure: str | tuple[str, int] = "raise",
    timeout: float | None = None,
    seed: SeedLike | None = None,
    rng: SeedLike | None = None,
    options: Mapping[str, Any] | None = None,
) -> GradientEstimate:
    """Estimate the gradient at one point, as a step of a method would.

    Parameters
    ----------
    x
        Where; any shape.
    f0
        f(x), when it is known; it is then not asked.
    method
        One of `methods()` that steps along a gradient estimate.
    tol
        Share of the squared norm that may stay unfound, for `auto`: a number between 0 and 1. The search
        goes on until `residual` is no larger, and measures every coordinate where no search gets there.
        Without it, a background of many small derivatives is left alone as long as it is not most of the
        squared norm, and `residual` says how much it is.
    max_queries
        Never more than so many calls. Without it, as many as the method takes. A method that cannot
        finish within them gives the coordinates it has measured by then, maybe none.

    Returns
    -------
    GradientEstimate
        The coordinates found and their derivatives; `queries` says what they cost, `residual` which share
        of the squared norm is outside of them, and `background` how large a derivative there is, in the
        root mean square.

    Examples
    --------
    >>> import numpy as np, gracezo
    >>> g = gracezo.estimate_gradient(lambda x: 3 * x[4567] - x[89], np.zeros(10_000), seed=1)
    >>> g.indices.tolist(), g.values.round(6).tolist(), bool(g.queries <= 13)
    ([89, 4567], [-1.0, 3.0], True)

    Most of this gradient is in one coordinate, the rest of it in all the others:

    >>> slopes = np.full(200, 0.01)
    >>> slopes[42] = 1.0
    >>> g = gracezo.estimate_gradient(lambda x: slopes @ x, np.zeros(200), seed=1)
    >>> g.indices.tolist(), bool(0.001 < g.residual < 0.2), bool(0.002 < g.background < 0.05)
    ([42], True, True)
    >>> g = gracezo.estimate_gradient(lambda x: slopes @ x, np.zeros(200), seed=1, tol=1e-4)
    >>> len(g.indices), g.residual, bool(g.queries <= 230)
    (200, 0.0, True)
    """
    call = Call(locals())
    setup = call.setup(limits=checks.limits(max_queries))
    made = setup.method
    if not isinstance(made, HasEstimator):
        raise ValueError(f"method {method!r} does not estimate a gradient; use one that does, such as 'auto'")
    found: list[GradientEstimate] = []
    steps = _estimation(setup, made.estimator, found)
    run = setup.ground.ledger(steps, start=setup.start)
    call.ask(run)
    if not found:
        found.append(replace(GradientEstimate.nothing(run.x0.size), message=run.result().message))
    elif run.curtailed and not len(found[0].indices):
        found[0] = replace(found[0], flat=False, message=run.spent)
    return replace(found[0], queries=run.nfev, shape=run.x0.shape, names=run.names)


def _estimation(setup: Setup, estimator: Estimator, found: list[GradientEstimate]) -> Steps[Finish]:
    ground = setup.ground
    at = yield from valued(setup.start, setup.f0)
    if ground.problem.free == 0:
        return Finish(Status.NOTHING_TO_FIND, "the bounds fix every coordinate")
    found.append((yield from estimator.estimate(at, 1, Key(ground.seed).child(1))))
    return Finish(Status.CONVERGED, "the gradient is estimated")
