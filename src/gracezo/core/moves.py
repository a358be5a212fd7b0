"""Displacements of one point: of a few coordinates, or of a set that is too large to be written down.

Both yield their `pieces` (coordinates and displacements), one after the other, so that whoever evaluates
needs no more memory than one piece: a point is written piece by piece, a change is priced piece by piece.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Protocol, Self

import numpy as np

from gracezo.core.asks import SparseRows
from gracezo.core.places import Place, displaced, fill, scale_at
from gracezo.core.shuffle import Label, Piece, Shuffle
from gracezo.core.types import FloatArray, IntArray, record

_NONE: IntArray = np.zeros(0, np.int64)
_NOTHING: FloatArray = np.zeros(0)


class Displacement(Protocol):
    """A displacement, for whoever makes points of it."""

    def __len__(self) -> int:
        """Return the number of coordinates that it may move."""
        ...

    @property
    def reach(self) -> float:
        """By how much it displaces a coordinate at most."""
        ...

    def pieces(self, base: FloatArray) -> Iterator[Piece]:
        """Yield coordinates, each at most once, and their displacements from a base."""
        ...

    def name(self) -> bytes:
        """Return what tells it from others, for a digest."""
        ...


class Move(Displacement, Protocol):
    """A displacement, for methods, which choose how long it is."""

    def at(self, coordinates: IntArray, base: FloatArray) -> FloatArray:
        """Return by how much it displaces these from a base."""
        ...

    def times(self, factor: float) -> Move:
        """Return the same, longer or shorter."""
        ...

    def counted_in(self, unit: FloatArray | float, widest: float) -> Move:
        """Return the same where coordinates are counted in other units, `unit` of which are one of these.

        These are powers of two, all of them the same or one for each coordinate, and at most `widest`.
        """
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

    def pieces(self, base: FloatArray) -> Iterator[Piece]:
        """Yield it whole."""
        yield self.indices, self.values

    def at(self, coordinates: IntArray, base: FloatArray) -> FloatArray:
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
        return self if factor == 1.0 else Few(self.indices, factor * self.values)

    def counted_in(self, unit: FloatArray | float, widest: float) -> Few:
        """Return the same in other units."""
        return Few(self.indices, self.values * scale_at(unit, self.indices))


class Aim(Protocol):
    """What bounds make of weights around a point, in units of its own."""

    def __call__(self, x: FloatArray, where: IntArray | slice, weights: FloatArray) -> FloatArray:
        """Return the weights of some coordinates of x as they are taken: others, or the same array."""
        ...

    def heaviest(self, weight: float) -> float:
        """Return the largest of them by magnitude, given that of those drawn."""
        ...

    def name(self) -> tuple[object, ...]:
        """Return what tells it from others, for a digest."""
        ...


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
    indices, values
        Coordinates, ascending, that are displaced by these values in the stead of their weights: by zero, if
        they stay where they are.
    aim
        What bounds make of the weights.
    unit, widest
        What is one for all this, in the units of the point; and the largest of these, if they differ.
    """

    order: Shuffle
    start: int
    stop: int
    factor: float = 1.0
    label: Label | None = None
    most: float = 1.0
    indices: IntArray = field(default_factory=lambda: _NONE)
    values: FloatArray = field(default_factory=lambda: _NOTHING)
    aim: Aim | None = None
    unit: FloatArray | float = 1.0
    widest: float = 1.0

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def reach(self) -> float:
        """By how much it displaces a coordinate at most."""
        heaviest = self.order.heaviest
        own = abs(self.factor) * self.most * (heaviest if self.aim is None else self.aim.heaviest(heaviest))
        return self.widest * max(own, float(np.max(np.abs(self.values), initial=0.0)))

    @property
    def covers(self) -> int:
        """How many coordinates, from the first on, its pieces go over, whether they move or not."""
        return self.order.covers(self.start, self.stop)

    def pieces(self, base: FloatArray, room: FloatArray | None = None) -> Iterator[Piece]:
        """Yield it, some blocks of memory at a time; they may be written into an array of all coordinates."""
        own = self.order.pieces(
            self.start,
            self.stop,
            self.factor,
            self.label,
            self.indices,
            self.values,
            room,
            None if self.aim is None else partial(self._aimed, self._inner(base)),
        )
        if isinstance(self.unit, float) and self.unit == 1.0:
            return own
        return self._outward(own, room)

    def _outward(self, pieces: Iterator[Piece], room: FloatArray | None) -> Iterator[Piece]:
        """Yield pieces in the units of the point."""
        for where, values in pieces:
            out = None if room is None or not isinstance(where, slice) else room[where]
            yield where, np.multiply(values, scale_at(self.unit, where), out=out)

    def _inner(self, base: FloatArray) -> FloatArray:
        """Return a point in the units of the weights."""
        if isinstance(self.unit, float) and self.unit == 1.0:
            return base
        return base.over(self.unit).stand_in if isinstance(base, Place) else base / self.unit

    def _aimed(self, x: FloatArray, where: IntArray | slice, weights: FloatArray) -> FloatArray:
        return weights if self.aim is None else self.aim(x, where, weights)

    def at(self, coordinates: IntArray, base: FloatArray) -> FloatArray:
        """Return by how much it displaces these."""
        positions = self.order.positions(coordinates)
        weights = self._aimed(self._inner(base), coordinates, self.order.weights(coordinates))
        values = self.factor * weights
        if self.label is not None:
            values *= self.order.labels(self.label, positions)
        values[(positions < self.start) | (positions >= self.stop)] = 0.0
        if len(self.indices):
            places = np.minimum(np.searchsorted(self.indices, coordinates), len(self.indices) - 1)
            np.copyto(values, self.values[places], where=self.indices[places] == coordinates)
        return values * scale_at(self.unit, coordinates)

    def times(self, factor: float) -> Wave:
        """Return the same, longer or shorter."""
        if factor == 1.0:
            return self
        return replace(self, factor=factor * self.factor, values=factor * self.values)

    def counted_in(self, unit: FloatArray | float, widest: float) -> Wave:
        """Return the same in other units; weights and aim stay in theirs."""
        if isinstance(unit, float) and self.aim is None:
            return self.times(unit)
        return replace(self, unit=unit, widest=widest)

    def part(self, start: int, stop: int) -> Wave:
        """Return a part of the slice, without what others displace."""
        return replace(self, start=start, stop=stop, values=np.zeros(len(self.indices)))

    def beside(self, few: Few) -> Wave:
        """Return the same, with some coordinates displaced by others' values."""
        kept = ~np.isin(self.indices, few.indices)
        indices = np.concatenate([self.indices[kept], few.indices])
        values = np.concatenate([self.values[kept], few.values])
        order = np.argsort(indices)
        return replace(self, indices=indices[order], values=values[order])

    def name(self) -> bytes:
        """Return what tells it from others, for a digest."""
        fields = (self.order.name, self.start, self.stop, self.factor, self.label)
        aim = b"" if self.aim is None else repr(self.aim.name()).encode()
        return repr(fields).encode() + aim + self.indices.tobytes() + self.values.tobytes()


@record
class PieceRows:
    """Rows of displacements of any kind, for an ask."""

    rows: tuple[Displacement, ...]

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
        for where, values in self.rows[row].pieces(base):
            out[where] += values

    def part(self, start: int, stop: int) -> Self:
        """Return the rows from `start` up to, not including, `stop`."""
        return replace(self, rows=self.rows[start:stop])

    def take(self, rows: IntArray) -> Self:
        """Return the rows that are named."""
        return replace(self, rows=tuple(self.rows[row] for row in rows.tolist()))


@record
class Moves(PieceRows):
    """Rows of a method's own, which can be made longer and shorter."""

    rows: tuple[Move, ...]

    def times(self, factor: float) -> Moves:
        """Return all of them longer or shorter."""
        return Moves(tuple(row.times(factor) for row in self.rows))

    def counted_in(self, unit: FloatArray | float, widest: float) -> Moves:
        """Return the same in other units."""
        return Moves(tuple(row.counted_in(unit, widest) for row in self.rows))


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


def beside(first: Move, second: Move) -> Move:
    """Return both displacements as one: of different coordinates, the second of a few."""
    if isinstance(first, Few) and isinstance(second, Few):
        moves = first.values != 0.0  # what stays where it is may be among the second
        return Few(
            np.concatenate([first.indices[moves], second.indices]),
            np.concatenate([first.values[moves], second.values]),
        )
    assert isinstance(first, Wave)
    assert isinstance(second, Few)
    return first.beside(second)


def moved(x: FloatArray, move: Move) -> FloatArray:
    """Return a point, displaced."""
    if isinstance(move, Few):
        return displaced(x, move.indices, move.values)
    new = np.empty(len(x))
    Moves((move,)).write(0, x, new)
    return Place.at(new).stand_in if isinstance(x, Place) else new
