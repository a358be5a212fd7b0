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

from dataclasses import replace
from typing import TypeVar

import numpy as np

from gracezo.core.asks import Ask, Moved, Offsets, Point, SparseRows, Steps
from gracezo.core.box import Box
from gracezo.core.method import Problem
from gracezo.core.result import Finish, GradientEstimate
from gracezo.core.steps import translated
from gracezo.core.types import FloatArray, IntArray

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
        self._indptr, self._members, self._factors = indptr, members, factors
        self._sizes = np.diff(indptr)
        self._single = bool((self._sizes == 1).all())
        self._even = bool((factors == 1.0).all())
        self._plain = self._single and self._even
        self._owner = np.repeat(np.arange(len(indptr) - 1), self._sizes)
        here = origin[members] / factors
        self.z: FloatArray = self._largest(here)
        """Where the point itself is."""
        self._inside: FloatArray = self.z  # the last base, and the point that it is
        self._outside: FloatArray = origin
        self._limits: tuple[FloatArray, FloatArray] | None = None
        self.bounds: Box | None = None
        """What z may not leave."""
        if bounds is not None and len(members):
            lower, upper = bounds.lower[members], bounds.upper[members]
            self._limits = lower, upper
            down, up = (origin[members] - lower) / factors, (upper - origin[members]) / factors
            low, high = lower / factors, upper / factors
            if not self._single:
                first = self._indptr[:-1]
                low = self.z - np.maximum.reduceat(down, first)
                high = self.z + np.maximum.reduceat(up, first)
            self.bounds = Box.of(low, high, len(self))

    def __len__(self) -> int:
        return len(self._indptr) - 1

    def _largest(self, here: FloatArray) -> FloatArray:
        """Return of each column the entry of largest magnitude."""
        if self._single:
            return here
        first = self._indptr[:-1]
        most, least = np.maximum.reduceat(here, first), np.minimum.reduceat(here, first)
        return np.where(most >= -least, most, least)

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
        order = np.argsort(labels, kind="stable")
        order = order[np.searchsorted(labels[order], 0) :]
        counts = np.bincount(labels[order])
        indptr = np.concatenate([[0], np.cumsum(counts)])
        factors = np.broadcast_to(np.float64(1.0), len(order)) if lengths is None else lengths[order]
        return cls(x, indptr, order, factors, bounds)

    def inside(self, columns: IntArray) -> IntArray:
        """Return the coordinates that some columns move, in their order."""
        starts, sizes = self._indptr[columns], self._sizes[columns]
        return self._members[_ranges(starts, sizes)]

    # ------------------------------------------------------------ into it

    def problem(self, problem: Problem) -> Problem:
        """Return what is known of z, given what is known of x.

        The points that were paid for before are not among those that z reaches.
        """
        support = problem.support
        if support is not None:
            owner = np.full(len(self._origin), -1)
            owner[self._members] = self._owner
            support = np.unique(owner[support])
            support = support[support >= 0]
        scale = problem.scale
        if scale is not None:
            scale = self._largest(scale[self._members] / self._factors)
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
            x = np.empty_like(self._origin)
            self.write(z, x)
            x.flags.writeable = False
            self._inside, self._outside = z, x
        return self._outside

    def write(self, z: FloatArray, out: FloatArray) -> None:
        """Write the point at z into the vector `out`."""
        out[:] = self._origin
        out[self._members] = self._coordinates(z[self._owner], slice(None))

    def _coordinates(self, z: FloatArray, which: IntArray | slice) -> FloatArray:
        """Return the coordinates of some entries of the columns, given z of each."""
        members, factors = self._members[which], self._factors[which]
        x = z if self._plain else self._origin[members] + factors * (z - self.z[self._owner[which]])
        if self._limits is not None:
            x = np.clip(x, self._limits[0][which], self._limits[1][which])
        return x

    def within(self, steps: Steps[R]) -> Steps[R]:
        """Run an algorithm that knows z alone."""
        return translated(steps, self.ask, moved=self._moved)

    def minimised(self, steps: Steps[Finish]) -> Steps[Finish]:
        """Run a method that knows z alone."""
        finish = yield from self.within(steps)
        return finish if finish.answer is None else replace(finish, answer=self._point(finish.answer))

    def estimated(self, steps: Steps[GradientEstimate]) -> Steps[GradientEstimate]:
        """Run an estimator that knows z alone; of single coordinates, its estimate is one of x."""
        if not self._single:
            raise ValueError("of a group that moves as one, the derivatives of its coordinates are not known")
        found = yield from self.within(steps)
        members, factors = self._members[found.indices], self._factors[found.indices]
        order = np.argsort(members)
        return replace(
            found,
            size=len(self._origin),
            indices=members[order],
            values=(found.values / factors)[order],
            errors=(found.errors / factors)[order],
            confirmed=found.confirmed[order],
            background=found.background / float(np.median(self._factors)),
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

    def _rows(self, rows: SparseRows, z: FloatArray, x: FloatArray) -> SparseRows:
        """Return displacements of z as displacements of x."""
        if self._plain:
            return SparseRows(rows.indptr, self._members[rows.indices], rows.values)
        sizes = self._sizes[rows.indices]
        indptr = np.concatenate([[0], np.cumsum(sizes)])[rows.indptr]
        which = rows.indices if self._single else _ranges(self._indptr[rows.indices], sizes)
        members = self._members[which]
        steps = rows.values if self._single else np.repeat(rows.values, sizes)
        if self._limits is None or self._single:  # the engine cuts a single one at its bounds
            displaced = steps if self._even else self._factors[which] * steps
        else:  # one that ends at a bound leaves it again only when its group has come back
            displaced = self._coordinates(z[self._owner[which]] + steps, which) - x[members]
        return SparseRows(indptr, members, displaced)

    def _moved(self, moved: Moved) -> Moved:
        return Moved(self._point(moved.to))

    def _point(self, at: Point) -> Point:
        return Point(self.place(at.x), at.value, at.error, at.outputs)


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


def _ranges(starts: IntArray, sizes: IntArray) -> IntArray:
    """Return all places from each start on, as many as its size.

    >>> _ranges(np.array([0, 7]), np.array([2, 3])).tolist()
    [0, 1, 7, 8, 9]
    """
    ends = np.cumsum(sizes)
    places = np.repeat(starts - (ends - sizes), sizes)
    places += np.arange(len(places))
    return places
