"""Coordinate descent with line doubling.

One coordinate at a time, in random order: try a step one way, then the other; while it helps, double it; at
the end, try the vertex of the parabola through the last three values. Each coordinate keeps its own step,
from the length of its last move. After a sweep over all coordinates, those that moved are swept again for as
long as that pays more per query than the full sweep did.
"""

from __future__ import annotations

import numpy as np
from benchmarks.queries.meter import Task
from benchmarks.queries.problem import Objective
from benchmarks.queries.rivals.method import DEFAULTS, Method

from gracezo.core.types import FloatArray

_FIRST_STEP = 0.1
_SHRINK = 0.25  # a step is never cut by more at a time
_LEAST_STEP = 1e-9
_MOST_DOUBLINGS = 60


class _Descent:
    def __init__(self, f: Objective, x0: FloatArray) -> None:
        self.f = f
        self.x = x0.copy()
        self.value = f(self.x)
        self.steps = np.full(x0.size, _FIRST_STEP)
        self.queries = 1

    def try_at(self, i: int, place: float) -> float:
        """Return the value with coordinate i at `place`."""
        before, self.x[i] = self.x[i], place
        value = self.f(self.x)
        self.x[i] = before
        self.queries += 1
        return value

    def improve(self, i: int) -> bool:
        """Search along coordinate i; return whether it moved."""
        start, first = self.x[i], self.value
        step = self.steps[i]
        ahead = self.try_at(i, start + step)
        if ahead < first:
            self._expand(i, start, step, ahead)
        else:
            behind = self.try_at(i, start - step)
            if behind < first:
                self._expand(i, start, -step, behind)
            else:
                self._vertex(i, (start - step, start, start + step), (behind, first, ahead))
        moved = abs(self.x[i] - start)
        self.steps[i] = max(moved, step * _SHRINK, _LEAST_STEP)
        return bool(moved > 0)

    def _expand(self, i: int, start: float, step: float, value: float) -> None:
        """Double the step for as long as that helps, then try the vertex."""
        at, values = [start, start + step], [self.value, value]
        for _ in range(_MOST_DOUBLINGS):
            self._accept(i, at[-1], values[-1])
            step *= 2.0
            at.append(start + step)
            values.append(self.try_at(i, at[-1]))
            if not values[-1] < values[-2]:
                break
        self._vertex(i, (at[-3], at[-2], at[-1]), (values[-3], values[-2], values[-1]))

    def _vertex(self, i: int, at: tuple[float, float, float], values: tuple[float, float, float]) -> None:
        """Try the minimum of the parabola through three points, the middle one being the best so far."""
        (a, b, c), (fa, fb, fc) = at, values
        left, right = (b - a) * (fb - fc), (b - c) * (fb - fa)
        bend = left - right
        if not np.isfinite(bend) or bend == 0.0:
            return
        place = b - 0.5 * ((b - a) * left - (b - c) * right) / bend
        if abs(place - b) <= 1e-8 * abs(c - a):  # nothing to gain but rounding
            return
        value = self.try_at(i, place)
        if value < self.value:
            self._accept(i, place, value)

    def _accept(self, i: int, place: float, value: float) -> None:
        self.x[i] = place
        self.value = value


def solve(f: Objective, task: Task) -> None:
    rng = np.random.default_rng(task.seed)
    descent = _Descent(f, task.x0)
    while True:
        coordinates = rng.permutation(task.x0.size)
        pays = 0.0
        while coordinates.size:
            before, spent = descent.value, descent.queries
            moved = [i for i in coordinates if descent.improve(i)]
            gain = (before - descent.value) / (descent.queries - spent)
            if len(coordinates) < task.x0.size and gain < pays:
                break
            pays = gain if len(coordinates) == task.x0.size else pays
            coordinates = rng.permutation(moved)


METHOD = Method(
    "coordinates",
    "coordinate descent",
    "line doubling, a parabola at the end, own step for each coordinate; moved coordinates first",
    solve,
    DEFAULTS,
)
