"""The units of a run: a method counts each coordinate in its own scale, and f in a unit of its own.

A method that works in units knows nothing of them: a distance of one is a large change of a coordinate, and a
value of one a typical f. The user's x and f may be of any size. So between the method and whoever answers
stands a change of variables, z = x / scale and v = f / unit:

- Scales and unit are powers of two: no bit is lost in between, and a run on x → D·x and f → a·f, D and a
  powers of two, asks the same points bit for bit.
- The scale of a coordinate is what the user says, or else what the method makes of x0 and the bounds.
- The unit is |f(x0)|. Where f(x0) = 0, it is by how much f would change over one scale, as the first
  change that was seen says.
- A value is cut at 2^±204 units: walls of 1e300 are as good as walls of 1e60, and no square overflows.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from gracezo.core.asks import Ask, Moved, Point, SparseRows, Steps
from gracezo.core.method import Problem
from gracezo.core.moves import Moves
from gracezo.core.places import Place, chunks, largest, scale_at
from gracezo.core.precision import SHOWN
from gracezo.core.result import Finish, GradientEstimate
from gracezo.core.steps import translated
from gracezo.core.types import FloatArray, IntArray

LARGEST = math.ldexp(1.0, np.finfo(np.float64).maxexp // 5)
"""Units at which values are cut: no fifth power of them overflows."""


class Units:
    """The change of variables of one run.

    Parameters
    ----------
    scale
        What is one for the method, in the user's x: a power of two for each coordinate, or one for all.
    unit
        The same for f; 0 while f has been 0 everywhere.
    places
        Whether points are places.

    Examples
    --------
    >>> import numpy as np
    >>> units = Units(np.array([4.0, 0.5]), 8.0)
    >>> units.inward(Point(np.array([8.0, 1.0]), 16.0)).x.tolist()
    [2.0, 2.0]
    """

    def __init__(self, scale: FloatArray | float, unit: float, *, places: bool = False) -> None:
        self._scale = scale
        self._places = places
        self._widest = scale if isinstance(scale, float) else float(scale.max())
        self._unit = unit
        self._plain = isinstance(scale, float) and scale == 1.0
        self._inside: FloatArray | None = None  # the last base, and what it is in the user's x
        self._outside: FloatArray = np.zeros(0)
        self._root: FloatArray | None = None  # that of the last place

    @classmethod
    def of(cls, problem: Problem, at: Point, sizes: FloatArray) -> Units:
        """Return the units for a run from a point, where coordinates have these sizes, or all have one."""
        if len(sizes) == 1 and SHOWN * largest(at.x) < sizes[0]:
            sizes = np.exp2(np.rint(np.log2(sizes)))  # none is too fine
        else:
            sizes = _powers(sizes, at.x)
        alike = bool((sizes == sizes[0]).all())
        candidates = [abs(problem.first or 0.0), abs(at.value), problem.noise or 0.0]
        if problem.known is not None:
            candidates.append(float(np.abs(problem.known[1]).max()))
        unit = next(map(_power, filter(None, candidates)), 0.0)
        return cls(float(sizes[0]) if alike else sizes, unit, places=isinstance(at.x, Place))

    @property
    def unit(self) -> float:
        """What a value of one is in the user's f; 0 while f has been 0 everywhere."""
        return self._unit

    # ------------------------------------------------------------ into the units

    def problem(self, problem: Problem) -> Problem:
        """Return the same problem in these units."""
        unit = self._unit or 1.0
        box, known = problem.bounds, problem.known
        if box is not None and not self._plain:
            box = box.over(self._scale)
        return replace(
            problem,
            places=self._places,
            bounds=box,
            known=None if known is None else (self._into(known[0]), known[1] / unit),
            noise=None if problem.noise is None else problem.noise / unit,
            first=None if problem.first is None else problem.first / unit,
        )

    def inward(self, at: Point) -> Point:
        """Return a point in these units."""
        z = self._into(at.x)
        self._inside, self._outside = z, at.x
        self._root = z.root if isinstance(z, Place) else None
        unit = self._unit or 1.0
        return Point(z, at.value / unit, at.error / unit)

    def _into(self, x: FloatArray) -> FloatArray:
        if self._plain:
            return x
        return x.over(self._scale).stand_in if isinstance(x, Place) else x / self._scale

    # ------------------------------------------------------------ out of them

    def minimised(self, steps: Steps[Finish]) -> Steps[Finish]:
        """Run a method that works in these units."""
        finish = yield from translated(steps, self._ask, self._heard, self._moved)
        return finish if finish.answer is None else replace(finish, answer=self._point(finish.answer))

    def estimated(self, steps: Steps[GradientEstimate]) -> Steps[GradientEstimate]:
        """Run an estimator that works in these units."""
        found = yield from translated(steps, self._ask, self._heard, self._moved)
        unit = self._unit or 1.0
        sizes = self._at(found.indices)
        with np.errstate(over="ignore"):  # of a coordinate without room, nothing is known
            values, errors = found.values / sizes * unit, found.errors / sizes * unit
        # Where coordinates have units of their own, so has the background of each: that of the typical one.
        background = found.background * unit / float(np.median(self._scale))
        return replace(found, values=values, errors=errors, background=background)

    def slopes(self, indices: IntArray, slopes: FloatArray) -> FloatArray:
        """Return derivatives along some coordinates in these units."""
        return np.asarray(slopes * self._at(indices) / (self._unit or 1.0))

    def value(self, size: float) -> float:
        """Return a difference of values as the user has it."""
        return size * (self._unit or 1.0)

    def _heard(self, ask: Ask, values: FloatArray) -> FloatArray:
        if self._unit == 0.0:
            self._learn(ask, values)
        scaled = values / (self._unit or 1.0)
        if len(scaled) == 1 and abs(scaled[0]) <= LARGEST:  # the usual case
            return scaled
        return np.clip(scaled, -LARGEST, LARGEST)

    def _learn(self, ask: Ask, values: FloatArray) -> None:
        """Take the unit from the first value that is not zero, beside how far away it was met."""
        for row in np.flatnonzero(values)[:1].tolist():
            if isinstance(ask.base, Place):
                distance = float(ask.offsets.take(np.array([row])).reach)  # type: ignore[attr-defined]  # sparse
            else:
                distance = float(np.abs(ask.point(row) - ask.base).max())
            self._unit = _power(abs(float(values[row])) / (distance or 1.0))

    def _ask(self, ask: Ask) -> Ask:
        if self._plain:
            return ask
        rows = ask.offsets
        if isinstance(rows, Moves):
            rows = rows.counted_in(self._scale, self._widest)
            return Ask(self._base(ask.base), rows, ask.role, ask.reserve)
        assert isinstance(rows, SparseRows)
        if len(rows.values):
            rows = SparseRows(rows.indptr, rows.indices, rows.values * self._at(rows.indices))
        return Ask(self._base(ask.base), rows, ask.role, ask.reserve)

    def _base(self, z: FloatArray) -> FloatArray:
        if self._plain:
            return z
        if z is not self._inside:
            self._inside, self._outside = z, self._from(z)
        return self._outside

    def _from(self, z: FloatArray) -> FloatArray:
        """Return a point as the user has it; places that share an origin share it there, too."""
        if not isinstance(z, Place):
            return z * self._scale
        before = self._outside
        if isinstance(before, Place) and self._root is z.root:
            return before.elsewhere(z.indices, z.values * self._at(z.indices)).stand_in
        self._root = z.root
        return z.times(self._scale).stand_in

    def _moved(self, moved: Moved) -> Moved:
        return Moved(self._point(moved.to))

    def _point(self, at: Point) -> Point:
        unit = self._unit or 1.0
        return Point(self._base(at.x), at.value * unit, at.error * unit)

    def _at(self, indices: IntArray) -> FloatArray | float:
        return scale_at(self._scale, indices)


def _powers(sizes: FloatArray, x: FloatArray) -> FloatArray:
    """Return powers of two for all coordinates, of these sizes or of one, and none too fine for x."""
    powers = np.empty(len(x))
    for some in chunks(len(x)):
        finest = np.maximum(sizes[some] if len(sizes) > 1 else sizes, SHOWN * np.abs(x[some]))
        powers[some] = np.exp2(np.rint(np.log2(finest)))
    return powers


def _power(size: float) -> float:
    """Return the largest power of two that is no larger.

    >>> _power(5.0), _power(0.3)
    (4.0, 0.25)
    """
    return float(np.ldexp(1.0, int(np.frexp(size)[1]) - 1))
