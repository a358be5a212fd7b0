"""The path of a step, projected onto the box, and the expanding and backtracking line search along it.

The active set, which walls hold, stays where it is, and the direction is that of the others alone (the
two-metric projection of Bertsekas, *Projected Newton methods for optimization problems with simple
constraints*, SIAM Journal on Control and Optimization 20(2), 1982). Those that the step would carry
through a wall stay there. The others go on, or are asked again for a direction without them: that of the
two ways is taken which the model sees fall more. Each trial is the nearest point of the box, and the
prediction is for the displacement that is left.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gracezo.core.asks import Ask, Point, Role, SparseRows, Steps
from gracezo.core.precision import ULP
from gracezo.core.types import FloatArray, IntArray, record
from gracezo.core.walls import BEYOND, Walls
from gracezo.methods.auto import constants
from gracezo.updates.quasi_newton import LBFGS


@record
class Path:
    """A direction from the present point, and what the model predicts along it.

    Attributes
    ----------
    direction
        The step of length one. Coordinates that meet a wall on it end there.
    wish
        The same step as the model would have it without the walls, when there are any.
    """

    walls: Walls
    indices: IntArray
    slopes: FloatArray
    direction: FloatArray
    wish: FloatArray | None = None

    @property
    def slope(self) -> float:
        """The slope at the beginning."""
        return float(self.slopes @ self.direction)

    @property
    def descends(self) -> bool:
        """Whether the model predicts a decrease."""
        return self.slope < 0.0 and self.predicted(1.0) < 0.0

    def asked(self, t: float) -> FloatArray:
        """Return the step of length t as it is to be asked."""
        return self.walls.asked(self.indices, t * self.direction)

    def displacement(self, t: float) -> FloatArray:
        """Return the step of length t as the walls leave it."""
        return self.walls.displacement(self.indices, t * self.direction)

    def share(self, t: float) -> float:
        """Return how much of the linear prediction the walls leave of a step of length t."""
        if self.wish is None:
            return 1.0
        return float(self.slopes @ self.displacement(t)) / (self.slope * t)

    def predicted(self, t: float) -> float:
        """Return the change of f that the model predicts for a step of length t."""
        if self.wish is None:
            return t * self.slope * (1.0 - 0.5 * t)
        return float(self.slopes @ (self.displacement(t) * (1.0 - 0.5 * self._done(t))))

    def value(self, model: LBFGS, diagonal: FloatArray) -> float:
        """Return the model's change of f for the step of length one, its coordinates together."""
        step = self.displacement(1.0)
        return float(self.slopes @ step) + 0.5 * model.bend(step, diagonal)

    def expected(self, t: float) -> FloatArray:
        """Return how the model sees the slopes change over a step of length t: B·step = −t·g."""
        return -(t if self.wish is None else self._done(t)) * self.slopes

    def predicted_slopes(self, t: float, left: float) -> FloatArray:
        """Return the slopes after a step of length t, when f has shown what share of them is left."""
        if self.wish is None:
            return self.slopes * left
        done = self._done(t)
        return self.slopes * np.where(done < t, 1.0 - done, left)

    def _done(self, t: float) -> FloatArray:
        """Return which share of its wish each coordinate gets on a step of length t."""
        assert self.wish is not None
        done = np.zeros(len(self.wish))
        moving = self.wish != 0.0
        np.divide(self.displacement(t), self.wish, out=done, where=moving)
        whole = (self.direction == self.wish) & (done > (1.0 - constants.NEGLIGIBLE) * t)
        return np.where(whole & moving, t, done)


def newton_path(
    model: LBFGS, walls: Walls, indices: IntArray, slopes: FloatArray, diagonal: FloatArray
) -> Path:
    """Return the way of a quasi-Newton step; where walls cut it, the better one of two, by the model."""
    if walls.stops is None:
        return Path(walls, indices, slopes, model.direction(slopes, diagonal))
    free = ~walls.active(indices, slopes)
    first = model.direction(slopes, diagonal, free)
    step, wish = first.copy(), first.copy()
    while True:
        ahead = walls.ahead(indices, step)
        through = free & (np.abs(step) > ahead)
        if not through.any():
            break
        step[through] = np.copysign(BEYOND * ahead[through], step[through])
        free &= ~through
        step[free] = wish[free] = model.direction(slopes, diagonal, free)[free]
    path = Path(walls, indices, slopes, step, wish)
    if np.array_equal(step, first):
        return path
    projected = Path(walls, indices, slopes, first, first)
    return min((path, projected), key=lambda way: way.value(model, diagonal))


# ---------------------------------------------------------------- along it


@dataclass(frozen=True)
class Trial:
    """What came of a step of length `t`: the change of f there, and f itself as it was answered."""

    t: float
    change: float
    value: float = math.nan


def line_search(
    at: Point,
    indices: IntArray,
    steps: Callable[[float], FloatArray],
    slope: float,
    *,
    batch: int,
    share: Callable[[float], float] = lambda t: 1.0,
    role: Role = Role.STEP,
    worth: float = math.inf,
) -> Steps[list[Trial]]:
    """Try lengths along a path of negative slope, the step of each given by `steps`; the best trial is first.

    The first length is that of the model. It is doubled while f falls almost as the
    tangent says, however far that leads, and cut by parabolas through what was tried while f does not fall.
    A batch has room for several doublings at once, and for a still shorter length. A trial whose
    evaluation failed and was skipped counts as infinitely bad: the next one is shorter, at
    first by little, since the failure may have been chance. It is not among those returned
    unless there is no other.

    Walls may cut a step: `share` tells how much of the linear prediction they leave. A longer step that
    they would not let go further is not tried.
    """
    trials: list[Trial] = []
    t, others = 1.0, constants.TRIALS  # lengths that may still be tried beside those that go on downhill
    while others > 0:
        lengths = [length for length in _ladder(t, trials, batch) if _moves(at, indices, steps(length))]
        if not lengths:
            break  # shorter than the precision of x
        rows = SparseRows.stack([SparseRows.single(indices, steps(length)) for length in lengths])
        values = yield Ask(at.x, rows, role)
        values = np.where(np.isnan(values), np.inf, values)
        new = [
            Trial(length, float(v) - at.value, float(v)) for length, v in zip(lengths, values, strict=False)
        ]
        trials.extend(new)
        best = min(trials, key=lambda trial: trial.change)
        longest = max(trials, key=lambda trial: trial.t)
        # The parabola through what is known has its minimum at t/2(1 − change/(slope·t)): at ¾, twice as far.
        if best is longest and best.change <= 0.75 * slope * best.t * share(best.t):
            t = 2.0 * best.t
            if t > 1.0 / ULP or 2.0 * share(t) <= (1.0 + constants.SMALL) * share(best.t):
                break
            continue
        others -= len(lengths)
        if best.change <= constants.ARMIJO * slope * best.t * share(best.t):
            vertex, more = _vertex(trials, slope * share(best.t))
            if more > worth * abs(best.change):
                t = vertex
                continue
            break
        if len(new) < len(lengths):
            break
        shortest = min(trials, key=lambda trial: trial.t)
        if shortest.change == math.inf:
            t = shortest.t * (1.0 - constants.UNSEEN if len(trials) == len(new) else constants.CLEARLY)
            continue
        left = share(shortest.t)
        bend = shortest.change - slope * shortest.t * left
        vertex = -0.5 * slope * shortest.t * left / bend
        t = shortest.t * float(np.clip(vertex, constants.UNSEEN, 0.5))
    known = [trial for trial in trials if trial.change < math.inf]
    return sorted(known or trials, key=lambda trial: trial.change) or [Trial(t, 0.0)]


def _vertex(trials: list[Trial], slope: float) -> tuple[float, float]:
    """Return the lowest place of the parabola through the best trial, and how far below the best it is.

    Through its neighbours, or through the start with its slope where it is the longest and shortest.
    """
    tried = sorted([Trial(0.0, 0.0), *trials], key=lambda trial: trial.t)
    best = min(trials, key=lambda trial: trial.change)
    place = tried.index(best)
    before = tried[place - 1]
    rise = (best.change - before.change) / (best.t - before.t)
    if place + 1 < len(tried):
        after = tried[place + 1]
        ahead = (after.change - best.change) / (after.t - best.t)
        here, bend = rise, (ahead - rise) / (after.t - before.t)
        middle = 0.5 * (before.t + best.t)
    elif place == 1:
        here, bend, middle = slope, (rise - slope) / best.t, 0.0
    else:
        return best.t, 0.0
    if not 0.0 < 2.0 * bend < math.inf:
        return best.t, 0.0
    vertex = middle - 0.5 * here / bend
    if not tried[0].t < vertex < 2.0 * tried[-1].t:
        return best.t, 0.0
    return vertex, bend * (vertex - best.t) ** 2


def _moves(at: Point, indices: IntArray, step: FloatArray) -> bool:
    return bool(np.any(at.x[indices] + step != at.x[indices]))


def slope_at_best(trials: list[Trial], slope: float) -> float:
    """Return the slope along the direction at the best trial, from all that was tried.

    By the parabola through its neighbours; through the start and its slope when there is
    only one trial; and by the secant when the best is the longest of several, where a
    parabola would extrapolate.

    >>> slope_at_best([Trial(1.0, -1.0)], -2.0)
    0.0
    """
    best = trials[0]
    tried = sorted([Trial(0.0, 0.0), *trials], key=lambda trial: trial.t)
    place = tried.index(best)
    before = tried[place - 1]
    rise = (best.change - before.change) / (best.t - before.t)
    if len(trials) == 1:
        return 2.0 * rise - slope
    if best is tried[-1]:
        return rise
    after = tried[place + 1]
    ahead = (after.change - best.change) / (after.t - best.t)
    share = (best.t - before.t) / (after.t - before.t)
    return share * ahead + (1.0 - share) * rise


def _ladder(t: float, trials: list[Trial], batch: int) -> list[float]:
    """Return the next length and, where a batch has room, those that would probably come after it.

    After the first trial these are two, twice as many when f goes on falling.
    """
    if batch == 1 or not trials:
        return [t]
    if t < trials[0].t:
        return [t, constants.CLEARLY * t]
    return [t * 2.0**k for k in range(min(2 if len(trials) == 1 else 4, batch))]
