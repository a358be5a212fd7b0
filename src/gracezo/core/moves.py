"""Displacements of one point: of a few coordinates, or of a set that is too large to be written down.

Both yield their `pieces` (coordinates and displacements), one after the other, so that whoever evaluates
needs no more memory than one piece: a point is written piece by piece, a change is priced piece by piece.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from gracezo.core.asks import SparseRows
from gracezo.core.places import Place, displaced, fill
from gracezo.core.shuffle import Label, Piece, Shuffle
from gracezo.core.types import FloatArray, IntArray, record

WRITTEN = 2**12
"""Up to so many coordinates a set is written down: its arrays are small, and those of `Few`."""


class Move(Protocol):
    """A displacement."""

    def __len__(self) -> int:
        """Return the number of coordinates that it may move."""
        ...

    @property
    def reach(self) -> float:
        """By how much it displaces a coordinate at most."""
        ...

    def pieces(self) -> Iterator[Piece]:
        """Yield coordinates, each at most once, and their displacements."""
        ...

    def at(self, coordinates: IntArray) -> FloatArray:
        """Return by how much it displaces these."""
        ...

    def times(self, factor: float) -> Move:
        """Return the same, longer or shorter."""
        ...

    def name(self) -> bytes:
        """Return what tells it from others, for a digest."""
        ...


@record
class Few:
    """A displacement of some coordinates, written down."""

    indices: IntArray
    values: FloatArray

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def reach(self) -> float:
        """By how much it displaces a coordinate at most."""
        return float(np.abs(self.values).max()) if len(self.values) else 0.0

    def pieces(self) -> Iterator[Piece]:
        """Yield it whole."""
        yield self.indices, self.values

    def at(self, coordinates: IntArray) -> FloatArray:
        """Return by how much it displaces these."""
        found: FloatArray = np.zeros(len(coordinates))
        if len(self.indices):
            order = np.argsort(self.indices)
            places = order[
                np.minimum(np.searchsorted(self.indices, coordinates, sorter=order), len(order) - 1)
            ]
            np.copyto(found, self.values[places], where=self.indices[places] == coordinates)
        return found

    def name(self) -> bytes:
        """Return what tells it from others, for a digest."""
        return self.indices.tobytes() + self.values.tobytes()

    def times(self, factor: float) -> Few:
        """Return the same, longer or shorter."""
        return Few(self.indices, factor * self.values)


@record
class Wave:
    """A displacement of a slice of a random order, each coordinate by its weight.

    Attributes
    ----------
    order
        The coordinates, with their weights.
    start, stop
        The slice.
    factor
        What multiplies the weights.
    label, most
        What multiplies them besides, by position, and how large that is at most.
    without
        Coordinates that stay where they are, ascending.
    """

    order: Shuffle
    start: int
    stop: int
    factor: float
    label: Label | None
    without: IntArray
    most: float = 1.0

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def reach(self) -> float:
        """By how much it displaces a coordinate at most."""
        return abs(self.factor) * self.most * self.order.heaviest

    @property
    def covers(self) -> int:
        """How many coordinates, from the first on, its pieces go over, whether they move or not."""
        return self.order.covers(self.start, self.stop)

    def pieces(self) -> Iterator[Piece]:
        """Yield it, some blocks of memory at a time."""
        return self.order.pieces(self.start, self.stop, self.factor, self.label, self.without)

    def at(self, coordinates: IntArray) -> FloatArray:
        """Return by how much it displaces these."""
        positions = self.order.positions(coordinates)
        values = self.factor * self.order.weights(coordinates)
        if self.label is not None:
            values *= self.label(positions.astype(np.float64))
        inside = (positions >= self.start) & (positions < self.stop)
        inside &= ~np.isin(coordinates, self.without)
        return np.where(inside, values, 0.0)

    def times(self, factor: float) -> Wave:
        """Return the same, longer or shorter."""
        return Wave(
            self.order, self.start, self.stop, factor * self.factor, self.label, self.without, self.most
        )

    def name(self) -> bytes:
        """Return what tells it from others, for a digest."""
        fields = (self.order.name, self.start, self.stop, self.factor, self.label)
        return repr(fields).encode() + self.without.tobytes()


@record
class Moves:
    """Rows of displacements of any kind, for an ask."""

    rows: tuple[Move, ...]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def reach(self) -> float:
        """By how much a row displaces a coordinate at most."""
        return max(row.reach for row in self.rows)

    def name(self) -> bytes:
        """Return what tells it from others, for a digest."""
        return b"".join(row.name() for row in self.rows)

    def write(self, row: int, base: FloatArray, out: FloatArray) -> None:
        """Write `base` displaced by one row into the vector `out`."""
        fill(base, out)
        for where, values in self.rows[row].pieces():
            out[where] += values

    def part(self, start: int, stop: int) -> Moves:
        """Return the rows from `start` up to, not including, `stop`."""
        return Moves(self.rows[start:stop])

    def take(self, rows: IntArray) -> Moves:
        """Return the rows that are named."""
        return Moves(tuple(self.rows[row] for row in rows.tolist()))

    def times(self, factor: float) -> Moves:
        """Return all of them longer or shorter."""
        return Moves(tuple(row.times(factor) for row in self.rows))


def stacked(parts: Sequence[SparseRows | Moves]) -> SparseRows | Moves:
    """Return the rows of all parts, in order: written down, if all of them are."""
    written = [part for part in parts if isinstance(part, SparseRows)]
    if len(written) == len(parts):
        return SparseRows.stack(written)
    rows: list[Move] = []
    for part in parts:
        rows += part.rows if isinstance(part, Moves) else (Few(*part.row(row)) for row in range(len(part)))
    return Moves(tuple(rows))


def rows_of(moves: Sequence[Move]) -> SparseRows | Moves:
    """Return rows for an ask: written down, if all of them are."""
    few = [SparseRows.single(move.indices, move.values) for move in moves if isinstance(move, Few)]
    return SparseRows.stack(few) if len(few) == len(moves) else Moves(tuple(moves))


def moved(x: FloatArray, move: Move) -> FloatArray:
    """Return a point, displaced."""
    if isinstance(move, Few):
        return displaced(x, move.indices, move.values)
    new = np.empty(len(x))
    Moves((move,)).write(0, x, new)
    return Place.at(new).stand_in if isinstance(x, Place) else new
