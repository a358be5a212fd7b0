"""What the entry points share: an evaluator for the user's function, and a run to its end."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scipy.optimize import OptimizeResult

from gracezo import checks, logs
from gracezo.core.drive import Evaluator, drive
from gracezo.core.result import Result
from gracezo.evaluators import choose
from gracezo.evaluators.choose import Workers
from gracezo.evaluators.objective import Objective
from gracezo.evaluators.spread import Spread
from gracezo.journal.identity import Identity, known_by
from gracezo.journal.settings import Journal
from gracezo.progress import live_line, notify
from gracezo.setup import Setup

if TYPE_CHECKING:  # SQLite is loaded for runs with a journal only
    from gracezo.journal.session import Session


def carry_out(
    setup: Setup,
    fun: Callable[..., Any],
    args: tuple[Any, ...],
    *,
    vectorized: bool,
    workers: Workers,
    copy: bool,
    timeout: object,
    callback: Callable[[OptimizeResult], object] | None,
    progress: bool,
    journal: str | os.PathLike[str] | Journal | None,
) -> Result:
    """Run a function to the end, with a journal if there is one."""
    with evaluator(
        fun,
        args,
        setup.x0.shape,
        vectorized,
        workers,
        copy,
        many_outputs=setup.many_outputs,
        timeout=timeout,
    ) as evaluate:
        if journal is None:
            return conduct(setup, evaluate, callback, progress)
        from gracezo.journal.session import Session  # noqa: PLC0415 - SQLite, only where it is used

        chosen = Journal.of(journal)
        with known_by(chosen, fun, arguments_of(args)) as (name, parts):
            identity = Identity.of(name, setup.x0, setup.arguments, parts, setup.defaults)
            with Session(chosen) as session:
                drawn = session.begin(identity, setup.seed, setup.limits)
                session.call(setup.names)
                return conduct(replace(setup, seed=drawn), evaluate, callback, progress, session)


def conduct(
    setup: Setup,
    evaluate: Evaluator,
    callback: Callable[[OptimizeResult], object] | None,
    progress: bool,
    session: Session | None = None,
) -> Result:
    """Run to the end, with a session of a journal in between if there is one."""
    if session is not None and session.result is not None:
        session.result.names = setup.names
        return session.result
    crew = evaluate if isinstance(evaluate, Spread) else None
    on_move = logs.steps(None if callback is None else notify(callback))
    workers = 1 if crew is None else crew.size
    if session is None:
        run = setup.run(on_move)
        evaluate = logs.asks(run, evaluate)
    else:
        run = setup.run(session.on_move(on_move), session.elapsed)
        evaluate = session.evaluator(run, logs.asks(run, evaluate))
    with live_line(run) if progress else nullcontext():
        try:
            drive(run, evaluate)
        finally:
            logs.end(run)
    result = run.result()
    if crew is not None and crew.abandoned:
        result.message += f"; evaluations that could not be stopped, and were abandoned: {crew.abandoned}"
    if workers > run.widest > 0:
        result.message += (
            f"; of {workers} workers at most {run.widest} had work: batch={workers} would use all"
        )
    return result


def evaluator(
    fun: Callable[..., Any],
    args: tuple[Any, ...],
    shape: tuple[int, ...],
    vectorized: bool,
    workers: Workers,
    copy: bool,
    *,
    many_outputs: bool = False,
    timeout: object = None,
) -> AbstractContextManager[Evaluator]:
    """Return what calls the function, open while the run goes on."""
    objective = Objective(fun, arguments_of(args), shape, many_outputs)
    return choose.evaluator(objective, workers, vectorized, copy, checks.timeout(timeout))


def arguments_of(args: object) -> tuple[Any, ...]:
    """Return `args` as a tuple: as with SciPy, one that is alone may stand for itself."""
    return args if isinstance(args, tuple) else (args,)
