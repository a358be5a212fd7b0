"""The way across kinks that no single coordinate leads out of: |x_i − x_j|, the largest of several terms.

BFGS finds it where f can be differentiated almost everywhere, if the line search steps over kinks: a pair
that crosses one teaches the model a large curvature across it, and steps come to lie along it (Lewis &
Overton, *Nonsmooth optimization via quasi-Newton methods*, Mathematical Programming 141, 135–163, 2013). The
search is their algorithm 2.6, by bisection and doubling until f has fallen (c₁) and the slope along the line
has risen (c₂): not to the lowest point, which would be on the kink, where slopes say nothing.

A gradient costs a query a coordinate, so this is for few of them, and only if kinks couple them
(`verdict.py`). It begins a little off the place where other ways have stopped: a coordinate that stands on a
kink has no slope.
"""

from __future__ import annotations

import math

import numpy as np

from gracezo.core.asks import Ask, OutOfQueries, Point, Role, SparseRows, Steps
from gracezo.core.keys import Key
from gracezo.core.places import replaced, same
from gracezo.core.types import FloatArray, IntArray
from gracezo.methods.auto import constants
from gracezo.methods.auto.here import Walls
from gracezo.methods.auto.instrument.look import asked_all
from gracezo.methods.auto.search.order import Rest, written
from gracezo.methods.auto.verdict import coupled
from gracezo.methods.auto.ways import Offer
from gracezo.methods.auto.ways.sparse import Sparse


class Nonsmooth:
    """The way across kinks; one object a run, since how far to go follows from how far others have come.

    Parameters
    ----------
    sparse
        What that way has learned.
    start
        Where it began.
    key
        Of its random numbers.
    """

    name = "across kinks"

    def __init__(self, sparse: Sparse, start: Point, key: Key) -> None:
        self._differences = sparse.differences
        self._walls = sparse.walls
        self._sparse = sparse
        self._origin, self._way = start.x, 1.0
        self._key = key
        self._all = False
        self._tries = 0
        self._tried = math.inf  # f where it was tried last
        self.coupled = False
        """Whether kinks across coordinates have shown themselves."""

    def untried(self, value: float, least: float) -> bool:
        """Whether f has come down by more than so much since the last try."""
        return self._tried - value > least

    def widen(self) -> None:
        """Go along all coordinates from now on, not only those that the sparse way has met."""
        self._all = True

    def offer(self, here: Point) -> Offer | None:
        """Return what is in sight: without slopes, nobody knows; the rounds that a first step takes."""
        coordinates = self._coordinates
        return Offer(math.inf, len(coordinates)) if len(coordinates) else None

    @property
    def _coordinates(self) -> IntArray | Rest:
        return self._sparse.free if self._all else self._sparse.met

    def leg(self, here: Point) -> Steps[Point]:
        """Go down along coordinates, if kinks couple them; return the lowest point met."""
        at, coordinates = here, written(self._coordinates)
        ways = np.abs(at.x[coordinates] - self._origin[coordinates])
        way = float(np.median(ways[ways > 0.0])) if ways.any() else constants.UNSEEN * self._way
        self._tried = at.value
        self._tries += 1
        rng = self._key.child(self._tries).generator()
        aside = np.full(len(coordinates), constants.SMALL * way)
        rounding = self._differences.rounding
        if not (yield from coupled(at, coordinates, aside, rounding, rng, constants.DRAWN)):
            return at
        self.coupled, self._origin, self._way = True, at.x, way
        # The error of a value decides how near differences can be; between kinks no curvature does.
        near = max(constants.DIFFERENCE, rounding / (constants.PRECISE * self._differences.scale))
        return (yield from _Valley(self._walls, coordinates, way, near).descend(at, rng))


class _Valley:
    """One descent: BFGS along coordinates that have come so far as a rule, with slopes measured so near."""

    def __init__(self, walls: Walls, coordinates: IntArray, way: float, near: float) -> None:
        self._walls = walls
        self._coordinates = coordinates
        self._way, self._near = way, near
        self._inverse: FloatArray | None = None  # of the curvatures
        self._met: dict[bytes, float] = {}  # all values asked, by the coordinates
        self._best: Point

    def descend(self, at: Point, rng: np.random.Generator) -> Steps[Point]:
        """Go down from a little off a point; return the lowest that was met, which may be that point."""
        self._best = at
        self._met[at.x[self._coordinates].tobytes()] = at.value
        try:
            yield from self._descend(at, rng)
        except OutOfQueries:
            if self._best is at:
                raise
        return self._best

    def _descend(self, at: Point, rng: np.random.Generator) -> Steps[None]:
        start, n = at.x[self._coordinates], len(self._coordinates)
        here = yield from self._at(at.x, start + constants.SMALL * self._way * rng.standard_normal(n))
        if here.value == math.inf:
            return
        slopes = yield from self._slopes(here)
        values = [here.value]
        recent = (
            min(n, constants.MEMORY) + constants.RECENT
        )  # it takes a pair for each coordinate to learn how a valley lies
        while len(values) <= 2 * constants.MEMORY:
            moved = yield from self._line(here, slopes)
            if moved is here:
                if self._inverse is None:
                    return
                self._inverse = None
                continue
            after = yield from self._slopes(moved)
            self._learn(moved.x[self._coordinates] - here.x[self._coordinates], after - slopes)
            here, slopes = moved, after
            values.append(here.value)
            brought = values[0] - here.value
            if len(values) > recent and values[-recent - 1] - here.value <= constants.ARMIJO * brought:
                return

    def _line(self, here: Point, slopes: FloatArray) -> Steps[Point]:
        """Search along the direction of the model; return where both conditions hold, or the lowest point."""
        direction = self._direction(slopes)
        slope = float(slopes @ direction)
        if not slope < 0.0:
            return here
        x, lowest, trial = here.x[self._coordinates], here, here
        low, high, t = 0.0, math.inf, 1.0
        for _ in range(np.finfo(np.float64).nmant):
            last, trial = trial, (yield from self._at(here.x, x + t * direction))
            if any(same(trial.x, other.x) for other in (last, here)):
                break  # bounds let it go no further, or the precision of x no nearer
            if trial.value < lowest.value:
                lowest = trial
            if not trial.value <= here.value + constants.ARMIJO * t * slope:
                high = t
            else:
                near = self._near / constants.UNSEEN * t
                beyond = yield from self._at(here.x, x + (t + near) * direction)
                if (beyond.value - trial.value) / near >= constants.WOLFE * slope:
                    return trial
                low = t
            t = 2.0 * low if high == math.inf else 0.5 * (low + high)
            if not low < t < high:
                break
        return lowest

    def _direction(self, slopes: FloatArray) -> FloatArray:
        if self._inverse is not None:
            return np.asarray(-self._inverse @ slopes)
        norm = float(np.linalg.norm(slopes))
        return slopes if norm == 0.0 else -constants.SMOOTH * self._way / norm * slopes

    def _learn(self, step: FloatArray, change: FloatArray) -> None:
        """Update the inverse (Nocedal & Wright, Numerical Optimization, 2nd ed., equation 6.17)."""
        curved = float(step @ change)
        if not curved > 0.0:
            return
        if self._inverse is None:
            self._inverse = curved / float(change @ change) * np.eye(len(step))
        moved = self._inverse @ change
        both = np.outer(moved, step)
        self._inverse = self._inverse - (both + both.T) / curved
        self._inverse += (1.0 + float(change @ moved) / curved) / curved * np.outer(step, step)

    def _slopes(self, here: Point) -> Steps[FloatArray]:
        """Measure the slope of each coordinate alone."""
        x = here.x[self._coordinates]
        steps = self._near * (self._way + np.abs(x))
        if self._walls.box is not None:
            steps = self._walls.box.inward(here.x, self._coordinates, steps)
        steps = (x + steps) - x
        changes, _ = yield from asked_all(
            here, SparseRows.coordinates(self._coordinates, steps), Role.REFRESH
        )
        return np.divide(changes, steps, out=np.zeros(len(steps)), where=steps != 0.0)

    def _at(self, base: FloatArray, places: FloatArray) -> Steps[Point]:
        """Return the point with the coordinates at other places; none is asked twice."""
        x = replaced(base, self._coordinates, places)
        if self._walls.box is not None:
            x = self._walls.box.clip(x)
        key = x[self._coordinates].tobytes()
        if key not in self._met:
            values = yield Ask.at(x, Role.STEP)
            if not len(values):
                raise OutOfQueries
            self._met[key] = math.inf if math.isnan(values[0]) else float(values[0])
        point = Point(x, self._met[key])
        if point.value < self._best.value:
            self._best = point
        return point
