"""Points of very many coordinates, kept as a start and the few coordinates in which they differ from it.

A run that moves s of d coordinates has points that share d − s of them. A `Place` keeps those few; the start,
the *origin*, is one array that all places of a run have in common, or one number where the start is given as
such, and then nothing of length d is kept at all. Methods that can work with either (`uses("places")`) meet
arrays as long as d is small, and ask what differs by the functions below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import cast

import numpy as np

from gracezo.core.types import FloatArray, IntArray

LARGE = 2**17
"""From so many that can move on points are places, for methods that take them; below, arrays are as fast."""
_CHUNK = 2**15  # coordinates that are looked at at a time


class Place:
    """A point: an origin, and the coordinates that differ from it.

    Parameters
    ----------
    origin
        One array of d numbers, not to be written to; or one number d times, by `numpy.broadcast_to`.
    indices
        Coordinates that may differ from it, ascending.
    values
        What they are.

    Examples
    --------
    >>> import numpy as np
    >>> place = Place.constant(0.0, 10**9).replaced(np.array([7, 3]), np.array([1.0, 2.0]))
    >>> place[np.array([2, 3])].tolist(), len(place), place.indices.tolist()
    ([0.0, 2.0], 1000000000, [3, 7])
    """

    def __init__(
        self, origin: FloatArray, indices: IntArray, values: FloatArray, known: dict[str, float] | None = None
    ) -> None:
        self._origin, self.indices, self.values = origin, indices, values
        self._known = {} if known is None else known  # of the origin, for all places that share it

    @property
    def origin(self) -> FloatArray:
        """What it may differ from."""
        return self._origin

    @property
    def root(self) -> FloatArray:
        """The array that tells which places share their origin."""
        return self.origin

    def _sharing(self, indices: IntArray, values: FloatArray) -> Place:
        """Return a place of the same origin."""
        return Place(self.origin, indices, values, self._known)

    def origin_at(self, where: IntArray | slice) -> FloatArray:
        """Return what the origin is at some coordinates."""
        return self.origin[where]

    def fill(self, out: FloatArray) -> None:
        """Write all coordinates into an array."""
        out[:] = self.origin
        out[self.indices] = self.values

    @property
    def stand_in(self) -> FloatArray:
        """Itself, where the type of an array is asked for."""
        return cast(FloatArray, self)

    @classmethod
    def at(cls, origin: FloatArray) -> Place:
        """Return the place that is an array."""
        return cls(origin, np.zeros(0, np.int64), np.zeros(0))

    @classmethod
    def constant(cls, value: float, size: int) -> Place:
        """Return the place where all coordinates are one number."""
        return cls.at(np.broadcast_to(np.float64(value), size))

    def __reduce__(self) -> tuple[object, ...]:
        if self.lean:  # NumPy would write out the number d times
            return _unpacked, (float(self.origin[0]), len(self.origin), self.indices, self.values)
        return Place, (self.origin, self.indices, self.values)

    def __len__(self) -> int:
        return len(self.origin)

    @property
    def shape(self) -> tuple[int]:
        """That of a flat vector."""
        return (len(self),)

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return len(self)

    def ravel(self) -> FloatArray:
        """Return itself, which is flat."""
        return self.stand_in

    @property
    def lean(self) -> bool:
        """Whether its origin is one number."""
        return lean(self.origin)

    def __getitem__(self, where: IntArray | slice) -> FloatArray:
        found = self.origin_at(where)
        if len(self.indices) == 0:
            return found
        if isinstance(where, slice):  # from its start up to its stop
            low, high = np.searchsorted(self.indices, [where.start, where.stop]).tolist()
            if low < high:
                found = found.copy()
                found[self.indices[low:high] - where.start] = self.values[low:high]
            return found
        places = np.minimum(np.searchsorted(self.indices, where), len(self.indices) - 1)
        return np.where(self.indices[places] == where, self.values[places], found)

    def replaced(self, indices: IntArray, values: FloatArray) -> Place:
        """Return the place with these coordinates, all distinct, in the stead of its own."""
        if len(indices) == 0:
            return self
        order = np.argsort(indices)
        new, entries = indices[order], values[order]
        if len(self.indices):
            places = np.minimum(np.searchsorted(new, self.indices), len(new) - 1)
            kept = new[places] != self.indices  # both ascend
            merged = np.concatenate([self.indices[kept], new])
            order = np.argsort(merged)
            new, entries = merged[order], np.concatenate([self.values[kept], entries])[order]
        return self._sharing(new, entries)

    def displaced(self, indices: IntArray, steps: FloatArray) -> Place:
        """Return the place with these coordinates, all distinct, displaced by their steps."""
        return self.replaced(indices, self[indices] + steps)

    def elsewhere(self, indices: IntArray, values: FloatArray) -> Place:
        """Return the place of the same origin that differs from it in these coordinates, ascending."""
        return self._sharing(indices, values)

    def over(self, scale: FloatArray | float) -> Place:
        """Return the place with all coordinates divided; its origin is not written down."""
        values = self.values / scale_at(scale, self.indices)
        if self.lean and isinstance(scale, float):
            return Place(np.broadcast_to(self.origin[0] / scale, len(self)), self.indices, values)
        return Scaled(self.origin, scale, self.indices, values)

    def times(self, scale: FloatArray | float) -> Place:
        """Return the place with all coordinates multiplied; its origin is written down."""
        values = self.values * scale_at(scale, self.indices)
        if self.lean and isinstance(scale, float):
            return Place(np.broadcast_to(self.origin[0] * scale, len(self)), self.indices, values)
        return Place(self.origin * scale, self.indices, values)

    def dense(self) -> FloatArray:
        """Return all coordinates, as a new array."""
        x = np.empty(len(self))
        self.fill(x)
        return x

    @property
    def largest(self) -> float:
        """The largest magnitude of a coordinate; NaN if there is one."""
        there = self._of_origin("largest", _largest)
        return there if math.isnan(there) else max(there, float(np.max(np.abs(self.values), initial=0.0)))

    @property
    def extent(self) -> tuple[float, float]:
        """Two numbers between which all coordinates are, as close as the origin allows."""
        least, most = self.origin_extent
        return float(np.min(self.values, initial=least)), float(np.max(self.values, initial=most))

    @property
    def origin_extent(self) -> tuple[float, float]:
        """The same of the origin."""
        return self._of_origin("least", _least), self._of_origin("most", _most)

    @property
    def mean_square(self) -> float:
        """The mean of the squared coordinates, up to rounding."""
        before = self.origin_at(self.indices)
        squares = self._of_origin("squares", _squares) + float(self.values @ self.values - before @ before)
        return max(squares, 0.0) / len(self)

    def _of_origin(self, name: str, measure: Callable[[FloatArray], float]) -> float:
        """Return something of the origin, which is read once."""
        if name not in self._known:
            self._known[name] = measure(self.origin)
        return self._known[name]


class Scaled(Place):
    """A place whose origin is that of others over a number, or over one for each; it is not written down.

    Parameters
    ----------
    root, scale
        The origin of others, and the numbers, which are positive.
    indices, values, known
        As of `Place`.
    """

    def __init__(
        self,
        root: FloatArray,
        scale: FloatArray | float,
        indices: IntArray,
        values: FloatArray,
        known: dict[str, float] | None = None,
    ) -> None:
        super().__init__(root, indices, values, known)
        self._scale = scale

    def __reduce__(self) -> tuple[object, ...]:
        return Scaled, (self._origin, self._scale, self.indices, self.values)

    def __len__(self) -> int:
        return len(self._origin)

    @property
    def lean(self) -> bool:
        """Whether its origin is one number."""
        return False

    @property
    def origin(self) -> FloatArray:
        """What it may differ from, written down."""
        return self._origin / self._scale

    @property
    def root(self) -> FloatArray:
        """The array that tells which places share their origin."""
        return self._origin

    def _sharing(self, indices: IntArray, values: FloatArray) -> Place:
        return Scaled(self._origin, self._scale, indices, values, self._known)

    def origin_at(self, where: IntArray | slice) -> FloatArray:
        """Return what the origin is at some coordinates."""
        return np.asarray(self._origin[where] / scale_at(self._scale, where))

    def fill(self, out: FloatArray) -> None:
        """Write all coordinates into an array."""
        np.divide(self._origin, self._scale, out=out)
        out[self.indices] = self.values

    def _of_origin(self, name: str, measure: Callable[[FloatArray], float]) -> float:
        if name not in self._known:
            if isinstance(self._scale, float):
                scale = self._scale**2 if measure is _squares else self._scale
                self._known[name] = measure(self._origin) / scale
            else:
                found = [measure(self.origin_at(some)) for some in chunks(len(self))]
                self._known[name] = collected(measure, found)
        return self._known[name]


def collected(measure: Callable[[FloatArray], float], parts: Sequence[float]) -> float:
    """Return a measure of a whole, given those of its parts."""
    least = min if measure is _least else max
    return sum(parts) if measure is _squares else least(parts, default=0.0)


def chunks(size: int) -> Iterator[slice]:
    """Yield all coordinates, some at a time, so that what is said of them takes little memory."""
    return (slice(first, min(first + _CHUNK, size)) for first in range(0, size, _CHUNK))


def scale_at(scale: FloatArray | float, where: IntArray | slice) -> FloatArray | float:
    """Return the scales of some coordinates: one number where all have the same."""
    return scale if isinstance(scale, float) else scale[where]


def lean(numbers: FloatArray) -> bool:
    """Whether numbers are a view of one, by `numpy.broadcast_to`; a place is none."""
    return isinstance(numbers, np.ndarray) and numbers.strides == (0,)


# A method that takes places meets either kind: an array, or a place that stands in for one.


def fill(x: FloatArray, out: FloatArray) -> None:
    """Write all coordinates of a point into an array."""
    if isinstance(x, Place):
        x.fill(out)
    else:
        out[:] = x


def replaced(x: FloatArray, indices: IntArray, values: FloatArray) -> FloatArray:
    """Return a new point that has these coordinates in the stead of its own.

    >>> replaced(np.zeros(3), np.array([1]), np.array([5.0])).tolist()
    [0.0, 5.0, 0.0]
    """
    if isinstance(x, Place):
        return x.replaced(indices, values).stand_in
    new = x.copy()
    new[indices] = values
    return new


def displaced(x: FloatArray, indices: IntArray, steps: FloatArray) -> FloatArray:
    """Return a new point, these coordinates displaced by their steps."""
    return replaced(x, indices, x[indices] + steps)


def dense(x: FloatArray) -> FloatArray:
    """Return all coordinates: the array itself, or a new one."""
    return x.dense() if isinstance(x, Place) else x


def largest(x: FloatArray) -> float:
    """Return the largest magnitude of a coordinate."""
    return x.largest if isinstance(x, Place) else _largest(x)


def mean_square(x: FloatArray) -> float:
    """Return the mean of the squared coordinates."""
    return x.mean_square if isinstance(x, Place) else float(np.mean(x * x))


def norm(x: FloatArray) -> float:
    """Return the norm of a point."""
    return math.sqrt(x.mean_square * len(x)) if isinstance(x, Place) else float(np.linalg.norm(x))


def differing(start: FloatArray, x: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return where two points of one run differ, ascending, and by how much.

    >>> differing(np.zeros(3), np.array([0.0, 2.0, 0.0]))
    (array([1]), array([2.]))
    """
    if isinstance(start, Place) and isinstance(x, Place) and start.root is x.root:
        where = np.union1d(start.indices, x.indices)
        change = x[where] - start[where]
        moved = change != 0.0
        return where[moved], change[moved]
    one, two = (_whole(point) for point in (start, x))
    where = np.concatenate([some.start + np.flatnonzero(one[some] != two[some]) for some in chunks(len(one))])
    return where, two[where] - one[where]


def same(x: FloatArray, y: FloatArray) -> bool:
    """Whether two points of one run are the same."""
    if isinstance(x, Place):
        return len(differing(x, y)[0]) == 0
    return bool(x[0] == y[0]) and not np.count_nonzero(x != y)


def midpoint(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the point between two points of one run."""
    if isinstance(x, Place):
        where, change = differing(x, y)
        return displaced(x, where, 0.5 * change)
    return 0.5 * (x + y)


def _whole(x: FloatArray) -> FloatArray:
    """Return all coordinates, without a copy where there are some already."""
    if isinstance(x, Place):
        return x.dense() if len(x.indices) else x.origin
    return x


def _unpacked(value: float, size: int, indices: IntArray, values: FloatArray) -> Place:
    return Place(np.broadcast_to(np.float64(value), size), indices, values)


def _largest(x: FloatArray) -> float:
    """Return the largest magnitude, without an array of them."""
    return max(abs(_most(x)), abs(_least(x))) if len(x) else 0.0


def _least(x: FloatArray) -> float:
    return float((x[:1] if lean(x) else x).min())


def _most(x: FloatArray) -> float:
    return float((x[:1] if lean(x) else x).max())


def _squares(x: FloatArray) -> float:
    """Return the sum of squares, without an array of them."""
    if lean(x):
        return len(x) * float(x[0]) ** 2
    return sum(float(x[some] @ x[some]) for some in chunks(len(x)))
