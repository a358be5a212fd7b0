"""Searches along one line: the line search of a step, and the search for a kink along one coordinate."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gracezo.core.asks import Ask, Point, Role, SparseRows, Steps
from gracezo.core.places import replaced
from gracezo.core.precision import ULP
from gracezo.core.types import FloatArray, IntArray
from gracezo.methods.auto import constants
from gracezo.updates.projected import Path


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
    first: float = 1.0,
) -> Steps[list[Trial]]:
    """Try lengths along a path of negative slope, the step of each given by `steps`; the best trial is first.

    The `first` length is that of the model, if that is credible. It is doubled while f falls almost as the
    tangent says, however far that leads, and the longer it has done so the more (`_farther`); and cut by
    parabolas through what was tried while f does not fall.
    A batch has room for several doublings at once, and for a still shorter length. A trial whose
    evaluation failed and was skipped counts as infinitely bad: the next one is shorter, at
    first by little, since the failure may have been chance. It is not among those returned
    unless there is no other.

    Walls may cut a step: `share` tells how much of the linear prediction they leave. A longer step that
    they would not let go further is not tried.
    """
    trials: list[Trial] = []
    t, others = first, constants.TRIALS  # lengths that may still be tried beside those that go on downhill
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
            t = _farther(trials, slope * share(best.t))
            if t > 1.0 / ULP or t / best.t * share(t) <= (1.0 + constants.SMALL) * share(best.t):
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


def _farther(trials: list[Trial], slope: float) -> float:
    """Return the next length where f has fallen almost as the tangent says: two, four, 16 times as far.

    But no farther than the parabola through the start and the longest one has its lowest place.

    >>> _farther([Trial(1.0, -1.0)], -1.0), _farther([Trial(1.0, -1.0), Trial(2.0, -2.0)], -1.0)
    (2.0, 8.0)
    """
    before, longest = sorted([Trial(0.0, 0.0), *trials], key=lambda trial: trial.t)[-2:]
    growth = (longest.t / before.t) ** 2 if before.t > 0.0 else 2.0
    bend = 1.0 - longest.change / (slope * longest.t)
    return longest.t * max(min(growth, 0.5 / bend if bend > 0.0 else math.inf), 2.0)


def lowest_along(
    at: Point, path: Path, batch: int, rounds: int, noise: float, to_the_end: bool = False
) -> Steps[tuple[Point, float]]:
    """Search along a path beside slopes that took so many rounds; return the lowest point, and its length.

    That is the same point, and zero, if none is lower. In a box the end of the path may be tried, too: where
    nothing is known of how f bends, what is behind a rise is as good a guess as what is before it.
    """
    role = Role.TRIAL if noise else Role.STEP
    trials = yield from line_search(
        at,
        path.indices,
        path.asked,
        path.slope,
        batch=batch,
        share=path.share,
        role=role,
        worth=1.0 / rounds,
    )
    end, longest = path.end, max(trial.t for trial in trials)
    farther = to_the_end and end > longest
    if farther and end * path.share(end) > (1.0 + constants.SMALL) * longest * path.share(longest):
        values = yield Ask(at.x, SparseRows.single(path.indices, path.asked(end)), role)
        trials += [Trial(end, value - at.value, value) for value in values.tolist() if not math.isnan(value)]
    best = min(trials, key=lambda trial: trial.change)
    if best.change >= 0.0:
        return at, 0.0
    ends = path.walls.reached(path.indices, path.asked(best.t))
    return Point(replaced(at.x, path.indices, ends), best.value, noise), best.t


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
