"""The ways down: the bandit that chooses among them, and one file each.

Here is what a way is, what it offers and has brought, and the one ledger of what all of them have spent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeVar

from gracezo.core.asks import Point, Steps
from gracezo.core.steps import noting
from gracezo.methods.auto import constants

R = TypeVar("R")


class Offer(NamedTuple):
    """What a way has in sight from a point: the decrease that it promises, and the rounds that it takes."""

    promise: float
    rounds: float


class Way(Protocol):
    """One way down. It keeps what it has learned between its legs."""

    name: str
    """How it goes, for people."""

    def offer(self, here: Point) -> Offer | None:
        """Return what it promises from this point; None if there is nothing for it to do."""
        ...

    def leg(self, here: Point) -> Steps[Point]:
        """Go on for a while; return the present point, the same object if it has not moved."""
        ...


class Record:
    """What a way has brought since it was begun: leg by leg, the rounds and f before and after."""

    def __init__(self) -> None:
        self._legs: list[tuple[int, float, float]] = []

    def __len__(self) -> int:
        return len(self._legs)

    def note(self, rounds: int, before: float, after: float) -> None:
        """Take in one leg."""
        self._legs.append((rounds, before, after))

    @property
    def idle(self) -> bool:
        """Whether the last leg has asked nothing."""
        return self._legs[-1][0] == 0

    @property
    def rounds(self) -> int:
        """The rounds of all legs."""
        return sum(rounds for rounds, _, _ in self._legs)

    def rate(self, window: int, since: int = 0) -> float:
        """Return the decrease per round over the last legs, so many rounds of them.

        `since` so many rounds one more leg goes on.

        >>> record = Record()
        >>> for leg in ((10, 9.0, 4.0), (5, 4.0, 3.0), (5, 3.0, 2.0)):
        ...     record.note(*leg)
        >>> record.rate(10), record.rate(20), record.rate(20, since=10)
        (0.2, 0.35, 0.1)
        """
        took, brought = since, 0.0
        for rounds, before, after in reversed(self._legs):
            took, brought = took + rounds, brought + before - after
            if took >= window:
                break
        return brought / max(took, 1)


@dataclass(eq=False)
class Account:
    """What is known of a way: what it brought per round when it was made last, and when it may be tried.

    Attributes
    ----------
    way
        The way.
    span
        Rounds in which it shows what it brings.
    rate, lasted
        Decrease per round of its last turn, and for how many rounds.
    due
        The round from which it may be tried again.
    waits
        Gradients' worth of rounds that it waits after it has lost, or for want of a reason.
    """

    way: Way
    span: int
    rate: float = 0.0
    lasted: int = 0
    due: float = 0.0
    waits: float = 1.0 / constants.CLEARLY
    record: Record = field(default_factory=Record)
    """Of the present turn."""

    def begin(self) -> None:
        """Begin a turn."""
        self.record = Record()

    def end(self) -> None:
        """Close a turn that has brought or cost something."""
        if self.record.rounds:
            self.rate, self.lasted = self.record.rate(self.span), self.record.rounds

    def wait(self, rounds: int, window: int) -> None:
        """Wait from this round on, twice as long the next time; and if it has brought nothing."""
        if self.rate <= 0.0:
            self.waits *= 2
        self.due = rounds + self.waits * window
        self.waits *= 2

    def retire(self) -> None:
        """Be tried no more."""
        self.due = math.inf

    def discredit(self) -> None:
        """Count what it brought when it was made last for nothing."""
        self.rate = 0.0


class Ledger:
    """All that a run has asked: the only count of it.

    Queries that go out together take the time of one: prices are by rounds.

    Parameters
    ----------
    batch
        How many queries may go out at once.
    """

    def __init__(self, batch: int) -> None:
        self.batch = batch
        self.queries = self.rounds = 0

    def keep(self, steps: Steps[R]) -> Steps[R]:
        """Run `steps`, and count what they ask."""
        return noting(steps, self._note)

    def _note(self, queries: int) -> None:
        self.queries += queries
        self.rounds += self.rounds_of(queries)

    def rounds_of(self, queries: int) -> int:
        """Return the rounds that so many queries take."""
        return -(-queries // self.batch)
