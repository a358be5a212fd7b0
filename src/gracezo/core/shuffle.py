"""A random order of very many coordinates, whose sets are reached by reading memory in sequence.

A uniform permutation of 10⁷ coordinates takes as much memory as a point, and a write through it meets a new
page at each number. Blocks of neighbours in random order would be fast, but neighbours matter together (an
image, a field), and a search that cannot part them takes a quarter more queries. So neighbours are parted,
block by block:

- Memory is cut into N blocks of B coordinates, in the random order q = 0 … N − 1. Within a block each
  coordinate has a *rank* r, from one random permutation σ of B that all blocks share, turned by a random
  shift t_q. Its position in the order is

      p = r·N + q,    at the coordinate  B·block(q) + (σ(r) − t_q mod B).

  Any slice of positions takes about as many coordinates from each block, at random, and neighbours are as far
  apart as any two. What is left over, fewer than N coordinates, stands at the end.
- Each coordinate has a weight, from a table of random weights that begins for each block at a random place.
  So nothing of length d is kept: 2 MB in all, and some numbers a block.
- A slice that takes many coordinates of each block is written by a pass over all memory (a product with a
  mask that is the same for all blocks, but for their shifts); one that takes few, by indices, block by block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from gracezo.core.keys import Key
from gracezo.core.types import BoolArray, FloatArray, IntArray, record

Piece: TypeAlias = tuple[Any, FloatArray]
"""Coordinates, by index or as a slice, and their displacements; in a slice, those that stay have zero."""
Draw: TypeAlias = Callable[[np.random.Generator, int], FloatArray]
"""What draws so many weights."""


class Label(Protocol):
    """From positions to what multiplies their weights."""

    @property
    def line(self) -> tuple[float, float] | None:
        """Slope and offset, where it is linear in the position: two passes over memory less."""
        ...

    def __call__(self, positions: FloatArray) -> FloatArray:
        """Return the labels of positions, written over them."""
        ...


Aimed: TypeAlias = Callable[[Any, FloatArray], FloatArray]
"""What bounds make of the weights of coordinates, by index or as a slice: other ones, or the same array."""


BLOCK = 2**15
"""Coordinates in a block, about: 256 KB, which stay in the cache while they are worked on."""
SAMPLE = 2**12
"""Positions that are prepared at once, or stand for all of a longer slice."""
_TABLE = 2**15  # places at which a block's weights may begin
_SOME = 64  # coordinates of each block from which on a slice is written block by block
_DENSE = 1.0 / 12.0  # share of the coordinates above which a pass over all of memory is faster than indices
_NONE: IntArray = np.zeros(0, np.int64)


@record
class Others:
    """Coordinates that are displaced otherwise: ascending, where they stand in the order, and by how much."""

    coordinates: IntArray
    positions: IntArray
    values: FloatArray

    def some(self, chosen: BoolArray) -> Others:
        """Return some of them."""
        return Others(self.coordinates[chosen], self.positions[chosen], self.values[chosen])


class Shuffle:
    """Coordinates in a random order, with weights.

    Parameters
    ----------
    d
        The number of coordinates.
    key
        Where order and weights are drawn from.
    draw
        Draws weights.

    Examples
    --------
    >>> import numpy as np
    >>> order = Shuffle(1000, Key(7), lambda random, count: random.choice([-1.0, 1.0], count))
    >>> sorted(order.coordinates(0, 1000)) == list(range(1000))
    True
    >>> p = order.positions(np.array([3, 14, 15]))
    >>> [int(order.coordinates(k, k + 1)[0]) for k in p]
    [3, 14, 15]
    """

    def __init__(self, d: int, key: Key, draw: Draw) -> None:
        self.d, self._key, self._draw = d, key, draw
        random = key.generator()
        self._count = n = max(1, round(d / BLOCK))
        self._size = size = d // n
        self._sigma = random.permutation(size).astype(np.int32)
        rank = np.empty(size, np.int32)
        rank[self._sigma] = np.arange(size, dtype=np.int32)
        self._rank = np.concatenate([rank, rank])  # of the offset j in a block with shift t: at t + j
        self._blocks: IntArray = random.permutation(n)  # by q
        self._q = np.empty(n, np.int64)  # by block
        self._q[self._blocks] = np.arange(n)
        self._shifts: IntArray = random.integers(size, size=n)  # by block, as are those of the table
        self._begins: IntArray = random.integers(_TABLE, size=n)
        self._table = draw(random, _TABLE + size)
        self._last = draw(random, d - n * size)  # weights of what is left over

    def __len__(self) -> int:
        return self.d

    def __reduce__(self) -> tuple[object, ...]:
        return Shuffle, (self.d, self._key, self._draw)

    @cached_property
    def heaviest(self) -> float:
        """The largest weight, by magnitude."""
        return float(max(np.abs(self._table).max(), np.abs(self._last).max(initial=0.0)))

    @property
    def name(self) -> tuple[object, ...]:
        """What tells it from others: all the rest is drawn."""
        return self.d, self._key.seed, self._key.path

    # ------------------------------------------------------------ single positions

    def coordinates(self, start: int, stop: int, step: int = 1) -> IntArray:
        """Return the coordinates at the positions from `start` up to, not including, `stop`."""
        return self._of(np.arange(start, stop, step))

    def _of(self, positions: IntArray) -> IntArray:
        if (inside := self._inside(positions)) is not None:
            coordinates = positions.copy()
            coordinates[inside] = self._of(positions[inside])
            return coordinates
        rank = positions // self._count
        block = self._blocks[positions - rank * self._count]
        offset = self._sigma[rank] - self._shifts[block]
        offset += self._size * (offset < 0)
        return np.asarray(block * self._size + offset)

    def positions(self, coordinates: IntArray) -> IntArray:
        """Return where coordinates stand."""
        if (inside := self._inside(coordinates)) is not None:
            positions = coordinates.copy()
            positions[inside] = self.positions(coordinates[inside])
            return positions
        block = coordinates // self._size
        offset = coordinates - block * self._size
        return self._rank[self._shifts[block] + offset].astype(np.int64) * self._count + self._q[block]

    def weights(self, coordinates: IntArray) -> FloatArray:
        """Return the weights of coordinates."""
        if (inside := self._inside(coordinates)) is not None:
            weights = np.empty(len(coordinates))
            weights[inside] = self.weights(coordinates[inside])
            weights[~inside] = self._last[coordinates[~inside] - self._whole]
            return weights
        block = coordinates // self._size
        offset = coordinates - block * self._size
        return self._table[self._begins[block] + offset]

    def _inside(self, places: IntArray) -> BoolArray | None:
        """Return which coordinates, or positions, are in blocks; None if all are, as a rule."""
        if not len(places) or places.max() < self._whole:
            return None
        return np.asarray(places < self._whole)

    def blocks(self) -> Iterator[Piece]:
        """Yield all coordinates and their weights, block after block."""
        for block in range(self._count):
            begin = int(self._begins[block])
            yield slice(block * self._size, (block + 1) * self._size), self._table[begin : begin + self._size]
        if len(self._last):
            yield slice(self._whole, self.d), self._last

    def drawn(self, coordinates: IntArray) -> Iterator[Piece]:
        """Yield all weights that there are, at any coordinates, and those of some."""
        yield slice(0, len(self._table)), self._table
        if len(self._last):
            yield slice(self._whole, self.d), self._last
        if len(coordinates):
            yield coordinates, self.weights(coordinates)

    def labels(self, label: Label, positions: IntArray) -> FloatArray:
        """Return the labels of positions: the same bits as sets have."""
        rank, q = np.divmod(positions, self._count)
        return _labels(label, self._rising(label, rank), q)

    def _rising(self, label: Label, rank: npt.NDArray[Any]) -> FloatArray:
        """Return what the labels of coordinates of these ranks have in common, whatever their block."""
        ranks = float(self._count) * rank.astype(np.float64)
        if label.line is not None:
            slope, offset = label.line
            ranks *= slope
            ranks += offset
        return ranks

    @property
    def _whole(self) -> int:
        """Where what is left over begins, in memory and in the order."""
        return self._count * self._size

    # ------------------------------------------------------------ sets

    def pieces(
        self,
        start: int,
        stop: int,
        factor: float,
        label: Label | None = None,
        without: IntArray = _NONE,
        instead: FloatArray | None = None,
        room: FloatArray | None = None,
        aimed: Aimed | None = None,
    ) -> Iterator[Piece]:
        """Yield the displacements of a slice, factor · label(position) · weight; other ones for some.

        The latter are coordinates, ascending: those `without` are displaced by the values `instead`, whether
        they stand in the slice or not; by zero, if none are given. Where an array of all coordinates is given
        as `room`, the values of blocks are written there instead of into memory of their own. Weights are as
        they are `aimed`, if at all.
        """
        other = Others(
            without, self.positions(without), np.zeros(len(without)) if instead is None else instead
        )
        n, last = self._count, min(stop, self._whole) // self._count
        first = min(-(-start // n), last)
        outside = (other.positions < start) | (other.positions >= stop)
        if last - first < _SOME:
            yield from self._few(start, stop, factor, label, other, aimed)
        else:
            # Of the first rank and of the last, some blocks take part only.
            edges = [*self._few(start, first * n, factor, label, other, aimed)]
            edges += self._few(last * n, min(stop, self._whole), factor, label, other, aimed)
            if self.covers(start, stop):
                covered = without < self._whole
                yield from self._dense(first, last, factor, label, edges, other.some(covered), room, aimed)
                outside &= ~covered
            else:
                yield from edges
                within = (other.positions >= first * n) & (other.positions < last * n)
                yield from self._sparse(first, last, factor, label, other.some(within), aimed)
            yield from self._few(max(start, self._whole), stop, factor, label, other, aimed)
        outside &= other.values != 0.0
        if np.count_nonzero(outside):
            yield without[outside], other.values[outside]

    def covers(self, start: int, stop: int) -> int:
        """Return over how many coordinates, from the first on, the pieces of a slice go, moved or not."""
        n, last = self._count, min(stop, self._whole) // self._count
        return self._whole if last + start // -n >= max(_DENSE * self._size, _SOME) else 0

    def _few(
        self, start: int, stop: int, factor: float, label: Label | None, other: Others, aimed: Aimed | None
    ) -> Iterator[Piece]:
        """Yield a slice by its positions."""
        for begin in range(start, stop, BLOCK):
            end = min(begin + BLOCK, stop)
            positions = np.arange(begin, end)
            where = self._of(positions)
            weights = self.weights(where)
            values = factor * (weights if aimed is None else aimed(where, weights))
            if label is not None:
                values *= self.labels(label, positions)
            here = (other.positions >= begin) & (other.positions < end)
            values[other.positions[here] - begin] = other.values[here]
            yield where, values

    def _dense(
        self,
        first: int,
        last: int,
        factor: float,
        label: Label | None,
        edges: Sequence[Piece],
        other: Others,
        room: FloatArray | None,
        aimed: Aimed | None,
    ) -> Iterator[Piece]:
        """Yield what has a rank from `first` up to, not including, `last`, and edges: block after block.

        Some are displaced by other values.
        """
        size, n = self._size, self._count
        whole = last - first == size
        scaled = self._table * factor if whole and aimed is None else self._table
        # A product: to choose by a mask that nobody can foresee takes ten times as long.
        inside = factor * ((self._rank >= first) & (self._rank < last))
        ranks = None if label is None else self._rising(label, self._rank)
        scratch = None if room is None else np.empty(size)
        singles = np.concatenate([*(where for where, _ in edges), other.coordinates])
        special = np.concatenate([*(values for _, values in edges), other.values])
        order = np.argsort(singles, kind="stable")  # what is displaced otherwise comes last, and stays
        singles, special = singles[order], special[order]
        ends = np.searchsorted(singles, np.arange(n + 1) * size).tolist()
        for block in range(n):
            begin, shift = int(self._begins[block]), int(self._shifts[block])
            here = slice(block * size, (block + 1) * size)
            values = scaled[begin : begin + size]
            own = None if room is None else room[here]  # where to write, as long as it is the table's
            written = False
            if aimed is not None:
                values = aimed(here, values)
                if whole:
                    values, written = np.multiply(values, factor, out=own), True
            if not whole:
                values, written = np.multiply(values, inside[shift : shift + size], out=own), True
            if label is not None and ranks is not None:
                labels = _labels(label, ranks[shift : shift + size], float(self._q[block]), scratch)
                values, written = np.multiply(values, labels, out=labels if own is None else own), True
            if ends[block] < ends[block + 1]:
                some = slice(ends[block], ends[block + 1])
                values = values if written else values.copy()
                values[singles[some] - block * size] = special[some]
            yield here, values

    def _sparse(
        self, first: int, last: int, factor: float, label: Label | None, other: Others, aimed: Aimed | None
    ) -> Iterator[Piece]:
        """Yield the same by indices, block after block, each ascending from where its shift begins."""
        size, n, count = self._size, self._count, last - first
        taken = np.sort(self._sigma[first:last]).astype(np.int64)
        turned = np.concatenate([taken, taken + size])
        starts = np.searchsorted(taken, self._shifts).tolist()
        ends = np.searchsorted(other.coordinates, np.arange(n + 1) * size).tolist()
        for block in range(n):
            shift, begin = int(self._shifts[block]), block * size
            mine = turned[starts[block] : starts[block] + count]
            where = mine + (begin - shift)
            values = self._table.take(mine + (int(self._begins[block]) - shift))
            if aimed is not None:
                values = aimed(where, values)
            values *= factor
            if label is not None:
                ranks = self._rising(label, self._rank.take(mine))
                values *= _labels(label, ranks, float(self._q[block]), ranks)
            if ends[block] < ends[block + 1]:
                some = slice(ends[block], ends[block + 1])
                values[np.searchsorted(where, other.coordinates[some])] = other.values[some]
            yield where, values

    def squares(self, start: int, stop: int) -> float:
        """Return the sum of the squared weights of a slice, up to what is random of it in a large one."""
        if stop - start <= _SOME:
            weights = self.weights(self.coordinates(start, stop))
            return float(weights @ weights)
        return (stop - start) * self._mean_square

    @cached_property
    def _mean_square(self) -> float:
        return float(self._table @ self._table) / len(self._table)


def _labels(
    label: Label, ranks: FloatArray, q: float | IntArray, out: FloatArray | None = None
) -> FloatArray:
    """Return labels in blocks q, given what those of their ranks have in common."""
    line = label.line
    labels = np.add(ranks, q if line is None else line[0] * q, out=out)
    return label(labels) if line is None else labels
