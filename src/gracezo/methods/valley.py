"""A descent across kinks by BFGS, which finds its way along curved valleys.

BFGS goes down where f can be differentiated almost everywhere, if the line search steps over kinks: a pair
that crosses one teaches the model a large curvature across it, and steps come to lie along it (Lewis &
Overton, *Nonsmooth optimization via quasi-Newton methods*, Mathematical Programming 141, 135–163, 2013). The
search is their algorithm 2.6, by bisection and doubling until f has fallen (c₁) and the slope along the line
has risen (c₂): not to the lowest point, which would be on the kink, where slopes say nothing.
"""

from __future__ import annotations

import math

import numpy as np

from gracezo.core.asks import Point, Steps
from gracezo.core.places import same
from gracezo.core.types import FloatArray
from gracezo.methods.along import Along
from gracezo.methods.auto import constants
from gracezo.updates.quasi_newton import BFGS


def followed(along: Along, rng: np.random.Generator) -> Steps[None]:
    """Go down along coordinates from a little off the best point."""
    n, start = len(along), along.of(along.best)
    here = yield from along.at(along.best, start + constants.SMALL * along.way * rng.standard_normal(n))
    if here.value == math.inf:
        return
    slopes = yield from along.slopes(here)
    values, model, fresh = [here.value], _begun(along, slopes), True
    # It takes a pair for each coordinate to learn how a valley lies.
    recent = min(n, constants.MEMORY) + constants.TRIALS
    while len(values) <= 2 * constants.MEMORY:
        moved = yield from _line(along, here, slopes, model.direction(slopes))
        if moved is here:
            if fresh:
                return
            model, fresh = _begun(along, slopes), True
            continue
        after = yield from along.slopes(moved)
        model.learn(along.of(moved) - along.of(here), after - slopes)
        here, slopes, fresh = moved, after, False
        values.append(here.value)
        brought = values[0] - here.value
        if len(values) > recent and values[-recent - 1] - here.value <= constants.ARMIJO * brought:
            return


def _begun(along: Along, slopes: FloatArray) -> BFGS:
    """Return a model whose first step is short.

    It is not scaled by its first pair, as usual: if that crosses a kink, all directions would be as stiff.
    """
    norm = float(np.linalg.norm(slopes)) or 1.0
    return BFGS(along.way / (constants.PARTS * norm), len(slopes))


def _line(along: Along, here: Point, slopes: FloatArray, direction: FloatArray) -> Steps[Point]:
    """Search along a direction; return where both conditions hold, or the lowest point."""
    slope = float(slopes @ direction)
    if not slope < 0.0:
        return here
    x, lowest, trial = along.of(here), here, here
    length = float(np.linalg.norm(direction))
    most = constants.STRIDE * along.way / length
    low, high, t = 0.0, math.inf, min(1.0, most)
    # Between places that are nearer to each other than slopes are measured, these say nothing.
    nearest = float(np.linalg.norm(along.nearest(here))) / length
    while nearest < high - low and t <= most:
        last, trial = trial, (yield from along.at(here, x + t * direction))
        if any(same(trial.x, other.x) for other in (last, here)):
            break  # bounds let it go no further, or the precision of x no nearer
        if trial.value < lowest.value:
            lowest = trial
        if not trial.value <= here.value + constants.ARMIJO * t * slope:
            high = t
        else:
            near = along.near / constants.UNSEEN * t
            beyond = yield from along.at(here, x + (t + near) * direction)
            if (beyond.value - trial.value) / near >= constants.WOLFE * slope:
                return trial
            low = t
        t = 2.0 * low if high == math.inf else 0.5 * (low + high)
    return lowest
