"""The entry point for the Jacobian of a function with many outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy.typing as npt

from gracezo import checks
from gracezo.conduct import Call
from gracezo.core.asks import Ask, Point, Role, Steps
from gracezo.core.keys import Key, SeedLike
from gracezo.core.method import HasEstimator, Problem
from gracezo.core.outputs import Outputs
from gracezo.core.result import Finish, Status
from gracezo.core.types import FloatArray
from gracezo.documented import like
from gracezo.evaluators.choose import Workers
from gracezo.fitting import least_squares
from gracezo.methods import catalog
from gracezo.vectors.estimate import JacobianEstimate, JacobianSearch

_LEAVE = 1e-6  # of the whole: what is not worth a query


@like(least_squares)
def estimate_jacobian(
    fun: Callable[..., Any],
    x: npt.ArrayLike,
    args: tuple[Any, ...] = (),
    *,
    bounds: object = None,
    f0: npt.ArrayLike | None = None,
    noise: npt.ArrayLike | None = None,
    names: Sequence[object] | None = None,
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
) -> JacobianEstimate:
    """Find the columns of a Jacobian that are not zero, by about as many queries as there are.

    With m outputs and s coordinates that matter it takes some s + 4 queries where m ≥ s, and
    s + 2·s/m + 4 or so where not, whatever the dimension (see the page on many outputs).

    Parameters
    ----------
    fun
        Gets a float64 array in x's shape, then `args`, and returns m finite numbers, always as many;
        with `vectorized`, gets (k, *x.shape) and returns (k, m). One number (m = 1) goes the way of
        `estimate_gradient`.
    x
        Where; any shape.
    bounds
        What no query may leave: a pair for each coordinate, or a `scipy.optimize.Bounds`, as SciPy takes
        them.
    batch
        How many probes may go out together: fewer rounds, a few queries more.
    f0
        What the function returns at x, when that is known.
    noise
        The standard deviation of the noise: one number for all outputs, or one for each; 0 for an exact
        function; None to have it looked for.
    tol
        A set of coordinates whose answer is smaller than this share of the whole is not looked into.
        1e-6 if not given.
    max_queries
        Never more than so many calls. With it, a Jacobian that is found to be dense is measured by a
        difference for each coordinate, if the queries reach for all of them.

    Returns
    -------
    JacobianEstimate
        The columns with their errors, what is left, and what it cost.

    Examples
    --------
    >>> import numpy as np, gracezo
    >>> rng = np.random.default_rng(0)
    >>> active, slopes = [11, 4321, 98765], rng.normal(size=(8, 3))  # of 100,000 parameters and 8 outputs
    >>> found = gracezo.estimate_jacobian(lambda x: np.tanh(slopes @ x[active]), np.zeros(100_000), seed=0)
    >>> sorted(found.columns.tolist()), found.queries, found.complete
    ([11, 4321, 98765], 6, True)
    """
    call = Call(locals())
    deviations = checks.deviations(noise)
    outputs = checks.outputs("f0", f0)
    ground = call.ground(noise=None)
    problem = ground.problem
    single = catalog.make("auto", Problem(problem.d, batch=problem.batch, bounds=problem.bounds), {})
    assert isinstance(single, HasEstimator)
    search = JacobianSearch(
        problem.scale,
        problem.bounds,
        deviations,
        problem.batch,
        problem.tol or _LEAVE,
        max_queries is not None,
        single.estimator,
    )
    found: list[JacobianEstimate] = []
    count = next((len(one) for one in (outputs, deviations) if one is not None and one.ndim), None)
    steps = _estimation(search, ground.x0.ravel(), outputs, Key(ground.seed), found)
    run = ground.ledger(steps, Outputs(search, count))
    call.ask(run, many_outputs=True)
    if not found:  # interrupted, or without a query to spend
        found.append(JacobianEstimate.nothing(problem.d, run.result().message))
    return replace(found[0], queries=run.nfev, rounds=run.rounds, names=run.names)


def _estimation(
    search: JacobianSearch,
    x: FloatArray,
    outputs: FloatArray | None,
    key: Key,
    found: list[JacobianEstimate],
) -> Steps[Finish]:
    if outputs is None:
        (outputs,) = yield Ask.at(x, Role.START)
    found.append((yield from search.run(Point(x, 0.0, outputs=outputs), key)))
    return Finish(Status.CONVERGED, found[0].message)
