"""The entry point for the Jacobian of a function with many outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gracezo import bounds as box
from gracezo import checks
from gracezo.conduct import evaluator
from gracezo.core.asks import Ask, Point, Role, Steps
from gracezo.core.drive import drive
from gracezo.core.keys import Key, SeedLike
from gracezo.core.method import HasEstimator, Problem
from gracezo.core.outputs import Outputs
from gracezo.core.result import Finish, Status
from gracezo.core.run import Run
from gracezo.core.types import FloatArray
from gracezo.evaluators.choose import Workers
from gracezo.evaluators.objective import takes_seed
from gracezo.methods import catalog
from gracezo.vectors.estimate import JacobianEstimate, JacobianSearch

_LEAVE = 1e-6  # of the whole: what is not worth a query


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
    x, args, bounds, names, vectorized, workers, batch, copy, on_failure, timeout, seed, rng
        As in `minimize`. With a `batch`, probes go out together: fewer rounds, a few queries more.
    f0
        What the function returns at x, when that is known.
    noise
        The standard deviation of the noise: one number for all outputs, or one for each; 0 for an exact
        function; None to have it looked for.
    scale
        The typical size of a change of each coordinate, one number or one for each. If not given, the
        size of the coordinate itself, but at least 1.
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
    checks.function("fun", fun)
    start = checks.point("x", x, names)
    called = checks.names(names, x, start.shape)
    walls = box.checked(bounds, start, called)
    budget = checks.limits(max_queries)
    deviations = checks.deviations(noise)
    lengths = checks.scale(scale, start.shape)
    leave = checks.number("tol", tol)
    if leave is not None and not 0.0 < leave < 1.0:
        raise ValueError(f"tol must be a share, between 0 and 1; given: {tol!r}")
    outputs = checks.outputs("f0", f0)
    drawn = checks.drawn_seed(seed, rng)
    together = checks.batch(batch)
    single = catalog.make("auto", Problem(start.size, batch=together, bounds=walls), {})
    assert isinstance(single, HasEstimator)
    search = JacobianSearch(
        lengths,
        walls,
        deviations,
        together,
        leave or _LEAVE,
        max_queries is not None,
        single.estimator,
    )
    found: list[JacobianEstimate] = []
    count = next((len(one) for one in (outputs, deviations) if one is not None and one.ndim), None)
    run = Run(
        _estimation(search, start.ravel(), outputs, Key(drawn), found),
        start,
        budget,
        drawn,
        on_failure=checks.on_failure(on_failure),
        bounds=walls,
        sample=None if not takes_seed(fun) else int(np.random.SeedSequence(drawn).generate_state(1)[0]),
        names=called,
        outputs=Outputs(search, count),
    )
    with evaluator(
        fun, args, start.shape, vectorized, workers, copy, many_outputs=True, timeout=timeout
    ) as evaluate:
        drive(run, evaluate)
    if not found:  # interrupted, or without a query to spend
        found.append(JacobianEstimate.nothing(start.size, run.result().message))
    return replace(found[0], queries=run.nfev, rounds=run.rounds, names=called)


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
