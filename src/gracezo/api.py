"""The public entry points for a whole run: minimize, resume."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy.typing as npt
from scipy.optimize import OptimizeResult

from gracezo import checks
from gracezo.conduct import Call
from gracezo.core.keys import SeedLike
from gracezo.core.result import Result
from gracezo.documented import like
from gracezo.evaluators.choose import Workers
from gracezo.evaluators.objective import takes_seed
from gracezo.journal.errors import JournalError
from gracezo.journal.settings import Journal
from gracezo.setup import Setup


def minimize(
    fun: Callable[..., Any],
    x0: npt.ArrayLike,
    args: tuple[Any, ...] = (),
    method: str = "auto",
    *,
    dim: int | None = None,
    bounds: object = None,
    sparsity: int | None = None,
    support: npt.ArrayLike | None = None,
    f0: float | None = None,
    known: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    noise: float | None = None,
    names: Sequence[object] | None = None,
    groups: object = None,
    scale: npt.ArrayLike | None = None,
    tol: float | None = None,
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
    options: Mapping[str, Any] | None = None,
) -> Result:
    """Minimise a function of many coordinates by its values alone.

    Where it is a sum of squares whose terms are known, `least_squares` takes a tenth of the queries.

    Parameters
    ----------
    fun
        The objective. Gets a float64 array in x0's shape, then `args`, and
        returns one finite number; with `vectorized`, gets (k, *x0.shape) and
        returns k numbers. A function with a keyword `seed` that has no default
        (``def fun(x, *, seed)``) gets the same seed at each query (k of them
        with `vectorized`), so that its differences are exact; `auto` measures
        the answer with others. An object with a method `at`, beside its `__call__`, is asked what a change
        of a few coordinates makes of f: ``fun.at(x).value(parts)`` is f at x displaced by parts, each of
        them (indices, values).
    x0
        Where to start; an array of any shape. Where there are very many coordinates and most of them are
        zero: a vector of `scipy.sparse`, or a number with `dim`. Nothing of length d is then made but what
        `fun` has to get.
    args
        What `fun` takes after the point.
    method
        One of `methods()`.
    dim
        The number of coordinates, where x0 is one number for all of them.
    bounds
        What no query may leave: one pair (low, high) for all coordinates; or as SciPy takes them, a pair for
        each, None or infinite where there is no bound, or a `scipy.optimize.Bounds`, whose numbers may stand
        for all coordinates. In x0's shape or flat. A coordinate with low = high costs nothing. For the
        methods that can: the others refuse.
    sparsity
        How many coordinates matter at a time, for the methods that want to know (the paper's s).
    support
        Coordinates (flat indices) that you suspect to matter: `auto` looks at them first.
    f0
        f(x0), when it is known; it is then not asked.
    known
        (X, F), points one a row and their values, already paid for: `auto` starts from the best of
        them, and f(x0) is not asked when x0 is among them.
    noise
        The standard deviation of the noise of `fun`, for `auto`: a number, 0 for an exact function, or
        None to have it looked for (one query) and, where something hints at it, measured.
    names
        What the coordinates are called, one name each, in x0's shape or flat; results, errors, reports
        and the journal speak of them. If not given: the index, where x0 is a pandas Series, else their
        places in x0's shape.
    groups
        Coordinates that belong together: a label for each, or the shape of the blocks that they are ((4, 4)
        for an image; one number for a vector). `auto` first moves each group as one, then the coordinates
        inside the groups that matter, and then all.
    scale
        The typical size of a change of each coordinate, a number or an array in x0's shape, for `auto`:
        how far it is worth to look. Without it, the widths of the bounds or |x0| stand in where they
        differ by orders of magnitude, a large |x0| or small widths if they do not; else one.
    tol
        The run is converged when all the decrease that it still expects is below this share of the decrease
        so far, for `auto`: a number between 0 and 1. Without it, when that is below f's rounding error (or
        noise).
    max_queries
        The budget: call ``max_queries + 1`` is never made. Rows that are of
        no use alone (half of a pair, a gradient without the step after it)
        are not bought with the last queries.
    max_steps, max_seconds, target
        Further reasons to stop: steps made, time passed, a value reached. The
        first that comes true ends the run. With none of the four given the
        budget is 10,000 queries. `max_seconds` does not wait for evaluations that are under way, unless
        `fun` is called in this thread or by a map-like callable, which nobody can interrupt.
    vectorized
        Whether `fun` takes many points at once.
    workers
        Who evaluates: a number of processes (-1: all cores), a map-like
        callable such as ``pool.map``, any `concurrent.futures.Executor`, a
        `dask.distributed.Client`, or "ray". The result does not depend on
        it. With none given, `fun` is called in this thread.
    batch
        How many useful queries may go out together. More of them make fewer rounds and, for `auto`,
        some more queries; the run depends on it, never on who evaluates.
    copy
        Whether `fun` gets an array of its own at each call. If not, it gets
        a read-only buffer that is valid during the call.
    on_failure
        What becomes of an evaluation that raises, returns no finite number or times out: "raise" ends
        the run; "retry" asks that point again, up to 3 times; "skip" goes on without its value, up to
        100 in a row. ("retry", 5) or ("skip", 9) sets the limit; beyond it the run ends as with
        "raise". Every attempt counts. f(x0) cannot be skipped. An evaluation that is lost with its worker
        counts too and is asked again; a point that has taken three workers with it has failed.
    timeout
        Seconds that one call of `fun` may take; one that takes longer has failed. Needs `workers`
        (processes, an executor, Dask, Ray) or a `Command`, since a function cannot be stopped that runs in
        the caller's own thread.
    seed, rng
        Two names of one argument (`rng` is that of SPEC 7). A whole number; the
        same one gives the same run, bit for bit. From a `Generator`,
        `BitGenerator` or `SeedSequence` of `numpy.random` one is drawn, as it is
        from the operating system when nothing is given; ``result.seed`` says which.
    callback
        Called after each step with an `OptimizeResult` of x, fun, nit and
        nfev. Raising StopIteration ends the run. Steps that a journal knows already fire none.
    progress
        Whether to show a live line on standard error.
    journal
        A file that keeps every value before the method sees it; a path or a
        `Journal`. If the same run is recorded there, it goes on where it
        stopped and asks nothing again; another run is refused.
    options
        The options of the method. An unknown one is an error.

    Returns
    -------
    Result
        The best point and what it cost. Ctrl-C returns the best so far with status 2.

    Raises
    ------
    ValueError, TypeError
        Wrong input, before any query.
    EvaluationError
        `fun` raised an exception or returned no finite number (see `on_failure`), or the workers are
        gone. Its `.result` is the best so far.
    JournalError, JournalWriteError
        The journal belongs to another run, is in use or damaged; or cannot be written.

    Examples
    --------
    >>> import numpy as np, gracezo
    >>> goal = np.zeros(10_000)
    >>> goal[[12, 345, 6789]] = [0.5, -1.0, 0.8]
    >>> result = gracezo.minimize(
    ...     lambda x: float(((x - goal) ** 2).sum()), np.zeros(10_000), target=1e-9, seed=0)
    >>> result.support[:3].tolist(), bool(result.fun < 1e-9), bool(result.nfev < 30)
    ([345, 6789, 12], True, True)
    """
    call = Call(locals())
    setup = call.setup()
    if setup.many_outputs:
        raise ValueError(f"method {method!r} is for functions with many outputs: call gracezo.{method}")
    return call.carry_out(setup)


@like(minimize)
def resume(
    journal: str | os.PathLike[str] | Journal,
    fun: Callable[..., Any],
    args: tuple[Any, ...] = (),
    *,
    max_queries: int | None = None,
    max_seconds: float | None = None,
    workers: Workers = None,
    vectorized: bool = False,
    timeout: float | None = None,
    callback: Callable[[OptimizeResult], object] | None = None,
    progress: bool = False,
) -> Result:
    """Go on with a recorded run exactly where it stopped.

    The result is that of a run that was never stopped: same x, same trace,
    same count. No recorded query is asked again. A run that is finished
    returns its result.

    Parameters
    ----------
    journal
        The `journal` of `minimize` or `least_squares`.
    fun
        The function of the recorded run; it is never taken from the file, and compared with what the file
        says of it.
    max_queries
        A new budget, from the start of the run: it goes on as a run with that budget would have gone.
    max_seconds
        How long to go on from now. If not given, as long as the recorded run was allowed to.

    Returns
    -------
    Result
        As of `minimize`. `nfev` counts distinct queries, `reasked` those
        that may have been evaluated twice because their values were lost.

    Raises
    ------
    JournalError
        There is no such journal, it is damaged or in use, another function
        is recorded, or the method does not ask what is recorded.

    Examples
    --------
    >>> import gracezo, tempfile
    >>> def f(x):
    ...     return float(x @ x)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = folder + "/run.db"
    ...     first = gracezo.minimize(f, [1.0, 2.0], method="fdsa", max_queries=4, journal=journal)
    ...     more = gracezo.resume(journal, f, max_queries=7)  # three calls of f
    >>> first.nfev, more.nfev, more.nit
    (4, 7, 2)
    """
    call = Call(locals())
    chosen = Journal.of(journal)
    if not os.path.lexists(chosen.path):
        raise JournalError(f"there is no journal at {chosen.path}")
    from gracezo.journal.session import Session  # noqa: PLC0415 - SQLite, only where it is used

    with call.known_by(chosen) as (name, parts), Session(chosen) as session:
        recorded = session.identity
        if recorded is None:
            raise JournalError(f"{chosen.path} is empty")
        limits = session.limits
        limits |= {} if max_queries is None else {"max_queries": max_queries}
        limits |= {} if max_seconds is None else {"max_seconds": max_seconds}
        stop = checks.limits(**limits).or_default()
        identity = replace(recorded, fingerprint=name, parts=parts)
        session.begin(identity, recorded.seed, stop, more_time=max_seconds is not None)
        if session.result is not None:  # whatever has become of its method since
            return session.result
        if recorded.functions():
            raise JournalError(
                f"{chosen.path} cannot give back {', '.join(recorded.functions())}, a function: "
                f"call minimize with the same arguments and journal instead"
            )
        try:
            setup = Setup.checked(
                recorded.x0,
                limits=stop,
                names=session.names,
                random=takes_seed(fun),
                # What was not given is left out: a later version may know more that was not.
                **{name: value for name, value in recorded.arguments.items() if value is not None},
            )
        except (TypeError, ValueError) as error:
            raise JournalError(f"{chosen.path} cannot be resumed: {error}") from error
        with call.evaluator(setup.ground.x0.shape, setup.many_outputs) as evaluate:
            return call.run(setup, evaluate, session)
