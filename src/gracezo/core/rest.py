"""Coordinates that are left: written down, or, of very many, all but some that are named."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gracezo.core.box import Box
from gracezo.core.keys import Key
from gracezo.core.shuffle import Draw, Shuffle
from gracezo.core.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Rest:
    """All of very many coordinates but some, which are named, ascending, and but those that a box fixes.

    The latter are never named: they may be many, and the aims of a set leave them where they are (`aims.py`).
    """

    d: int
    without: IntArray
    box: Box | None = None

    def __len__(self) -> int:
        return (self.d if self.box is None else self.box.count) - len(self.without)

    def written(self) -> IntArray:
        """Return them, written down."""
        return _but(self.d, self.without, self.box)

    def among(self, coordinates: IntArray) -> IntArray:
        """Return those of some coordinates that belong to it, in their order."""
        own = ~np.isin(coordinates, self.without)
        if self.box is not None and self.box.holds_some:
            own &= self.box.moves(coordinates)
        return coordinates[own]

    def shuffled(self, rng: np.random.Generator, draw: Draw | None = None) -> Shuffle:
        """Return all d coordinates in a random order, with weights: one for each, if none are drawn."""
        return Shuffle(self.d, Key(int(rng.integers(2**63))), draw or _ones)


def _ones(random: np.random.Generator, count: int) -> FloatArray:
    return np.ones(count)


def outside(d: int, *taken: IntArray, box: Box | None = None, places: bool = False) -> IntArray | Rest:
    """Return all coordinates but those taken, which can move, and those that a box fixes.

    They are not written down where points are places.
    """
    names = np.concatenate([*taken, np.zeros(0, np.int64)])
    return Rest(d, np.unique(names), box) if places else _but(d, names, box)


def _but(d: int, without: IntArray, box: Box | None) -> IntArray:
    """Return all coordinates but some, and those that a box fixes."""
    free: BoolArray = np.ones(d, np.bool_)
    free[without] = False
    if box is not None and box.holds_some:
        free &= box.moves(slice(None))
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
        left, self._next, self._ahead = self._left, 0, len(self._left)
        self._order: Shuffle | IntArray = (
            left.shuffled(self._rng) if isinstance(left, Rest) else self._rng.permutation(left)
        )

    def __len__(self) -> int:
        return self._ahead

    def draw(self, count: int) -> IntArray:
        """Return the next ones, of which there are enough."""
        self._ahead -= count
        if not isinstance(self._order, Shuffle):
            self._next += count
            return self._order[self._next - count : self._next]
        assert isinstance(self._left, Rest)
        drawn = [np.zeros(0, np.int64)]
        while count:
            some = self._order.coordinates(self._next, min(self._next + count, len(self._order)))
            self._next += count
            drawn.append(self._left.among(some))
            count -= len(drawn[-1])
        return np.concatenate(drawn)

    def remove(self, coordinates: IntArray) -> None:
        """Leave out some that were drawn, when all are put into another order."""
        if isinstance(self._left, Rest):
            self._left = replace(self._left, without=np.union1d(self._left.without, coordinates))
        else:
            self._left = np.setdiff1d(self._left, coordinates)
