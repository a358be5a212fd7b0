"""The ways down: the bandit that chooses among them, and one file each.

Here is what a way is, what it offers, and the one ledger of what all of them have spent.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeVar

from gracezo.core.asks import Point, Steps
from gracezo.core.steps import noting

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
