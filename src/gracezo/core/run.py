"""One run: the only place where a query is counted, limited and recorded.

A `Run` stands between an algorithm and whoever answers it. `next()` gives the
ask that is to be answered now, or None when the run is over; `record()` takes
one answer. The rules:

- `nfev` goes up by one for each recorded answer, failed ones too, and at the end by the evaluations that
  were under way then; nowhere else.
- An ask goes out only when the budget reaches for it and for its reserve;
  of a divisible ask, as much goes out as the budget reaches for.
- Answers may arrive in any order; the algorithm sees them all at once, in the
  order of the ask, so nothing depends on who answered first.
- The best point is taken from asks whose role may answer, and is up to date
  whenever the run stops, also in the middle of a batch (see `standing`).
- Where there are bounds, no point that goes out lies outside of them.
- No point that is not finite goes out: the run ends before it.
- What a failed answer means is decided by the rule in `failures`. Rows that are
  asked again are bought like any others, also those that were lost with a worker.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from contextvars import copy_context
from typing import TypeAlias

import numpy as np

from gracezo.core.answers import lowest
from gracezo.core.asked import Asked
from gracezo.core.asks import Ask, Decided, Moved, OutOfQueries, Point, Steps
from gracezo.core.box import Box, ClipToBox
from gracezo.core.errors import EvaluationError, EvaluationFailure, Irreparable, MethodError
from gracezo.core.failures import Failures, OnFailure
from gracezo.core.finite import Finite
from gracezo.core.limits import Limits
from gracezo.core.names import Names
from gracezo.core.outputs import Outputs
from gracezo.core.result import Finish, Result, Status
from gracezo.core.sampling import Sampling
from gracezo.core.standing import Reached, Standing
from gracezo.core.types import FloatArray

Outcome: TypeAlias = float | FloatArray | EvaluationFailure  # a value, many outputs, or why there is neither
Answer: TypeAlias = tuple[int, Outcome]  # (row of the ask, what came of it)


class Run:
    """The ledger of one run. See the rules on top of this file.

    Parameters
    ----------
    steps
        The algorithm, not yet started.
    x0
        Where it starts, in the user's shape.
    limits
        When to stop.
    seed
        The seed of the run, for the result.
    on_move
        Called with the run and each iterate, x0 first; may raise StopIteration.
    elapsed
        Returns the seconds that count for `max_seconds`; a watch that starts now, if not given.
    on_failure
        What becomes of failed evaluations.
    bounds
        The box that no point may leave, if there is one.
    sample
        The seed that the function gets, if it takes one.
    names
        What the coordinates are called, for the result.
    outputs
        What keeps the answers, if they are vectors.
    start
        x0 as the algorithm has it: flat, or a place; flat, if not given.
    """

    def __init__(
        self,
        steps: Steps[Finish],
        x0: FloatArray,
        limits: Limits,
        seed: int,
        on_move: Callable[[Run, Point], None] | None = None,
        elapsed: Callable[[], float] | None = None,
        on_failure: OnFailure | None = None,
        bounds: Box | None = None,
        sample: int | None = None,
        names: Names | None = None,
        outputs: Outputs | None = None,
        start: FloatArray | None = None,
    ) -> None:
        self.x0 = x0
        self.start = x0.ravel() if start is None else start
        self.limits = limits
        self.seed = seed
        self.names = names or Names(x0.shape)
        self.nfev = 0
        self.rounds = 0
        self.widest = 0  # rows of the largest batch
        self.reasked = 0  # kept by whoever asks again
        self.late = False  # whether the time had passed
        self.finish: Finish | None = None
        self._steps = steps
        self._on_move = on_move
        self._standing = Standing(limits.target)
        self._refused = 0  # queries of what the budget has refused, or cut short, last
        self._asked: Asked | None = None  # what is being answered
        self._failures = Failures(on_failure or OnFailure())
        self._elapsed = elapsed or _watch()
        self._clip = None if bounds is None else ClipToBox(bounds)
        self._sampling = None if sample is None else Sampling(sample)
        self._finite = Finite()
        self._outputs = outputs
        # What the user has made of an overflow is for his own code: the algorithm has a context of its own.
        self._quietly = copy_context()
        self._quietly.run(np.seterr, all="ignore")

    # ------------------------------------------------------------ the conversation

    def next(self) -> Ask | None:
        """Return the ask to be answered now, or None when the run is over.

        What of it has been answered already is not asked again.
        """
        if self.finish is not None:
            return None
        asked = self._asked
        if asked is None:
            self._advance(None)
        elif asked.missing == 0:
            if asked.lost or (asked.failed and self._failures.retries):
                self._retry(asked)
            else:
                answer = self._settle(asked)
                if self.finish is None:
                    self._advance(answer)
        return None if self._asked is None else self._asked.open()

    def record(self, answers: Iterable[Answer]) -> None:
        """Take answers to rows of the ask that `next` gave last: those that became known together.

        Raises
        ------
        EvaluationError
            When one of them is a failure that ends the run.
        """
        asked = self._asked
        if asked is None:
            raise RuntimeError("nothing is being asked")
        fatal: int | None = None
        for given, came in answers:
            row = given if asked.given is None else int(asked.given[given])
            asked.missing -= 1
            self.nfev += 1
            outcome = came
            if self._outputs is not None and isinstance(came, np.ndarray):
                outcome = self._outputs.take(row, came)
            if isinstance(outcome, EvaluationFailure):
                failure = self._failures.came(row, outcome)
                if failure is None:
                    asked.lost.append(row)
                    continue
                asked.failed[row] = self.nfev, failure
                if fatal is None and isinstance(failure, Irreparable):
                    fatal = row
            else:
                asked.values[row] = outcome  # type: ignore[assignment]  # a vector only where there are outputs
        if asked.failed:
            if fatal is None:
                fatal = self._failures.fatal(asked.failed, asked.values)
            if fatal is not None:
                query, failure = asked.failed[fatal]
                message = f"query {query:,} failed: {failure}"
                self.stop(Status.FAILED, message)
                raise EvaluationError(message, query, self.result()) from (failure.__cause__ or failure)

    def unfinished(self, count: int) -> None:
        """Count evaluations that had been begun when the run ended, and gave no answer."""
        if count:
            self.nfev += count
            self._failures.end(count)

    def bearable(self, failures: Mapping[int, EvaluationFailure]) -> list[int]:
        """Return those of the failed rows of the current ask that would not end the run."""
        return self._failures.bearable(failures)

    def stop(self, status: Status, message: str) -> None:
        """End the run now; what has been answered so far still counts."""
        if self.finish is None:
            if self._asked is not None:
                self._settle(self._asked)
            self._end(Finish(status, message))

    def stop_if_late(self) -> bool:
        """End the run if its time has passed; return whether it is over."""
        limit = self.limits.max_seconds
        if self.finish is None and limit is not None and self._elapsed() >= limit:
            self.late = True
            self.stop(Status.SPENT, f"{limit:g} seconds have passed")
        return self.finish is not None

    # ------------------------------------------------------------ inside

    def _advance(self, answer: FloatArray | OutOfQueries | None) -> None:
        """Let the algorithm think, given this, until it asks for something that can be bought, or is done."""
        try:
            while True:
                said = self._tell(answer)
                if isinstance(said, Moved):
                    self._move(said.to)
                    if self.finish is not None:
                        return
                    answer = _NOTHING
                    continue
                if self.stop_if_late():
                    return
                count = len(said)
                bought = self._affordable(said, count)
                if bought:
                    if self._clip is not None:
                        said = self._clip(said)
                    if not self._finite(said):
                        self._end(Finish(Status.STUCK, _OVERFLOW))
                        return
                    if self._sampling is not None:
                        said = self._sampling(said)
                    self._asked = Asked(said if bought == count else said.head(bought), bought)
                    self._failures.begin(said.role)
                    self.rounds += 1
                    self.widest = max(self.widest, bought)
                    return
                answer = OutOfQueries()
        except StopIteration as end:
            finish: Finish = end.value
            if finish.status is Status.SPENT:
                finish = Finish(Status.SPENT, self.spent, finish.answer).adding(finish.message)
            self._end(finish)
        except OutOfQueries:
            self._end(Finish(Status.SPENT, self.spent))

    def _tell(self, answer: FloatArray | OutOfQueries | None) -> Ask | Moved:
        try:
            spent = isinstance(answer, OutOfQueries)
            said = self._quietly.run(self._steps.throw if spent else self._steps.send, answer)  # type: ignore[arg-type]  # None begins it
            while isinstance(said, Decided):
                _LOG.debug("after %d queries: %s", self.nfev, said.what)
                said = self._quietly.run(self._steps.send, _NOTHING)
            return said
        except (StopIteration, OutOfQueries):
            raise
        except Exception as error:  # an error in the method must not lose what was paid for
            if self.nfev == 0:
                raise
            message = f"the method failed after {self.nfev:,} queries: {type(error).__name__}: {error}"
            self._end(Finish(Status.FAILED, message))
            raise MethodError(message, self.result()) from error

    def _retry(self, asked: Asked) -> None:
        """Ask failed and lost rows again, or tell the algorithm that the budget does not reach for them."""
        failed = list(asked.failed) if self._failures.retries else []
        again = asked.ask.take(np.array(failed + asked.lost))
        count = len(again)
        if self._affordable(again, count) == count:
            self._failures.retry(len(failed))
            asked.again(failed)
            self.rounds += 1
            return
        self._settle(asked)
        if self.finish is None:
            self._advance(OutOfQueries())

    def _affordable(self, ask: Ask, count: int) -> int:
        """Return how many of its rows to buy: all, or none, or as many as a divisible one can have."""
        if self.limits.max_queries is None:
            return count
        left = self.limits.max_queries - self.nfev
        if count + ask.reserve <= left:
            return count
        self._refused = count + ask.reserve
        return max(min(left - ask.reserve, count), 0) if ask.role.divisible else 0

    def _settle(self, asked: Asked) -> FloatArray:
        """Close the current ask: update the best point and return the answers."""
        ask, outputs = asked.ask, self._outputs
        values = np.array(asked.values)
        answers = values if outputs is None else outputs.matrix(len(values))
        lower = False
        if ask.role.may_answer:
            row = lowest(values)
            if lower := self._standing.betters(values[row], ask.role.margin):
                at = None if outputs is None else outputs.at(row)
                best = Reached(ask, row, float(values[row]), at)
                # A batch may be far larger than the one point of it.
                self._standing.take(best if len(values) == 1 else best.point(), ask.role.margin)
        self._clear()
        if lower and self._standing.target_reached and self._standing.begun:
            assert self._standing.best is not None
            self._move(self._standing.best)
        return answers

    def _move(self, to: Point) -> None:
        self._standing.move(self.nfev, to)
        if self._standing.target_reached:
            self._end(Finish(Status.CONVERGED, f"the target {self.limits.target:g} is reached"))
        elif self.limits.max_steps is not None and self.nit >= self.limits.max_steps:
            self._end(Finish(Status.SPENT, self.limits.made))
        if self._on_move is not None:
            try:
                self._on_move(self, to)
            except StopIteration:
                self.stop(Status.STOPPED, "stopped by the callback")

    def _end(self, finish: Finish) -> None:
        self.finish = finish
        if finish.answer is not None:
            self._standing.take(finish.answer, 0.0)
        self._clear()
        self._quietly.run(self._steps.close)

    def _clear(self) -> None:
        """Nothing is being asked."""
        self._asked = None
        if self._outputs is not None:
            self._outputs.clear()

    # ------------------------------------------------------------ what came of it

    @property
    def curtailed(self) -> bool:
        """Whether the budget has refused or cut short something."""
        return self._refused > 0

    @property
    def spent(self) -> str:
        """How many queries are spent, in words, and what the rest did not reach for."""
        if not self.curtailed:
            return "the queries are spent"  # those that a method has given itself
        return self.limits.spent(self.nfev, self._refused)

    @property
    def nit(self) -> int:
        """Steps made."""
        return self._standing.nit

    @property
    def seconds(self) -> float:
        """The seconds that count for `max_seconds`."""
        return self._elapsed()

    @property
    def best(self) -> Point | None:
        """The best point that may be the answer, or None before the first value."""
        return self._standing.best

    def result(self) -> Result:
        """Return the result so far."""
        best, outputs = self.best, self._outputs
        finish = self.finish or Finish(Status.SPENT, "still running")
        fields = {} if outputs is None or best is None or best.outputs is None else outputs.fields(best)
        common = self._standing.fields(self.start, self.x0.shape) | {
            "nfev": self.nfev,
            "success": finish.status == Status.CONVERGED,
            "status": int(finish.status),
            "message": finish.message + self._failures.summary,
            "names": self.names,
            "rounds": self.rounds,
            "seed": self.seed,
            "reasked": self.reasked,
        }
        return Result(common | fields)


_LOG = logging.getLogger("gracezo")  # what an algorithm says of its decisions; see `gracezo.logs`
_NOTHING = np.zeros(0)
_OVERFLOW = "stuck: the next point would not be finite; f may have no lower bound, or numbers overflow"


def _watch() -> Callable[[], float]:
    began = time.monotonic()
    return lambda: time.monotonic() - began
