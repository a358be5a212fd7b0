"""Spreads an ask over a crew: cuts it into parts, sends them out, takes what comes back.

The rules of this file:

- A part has one row, unless rows are so cheap that sending them one by one
  would cost more than evaluating them; then it has as many as fill
  `Crew.task_seconds`, and never more than an even share of the ask.
- A part whose worker died is sent again, its rows one by one. A row that
  takes its worker with it `MOST_LOSSES` times is a failed evaluation.
- When the crew itself is gone, what was evaluated until then is still handed
  over, and only then `WorkersLost` is raised.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from gracezo.core.asks import Ask, Offsets
from gracezo.core.errors import EvaluationFailure, WorkersLost
from gracezo.core.run import Answer
from gracezo.evaluators.report import Report

MOST_LOSSES = 3


@dataclass(frozen=True, eq=False)
class Part:
    """The rows of an ask that one worker evaluates in one go."""

    ask: Ask
    start: int
    stop: int
    losses: int = 0

    @property
    def offsets(self) -> Offsets:
        """The displacements of these rows."""
        return self.ask.offsets.part(self.start, self.stop)


@dataclass(frozen=True)
class Loss:
    """A part was lost with its worker, or with several that tried it in turn; `how` says to what."""

    how: str
    times: int = 1


Delivery: TypeAlias = tuple[Part, Report | Loss | WorkersLost]


class Crew(Protocol):
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

    def receive(self) -> Sequence[Delivery]:
        """Wait until something has come back, and return all that has."""
        ...

    def drop(self) -> None:
        """Forget the parts that are under way, and stop them where that is possible."""
        ...


class Spread:
    """The evaluator over a crew.

    Parameters
    ----------
    crew
        Who evaluates.
    whole_shares
        Whether a worker gets its share of an ask in one part: for functions that take many points at once.
    """

    def __init__(self, crew: Crew, whole_shares: bool = False) -> None:
        self._crew = crew
        self._whole_shares = whole_shares
        self._row_seconds: float | None = None

    @property
    def size(self) -> int:
        """How many workers there are."""
        return self._crew.size

    def __call__(self, ask: Ask) -> Generator[Sequence[Answer], None, None]:
        """Yield the answers as they come back."""
        crew = self._crew
        todo = _Todo(ask)
        under_way = 0
        gone: WorkersLost | None = None
        try:
            while True:
                try:
                    while gone is None and under_way < crew.window and todo:
                        crew.send(todo.take(self._rows(len(ask))))
                        under_way += 1
                except WorkersLost as lost:
                    gone = lost
                if not under_way:
                    break
                answers: list[Answer] = []
                for part, came in crew.receive():
                    under_way -= 1
                    if isinstance(came, Report):
                        answers += zip(range(part.start, part.stop), came.outcomes, strict=True)
                        self._learn(came)
                    elif isinstance(came, Loss):
                        answers += todo.again(part, came)
                    else:
                        gone = gone or came
                if answers:
                    yield answers
        finally:
            if under_way:
                crew.drop()
        if gone is not None:
            raise gone

    def _rows(self, count: int) -> int:
        """Return how many rows of an ask of `count` make a part."""
        share = -(-count // self._crew.size)
        if self._whole_shares:
            return share
        if self._row_seconds is None:
            return 1
        return max(1, min(share, int(self._crew.task_seconds / self._row_seconds)))

    def _learn(self, report: Report) -> None:
        """Follow the time that a row takes, smoothed over the latest few parts."""
        seconds = max(report.seconds / len(report.outcomes), 1e-9)
        known = self._row_seconds
        self._row_seconds = seconds if known is None else (known + seconds) / 2


class _Todo:
    """The rows of an ask that nobody works on: those not yet sent, and those that were lost."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._next = 0
        self._lost: deque[Part] = deque()

    def __bool__(self) -> bool:
        return bool(self._lost) or self._next < len(self._ask)

    def take(self, rows: int) -> Part:
        """Return the next part, of at most so many rows."""
        if self._lost:
            return self._lost.popleft()
        start = self._next
        self._next = min(start + rows, len(self._ask))
        return Part(self._ask, start, self._next)

    def again(self, part: Part, loss: Loss) -> list[Answer]:
        """Take back a part whose worker died, or give it up and return its failure."""
        losses = part.losses + loss.times
        if part.stop - part.start > 1:
            self._lost += [Part(self._ask, row, row + 1) for row in range(part.start, part.stop)]
        elif losses < MOST_LOSSES:
            self._lost.append(Part(self._ask, part.start, part.stop, losses))
        else:
            failure = f"the worker died each of the {losses} times that this point was evaluated; {loss.how}"
            return [(part.start, EvaluationFailure(failure))]
        return []
