"""The driver: lets an evaluator answer what a run asks."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Protocol

from gracezo.core.asks import Ask
from gracezo.core.errors import EvaluationError, WorkersLost
from gracezo.core.interrupts import DelayedSignals
from gracezo.core.result import Status
from gracezo.core.run import Answer, Run


class Evaluator(Protocol):
    """Answers asks; the only thing that meets the user's function."""

    def __call__(self, ask: Ask) -> Generator[Sequence[Answer], None, None]:
        """Yield the answers as they become known, together those that came of one call; in any order.

        One who waits yields nothing from time to time, so that the run sees whether its time has passed.
        The generator is closed early when the run ends in the middle of an
        ask: what has not been answered is then to be dropped. It raises
        `WorkersLost` when no further answer can come.

        One who has an attribute `unfinished` says there how many evaluations had been begun when it was
        closed or interrupted: they are paid for.
        """
        ...


def rows_at_once(evaluate: Evaluator, count: int) -> int:
    """Return how many rows of an ask of `count` an evaluator may have in flight: all, if it does not say."""
    tells: Callable[[int], int] | None = getattr(evaluate, "at_once", None)
    return count if tells is None else tells(count)


def drive(run: Run, evaluate: Evaluator, caller: Evaluator | None = None) -> None:
    """Answer a run until it is over.

    `caller` is who calls the function, where `evaluate` only stands in front of it. An interrupt ends the
    run, and with it the run in whose function this one is.
    """
    queries = 0
    delayed = DelayedSignals()
    try:
        with delayed:
            while (ask := run.next()) is not None:
                delayed.deliver()  # before anything is bought
                known = evaluate(ask)
                try:
                    for answers in known:
                        run.record(answers)
                        delayed.deliver()
                        if run.stop_if_late():
                            return
                finally:
                    queries = run.nfev
                    known.close()
                    run.unfinished(getattr(caller or evaluate, "unfinished", 0))
    except KeyboardInterrupt:
        run.stop(Status.STOPPED, "interrupted; this is the best so far")
        if delayed.nested:
            raise
    except EvaluationError as error:
        error.result = run.result()  # with what was under way beside the one that failed
        raise
    except WorkersLost as lost:
        run.stop(Status.FAILED, str(lost))
        raise EvaluationError(str(lost), queries + 1, run.result()) from (lost.__cause__ or lost)
