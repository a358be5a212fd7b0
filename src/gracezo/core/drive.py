"""The driver: lets an evaluator answer what a run asks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from gracezo.core.asks import Ask
from gracezo.core.result import Status
from gracezo.core.run import Answer, Run


class Evaluator(Protocol):
    """Answers asks; the only thing that meets the user's function."""

    def __call__(self, ask: Ask) -> Iterator[Sequence[Answer]]:
        """Yield the answers as they become known, together those that came of one call; in any order."""
        ...


def drive(run: Run, evaluate: Evaluator) -> None:
    """Answer a run until it is over."""
    try:
        while (ask := run.next()) is not None:
            for answers in evaluate(ask):
                run.record(answers)
                if run.stop_if_late():
                    return
    except KeyboardInterrupt:
        run.stop(Status.STOPPED, "interrupted; this is the best so far")
