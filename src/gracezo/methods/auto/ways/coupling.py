"""Before a run on kinks is called converged: whether it stands on them, and whether they couple coordinates.

Uphill along each coordinate is uphill along all of them together, if the kinks are in single coordinates
(|x_i|). It is not, if they lie across them (|x_i − x_j|, the largest of several). Kinks in single coordinates
add up: what f rises by when two sets of coordinates move is the sum of what it rises by when each moves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gracezo.core.asks import Ask, OutOfQueries, Point, Role, SparseRows, Steps
from gracezo.core.box import Box
from gracezo.core.types import FloatArray, IntArray
from gracezo.methods.auto.instrument.look import insisted

_NEARER = 0.25  # of the lengths, at which kinks are told from curvature
TRIALS = 4  # random halves and signs; each shows one link between two coordinates with a chance of a quarter
_PLAINLY = 4.0  # times the error of f
_ADDED = 1e-3  # share of the rise by which a sum may be missed: far more than what curvature adds to it


def uphill(
    at: Point, coordinates: IntArray, lengths: FloatArray, rounding: float, box: Box | None = None
) -> Steps[bool]:
    """Return whether f plainly rises on both sides of each coordinate, so far away, for two queries each."""
    both, sides = np.concatenate([lengths, -lengths]), np.tile(coordinates, 2)
    if box is not None:  # a bound needs no query: there is nothing beyond it
        open_ = box.place(at.x, sides, both) != at.x[sides]
        both, sides = both[open_], sides[open_]
    changes, _ = yield from insisted(at, SparseRows.coordinates(sides, both), Role.CONFIRM)
    return bool(np.all(changes > _PLAINLY * rounding))


def coupled(
    at: Point,
    coordinates: IntArray,
    lengths: FloatArray,
    rounding: float,
    rng: np.random.Generator,
    trials: int = TRIALS,
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
    trials
        How many of them, if none shows it.

    Returns
    -------
    bool
        Whether any trial has shown it: a sum that is missed, and by a quarter, not a sixteenth, at a quarter
        of the length, as by a kink and not by curvature. That costs three queries a trial, three more if the
        sum is missed, and nothing for a single coordinate. Where failed evaluations leave it open: True.
    """
    n, told = len(coordinates), 0
    for _ in range(3 * trials if n > 1 else 0):
        order = rng.permutation(n)
        steps = lengths * rng.choice([-1.0, 1.0], n)
        sets = order[: n // 2], order[n // 2 :], order

        def missed(share: float, steps: FloatArray = steps, sets: Sequence[IntArray] = sets) -> Steps[float]:
            rows = [SparseRows.single(coordinates[each], share * steps[each]) for each in sets]
            values = yield Ask(at.x, SparseRows.stack(rows), Role.CONFIRM)
            if len(values) < len(rows):
                raise OutOfQueries
            one, two, both = (float(value) - at.value for value in values)
            # With short lengths curvature, too, adds no more than rounding for each coordinate.
            allowed = 4.0 * n * rounding + _ADDED * (abs(one) + abs(two))
            return abs(both - one - two) - allowed

        far = yield from missed(1.0)
        near = (yield from missed(_NEARER)) if far > 0.0 else 0.0
        if near > _NEARER**1.5 * far > 0.0:
            return True
        told += math.isfinite(far) and not math.isnan(near)
        if told == trials:
            return False
    return n > 1
