"""Two ways with a whole gradient, a query a coordinate: quasi-Newton where f is smooth, and across kinks.

**Dense.** Where most coordinates matter, to search for them buys nothing, and what was learned on a few of
them is no guide to the rest. This is FDSA with limited-memory BFGS, begun from one curvature for all;
`bandit.py` says when. Beside a gradient a trial along the line costs next to nothing: so the line search goes
on for as long as a parabola promises more for one more trial than the step has brought per query.

**Across kinks** that no single coordinate leads out of: |x_i − x_j|, the largest of several terms. A
gradient costs a query a coordinate, so this is for few of them, and only if kinks couple them (`kinks.py`).
It begins a little off the place where other ways have stopped: a coordinate that stands on a kink has no
slope. If f is convex, tangents around its kinks lead to the minimum and show it as such (`bundle.py`);
others that kinks couple to these take part, too. If it is not, or if tangents show nothing of a minimum, BFGS
goes on along the valleys between kinks (`valley.py`).
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gracezo.core.asks import OutOfQueries, Point, Role, SparseRows, Steps
from gracezo.core.keys import Key
from gracezo.core.precision import ROOT
from gracezo.core.rest import Rest, written
from gracezo.core.types import FloatArray, IntArray
from gracezo.core.walls import Walls
from gracezo.methods.along import Along, typical
from gracezo.methods.auto import constants
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import asked_all
from gracezo.methods.auto.ways import Ledger, Offer
from gracezo.methods.auto.ways.sparse import Sparse
from gracezo.methods.auto.ways.working import WorkingSets
from gracezo.methods.bundle import Bundled
from gracezo.methods.kinks import coupled, kinked
from gracezo.methods.line_search import lowest_along
from gracezo.methods.valley import followed
from gracezo.updates.projected import Path, newton_path
from gracezo.updates.quasi_newton import LBFGS


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


class _Tried(NamedTuple):
    """The last try: f where it began or came to an end, the coordinates, by how much f can still fall."""

    value: float
    along: IntArray
    left: float = math.inf


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
        self._sparse = sparse
        self._start, self._last = start, start.x  # of the run, and of the last try
        self._way = 1.0
        self._key = key
        self._all = False
        self._tries = 0
        self._tried = _Tried(math.inf, np.zeros(0, np.int64))
        self._convex = True  # whether f is, as far as tangents have shown
        self.coupled = False
        """Whether kinks across coordinates have shown themselves."""

    def untried(self, value: float, least: float) -> bool:
        """Whether f has come down by more than so much since the last try, or more coordinates are known."""
        return self._tried.value - value > least or len(self._coordinates) > len(self._tried.along)

    def left(self, value: float, least: float) -> float:
        """Return by how much f can fall from here, as far as slopes around it tell."""
        return math.inf if self.untried(value, least) else self._tried.left

    def held(self, at: Point) -> IntArray | None:
        """Return the coordinates that do not lead down from a point, if that is where it came to its end."""
        return self._tried.along if self._tried.left < math.inf and at.value == self._tried.value else None

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
        """Go down along coordinates, if kinks couple them; return the lowest point met.

        As a convex function goes; where that leads no further and nothing tells that this is the minimum,
        as one with curved valleys does.
        """
        at, coordinates = here, written(self._coordinates)
        way = typical(at.x[coordinates] - self._last[coordinates]) or constants.UNSEEN * self._way
        self._tried = _Tried(at.value, coordinates)
        self._tries += 1
        rng = self._key.child(self._tries).generator()
        aside = np.full(len(coordinates), constants.SMALL * way)
        differences, box = self._sparse.differences, self._sparse.walls.box
        rounding = differences.rounding
        looks = coupled(at, coordinates, aside, rounding, rng, constants.DRAWN)
        if not (yield from self._sparse.overhear(at, looks)):
            return at
        self.coupled, self._last, self._way = True, at.x, way
        # Nearer, rounding would weigh more in slopes than the way to the kinks that differences have to keep.
        fallen = self._start.value - at.value
        near = math.sqrt(rounding / (fallen if fallen > 0.0 else differences.scale))
        near = min(max(ROOT, near), constants.SMALL)
        try:
            while self._convex:
                along = Along(at, box, coordinates, way, near)
                bundled = Bundled(along, self._start, rounding, rng)
                bound = yield from bundled.descend()
                at, self._convex = along.best, bundled.convex
                if bound > constants.PRECISE**2 * (self._start.value - at.value):
                    break
                partners = yield from self._partners(at, coordinates, constants.SMALL * way, rng)
                if not len(partners):
                    self._tried = _Tried(at.value, coordinates, bound)
                    return at
                coordinates = np.union1d(coordinates, partners)
            along = Along(at, box, coordinates, way, near)
            yield from followed(along, rng)
        except OutOfQueries:
            if along.best is here:
                raise
        return along.best

    def _partners(
        self, at: Point, coordinates: IntArray, length: float, rng: np.random.Generator
    ) -> Steps[IntArray]:
        """Return others that kinks couple to these: as many again at most, or all if these are few."""
        free, rounding = written(self._sparse.free), self._sparse.differences.rounding
        lengths, inside = np.full(len(free), length), np.isin(free, coordinates)
        if inside.all():
            return free[:0]
        looks = coupled(at, free, lengths, rounding, rng, constants.DRAWN, Role.PROBE, inside)
        if not (yield from looks):
            return free[:0]
        others, most = free[~inside], len(coordinates)
        if len(others) <= constants.PARTS * most:
            return others
        return (yield from kinked(at, others, lengths[~inside], rounding, rng, most))
