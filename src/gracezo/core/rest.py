"""Coordinates that are left: written down, or, of very many, all but some that are named."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gracezo.core.keys import Key
from gracezo.core.shuffle import Draw, Shuffle
from gracezo.core.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Rest:
    """All of very many coordinates but some, which are named, ascending."""

    d: int
    without: IntArray

    def __len__(self) -> int:
        return self.d - len(self.without)

    def written(self) -> IntArray:
        """Return them, written down."""
        return np.delete(np.arange(self.d), self.without)

    def shuffled(self, rng: np.random.Generator, draw: Draw | None = None) -> Shuffle:
        """Return all d coordinates in a random order, with weights: one for each, if none are drawn."""
        return Shuffle(self.d, Key(int(rng.integers(2**63))), draw or _ones)


def _ones(random: np.random.Generator, count: int) -> FloatArray:
    return np.ones(count)


def outside(d: int, *taken: IntArray, places: bool = False) -> IntArray | Rest:
    """Return all coordinates but those taken; not written down, where points are places."""
    if places:
        return Rest(d, np.unique(np.concatenate(taken)))
    free: BoolArray = np.ones(d, np.bool_)
    for coordinates in taken:
        free[coordinates] = False
    return np.flatnonzero(free)


def written(coordinates: IntArray | Rest) -> IntArray:
    """Return coordinates, written down."""
    return coordinates.written() if isinstance(coordinates, Rest) else coordinates


class Deck:
    """Coordinates in a random order, to be drawn some at a time.

    Parameters
    ----------
    coordinates
        The coordinates.
    rng
        Where the order is drawn from.

    Examples
    --------
    >>> deck = Deck(Rest(300_000, np.array([5, 7])), np.random.default_rng(1))
    >>> len(deck), len(deck.draw(1000)), len(deck)
    (299998, 1000, 298998)
    """

    def __init__(self, coordinates: IntArray | Rest, rng: np.random.Generator) -> None:
        self._rng = rng
        self._left = coordinates
        self.shuffle()

    def shuffle(self) -> None:
        """Put all that are left into another order."""
        left, self._next = self._left, 0
        self._order: Shuffle | IntArray = (
            left.shuffled(self._rng) if isinstance(left, Rest) else self._rng.permutation(left)
        )

    def __len__(self) -> int:
        ahead = len(self._order) - self._next
        if isinstance(self._order, Shuffle):
            ahead -= int(np.count_nonzero(self._order.positions(self._without) >= self._next))
        return ahead

    def draw(self, count: int) -> IntArray:
        """Return the next ones, of which there are enough."""
        if not isinstance(self._order, Shuffle):
            self._next += count
            return self._order[self._next - count : self._next]
        drawn = [np.zeros(0, np.int64)]
        while count:
            some = self._order.coordinates(self._next, self._next + count)
            self._next += count
            drawn.append(some[~np.isin(some, self._without)])
            count -= len(drawn[-1])
        return np.concatenate(drawn)

    def remove(self, coordinates: IntArray) -> None:
        """Leave out some that were drawn, when all are put into another order."""
        if isinstance(self._left, Rest):
            self._left = Rest(self._left.d, np.union1d(self._left.without, coordinates))
        else:
            self._left = np.setdiff1d(self._left, coordinates)

    @property
    def _without(self) -> IntArray:
        assert isinstance(self._left, Rest)
        return self._left.without
