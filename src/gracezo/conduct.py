"""What the entry points share: from their arguments to a run, and the run to its end."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import TYPE_CHECKING, Any

from scipy.optimize import OptimizeResult

from gracezo import checks, logs
from gracezo.core.drive import Evaluator, drive
from gracezo.core.interrupts import DelayedSignals
from gracezo.core.limits import Limits
from gracezo.core.result import Result
from gracezo.core.run import Run
from gracezo.evaluators import choose
from gracezo.evaluators.objective import Objective, takes_seed
from gracezo.evaluators.serial import Serial
from gracezo.evaluators.spread import Spread
from gracezo.journal.function import Parts
from gracezo.journal.identity import Identity, known_by
from gracezo.journal.settings import Journal
from gracezo.methods import catalog
from gracezo.progress import live_line, notify
from gracezo.setup import Ground, Setup

if TYPE_CHECKING:  # SQLite is loaded for runs with a journal only
    from gracezo.journal.session import Session


@cache
def _parameters(*takers: Callable[..., Any]) -> frozenset[str]:
    """Return the names of what these functions take."""
    return frozenset(name for taker in takers for name in inspect.signature(taker).parameters)


class Call:
    """One call of an entry point: its arguments by name, and what is made of them.

    Parameters
    ----------
    given
        The arguments of the entry point, which are those of `minimize` as far as it has them: what is said
        of the problem and the rules of the run (the keywords of `Setup.checked`), when to stop, who
        evaluates, and who looks on. Those of other names are the entry point's own.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given
        self._callback = checks.callback(given.get("callback"))
        if "fun" in given:
            checks.objective("fun", given["fun"])
        args = given.get("args")
        if isinstance(args, str) and "method" in given and args in catalog.names():
            raise TypeError(
                f"args must be what the function takes after the point; given: {args!r} "
                f"(the method is method={args!r})"
            )

    def setup(self, **instead: Any) -> Setup:
        """Return the problem with its method, checked; `instead` goes before what was given."""
        instead = {"limits": self._limits().or_default()} | instead
        return Setup.checked(**self._told(Setup.checked, Ground.checked, **instead))

    def ground(self, **instead: Any) -> Ground:
        """Return where to begin, without a method and with no limit but those that were given."""
        return Ground.checked(**self._told(Ground.checked, limits=self._limits(), **instead))

    def _limits(self) -> Limits:
        return checks.limits(*map(self._given.get, ("max_queries", "max_steps", "max_seconds", "target")))

    def _told(self, *takers: Callable[..., Any], **instead: Any) -> dict[str, Any]:
        """Return the arguments that these functions take."""
        names = _parameters(*takers)
        told = {name: value for name, value in self._given.items() if name in names}
        if "x" in self._given:
            told |= {"x0": self._given["x"], "called": "x"}
        return told | {"random": "fun" in self._given and takes_seed(self._given["fun"])} | instead

    @property
    def _args(self) -> tuple[Any, ...]:
        """What the function takes after the point: as with SciPy, one that is alone may stand for itself."""
        args = self._given.get("args", ())
        return args if isinstance(args, tuple) else (args,)

    def evaluator(self, shape: tuple[int, ...], many_outputs: bool) -> AbstractContextManager[Evaluator]:
        """Return what calls the function, open while the run goes on."""
        objective = Objective(self._given["fun"], self._args, shape, many_outputs)
        return choose.evaluator(
            objective,
            self._given.get("workers"),
            self._given.get("vectorized", False),
            self._given.get("copy", True),
            checks.timeout(self._given.get("timeout")),
        )

    def known_by(self, journal: Journal) -> AbstractContextManager[tuple[str, Parts]]:
        """Give the name of the function and digests of its parts, for the time of a run."""
        return known_by(journal, self._given["fun"], self._args)

    def ask(self, run: Run, many_outputs: bool = False) -> None:
        """Answer a run until it is over."""
        with self.evaluator(run.x0.shape, many_outputs) as evaluate:
            drive(run, evaluate)

    def carry_out(self, setup: Setup) -> Result:
        """Run a method to its end, with a journal if there is one."""
        with self.evaluator(setup.ground.x0.shape, setup.many_outputs) as evaluate:
            journal = self._given.get("journal")
            if journal is None:
                return self.run(setup, evaluate)
            from gracezo.journal.session import Session  # noqa: PLC0415 - SQLite, only where it is used

            chosen = Journal.of(journal)
            with self.known_by(chosen) as (name, parts):
                identity = setup.identity(name, parts)
                with Session(chosen) as session:
                    return self.run(begun(session, setup, identity), evaluate, session)

    def run(self, setup: Setup, evaluate: Evaluator, session: Session | None = None) -> Result:
        """Run to the end as `conduct` does, shown to those who look on."""
        return conduct(setup, evaluate, self._callback, self._given.get("progress", False), session)


def begun(session: Session, setup: Setup, identity: Identity) -> Setup:
    """Begin the run of a journal, or go on with it: return the setup with the seed that is recorded."""
    with DelayedSignals():
        seed = session.begin(identity, setup.ground.seed, setup.ground.limits)
        session.call(setup.ground.names)
    return setup.recorded(seed)


def conduct(
    setup: Setup,
    evaluate: Evaluator,
    callback: Callable[[OptimizeResult], object] | None,
    progress: bool,
    session: Session | None = None,
) -> Result:
    """Run to the end, with a session of a journal in between if there is one."""
    if session is not None and session.result is not None:
        return session.result
    caller, pool = evaluate, evaluate if isinstance(evaluate, Spread) else None
    on_move = logs.steps(None if callback is None else notify(callback))
    workers = 1 if pool is None else pool.size
    if session is None:
        run = setup.run(on_move)
        evaluate = logs.asks(run, evaluate)
    else:
        run = setup.run(session.on_move(on_move), session.elapsed)
        evaluate = session.evaluator(run, logs.asks(run, evaluate))
    with live_line(run) if progress else nullcontext():
        try:
            drive(run, evaluate, caller)
        finally:
            logs.end(run)
    if isinstance(caller, Serial):
        caller.release()  # before x is written
    result = run.result()
    if pool is not None and pool.abandoned:
        result.message += f"; evaluations that could not be stopped, and were abandoned: {pool.abandoned}"
    if workers > run.widest > 0:
        result.message += (
            f"; of {workers} workers at most {run.widest} had work: batch={workers} would use all"
        )
    return result
