"""Kinks that hold coordinates: which are known, and what a few queries tell of others around a point.

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
from gracezo.core.types import BoolArray, FloatArray, IntArray
from gracezo.methods.auto import constants
from gracezo.methods.auto.instrument.look import asked_all


class KinksMet:
    """The coordinates that were seen to lead uphill on both sides.

    A search at another point would meet all of them again, one by one, and what they add to its sums hides
    others: so they are taken to be what they were, and left out, until nothing else is in sight.
    """

    def __init__(self) -> None:
        self.all: set[int] = set()
        """Those met so far."""
        self._left_out: set[int] = set()
        self._held: set[int] = set()  # by another way, which knows that none of them leads down from here

    def __bool__(self) -> bool:
        return bool(self.all)

    def note(self, coordinate: int, uphill: bool = True) -> None:
        """Take in one more; one that is level may lead down once others have moved, and is not left out."""
        self.all.add(coordinate)
        if uphill:
            self._left_out.add(coordinate)

    @property
    def left_out(self) -> IntArray:
        """Those that a search leaves out."""
        return np.array(sorted(self._left_out | self._held), np.int64)

    @property
    def waiting(self) -> int:
        """How many of them may be looked at once more."""
        return len(self._left_out)

    def let_in(self) -> None:
        """Leave none of them out: they are to be looked at once more."""
        self._left_out.clear()

    def hold(self, coordinates: IntArray) -> None:
        """Take in some that are not to be looked at again from here."""
        self._held = set(coordinates.tolist())
        self._left_out -= self._held
        self.all |= self._held

    @property
    def holding(self) -> bool:
        """Whether another way holds some."""
        return bool(self._held)

    @property
    def held(self) -> IntArray:
        """Those that another way holds."""
        return np.array(sorted(self._held), np.int64)

    def release(self) -> None:
        """Hold none any more: the run has gone on."""
        self._held.clear()


def uphill(
    at: Point,
    coordinates: IntArray,
    lengths: FloatArray,
    rounding: float,
    box: Box | None = None,
    most: float = math.inf,
) -> Steps[bool]:
    """Return whether f plainly rises on both sides of each coordinate, so far away, for two queries each.

    By no more than `most` on one side or the other: between two places f may be lower by as much as it has
    risen to both.
    """
    both, sides = np.concatenate([lengths, -lengths]), np.tile(coordinates, 2)
    if box is not None:  # a bound needs no query: there is nothing beyond it
        open_ = box.place(at.x, sides, both) != at.x[sides]
        both, sides = both[open_], sides[open_]
    changes, _ = yield from asked_all(at, SparseRows.coordinates(sides, both), Role.CONFIRM)
    near = all(changes[sides == coordinate].min() <= most for coordinate in np.unique(sides))
    return near and bool(np.all(changes > constants.TRUST * rounding))


def coupled(
    at: Point,
    coordinates: IntArray,
    lengths: FloatArray,
    rounding: float,
    rng: np.random.Generator,
    trials: int = constants.DRAWN // 2,
    role: Role = Role.CONFIRM,
    to: BoolArray | None = None,
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
    role
        In which they are asked: probes, if some of the coordinates have not been found to matter.
    to
        Which of them are to be coupled to the others; without, any to any.

    Returns
    -------
    bool
        Whether any trial has shown it: a sum that is missed, and by a quarter, not a sixteenth, at a quarter
        of the length, as by a kink and not by curvature. That costs three queries a trial, three more if the
        sum is missed, and nothing for a single coordinate. Where failed evaluations leave it open: True.
    """
    n, missing = len(coordinates), False
    known: set[bytes] = set()  # what has told, and would tell the same again: few coordinates have few halves
    for _ in range(3 * trials if n > 1 else 0):
        order = rng.permutation(n)
        steps = lengths * rng.choice([-1.0, 1.0], n)
        sets = order[: n // 2], order[n // 2 :], order
        if to is not None:
            sets = np.flatnonzero(to), np.flatnonzero(~to), order
        name = np.where(np.isin(np.arange(n), sets[0]) == (0 in sets[0]), steps, 1j * steps).tobytes()

        def missed(share: float, steps: FloatArray = steps, sets: Sequence[IntArray] = sets) -> Steps[float]:
            rows = [SparseRows.single(coordinates[each], share * steps[each]) for each in sets]
            values = yield Ask(at.x, SparseRows.stack(rows), role)
            if len(values) < len(rows):
                raise OutOfQueries
            one, two, both = (float(value) - at.value for value in values)
            # With short lengths curvature, too, adds no more than rounding for each coordinate.
            allowed = constants.TRUST * n * rounding + constants.SMALL * (abs(one) + abs(two))
            return abs(both - one - two) - allowed

        if name in known:
            continue
        far = yield from missed(1.0)
        near = (yield from missed(constants.CLEARLY)) if far > 0.0 else 0.0
        if near > constants.CLEARLY**1.5 * far > 0.0:
            return True
        if math.isfinite(far) and not math.isnan(near):
            known.add(name)
        else:
            missing = True
        if len(known) == trials:
            return False
    return missing


def kinked(
    at: Point,
    coordinates: IntArray,
    lengths: FloatArray,
    rounding: float,
    rng: np.random.Generator,
    most: int,
) -> Steps[IntArray]:
    """Return those of the coordinates that have kinks within such lengths, up to so many; by bisection.

    What f rises by on both sides together is never negative at kinks that are minima, so nothing cancels. A
    kink leaves a quarter of it at a quarter of the length, curvature a sixteenth.
    """
    n = len(coordinates)
    order = rng.permutation(n)
    spread = constants.SPREAD
    steps = lengths * rng.uniform(1.0 - spread, 1.0 + spread, n) * rng.choice([-1.0, 1.0], n)

    def bent(some: IntArray) -> Steps[float]:
        """Return how much of the rise of some is that of kinks; zero if it may be curvature or rounding."""
        shares = (1.0, -1.0, constants.CLEARLY, -constants.CLEARLY)
        rows = [SparseRows.single(coordinates[some], share * steps[some]) for share in shares]
        changes, _ = yield from asked_all(at, SparseRows.stack(rows), Role.PROBE)
        far, near = float(changes[:2].sum()), float(changes[2:].sum())
        kinks = (near - constants.CLEARLY**2 * far) / (constants.CLEARLY - constants.CLEARLY**2)
        least = constants.TRUST * rounding / constants.CLEARLY + constants.SMALL * abs(far)
        return kinks if kinks > least else 0.0

    found, open_ = list[int](), [order] if n and (yield from bent(order)) else []
    while open_ and len(found) < most:
        some = open_.pop()
        if len(some) == 1:
            found.append(int(coordinates[some[0]]))
            continue
        for half in np.array_split(some, 2):
            bends = yield from bent(half)
            open_ += [half] * (bends > 0.0)
    return np.array(sorted(found), np.int64)
