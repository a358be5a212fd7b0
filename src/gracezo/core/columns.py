"""Columns: coordinates that move as one, each by its own factor.

Column j moves the coordinates `members[indptr[j]:indptr[j + 1]]`; the places in `members` are its *entries*.
What is said of all entries of many columns is said of some at a time, so that it takes little memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from gracezo.core.places import chunks
from gracezo.core.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Columns:
    """Which coordinates each column moves, and by how much for a change of one.

    Attributes
    ----------
    indptr, members
        Column j moves the coordinates `members[indptr[j]:indptr[j + 1]]`.
    factors
        By how much each of them; positive.
    sizes
        How many each column moves.
    single
        Whether that is one each.
    even
        Whether all factors are one.
    """

    indptr: IntArray
    members: IntArray
    factors: FloatArray
    sizes: IntArray = field(init=False)
    single: bool = field(init=False)
    even: bool = field(init=False)

    def __post_init__(self) -> None:
        sizes = np.diff(self.indptr)
        object.__setattr__(self, "sizes", sizes)
        object.__setattr__(self, "single", bool((sizes == 1).all()))
        object.__setattr__(self, "even", bool((self.factors == 1.0).all()))

    def __len__(self) -> int:
        return len(self.sizes)

    @cached_property
    def widest(self) -> float:
        """The largest factor."""
        return float(np.max(self.factors, initial=0.0))

    @property
    def owners(self) -> IntArray:
        """The column of each entry."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def entries(self, columns: IntArray) -> IntArray:
        """Return the entries of some columns, in their order.

        >>> columns = Columns(np.array([0, 2, 5]), np.arange(5), np.ones(5))
        >>> columns.entries(np.array([1, 0])).tolist()
        [2, 3, 4, 0, 1]
        """
        return _ranges(self.indptr[columns], self.sizes[columns])

    def blocks(self, columns: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the same some at a time, each with the place among `columns` of the one that it belongs to.

        >>> columns = Columns(np.array([0, 2, 5]), np.arange(5), np.ones(5))
        >>> [(entries.tolist(), owners.tolist()) for entries, owners in columns.blocks(np.array([1, 0]))]
        [([2, 3, 4, 0, 1], [0, 0, 0, 1, 1])]
        """
        starts, sizes = self.indptr[columns], self.sizes[columns]
        ends = np.cumsum(sizes)
        for some in chunks(int(ends[-1]) if len(ends) else 0):
            first, last = np.searchsorted(ends, [some.start, some.stop - 1], side="right").tolist()
            owners = np.arange(first, last + 1)
            low = np.maximum(ends[owners] - sizes[owners], some.start)
            taken = np.minimum(ends[owners], some.stop) - low
            yield (
                _ranges(starts[owners] + low - (ends[owners] - sizes[owners]), taken),
                np.repeat(owners, taken),
            )

    def most(self, value: Callable[[IntArray], FloatArray]) -> FloatArray:
        """Return the largest value of each column, given those of entries.

        >>> columns = Columns(np.array([0, 2, 5]), np.arange(5), np.ones(5))
        >>> columns.most(lambda entries: np.array([1.0, -7.0, 2.0, 4.0, 3.0])[entries]).tolist()
        [1.0, 4.0]
        """
        most = np.full(len(self), -np.inf)
        for entries, owners in self.blocks(np.arange(len(self))):
            (first,) = np.diff(owners, prepend=-1).nonzero()
            own = owners[first]
            most[own] = np.maximum(most[own], np.maximum.reduceat(value(entries), first))
        return most

    def largest(self, value: Callable[[IntArray], FloatArray]) -> FloatArray:
        """Return the value of largest magnitude of each column."""
        most, least = self.most(value), -self.most(lambda entries: -value(entries))
        return np.where(most >= -least, most, least)


def _ranges(starts: IntArray, sizes: IntArray) -> IntArray:
    """Return all places from each start on, as many as its size.

    >>> _ranges(np.array([0, 7]), np.array([2, 3])).tolist()
    [0, 1, 7, 8, 9]
    """
    ends = np.cumsum(sizes)
    places = np.repeat(starts - (ends - sizes), sizes)
    places += np.arange(len(places))
    return places
