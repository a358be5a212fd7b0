"""Two ways with a whole gradient, a query a coordinate: quasi-Newton where f is smooth, and across kinks.

**Dense.** Where most coordinates matter, to search for them buys nothing, and what was learned on a few of
them is no guide to the rest. This is FDSA with limited-memory BFGS, begun from one curvature for all;
`bandit.py` says when. Beside a gradient a trial along the line costs next to nothing: so the line search goes
on for as long as a parabola promises more for one more trial than the step has brought per query.

**Across kinks** that no single coordinate leads out of: |x_i − x_j|, the largest of several terms.
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
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gracezo.core.asks import Ask, OutOfQueries, Point, Role, SparseRows, Steps
from gracezo.core.keys import Key
from gracezo.core.places import replaced, same
from gracezo.core.precision import ROOT
from gracezo.core.rest import Rest, written
from gracezo.core.types import FloatArray, IntArray
from gracezo.core.walls import Walls
from gracezo.methods.auto import constants
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import asked_all
from gracezo.methods.auto.verdict import coupled
from gracezo.methods.auto.ways import Ledger, Offer
from gracezo.methods.auto.ways.sparse import Sparse
from gracezo.methods.auto.ways.working import WorkingSets
from gracezo.methods.line_search import lowest_along
from gracezo.updates.projected import Path, newton_path
from gracezo.updates.quasi_newton import BFGS, LBFGS


class _Made(NamedTuple):
    """The last step: where it led, the slopes where it began, and how the model saw them change."""

    to: Point
    step: FloatArray
    slopes: FloatArray
    expected: FloatArray


class Dense:
    """Steps by plain differences.

    Parameters
    ----------
    sparse
        What that way has learned.
    ledger
        Counts what is asked.
    working
        The way where kinks are at the start, which is told of those that samples show.
    """

    name = "of plain differences along every coordinate"

    def __init__(self, sparse: Sparse, ledger: Ledger, working: WorkingSets) -> None:
        self._sparse = sparse
        self._working = working
        self._walls = Walls(sparse.walls.box)  # the sparse way has stops of its own: kinks that it has met
        self._ledger = ledger
        self.gradients = 0
        """How many were measured."""
        self._model = LBFGS(constants.MEMORY)
        self._slopes: FloatArray = np.zeros(0)
        self._failed: Point | None = None  # where no step led down
        self._made: _Made | None = None
        self._steps: list[tuple[float, float]] = []  # decreases promised, and brought

    @property
    def _differences(self) -> Differences:
        return self._sparse.differences

    @cached_property
    def _coordinates(self) -> IntArray:
        """All coordinates that can move, once all of them are asked."""
        return written(self._sparse.free)

    @property
    def realised(self) -> float:
        """What share of their promises the last steps have brought; one while there are too few of them."""
        if len(self._steps) < constants.FEW:
            return 1.0
        promised, brought = np.sum(self._steps[-constants.FEW :], axis=0).tolist()
        return float(brought / promised)

    @property
    def spread(self) -> float:
        """The share of the coordinates that hold most of what the last gradient promised."""
        if not self.gradients:
            return 1.0
        mass = np.cumsum(np.sort(self._slopes**2)[::-1])
        return float(np.searchsorted(mass, (1.0 - constants.UNSEEN) * mass[-1]) + 1) / len(mass)

    @property
    def few(self) -> bool:
        """Whether few coordinates hold what the last gradient promised, and few have been met."""
        met, size = len(self._sparse.met), self._sparse.size
        return met < constants.CLEARLY * size and self.spread < 1.0 / constants.PARTS

    def offer(self, here: Point) -> Offer | None:
        """Return what all slopes promise, for a query a coordinate and one for the step."""
        return None if self.ended(here) else Offer(self._sparse.promise, self.rounds)

    def ended(self, here: Point) -> bool:
        """Whether it has nothing to offer from this point."""
        return here is self._failed or self._working.kinked is True

    @property
    def rounds(self) -> int:
        """What a gradient takes, and a step."""
        return self._ledger.rounds_of(self._sparse.size) + 1

    def leg(self, here: Point) -> Steps[Point]:
        """Measure the gradient and step; return the present point, the same if no step leads down."""
        at = here
        self._differences.centre(self._walls.centre(at.x), at.value)
        if at is self._failed:
            return at
        if not len(self._slopes):
            self._slopes = np.zeros(self._sparse.size)
        curvatures = np.full(len(self._coordinates), self._differences.newton(0.0))
        steps = self._lengths(at, curvatures)
        changes = np.full(len(steps), math.nan)
        if self._made is None or at is not self._made.to:
            self._made = None
            self._steps.clear()
            if (yield from self._on_kinks(at, steps, changes)):
                self._failed = at
                return at
        slopes = yield from self._measured(at, steps, changes)
        if self._made is not None:
            self._model.learn(self._made.step, slopes - self._made.slopes, self._made.expected)
        self._slopes = slopes
        self.gradients += 1
        # Curvatures that were lost in rounding are none: no step is to promise many times all of f.
        least = constants.NEGLIGIBLE**2 * self._differences.least_curvature(float(np.linalg.norm(slopes)))
        return (yield from self._step(at, np.maximum(curvatures, least)))

    def _step(self, at: Point, curvatures: FloatArray) -> Steps[Point]:
        """Step along the model's path; where that leads uphill, once more without what it has learned."""
        while True:
            path = newton_path(self._model, self._walls, self._coordinates, self._slopes, curvatures)
            if path.descends and -path.predicted(1.0) > self._differences.negligible:
                moved = yield from self._along(at, path)
                self._steps.append((-path.predicted(1.0), at.value - moved.value))
                if moved is not at:
                    return moved
            if not len(self._model):
                break
            self._model.forget()
        self._made, self._failed = None, at
        return at

    def _along(self, at: Point, path: Path) -> Steps[Point]:
        batch, rounds = self._ledger.batch, self._ledger.rounds_of(len(self._coordinates))
        unknown = not len(self._model)
        moved, t = yield from lowest_along(at, path, batch, rounds, self._differences.noise, unknown)
        if moved is at:
            return at
        # A step that was made longer has shown that f bends by as much less: that is no reason for damping.
        expected = path.expected(t) / max(t, 1.0)
        self._made = _Made(moved, path.displacement(t), self._slopes, expected)
        return moved

    def _on_kinks(self, at: Point, steps: FloatArray, changes: FloatArray) -> Steps[bool]:
        """Return whether most coordinates stand on kinks, as a few of them show; note what these have shown.

        f rises there on both sides, and a step along all slopes would lead away from all kinks at once.
        """
        free = np.flatnonzero(steps)
        if self._walls.box is not None:  # both sides need room
            behind = self._walls.box.inward(at.x, self._coordinates, -steps)
            free = np.flatnonzero((steps != 0.0) & (behind == -steps))
        some, found = yield from self._working.sampled(at, free, steps, len(steps) + 1)
        changes[some] = found[0]
        rises = (found > constants.TRUST * self._differences.rounding).all(axis=0)
        return self._working.kinked is True or 2 * int(rises.sum()) > len(some)

    def _lengths(self, at: Point, curvatures: FloatArray) -> FloatArray:
        """Return how far each coordinate is asked, on the side that led downhill before."""
        sizes = np.maximum(
            self._differences.size(1.0, 0.0) / np.sqrt(curvatures), self._walls.plainly(self._coordinates)
        )
        steps = np.where(self._slopes > 0.0, -sizes, sizes)
        if self._walls.box is not None:
            steps = self._walls.box.inward(at.x, self._coordinates, steps)
        return self._walls.rounded(self._coordinates, steps)

    def _measured(self, at: Point, steps: FloatArray, changes: FloatArray) -> Steps[FloatArray]:
        """Ask each coordinate alone, but those whose change of f is known."""
        unknown = np.flatnonzero(np.isnan(changes))
        rows = SparseRows.coordinates(self._coordinates[unknown], steps[unknown])
        changes[unknown], _ = yield from asked_all(at, rows, Role.REFRESH, reserve=1)
        slopes = self._slopes.copy()  # as they were, where nothing can move
        return np.divide(changes, steps, out=slopes, where=steps != 0.0)


# ---------------------------------------------------------------- across kinks


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
        looks = coupled(at, coordinates, aside, rounding, rng, constants.DRAWN)
        if not (yield from self._sparse.overhear(at, looks)):
            return at
        self.coupled, self._origin, self._way = True, at.x, way
        # The error of a value decides how near differences can be; between kinks no curvature does.
        near = max(ROOT, rounding / (constants.PRECISE * self._differences.scale))
        return (yield from _Valley(self._walls, coordinates, way, near).descend(at, rng))


class _Valley:
    """One descent: BFGS along coordinates that have come so far as a rule, with slopes measured so near."""

    def __init__(self, walls: Walls, coordinates: IntArray, way: float, near: float) -> None:
        self._walls = walls
        self._coordinates = coordinates
        self._way, self._near = way, near
        self._model = BFGS()
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
        # It takes a pair for each coordinate to learn how a valley lies.
        recent = min(n, constants.MEMORY) + constants.TRIALS
        while len(values) <= 2 * constants.MEMORY:
            moved = yield from self._line(here, slopes)
            if moved is here:
                if not self._model:
                    return
                self._model = BFGS()
                continue
            after = yield from self._slopes(moved)
            self._model.learn(moved.x[self._coordinates] - here.x[self._coordinates], after - slopes)
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
        if self._model:
            return self._model.direction(slopes)
        norm = float(np.linalg.norm(slopes))
        return slopes if norm == 0.0 else -self._way / (constants.PARTS * norm) * slopes

    def _slopes(self, here: Point) -> Steps[FloatArray]:
        """Measure the slope of each coordinate alone."""
        x = here.x[self._coordinates]
        steps = self._near * (self._way + np.abs(x))
        if self._walls.box is not None:
            steps = self._walls.box.inward(here.x, self._coordinates, steps)
        steps = (x + steps) - x
        rows = SparseRows.coordinates(self._coordinates, steps)
        changes, _ = yield from asked_all(here, rows, Role.REFRESH)
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
