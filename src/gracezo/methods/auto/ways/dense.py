"""The dense way: one query a coordinate, and a quasi-Newton step along all of them.

Where most coordinates matter, to search for them buys nothing, and what was learned on a few of them is no
guide to the rest. This is FDSA with limited-memory BFGS, begun from one curvature for all; `market.py` says
when. Beside a gradient a trial along the line costs next to nothing: so the line search goes on for as long
as a parabola promises more for one more trial than the step has brought per query.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gracezo.core.asks import Point, Role, SparseRows, Steps
from gracezo.core.places import replaced
from gracezo.core.types import FloatArray, IntArray
from gracezo.methods.auto import constants
from gracezo.methods.auto.here import Walls
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import asked_all
from gracezo.methods.auto.search.order import written
from gracezo.methods.auto.step.line import line_search
from gracezo.methods.auto.step.quasi_newton import Model, Path, newton_path
from gracezo.methods.auto.ways import Ledger, Offer
from gracezo.methods.auto.ways.sparse import Sparse


class _Made(NamedTuple):
    """The last step: where it led, and the first half of a pair for the model.

    Attributes
    ----------
    to
        Where it led.
    step, slopes, expected
        The step, the slopes where it began, and how the model saw them change.
    """

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
    rng
        Where samples are drawn from.
    """

    name = "of plain differences along every coordinate"

    def __init__(self, sparse: Sparse, ledger: Ledger, rng: np.random.Generator) -> None:
        self._sparse = sparse
        self._walls = Walls(sparse.walls.box)  # the sparse way has stops of its own: kinks that it has met
        self._ledger = ledger
        self._rng = rng
        self.gradients = 0
        """How many were measured."""
        self._model = Model(constants.MEMORY)
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
        return here is self._failed

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
        return (yield from self._step(at, curvatures))

    def _step(self, at: Point, curvatures: FloatArray) -> Steps[Point]:
        """Step along the model's path; where that leads uphill, once more without what it has learned."""
        while True:
            path = newton_path(self._model, self._walls, self._coordinates, self._slopes, curvatures)
            if path.descends:
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
        trials = yield from line_search(
            at,
            self._coordinates,
            path.asked,
            path.slope,
            batch=self._ledger.batch,
            share=path.share,
            role=Role.TRIAL if self._differences.noise else Role.STEP,
            worth=1.0 / self._ledger.rounds_of(len(self._coordinates)),
        )
        best = trials[0]
        if best.change >= 0.0:
            return at
        ends = self._walls.reached(self._coordinates, path.asked(best.t))
        moved = Point(replaced(at.x, self._coordinates, ends), best.value, self._differences.noise)
        self._made = _Made(moved, path.displacement(best.t), self._slopes, path.expected(best.t))
        return moved

    def _on_kinks(self, at: Point, steps: FloatArray, changes: FloatArray) -> Steps[bool]:
        """Return whether most coordinates stand on kinks, as a few of them show; note what these have shown.

        f rises there on both sides, and a step along all slopes would lead away from all kinks at once.
        """
        free = np.flatnonzero(steps)
        if self._walls.box is not None:  # both sides need room
            behind = self._walls.box.inward(at.x, self._coordinates, -steps)
            free = np.flatnonzero((steps != 0.0) & (behind == -steps))
        n = min(constants.DRAWN, len(free) // constants.DRAWN)
        if 2 * n < constants.DRAWN:
            return False
        some = self._rng.choice(free, n, replace=False)
        both = np.concatenate([steps[some], -steps[some]])
        rows = SparseRows.coordinates(np.tile(self._coordinates[some], 2), both)
        found, _ = yield from asked_all(at, rows, Role.REFRESH, reserve=len(steps) - n + 1)
        changes[some] = found[:n]
        rises = found.reshape(2, -1) > constants.TRUST * self._differences.rounding
        return 2 * int(rises.all(axis=0).sum()) > n

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
