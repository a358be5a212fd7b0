"""The driver: lets an evaluator answer what a run asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from gracezo.core.asks import Ask
from gracezo.core.errors import EvaluationFailure
from gracezo.core.result import Status
from gracezo.core.run import Run


class Evaluator(Protocol):
    """Answers asks; the only thing that meets the user's function."""

    def __call__(self, ask: Ask) -> Iterator[tuple[int, float | EvaluationFailure]]:
        """Yield (row, value or failure) once for each row, in any order, as they become known."""
        ...


def drive(run: Run, evaluate: Evaluator) -> None:
    """Answer a run until it is over."""
    try:
        while (ask := run.next()) is not None:
            for row, outcome in evaluate(ask):
                run.record(row, outcome)
                if run.stop_if_late():
                    return
    except KeyboardInterrupt:
        run.stop(Status.STOPPED, "interrupted; this is the best so far")
