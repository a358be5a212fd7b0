"""Bounds: the box that no query may leave.

The rules of this file:

- A method that holds bounds knows where its asks end: it turns differences inward
  so that they fit, and takes a step for what the box leaves of it.
- The `ClipToBox` is what guarantees that they end inside. It stands between every method and every
  evaluator and puts each coordinate that a displacement would carry out, if only
  by the last rounding of a sum, on the bound itself.
- A bound that is the same everywhere is kept as one number, whatever d.
- Points may be places (`places.py`): what bounds make of them is then looked at block by block, once for all
  places of one origin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gracezo.core.asks import Ask, Offsets, SparseRows
from gracezo.core.moves import PieceRows
from gracezo.core.places import Place, chunks, collected, fill, lean
from gracezo.core.types import BoolArray, FloatArray, IntArray, record


@dataclass(frozen=True, eq=False)
class Box:
    """Lower and upper bounds of d coordinates, infinite where there is none.

    Examples
    --------
    >>> import numpy as np
    >>> box = Box.of(0.0, np.array([1.0, 0.0, np.inf]), 3)
    >>> box.free.tolist(), box.clip(np.array([2.0, -1.0, 5.0])).tolist()
    ([0, 2], [1.0, 0.0, 5.0])
    """

    lower: FloatArray
    upper: FloatArray

    @classmethod
    def of(cls, lower: float | FloatArray, upper: float | FloatArray, d: int) -> Box:
        """Return the box of d coordinates with these bounds, each one number or d."""
        return cls(_lean(np.asarray(lower, np.float64), d), _lean(np.asarray(upper, np.float64), d))

    def __reduce__(self) -> tuple[object, ...]:
        sides = (side[:1] if lean(side) else side for side in (self.lower, self.upper))
        return Box.of, (*sides, self.d)  # NumPy would write out one number d times

    @property
    def d(self) -> int:
        """The number of coordinates."""
        return len(self.lower)

    @property
    def lean(self) -> bool:
        """Whether it is one pair of bounds for all coordinates."""
        return lean(self.lower) and lean(self.upper)

    @cached_property
    def free(self) -> IntArray:
        """The coordinates that can move: lower < upper."""
        return np.flatnonzero(self.lower < self.upper)

    @cached_property
    def count(self) -> int:
        """How many can move."""
        if self.lean:
            return self.d if self.lower[0] < self.upper[0] else 0
        return sum(int(np.count_nonzero(self.moves(some))) for some in chunks(self.d))

    @property
    def holds_some(self) -> bool:
        """Whether some cannot move."""
        return self.count < self.d

    def moves(self, where: IntArray | slice) -> BoolArray:
        """Return which of some coordinates can move."""
        return np.asarray(self.lower[where] < self.upper[where])

    def over(self, scale: FloatArray | float) -> Box:
        """Return the same bounds where coordinates are counted in other units."""
        if self.lean and isinstance(scale, float):
            return Box.of(self.lower[0] / scale, self.upper[0] / scale, self.d)
        return Box(*(_lean(side / scale, self.d, copy=False) for side in (self.lower, self.upper)))

    def clip(self, x: FloatArray) -> FloatArray:
        """Return the nearest point of the box; of a place that is inside, itself."""
        if isinstance(x, Place):
            return self.clip_some(x, self.beyond(x.stand_in))
        return np.clip(x, self.lower, self.upper)

    def clip_some(self, x: Place, indices: IntArray) -> FloatArray:
        """Return a place of which no others can be outside, cut at the bounds; itself, if none is."""
        out = indices[self._out(x.stand_in, indices)]
        return x.replaced(out, self.place(x.stand_in, out, np.zeros(len(out)))).stand_in

    def beyond(self, x: FloatArray) -> IntArray:
        """Return the coordinates of a point that are outside."""
        if isinstance(x, Place) and self._spans(*x.origin_extent):
            return x.indices[self._out(x, x.indices)]
        return np.concatenate([some.start + np.flatnonzero(self._out(x, some)) for some in chunks(self.d)])

    def _out(self, x: FloatArray, where: IntArray | slice) -> BoolArray:
        here = x[where]
        return (here < of(self.lower, where)) | (here > of(self.upper, where))

    def holds(self, x: FloatArray, reach: float) -> bool:
        """Whether it is plain that no coordinate of a place leaves the box if all move by so much."""
        if not isinstance(x, Place):
            return False
        least, most = x.extent
        return self._spans(least - reach, most + reach)

    def margin(self, x: Place) -> float:
        """Return how far all coordinates of a place can go, to either side."""
        least, most = x.extent
        return min(least - self._tightest[0], self._tightest[1] - most)

    def _spans(self, least: float, most: float) -> bool:
        """Whether all bounds are farther out than these numbers."""
        return self._tightest[0] <= least and most <= self._tightest[1]

    @property
    def width(self) -> float:
        """How far apart two bounds are, at most."""
        return max(float(width.max()) for width in self._widths())

    @cached_property
    def narrowest(self) -> float:
        """How far apart two bounds are, at least, where they are not the same."""
        return min(float(width[width > 0.0].min(initial=np.inf)) for width in self._widths())

    def _widths(self) -> Iterator[FloatArray]:
        for some in chunks(1 if self.lean else self.d):
            yield self.upper[some] - self.lower[some]

    @cached_property
    def _tightest(self) -> tuple[float, float]:
        """The highest of the lower bounds, and the lowest of the upper ones."""
        low, high = (bound[:1] if lean(bound) else bound for bound in (self.lower, self.upper))
        return float(low.max()), float(high.min())

    def inside(self, points: FloatArray) -> BoolArray:
        """Return which points, one a row, lie in the box."""
        return np.asarray(((points >= self.lower) & (points <= self.upper)).all(axis=-1))

    def room(self, x: FloatArray, indices: IntArray | slice) -> tuple[FloatArray, FloatArray]:
        """Return how far these coordinates of x can go down, and up."""
        at = x[indices]
        return at - of(self.lower, indices), of(self.upper, indices) - at

    def ahead(self, x: FloatArray, indices: IntArray | slice, steps: FloatArray) -> FloatArray:
        """Return how far these coordinates of x can go in the direction of their steps."""
        down, up = self.room(x, indices)
        return np.where(steps < 0.0, down, up)

    def place(self, x: FloatArray, indices: IntArray, steps: FloatArray) -> FloatArray:
        """Return where steps lead, cut at the bounds: the new values of these coordinates."""
        return np.clip(x[indices] + steps, of(self.lower, indices), of(self.upper, indices))

    def inward(
        self, x: FloatArray, indices: IntArray | slice, steps: FloatArray, stretch: float = 1.0
    ) -> FloatArray:
        """Return steps that stay inside, also when multiplied by any number from 0 to `stretch`.

        A step without enough room is turned round where the other side has more, and then shortened to
        the room there is.
        """
        down, up = self.room(x, indices)
        ahead, behind = np.where(steps < 0.0, (down, up), (up, down))
        wanted = np.abs(steps) * stretch
        turned = np.where((ahead < wanted) & (behind > ahead), -steps, steps)
        most = np.where(turned == steps, ahead, behind) / stretch
        return np.asarray(np.copysign(np.minimum(np.abs(steps), most), turned))

    def as_json(self) -> dict[str, Any]:
        """Return the bounds in numbers and lists, one number where all are the same, None for infinity."""
        return {"lower": _finite(self.lower), "upper": _finite(self.upper)}


class MovablePart(Place):
    """The coordinates of a place that a box does not fix, for those who ask how large they are.

    Parameters
    ----------
    place, box
        The place, and the bounds.
    known
        Of the origin, for all places that share it.
    """

    def __init__(self, place: Place, box: Box, known: dict[str, float]) -> None:
        free = box.moves(place.indices)
        super().__init__(place.root, place.indices[free], place.values[free], known)
        self._place, self._box = place, box

    def __len__(self) -> int:
        return self._box.count

    def origin_at(self, where: IntArray | slice) -> FloatArray:
        """Return what the origin is at some coordinates."""
        return self._place.origin_at(where)

    def _of_origin(self, name: str, measure: Callable[[FloatArray], float]) -> float:
        if name not in self._known:
            free = (self.origin_at(some)[self._box.moves(some)] for some in chunks(self._box.d))
            self._known[name] = collected(measure, [measure(part) for part in free if len(part)])
        return self._known[name]


class SparsePoints(SparseRows):
    """Sparse rows whose values are the new coordinates themselves, not displacements."""

    def write(self, row: int, base: FloatArray, out: FloatArray) -> None:
        """Write `base` with the coordinates of one row into the vector `out`."""
        span = slice(self.indptr[row], self.indptr[row + 1])
        fill(base, out)
        out[self.indices[span]] = self.values[span]

    def reached(self, row: int, base: Place) -> Place:
        """Return the place that one row leads to."""
        return base.replaced(*self.row(row))


@record
class ClippedMoves(PieceRows):
    """Displacements of places, each cut at the bounds."""

    box: Box

    def cut(self, where: IntArray | slice, points: FloatArray) -> FloatArray:
        """Return coordinates as the bounds leave them, written over what they were."""
        lower, upper = of(self.box.lower, where), of(self.box.upper, where)
        return np.clip(points, lower, upper, out=points)

    def write(self, row: int, base: FloatArray, out: FloatArray) -> None:
        """Write `base` displaced by one row into the vector `out`, cut at the bounds."""
        PieceRows.write(self, row, base, out)
        self.cut(slice(0, len(out)), out)


class Clipped:
    """Rows of any kind, each cut at the bounds."""

    def __init__(self, offsets: Offsets, box: Box) -> None:
        self._offsets = offsets
        self._box = box

    def __len__(self) -> int:
        return len(self._offsets)

    def write(self, row: int, base: FloatArray, out: FloatArray) -> None:
        """Write `base` displaced by one row into the vector `out`, cut at the bounds."""
        self._offsets.write(row, base, out)
        np.clip(out, self._box.lower, self._box.upper, out=out)

    def part(self, start: int, stop: int) -> Clipped:
        """Return the rows from `start` up to, not including, `stop`."""
        return Clipped(self._offsets.part(start, stop), self._box)

    def take(self, rows: IntArray) -> Clipped:
        """Return the rows that are named."""
        return Clipped(self._offsets.take(rows), self._box)


class ClipToBox:
    """Lets no ask leave the box."""

    def __init__(self, box: Box) -> None:
        self._box = box
        self._seen: FloatArray | None = None
        self._base: FloatArray = np.zeros(0)
        self._root: FloatArray | None = None  # an origin that is known to be inside

    def __call__(self, ask: Ask) -> Ask:
        """Return the same ask with every point inside the box."""
        if ask.base is not self._seen:  # looked at once, as long as asks follow around the same one
            self._seen = ask.base
            self._base = self._cut(ask.base)
        offsets = ask.offsets
        if isinstance(offsets, SparseRows):
            places = self._box.place(ask.base, offsets.indices, offsets.values)
            offsets = SparsePoints(offsets.indptr, offsets.indices, places)
        elif isinstance(offsets, PieceRows):
            if not self._box.holds(ask.base, offsets.reach):
                offsets = ClippedMoves(offsets.rows, self._box)
        elif not isinstance(offsets, Clipped):
            offsets = Clipped(offsets, self._box)
        return Ask(self._base, offsets, ask.role, ask.reserve)

    def _cut(self, base: FloatArray) -> FloatArray:
        """Return a base inside the box: itself, if it is."""
        if not isinstance(base, Place):
            return base if self._box.inside(base) else self._box.clip(base)
        if base.root is self._root:
            return self._box.clip_some(base, base.indices)
        cut = self._box.clip(base.stand_in)
        if cut is base and len(base.indices) == 0:
            self._root = base.root
        return cut


def _lean(bound: FloatArray, d: int, copy: bool = True) -> FloatArray:
    """Return d bounds; a view of one number when they are all the same."""
    flat = bound.ravel()
    if len(flat) == 1 or (flat == flat[0]).all():
        return np.broadcast_to(flat[0], d)
    kept = flat.copy() if copy else flat
    kept.flags.writeable = False
    return kept


def of(bound: FloatArray, indices: IntArray | slice) -> FloatArray | np.float64:
    """Return the bounds of some coordinates: one number where all have the same."""
    return bound[0] if lean(bound) else bound[indices]


def _finite(bound: FloatArray) -> Any:
    if lean(bound) or len(bound) == 1:
        return float(bound[0]) if np.isfinite(bound[0]) else None
    return [value if np.isfinite(value) else None for value in bound.tolist()]
