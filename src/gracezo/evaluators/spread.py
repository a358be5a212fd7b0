"""Spreads an ask over a pool: cuts it into parts, sends them out, takes what comes back.

The rules of this file:

- A part has one row, unless rows are so cheap that sending them one by one
  would cost more than evaluating them; then it has as many as fill
  `WorkerPool.task_seconds`, and never more than an even share of the ask. All parts
  of an ask have the same size, so that it is known how many rows may be in flight.
- The rows of a part whose worker died are lost, as far as they were begun: the
  run decides whether to ask them again. Those not begun are sent again.
- Nobody is blamed for what another has done, nor lost with it again: the ask after a loss, which has what
  was lost, goes out row by row; and one at a time where it is not known which evaluation ended a worker or
  a pool.
- What is under way when the run ends is counted as far as it was begun: it was paid for.
- Nobody waits for ever: every `TICK` seconds an empty answer says that time goes by.
- A part that takes longer than the time-out is a failure; its worker is ended where it is ours.
- When the pool itself is gone, what was evaluated until then is still handed
  over, and only then `WorkersLost` is raised.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

from gracezo.core.asks import Ask, Offsets
from gracezo.core.errors import EvaluationFailure, Lost, WorkersLost
from gracezo.core.run import Answer
from gracezo.evaluators.report import Report

TICK = 0.1  # seconds after which one who waits looks around
MOST_DEATHS = 10  # of workers in a row that had not begun anything


@dataclass(frozen=True, eq=False)
class Part:
    """The rows of an ask that one worker evaluates in one go."""

    ask: Ask
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def offsets(self) -> Offsets:
        """The displacements of these rows."""
        return self.ask.offsets.part(self.start, self.stop)


@dataclass(frozen=True)
class Loss:
    """A part was lost with its worker; `how` says to what.

    `begun` is how many of its rows had been begun, and `done` how many of these had come to their end; None:
    maybe all, and maybe none. `certain` is whether it was this part that was being evaluated when the worker
    died.
    """

    how: str
    begun: int | None = None
    done: int = 0
    certain: bool = True


class Dropped(NamedTuple):
    """What became of the parts under way when nobody wanted them any more.

    `begun` is how many evaluations had been begun, at most, and `left` how many of them could not be stopped.
    """

    begun: int
    left: int


Delivery: TypeAlias = tuple[Part, Report | Loss | WorkersLost]


class WorkerPool(Protocol):
    """Workers somewhere. Many parts may be under way, all of one ask."""

    @property
    def size(self) -> int:
        """How many parts are worked on at the same time."""
        ...

    @property
    def window(self) -> int:
        """How many parts may be under way: more than `size` where they can wait beside a worker."""
        ...

    @property
    def task_seconds(self) -> float:
        """How long a part should take at least, for its sending to be of no weight."""
        ...

    def send(self, part: Part) -> None:
        """Give a part to a worker. Raises `WorkersLost` when that is not possible any more."""
        ...

    def receive(self, patience: float) -> Sequence[Delivery]:
        """Wait until something has come back, but only so many seconds; return all that has."""
        ...

    def overdue(self, seconds: float) -> Sequence[Part]:
        """End the parts that have been worked on for longer, or give them up, and return them."""
        ...

    def drop(self) -> Dropped:
        """End the parts that are under way, or forget them."""
        ...


class Spread:
    """The evaluator over a pool.

    Parameters
    ----------
    pool
        Who evaluates.
    whole_shares
        Whether a worker gets its share of an ask in one part: for functions that take many points at once.
    timeout
        Seconds that one call of the function may take.
    """

    def __init__(self, pool: WorkerPool, whole_shares: bool = False, timeout: float | None = None) -> None:
        self.unfinished = 0  # evaluations that had been begun when the run ended, without an answer
        self.abandoned = 0  # those of them that could not be stopped
        self._pool = pool
        self._whole_shares = whole_shares
        self._timeout = timeout
        self._row_seconds: float | None = None
        self._singly = False  # whether each row is to go by itself
        self._careful = False  # whether only one may be under way, to see whose fault it is

    @property
    def size(self) -> int:
        """How many workers there are."""
        return self._pool.size

    def at_once(self, count: int) -> int:
        """Return how many rows of an ask of `count` may be in flight."""
        return min(count, self._window * self._rows(count))

    def __call__(self, ask: Ask) -> Generator[Sequence[Answer], None, None]:
        """Yield the answers as they come back, and nothing from time to time."""
        pool, singly, careful = self._pool, self._singly, self._careful
        self._singly = self._careful = False
        todo = _Todo(ask, 1 if singly else self._rows(len(ask)))
        under_way = 0
        gone: WorkersLost | None = None
        try:
            while True:
                try:
                    while gone is None and todo and under_way < (1 if careful else self._window):
                        pool.send(todo.take())
                        under_way += 1
                except WorkersLost as lost:
                    gone = lost
                if not under_way:
                    break
                deliveries = pool.receive(TICK)
                late = [] if self._timeout is None else pool.overdue(self._timeout)
                under_way -= len(deliveries) + len(late)
                answers = [answer for part in late for answer in _late(part, self._timeout)]
                for part, came in deliveries:
                    if isinstance(came, WorkersLost):
                        gone = gone or came
                    else:
                        answers += self._answers(todo, part, came, careful)
                yield answers
        finally:
            if under_way:
                self.unfinished, self.abandoned = pool.drop()
        if gone is not None:
            raise gone

    def _answers(self, todo: _Todo, part: Part, came: Report | Loss, careful: bool) -> list[Answer]:
        if isinstance(came, Loss):
            lost = todo.lost(part, came)
            self._singly = self._singly or bool(lost)
            unclear = bool(lost) and not any(loss.blamed for _, loss in lost)
            self._careful = self._careful or unclear or careful
            return list(lost)
        self._learn(came)
        return list(zip(range(part.start, part.stop), came.outcomes, strict=True))

    @property
    def _window(self) -> int:
        """How many parts may be under way: with a time-out none may wait, since its time would be counted."""
        return self._pool.window if self._timeout is None else min(self._pool.size, self._pool.window)

    def _rows(self, count: int) -> int:
        """Return how many rows of an ask of `count` make a part."""
        share = -(-count // self._pool.size)
        if self._whole_shares:
            return share
        if self._row_seconds is None or self._timeout is not None:
            return 1
        return max(1, min(share, int(self._pool.task_seconds / self._row_seconds)))

    def _learn(self, report: Report) -> None:
        """Follow the time that a row takes, smoothed over the latest few parts."""
        seconds = max(report.seconds / len(report.outcomes), 1e-9)
        known = self._row_seconds
        self._row_seconds = seconds if known is None else (known + seconds) / 2


class _Todo:
    """The rows of an ask that nobody works on: not yet sent, or not begun by a worker that died."""

    def __init__(self, ask: Ask, rows: int) -> None:
        self._ask = ask
        self._rows = rows
        self._next = 0
        self._again: deque[Part] = deque()
        self._deaths = 0  # in a row, before anything was begun

    def __bool__(self) -> bool:
        return bool(self._again) or self._next < len(self._ask)

    def take(self) -> Part:
        """Return the next part."""
        if self._again:
            return self._again.popleft()
        start = self._next
        self._next = min(start + self._rows, len(self._ask))
        return Part(self._ask, start, self._next)

    def lost(self, part: Part, loss: Loss) -> list[tuple[int, Lost]]:
        """Return the rows that were lost, and take back those that had not been begun.

        One is to blame if it alone was being evaluated.
        """
        begun = part.stop if loss.begun is None else min(part.start + loss.begun, part.stop)
        self._deaths = self._deaths + 1 if begun == part.start else 0
        if self._deaths > MOST_DEATHS:
            begun = part.stop
        if begun < part.stop:
            self._again.append(Part(self._ask, begun, part.stop))
        alone = loss.certain and begun - part.start - loss.done == 1
        return [(row, Lost(loss.how, alone and row == begun - 1)) for row in range(part.start, begun)]


def _late(part: Part, seconds: float | None) -> list[Answer]:
    told = f"the evaluation took longer than {seconds:g} seconds, its time-out"
    return [(row, EvaluationFailure(told)) for row in range(part.start, part.stop)]
