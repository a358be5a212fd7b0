"""Before a run on kinks is called converged: whether it stands on them, and whether they couple coordinates.

Uphill along each coordinate is uphill along all of them together, if the kinks are in single coordinates
(|x_i|). It is not, if they lie across them (|x_i − x_j|, the largest of several). Kinks in single coordinates
add up: what f rises by when two sets of coordinates move is the sum of what it rises by when each moves.
"""

from __future__ import annotations

import math

import numpy as np

from gracezo.core.asks import Ask, OutOfQueries, Point, Role, SparseRows, Steps
from gracezo.core.types import FloatArray, IntArray

_TRIALS = 4  # random halves and signs; each shows one link between two coordinates with a chance of a quarter
_PLAINLY = 4.0  # times the error of f
_ADDED = 1e-3  # share of the rise by which a sum may be missed: far more than what curvature adds to it


def uphill(at: Point, coordinates: IntArray, lengths: FloatArray, rounding: float) -> Steps[bool]:
    """Return whether f plainly rises on both sides of each coordinate, so far away, for two queries each."""
    both = np.concatenate([lengths, -lengths])
    values = yield Ask(at.x, SparseRows.coordinates(np.tile(coordinates, 2), both), Role.CONFIRM)
    return bool(np.all(values > at.value + _PLAINLY * rounding))


def coupled(
    at: Point, coordinates: IntArray, lengths: FloatArray, rounding: float, rng: np.random.Generator
) -> Steps[bool]:
    """Return whether kinks couple coordinates none of which leads downhill alone.

    Parameters
    ----------
    at
        The present point.
    coordinates, lengths
        Those in question, and how far each is to go: beyond its kink, if it stands on one, and not far.
    rounding
        The error of a difference of f.
    rng
        Where halves and signs are drawn from.

    Returns
    -------
    bool
        Whether any trial has shown it. It costs three queries a trial, and nothing for a single coordinate.
    """
    n = len(coordinates)
    for _ in range(_TRIALS if n > 1 else 0):
        order = rng.permutation(n)
        steps = lengths * rng.choice([-1.0, 1.0], n)
        sets = order[: n // 2], order[n // 2 :], order
        ask = Ask(
            at.x,
            SparseRows.stack([SparseRows.single(coordinates[each], steps[each]) for each in sets]),
            Role.CONFIRM,
        )
        values = yield ask
        if len(values) < len(sets):
            raise OutOfQueries
        one, two, both = (float(value) - at.value for value in values)
        missed = abs(both - one - two)
        # With these lengths curvature, too, adds no more than rounding for each coordinate.
        if math.isfinite(missed) and missed > 4.0 * n * rounding + _ADDED * (abs(one) + abs(two)):
            return True
    return False
