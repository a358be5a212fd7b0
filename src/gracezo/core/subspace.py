"""A method on fewer coordinates: some of them, or groups that move as one.

Both are one map from reduced coordinates z to points,

    x_m(z) = x_m + a_m·(z_j − z⁰_j)   for each member m of column j, cut at the bounds of m,

with columns that have no member in common; what is in no column stays where it is. A generator that knows
z alone is run behind it: its asks go out as asks around points, its iterates are told as points, and the
values come back as they are.

The rules of this file:

- z⁰_j is as large, beside the a_m, as the largest x_m is: what is lost in the precision of x is lost in z.
- Where a column has one member and a = 1, z is that coordinate, bit for bit.
- A column has as much room as the member that has most; the others end at their bounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

import numpy as np

from gracezo.core.asks import Ask, Moved, Offsets, Point, SparseRows, Steps
from gracezo.core.box import Box, of
from gracezo.core.columns import Columns
from gracezo.core.method import Problem
from gracezo.core.moves import Few, PieceRows
from gracezo.core.places import Place, fill, replaced
from gracezo.core.result import Finish, GradientEstimate
from gracezo.core.shuffle import SAMPLE, Piece
from gracezo.core.steps import translated
from gracezo.core.types import FloatArray, IntArray, record

R = TypeVar("R")


class Subspace:
    """The points that can be reached from one of them by moving columns.

    Parameters
    ----------
    origin
        The point, all d coordinates of it.
    indptr, members
        Column j moves the coordinates `members[indptr[j]:indptr[j+1]]`.
    factors
        By how much each of them, for a change of one in z; positive.
    bounds
        What no point may leave.

    Examples
    --------
    >>> import numpy as np
    >>> space = Subspace.grouped(np.array([1.0, 2.0, 4.0]), np.array([0, 1, 1]))
    >>> space.z.tolist(), space.place(space.z + [0.0, 0.5]).tolist()
    ([1.0, 4.0], [1.0, 2.5, 4.5])
    """

    def __init__(
        self,
        origin: FloatArray,
        indptr: IntArray,
        members: IntArray,
        factors: FloatArray,
        bounds: Box | None = None,
    ) -> None:
        self._origin = origin
        self.columns = columns = Columns(indptr, members, factors)
        self._plain = columns.single and columns.even

        def here(entries: IntArray) -> FloatArray:
            return np.asarray(origin[members[entries]] / factors[entries])

        self.z: FloatArray = here(np.arange(len(members))) if columns.single else columns.largest(here)
        """Where the point itself is."""
        self._inside: FloatArray = self.z  # the last base, and the point that it is
        self._outside: FloatArray = origin
        self._box = bounds if len(members) else None
        self.bounds: Box | None = None if self._box is None else self._room(self._box)
        """What z may not leave."""

    def _room(self, box: Box) -> Box:
        """Return the bounds of z."""
        origin, columns = self._origin, self.columns
        members, factors = columns.members, columns.factors
        if columns.single:
            return Box.of(of(box.lower, members) / factors, of(box.upper, members) / factors, len(self))

        def down(entries: IntArray) -> FloatArray:
            some = members[entries]
            return np.asarray((origin[some] - of(box.lower, some)) / factors[entries])

        def up(entries: IntArray) -> FloatArray:
            some = members[entries]
            return np.asarray((of(box.upper, some) - origin[some]) / factors[entries])

        return Box.of(self.z - columns.most(down), self.z + columns.most(up), len(self))

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def size(self) -> int:
        """The number of coordinates of a point."""
        return len(self._origin)

    # ------------------------------------------------------------ which columns

    @classmethod
    def of(cls, x: FloatArray, coordinates: IntArray, bounds: Box | None = None) -> Subspace:
        """Return what some coordinates reach, each moved by itself."""
        return cls(x, np.arange(len(coordinates) + 1), coordinates, np.ones(len(coordinates)), bounds)

    @classmethod
    def grouped(
        cls,
        x: FloatArray,
        labels: IntArray,
        bounds: Box | None = None,
        lengths: FloatArray | None = None,
    ) -> Subspace:
        """Return what groups reach, all coordinates of one moved together.

        Parameters
        ----------
        x
            The point.
        labels
            The group of each coordinate, from 0 on; those of −1 stay where they are.
        bounds
            What no point may leave.
        lengths
            How far each coordinate moves when z changes by one; all alike if not given.
        """
        staying = np.count_nonzero(labels < 0)
        order = np.argsort(labels, kind="stable")[staying:]
        counts = np.bincount(labels[order] if staying else labels)
        indptr = np.concatenate([[0], np.cumsum(counts)])
        factors = np.broadcast_to(np.float64(1.0), len(order)) if lengths is None else lengths[order]
        return cls(x, indptr, order, factors, bounds)

    def inside(self, columns: IntArray) -> IntArray:
        """Return the coordinates that some columns move, in their order."""
        return self.columns.members[self.columns.entries(columns)]

    # ------------------------------------------------------------ into it

    def problem(self, problem: Problem) -> Problem:
        """Return what is known of z, given what is known of x.

        The points that were paid for before are not among those that z reaches.
        """
        support = problem.support
        if support is not None:
            owner = np.full(len(self._origin), -1)
            owner[self.columns.members] = self.columns.owners
            support = np.unique(owner[support])
            support = support[support >= 0]
        scale = problem.scale
        if scale is not None:
            sizes, columns = scale, self.columns
            scale = columns.largest(lambda some: sizes[columns.members[some]] / columns.factors[some])
        return replace(
            problem, d=len(self), support=support, known=None, bounds=self.bounds, scale=scale, groups=None
        )

    def inward(self, at: Point) -> Point:
        """Return the point itself, with what is known of its value."""
        return Point(self.z, at.value, at.error, at.outputs)

    # ------------------------------------------------------------ out of it

    def place(self, z: FloatArray) -> FloatArray:
        """Return the point at z."""
        if z is not self._inside:
            moved = np.flatnonzero(z != self.z)
            entries = self.columns.entries(moved)
            owners = np.repeat(moved, self.columns.sizes[moved])
            x = replaced(self._origin, self.columns.members[entries], self._ends(z[owners], owners, entries))
            if isinstance(x, np.ndarray):
                x.flags.writeable = False
            self._inside, self._outside = z, x
        return self._outside

    def write(self, z: FloatArray, out: FloatArray) -> None:
        """Write the point at z into the vector `out`."""
        fill(self._origin, out)
        for entries, owners in self.columns.blocks(np.arange(len(self))):
            out[self.columns.members[entries]] = self._ends(z[owners], owners, entries)

    def _ends(self, z: FloatArray, owners: IntArray, entries: IntArray) -> FloatArray:
        """Return the coordinates of some entries, given the columns that they belong to, and z of these."""
        columns, box = self.columns, self._box
        members = columns.members[entries]
        x = z if self._plain else self._origin[members] + columns.factors[entries] * (z - self.z[owners])
        return x if box is None else np.clip(x, of(box.lower, members), of(box.upper, members))

    def within(self, steps: Steps[R]) -> Steps[R]:
        """Run an algorithm that knows z alone."""
        return translated(steps, self.ask, moved=self._moved)

    def minimised(self, steps: Steps[Finish]) -> Steps[Finish]:
        """Run a method that knows z alone."""
        finish = yield from self.within(steps)
        return finish if finish.answer is None else replace(finish, answer=self._point(finish.answer))

    def estimated(self, steps: Steps[GradientEstimate]) -> Steps[GradientEstimate]:
        """Run an estimator that knows z alone; of single coordinates, its estimate is one of x."""
        if not self.columns.single:
            raise ValueError("of a group that moves as one, the derivatives of its coordinates are not known")
        found = yield from self.within(steps)
        members, factors = self.columns.members[found.indices], self.columns.factors[found.indices]
        order = np.argsort(members)
        return replace(
            found,
            size=len(self._origin),
            indices=members[order],
            values=(found.values / factors)[order],
            errors=(found.errors / factors)[order],
            confirmed=found.confirmed[order],
            background=found.background / float(np.median(self.columns.factors)),
        )

    def ask(self, ask: Ask) -> Ask:
        """Return an ask around z as one around the point there."""
        base = self.place(ask.base)
        rows = ask.offsets
        offsets: Offsets
        if type(rows) is SparseRows:
            offsets = self._rows(rows, ask.base, base)
        else:
            offsets = Placed(rows, ask.base, self)
        return Ask(base, offsets, ask.role, ask.reserve)

    def _rows(self, rows: SparseRows, z: FloatArray, x: FloatArray) -> SparseRows | PieceRows:
        """Return displacements of z as displacements of x; of very many entries, not written down."""
        columns = self.columns
        if self._plain:
            return SparseRows(rows.indptr, columns.members[rows.indices], rows.values)
        sizes = columns.sizes[rows.indices]
        if isinstance(x, Place) and int(sizes.sum()) > SAMPLE:
            each = (rows.row(row) for row in range(len(rows)))
            return PieceRows(tuple(Lifted(self, z, which, steps) for which, steps in each))
        entries = columns.entries(rows.indices)
        owners, steps = np.repeat(rows.indices, sizes), np.repeat(rows.values, sizes)
        indptr = np.concatenate([[0], np.cumsum(sizes)])[rows.indptr]
        return SparseRows(indptr, columns.members[entries], self.displaced(steps, owners, entries, z, x))

    def displaced(
        self, steps: FloatArray, owners: IntArray, entries: IntArray, z: FloatArray, x: FloatArray
    ) -> FloatArray:
        """Return by how much steps of z displace some entries of columns from x, the point at z."""
        columns = self.columns
        if self._box is None or columns.single:  # the engine cuts a single one at its bounds
            return steps if columns.even else columns.factors[entries] * steps
        # One that ends at a bound leaves it again only when its group has come back.
        return self._ends(z[owners] + steps, owners, entries) - x[columns.members[entries]]

    def _moved(self, moved: Moved) -> Moved:
        return Moved(self._point(moved.to))

    def _point(self, at: Point) -> Point:
        return Point(self.place(at.x), at.value, at.error, at.outputs)


@record
class Lifted:
    """A displacement of z as one of the point there, worked out some entries at a time.

    Attributes
    ----------
    space, z
        Where it begins.
    which, steps
        Columns, and what is added to z in each.
    """

    space: Subspace
    z: FloatArray
    which: IntArray
    steps: FloatArray

    def __reduce__(self) -> tuple[object, ...]:
        """Send it written down: the space is larger."""
        where, values = zip(*self.pieces(self.space.place(self.z)), strict=True)
        return Few, (np.concatenate(where), np.concatenate(values))

    def __len__(self) -> int:
        return int(self.space.columns.sizes[self.which].sum())

    @property
    def covers(self) -> int:
        """How many coordinates it moves, if it is faster to write over all of a point than here and there."""
        return len(self) if 6 * len(self) >= self.space.size else 0

    @property
    def reach(self) -> float:
        """By how much it displaces a coordinate at most."""
        return self.space.columns.widest * float(np.max(np.abs(self.steps), initial=0.0))

    def pieces(self, base: FloatArray) -> Iterator[Piece]:
        """Yield it, some entries at a time."""
        columns = self.space.columns
        for entries, places in columns.blocks(self.which):
            owners = self.which[places]
            yield (
                columns.members[entries],
                self.space.displaced(self.steps[places], owners, entries, self.z, base),
            )

    def name(self) -> bytes:
        """Return what tells it from others, for a digest."""
        return self.which.tobytes() + self.steps.tobytes()


class Placed:
    """Rows of any kind around z, written as the points there."""

    def __init__(self, rows: Offsets, z: FloatArray, space: Subspace) -> None:
        self._rows, self._z, self._space = rows, z, space

    def __len__(self) -> int:
        return len(self._rows)

    def write(self, row: int, base: FloatArray, out: FloatArray) -> None:
        """Write the point of one row into the vector `out`."""
        z = np.empty_like(self._z)
        self._rows.write(row, self._z, z)
        self._space.write(z, out)

    def part(self, start: int, stop: int) -> Placed:
        """Return the rows from `start` up to, not including, `stop`."""
        return Placed(self._rows.part(start, stop), self._z, self._space)

    def take(self, rows: IntArray) -> Placed:
        """Return the rows that are named."""
        return Placed(self._rows.take(rows), self._z, self._space)
