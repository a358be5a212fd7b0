"""Bounds: the box that no query may leave.

The rules of this file:

- A method that holds bounds knows where its asks end: it turns differences inward
  so that they fit, and takes a step for what the box leaves of it.
- The `ClipToBox` is what guarantees that they end inside. It stands between every method and every
  evaluator and puts each coordinate that a displacement would carry out, if only
  by the last rounding of a sum, on the bound itself.
- A bound that is the same everywhere is kept as one number, whatever d.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gracezo.core.asks import Ask, Offsets, SparseRows
from gracezo.core.places import fill, lean
from gracezo.core.types import BoolArray, FloatArray, IntArray


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

    @property
    def d(self) -> int:
        """The number of coordinates."""
        return len(self.lower)

    @cached_property
    def free(self) -> IntArray:
        """The coordinates that can move: lower < upper."""
        return np.flatnonzero(self.lower < self.upper)

    def clip(self, x: FloatArray) -> FloatArray:
        """Return the nearest point of the box."""
        return np.clip(x, self.lower, self.upper)

    def inside(self, points: FloatArray) -> BoolArray:
        """Return which points, one a row, lie in the box."""
        return np.asarray(((points >= self.lower) & (points <= self.upper)).all(axis=-1))

    def room(self, x: FloatArray, indices: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return how far these coordinates of x can go down, and up."""
        at = x[indices]
        return at - _of(self.lower, indices), _of(self.upper, indices) - at

    def ahead(self, x: FloatArray, indices: IntArray, steps: FloatArray) -> FloatArray:
        """Return how far these coordinates of x can go in the direction of their steps."""
        down, up = self.room(x, indices)
        return np.where(steps < 0.0, down, up)

    def place(self, x: FloatArray, indices: IntArray, steps: FloatArray) -> FloatArray:
        """Return where steps lead, cut at the bounds: the new values of these coordinates."""
        return np.clip(x[indices] + steps, _of(self.lower, indices), _of(self.upper, indices))

    def inward(self, x: FloatArray, indices: IntArray, steps: FloatArray, stretch: float = 1.0) -> FloatArray:
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


class SparsePoints(SparseRows):
    """Sparse rows whose values are the new coordinates themselves, not displacements."""

    def write(self, row: int, base: FloatArray, out: FloatArray) -> None:
        """Write `base` with the coordinates of one row into the vector `out`."""
        span = slice(self.indptr[row], self.indptr[row + 1])
        fill(base, out)
        out[self.indices[span]] = self.values[span]


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

    def __call__(self, ask: Ask) -> Ask:
        """Return the same ask with every point inside the box."""
        if ask.base is not self._seen:  # looked at once, as long as asks follow around the same one
            self._seen = ask.base
            self._base = ask.base if self._box.inside(ask.base) else self._box.clip(ask.base)
        offsets = ask.offsets
        if isinstance(offsets, SparseRows):
            places = self._box.place(ask.base, offsets.indices, offsets.values)
            offsets = SparsePoints(offsets.indptr, offsets.indices, places)
        elif not isinstance(offsets, Clipped):
            offsets = Clipped(offsets, self._box)
        return Ask(self._base, offsets, ask.role, ask.reserve)


def _lean(bound: FloatArray, d: int) -> FloatArray:
    """Return d bounds; a view of one number when they are all the same."""
    flat = bound.ravel()
    if len(flat) == 1 or (flat == flat[0]).all():
        return np.broadcast_to(flat[0], d)
    kept = flat.copy()
    kept.flags.writeable = False
    return kept


def _of(bound: FloatArray, indices: IntArray) -> FloatArray | np.float64:
    """Return the bounds of some coordinates: one number where all have the same."""
    return bound[0] if lean(bound) else bound[indices]


def _finite(bound: FloatArray) -> Any:
    if lean(bound) or len(bound) == 1:
        return float(bound[0]) if np.isfinite(bound[0]) else None
    return [value if np.isfinite(value) else None for value in bound.tolist()]
