"""Plain differences: one query a coordinate, and a quasi-Newton step along all of them.

Where most coordinates matter, to search for them buys nothing, and what was learned on a few of them is no
guide to the rest. This is FDSA with limited-memory BFGS, begun from one curvature for all; `contest.py` says
when.
"""

from __future__ import annotations

import numpy as np

from gracezo.core.asks import Point, Role, SparseRows, Steps
from gracezo.core.types import FloatArray, IntArray
from gracezo.methods.auto.constants import Constants
from gracezo.methods.auto.difference import Differences
from gracezo.methods.auto.line import line_search
from gracezo.methods.auto.model import Model
from gracezo.methods.auto.path import Path, newton_path
from gracezo.methods.auto.request import insisted
from gracezo.methods.auto.walls import Walls

_LAST = 3  # steps that tell what becomes of promises
_MOST = 0.9  # of what the gradient promises: if few coordinates hold so much, it is sparse


class Plain:
    """Steps by plain differences.

    Parameters
    ----------
    constants, differences, walls
        What the run has assumed and learned.
    coordinates
        All that can move.
    batch
        How many queries may go out at once.
    """

    def __init__(
        self, constants: Constants, differences: Differences, walls: Walls, coordinates: IntArray, batch: int
    ) -> None:
        self._constants = constants
        self._differences = differences
        self._walls = Walls(walls.box)  # the hunt has stops of its own: kinks that it has met
        self._coordinates = coordinates
        self._batch = batch
        self._model = Model(constants.memory)
        self._slopes: FloatArray = np.zeros(len(coordinates))
        self._here: Point | None = None  # where the last step led
        self._failed: Point | None = None  # where no step led down
        self._made: tuple[FloatArray, FloatArray, FloatArray] | None = (
            None  # that step, as a pair in the making
        )
        self._steps: list[tuple[float, float]] = []  # decreases promised, and brought
        self.spread = 1.0
        """The share of the coordinates that hold most of what the gradient promises."""

    @property
    def redeemed(self) -> float:
        """What share of their promises the last steps have brought; one while there are too few of them."""
        if len(self._steps) < _LAST:
            return 1.0
        promised, brought = np.sum(self._steps[-_LAST:], axis=0).tolist()
        return float(brought / promised)

    def leg(self, at: Point) -> Steps[Point]:
        """Measure the gradient and step; return the present point, the same if no step leads down."""
        self._differences.centre(self._walls.centre(at.x), at.value)
        if at is self._failed:
            return at
        if at is not self._here:
            self._made = None
            self._steps.clear()
        curvatures = np.full(len(self._coordinates), self._differences.newton(0.0))
        slopes = yield from self._measured(at, curvatures)
        if self._made is not None:
            step, before, expected = self._made
            self._model.learn(step, slopes - before, expected)
        self._slopes = slopes
        mass = np.cumsum(np.sort(slopes**2)[::-1])
        self.spread = float(np.searchsorted(mass, _MOST * mass[-1]) + 1) / len(mass)
        self._here = yield from self._step(at, curvatures)
        return self._here

    def _step(self, at: Point, curvatures: FloatArray) -> Steps[Point]:
        """Step along the model's path; where that leads uphill, once more without what it has learned."""
        while True:
            path = newton_path(self._model, self._walls, self._coordinates, self._slopes, curvatures)
            if path.descends:
                moved = yield from self._along(at, path)
                self._steps.append((-path.foreseen(1.0), at.value - moved.value))
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
            expand=self._constants.expand,
            batch=self._batch,
            share=path.share,
            role=Role.TRIAL if self._differences.noise else Role.STEP,
        )
        best = trials[0]
        if best.change >= 0.0:
            return at
        x = at.x.copy()
        x[self._coordinates] = self._walls.reached(self._coordinates, path.asked(best.t))
        self._made = path.displacement(best.t), self._slopes, path.expected(best.t)
        return Point(x, best.value, self._differences.noise)

    def _measured(self, at: Point, curvatures: FloatArray) -> Steps[FloatArray]:
        """Ask each coordinate alone, on the side that led downhill before."""
        sizes = np.maximum(
            self._differences.size(1.0, 0.0) / np.sqrt(curvatures), self._walls.plainly(self._coordinates)
        )
        steps = np.where(self._slopes > 0.0, -sizes, sizes)
        if self._walls.box is not None:
            steps = self._walls.box.inward(at.x, self._coordinates, steps)
        steps = self._walls.rounded(self._coordinates, steps)
        rows = SparseRows.coordinates(self._coordinates, steps)
        changes, _ = yield from insisted(at, rows, Role.REFRESH, reserve=1)
        slopes = self._slopes.copy()  # as they were, where nothing can move
        return np.divide(changes, steps, out=slopes, where=steps != 0.0)
