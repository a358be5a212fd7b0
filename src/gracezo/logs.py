"""The logger named "gracezo": steps, failures and the end at INFO, what is asked and decided at DEBUG.

Decisions come from the algorithm itself, which yields them (`Decided`) between its asks; the run logs them.

It is silent until a program says otherwise, and a run that nobody listens to pays nothing for it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Sequence
from contextlib import closing

from gracezo.core.asks import Ask, Point
from gracezo.core.drive import Evaluator, rows_at_once
from gracezo.core.errors import EvaluationFailure
from gracezo.core.run import Answer, Run

logger = logging.getLogger("gracezo")
logger.addHandler(logging.NullHandler())

OnMove = Callable[[Run, Point], None]


def steps(then: OnMove | None = None) -> OnMove | None:
    """Return what logs each iterate and calls `then`; `then` itself if nobody listens."""
    if not logger.isEnabledFor(logging.INFO):
        return then

    def on_move(run: Run, to: Point) -> None:
        if run.nit == 0:
            logger.info("start: f = %.10g", to.value)
        else:
            logger.info("step %d: f = %.10g after %d queries", run.nit, to.value, run.nfev)
        if then is not None:
            then(run, to)

    return on_move


def asks(run: Run, evaluate: Evaluator) -> Evaluator:
    """Return an evaluator that logs what is asked and what fails; `evaluate` itself if nobody listens."""
    return _Logged(run, evaluate) if logger.isEnabledFor(logging.INFO) else evaluate


class _Logged:
    """An evaluator that logs what it passes on."""

    def __init__(self, run: Run, evaluate: Evaluator) -> None:
        self._run = run
        self._evaluate = evaluate

    def at_once(self, count: int) -> int:
        return rows_at_once(self._evaluate, count)

    def __call__(self, ask: Ask) -> Generator[Sequence[Answer], None, None]:
        run = self._run
        logger.debug("round %d: %d × %s after %d queries", run.rounds, len(ask), ask.role.value, run.nfev)
        with closing(self._evaluate(ask)) as arriving:
            for answers in arriving:
                for _, outcome in answers:
                    if isinstance(outcome, EvaluationFailure):
                        logger.info("an evaluation failed: %s", outcome)
                yield answers


def end(run: Run) -> None:
    """Log how a run ended."""
    if run.finish is not None:
        logger.info("end after %d queries: %s", run.nfev, run.finish.message)
