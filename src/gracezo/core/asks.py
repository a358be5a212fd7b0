"""What an algorithm says: the words between generators and drivers.

The rules of this file:

- An algorithm is a generator (`Steps`). It never meets the user's function.
- It yields an `Ask` and receives one value a row, in the order of the rows: NaN
  where the evaluation failed and the user would rather go on without it. Where the
  function has m outputs (`outputs.py`), a value is a row of m numbers.
- It yields a `Moved` when an iterate is reached; what it receives then means nothing.
- When an ask cannot be afforded, `OutOfQueries` is raised inside the generator
  at that yield. It may ask for something cheaper, or return what it has.
- Points are flat float64 vectors; nobody writes into `Ask.base` or `Point.x`. For methods that take them,
  a `Place` stands in for a vector of very many coordinates (`places.py`).
"""

from __future__ import annotations

import enum
from collections.abc import Generator, Sequence
from functools import lru_cache
from typing import Protocol, TypeAlias, TypeVar

import numpy as np

from gracezo.core.places import Place, fill
from gracezo.core.types import AnyFloatArray, FloatArray, IntArray, record

R_co = TypeVar("R_co", covariant=True)


MARGIN = 0.01
"""Of the decrease so far."""


class Role(enum.Enum):
    """Why a query is asked.

    The role decides what may become the answer of a run, and whether a part
    of an ask is worth buying when the budget does not reach for all of it.

    Attributes
    ----------
    may_answer : bool
        Whether a point asked in this role can be the result: a probe is not an answer, but a look at single
        coordinates or at those found already may be (`CONFIRM`, `REFRESH`). Nor is a trial, a step on a noisy
        function: the lowest of noisy values is the luckiest, so the answer is where the method moves, and
        `AGAIN` measures the value there anew.
    margin : float
        By which share of the decrease so far it has to be lower for that than the best: by `MARGIN` where a
        whole set of coordinates was moved (`SET`), since most of them do not matter.
    divisible : bool
        Whether the first rows of an ask are of use without the others.
    """

    START = "start"
    PROBE = "probe"
    SET = "set"
    CONFIRM = "confirm"
    REFRESH = "refresh"
    STEP = "step"
    TRIAL = "trial"
    AGAIN = "again"

    def __init__(self, word: str) -> None:
        self.may_answer = word in ("start", "step", "set", "confirm", "refresh")
        self.margin = MARGIN if word == "set" else 0.0
        self.divisible = word in ("step", "again")


class Offsets(Protocol):
    """Rows of displacements from a base point."""

    def __len__(self) -> int:
        """Return the number of rows."""
        ...

    def write(self, row: int, base: FloatArray, out: FloatArray) -> None:
        """Write `base` displaced by one row into the vector `out`."""
        ...

    def part(self, start: int, stop: int) -> Offsets:
        """Return the rows from `start` up to, not including, `stop`."""
        ...

    def take(self, rows: IntArray) -> Offsets:
        """Return the rows that are named."""
        ...


@lru_cache(maxsize=256)
def _up_to(count: int) -> IntArray:
    """Return where one row begins and ends; the same for all of that length."""
    ends = np.array([0, count])
    ends.flags.writeable = False
    return ends


@record
class SparseRows:
    """Sparse displacements: row i is `values[p[i]:p[i+1]]` at `indices[p[i]:p[i+1]]`, p = `indptr`.

    The indices of one row are distinct.
    """

    indptr: IntArray
    indices: IntArray
    values: FloatArray

    @classmethod
    def single(cls, indices: IntArray, values: FloatArray) -> SparseRows:
        """Return one row."""
        return cls(_up_to(len(indices)), indices, values)

    @classmethod
    def coordinates(cls, indices: IntArray, steps: FloatArray) -> SparseRows:
        """Return one row for each coordinate, displaced alone by its step."""
        return cls(np.arange(len(indices) + 1), indices, steps)

    @classmethod
    def stack(cls, parts: Sequence[SparseRows]) -> SparseRows:
        """Return the rows of all parts, in order."""
        if len(parts) == 1:
            return parts[0]
        if all(len(part) == 1 for part in parts):  # the usual case
            lengths = np.concatenate([part.indptr for part in parts])[1::2]
        else:
            lengths = np.concatenate([np.diff(part.indptr) for part in parts])
        indptr = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=indptr[1:])
        return cls(
            indptr,
            np.concatenate([part.indices for part in parts]),
            np.concatenate([part.values for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def write(self, row: int, base: FloatArray, out: FloatArray) -> None:
        """Write `base` displaced by one row into the vector `out`."""
        fill(base, out)
        start, stop = self.indptr[row], self.indptr[row + 1]
        if start < stop:
            out[self.indices[start:stop]] += self.values[start:stop]

    def row(self, row: int) -> tuple[IntArray, FloatArray]:
        """Return one row."""
        span = slice(self.indptr[row], self.indptr[row + 1])
        return self.indices[span], self.values[span]

    def reached(self, row: int, base: Place) -> Place:
        """Return the place that one row leads to."""
        return base.displaced(*self.row(row))

    @property
    def reach(self) -> float:
        """By how much a coordinate is displaced at most."""
        return float(np.max(np.abs(self.values), initial=0.0))

    def times(self, factor: float) -> SparseRows:
        """Return all of them longer or shorter."""
        return SparseRows(self.indptr, self.indices, factor * self.values)

    def part(self, start: int, stop: int) -> SparseRows:
        """Return the rows from `start` up to, not including, `stop`."""
        first, end = self.indptr[start], self.indptr[stop]
        return type(self)(
            self.indptr[start : stop + 1] - first, self.indices[first:end], self.values[first:end]
        )

    def take(self, rows: IntArray) -> SparseRows:
        """Return the rows that are named."""
        return self.stack([self.part(row, row + 1) for row in rows.tolist()])


@record
class DenseRows:
    """Dense displacements: row i is `scale * rows[i]`."""

    rows: AnyFloatArray
    scale: float = 1.0

    def __len__(self) -> int:
        return len(self.rows)

    def write(self, row: int, base: FloatArray, out: FloatArray) -> None:
        """Write `base` displaced by one row into the vector `out`."""
        out[:] = self.rows[row]  # converted here, exactly; a product that converts is slower
        out *= self.scale
        out += base

    def part(self, start: int, stop: int) -> DenseRows:
        """Return the rows from `start` up to, not including, `stop`."""
        return DenseRows(self.rows[start:stop], self.scale)

    def take(self, rows: IntArray) -> DenseRows:
        """Return the rows that are named."""
        return DenseRows(self.rows[rows], self.scale)


def _nowhere(times: int) -> SparseRows:
    """Return rows without displacement."""
    return SparseRows(np.zeros(times + 1, np.int64), np.zeros(0, np.int64), np.zeros(0))


_NOWHERE = _nowhere(1)


@record
class Ask:
    """A batch of queries around one base point.

    Parameters
    ----------
    base
        The point that the rows are displaced from.
    offsets
        The displacements; ``len(ask)`` is their number.
    role
        Why these queries are asked.
    reserve
        How many further queries must stay affordable for these to be of any
        use: the other half of a pair, the step after a gradient.
    """

    base: FloatArray
    offsets: Offsets
    role: Role
    reserve: int = 0

    @classmethod
    def at(cls, x: FloatArray, role: Role, times: int = 1) -> Ask:
        """Ask for the value at `x` itself, once or several times."""
        return cls(x, _NOWHERE if times == 1 else _nowhere(times), role)

    def __len__(self) -> int:
        return len(self.offsets)

    def write(self, row: int, out: FloatArray) -> None:
        """Write the point of one row into the vector `out`."""
        self.offsets.write(row, self.base, out)

    def point(self, row: int) -> FloatArray:
        """Return the point of one row as a new vector."""
        out = np.empty(len(self.base))
        self.offsets.write(row, self.base, out)
        return out

    def reached(self, row: int) -> FloatArray:
        """Return the point of one row, not to be written to: the base itself, where nothing is displaced."""
        if self.offsets is _NOWHERE:
            return self.base
        if not isinstance(self.base, Place):
            return self.point(row)
        rows = self.offsets
        if isinstance(rows, SparseRows):
            return rows.reached(row, self.base).stand_in
        return Later(self, row).stand_in

    def head(self, count: int) -> Ask:
        """Return an ask for the first `count` rows only."""
        return Ask(self.base, self.offsets.part(0, count), self.role, self.reserve)

    def take(self, rows: IntArray) -> Ask:
        """Return an ask for the named rows only."""
        return Ask(self.base, self.offsets.take(rows), self.role, self.reserve)


class Later(Place):
    """The place of one row of an ask, written down when somebody wants to know."""

    def __init__(self, ask: Ask, row: int) -> None:
        self._wanted: tuple[Ask, int] | None = (ask, row)
        super().__init__(np.zeros(0), np.zeros(0, np.int64), np.zeros(0))

    @property
    def origin(self) -> FloatArray:
        """All coordinates."""
        if self._wanted is not None:
            ask, row = self._wanted
            self._origin, self._wanted = ask.point(row), None
        return self._origin


@record
class Point:
    """A vector and the value of the objective there, with its standard error where f is known to be noisy.

    Where the function has many outputs, these are its `outputs` and `value` is what ranks them.
    """

    x: FloatArray
    value: float
    error: float = 0.0
    outputs: FloatArray | None = None


@record
class Moved:
    """The algorithm has reached a new iterate."""

    to: Point


@record
class Decided:
    """The algorithm has decided something that a person may want to know, in words; nothing is asked."""

    what: str


class OutOfQueries(Exception):
    """Raised inside an algorithm at an ask that the rest of the budget cannot buy."""


Steps: TypeAlias = Generator[Ask | Moved | Decided, FloatArray, R_co]
