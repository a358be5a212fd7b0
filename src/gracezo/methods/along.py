"""Points along some of the coordinates, with values that are asked once, and slopes by plain differences."""

from __future__ import annotations

import math

import numpy as np

from gracezo.core.asks import Ask, OutOfQueries, Point, Role, SparseRows, Steps
from gracezo.core.box import Box
from gracezo.core.places import replaced
from gracezo.core.types import FloatArray, IntArray
from gracezo.methods.auto.instrument.look import asked_all


class Along:
    """A descent along some coordinates from a point, in a box or none.

    Parameters
    ----------
    at
        The point.
    box
        The box.
    coordinates
        The coordinates.
    way
        How far they have come as a rule.
    near
        Share of the way, and of the coordinate, over which a slope is measured.

    Attributes
    ----------
    best
        The lowest point met.
    """

    def __init__(self, at: Point, box: Box | None, coordinates: IntArray, way: float, near: float) -> None:
        self._box = box
        self._coordinates = coordinates
        self.way, self.near = way, near
        self.best = at
        self._met = {self.of(at).tobytes(): at.value}

    def __len__(self) -> int:
        return len(self._coordinates)

    def of(self, point: Point) -> FloatArray:
        """Return the coordinates of a point."""
        return np.asarray(point.x[self._coordinates])

    def room(self, here: Point, reach: float) -> tuple[FloatArray, FloatArray]:
        """Return how far down and up each coordinate may go, no farther than so far."""
        steps = np.full(len(self), reach)
        if self._box is None:
            return -steps, steps
        x = self.of(here)
        down, up = (self._box.place(here.x, self._coordinates, sign * steps) - x for sign in (-1.0, 1.0))
        return down, up

    def at(self, base: Point, places: FloatArray) -> Steps[Point]:
        """Return the point with the coordinates at other places; none is asked twice."""
        x = replaced(base.x, self._coordinates, places)
        if self._box is not None:
            x = self._box.clip(x)
        key = x[self._coordinates].tobytes()
        if key not in self._met:
            values = yield Ask.at(x, Role.STEP)
            if not len(values):
                raise OutOfQueries
            self._met[key] = math.inf if math.isnan(values[0]) else float(values[0])
        point = Point(x, self._met[key])
        if point.value < self.best.value:
            self.best = point
        return point

    def nearest(self, here: Point) -> FloatArray:
        """Return over which way the slope of each coordinate is measured."""
        return np.asarray(self.near * (self.way + np.abs(self.of(here))))

    def slopes(self, here: Point) -> Steps[FloatArray]:
        """Measure the slope of each coordinate alone."""
        x, steps = self.of(here), self.nearest(here)
        if self._box is not None:
            steps = self._box.inward(here.x, self._coordinates, steps)
        steps = (x + steps) - x
        rows = SparseRows.coordinates(self._coordinates, steps)
        changes, _ = yield from asked_all(here, rows, Role.REFRESH)
        return np.divide(changes, steps, out=np.zeros(len(steps)), where=steps != 0.0)


def typical(ways: FloatArray) -> float:
    """Return how far coordinates have come as a rule, those that have moved; zero if none has.

    >>> typical(np.array([0.0, -2.0, 1.0, 8.0]))
    2.0
    """
    moved = np.abs(ways[ways != 0.0])
    return float(np.median(moved)) if len(moved) else 0.0
