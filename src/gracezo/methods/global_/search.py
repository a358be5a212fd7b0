"""A search that can be stopped and go on: an algorithm, what it has come to, and how fast it falls."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from gracezo.core.answers import lowest
from gracezo.core.asks import Ask, Decided, Moved, OutOfQueries, Point, Role, Steps
from gracezo.core.result import Finish, Status
from gracezo.core.types import FloatArray

_NOTHING = np.zeros(0)


class Search:
    """An algorithm that goes on for some queries at a time.

    Parameters
    ----------
    steps
        The algorithm, not yet begun.
    start
        Where it begins, if that is a point whose value is known.

    Attributes
    ----------
    queries : int
        What it has asked so far.
    best : Point or None
        The lowest point that it has told, or tried as a step.
    finish : Finish or None
        Why it has ended, if it has.
    """

    def __init__(self, steps: Steps[Finish], start: Point | None = None) -> None:
        self.queries = 0
        self.best = start
        self.finish: Finish | None = None
        self._steps = steps
        self._path: list[tuple[int, float]] = [] if start is None else [(0, start.value)]
        self._next: Ask | None = None

    @property
    def value(self) -> float:
        """The lowest value so far."""
        return np.inf if self.best is None else self.best.value

    @property
    def refused(self) -> bool:
        """Whether it has ended because its queries cannot be bought."""
        return self.finish is not None and self.finish.status is Status.SPENT

    @property
    def moved(self) -> bool:
        """Whether it has told an iterate beside its start."""
        return len(self._path) > 1

    @property
    def fallen(self) -> float:
        """By how much the iterate has come down since the first."""
        return self._path[0][1] - self._path[-1][1] if self._path else 0.0

    @property
    def falling(self) -> float:
        """By how much the iterate has come down over the last half of its queries."""
        if not self._path:
            return 0.0
        place = bisect_right(self._path, self.queries / 2, key=lambda told: told[0])
        return self._path[max(place - 1, 0)][1] - self._path[-1][1]

    @property
    def promise(self) -> float:
        """Where the iterate would be after as many queries again, if it fell as over the last half."""
        return self._path[-1][1] - self.falling if self._path else np.inf

    def go_on(self, queries: int) -> Steps[None]:
        """Go on for about so many queries, or to its end."""
        enough = self.queries + queries
        try:
            said: Ask | Moved | Decided = next(self._steps) if self._next is None else self._next
            while not isinstance(said, Ask) or self.queries < enough:
                if not isinstance(said, Ask):
                    if isinstance(said, Moved):
                        self._tell(said.to)
                    said = self._steps.send(_NOTHING)
                    continue
                try:
                    values = yield said
                except OutOfQueries as spent:
                    said = self._steps.throw(spent)
                else:
                    self._hear(said, values)
                    said = self._steps.send(values)
            self._next = said
        except StopIteration as end:
            self.finish = end.value
            if end.value.answer is not None:
                self.best = end.value.answer
        except OutOfQueries:
            self.finish = Finish(Status.SPENT)

    def _tell(self, to: Point) -> None:
        self._path.append((self.queries, to.value))
        if to.value < self.value:
            self.best = to

    def _hear(self, ask: Ask, values: FloatArray) -> None:
        self.queries += len(values)
        if ask.role is Role.STEP and values[row := lowest(values)] < self.value:
            self.best = Point(ask.reached(row), float(values[row]))
