"""Why a run has come to its end, and whether that may be called a success.

Where f is smooth, no slope left is reason enough. Among kinks it is not: a slope may be left that no step
makes use of, because the coordinate stands on a kink that was not located, or because something is wrong; and
where kinks couple coordinates, each of them leads uphill though several together may lead down. So a few
queries make sure before success is claimed. Where f is noisy, no slope seen is reason enough only if the
noise could not hide one that matters; and where it is coarse, lower values may lie beyond all that was seen.

*Kinks.* Uphill along each coordinate is uphill along all of them together, if the kinks are in single
coordinates (|x_i|). It is not, if they lie across them (|x_i − x_j|, the largest of several). Kinks in single
coordinates add up: what f rises by when two sets of coordinates move is the sum of what it rises by when each
moves.

*Longer scales.* Where steps as long as a good part of the scale have come out as foreseen, f is smooth so
far, and nothing is asked. Where none has, f is asked at such lengths, to both sides of where the run has come
to. At a minimum all of them are higher. If one is lower, the run has stopped in a ripple, and ripples are
noise by another name: their depth is measured as noise is, by equally spaced values, and the run goes on as
on a noisy function; or from the lower point, where no ripples show. Along the coordinates that have never
mattered f has no slope. That it does not curve down is seen on one side, at lengths over more orders of
magnitude: from a saddle point one of them leads lower. Halving tells which coordinates do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gracezo.core.answers import lowest
from gracezo.core.asks import Ask, OutOfQueries, Point, Role, SparseRows, Steps
from gracezo.core.box import Box
from gracezo.core.keys import Key
from gracezo.core.moves import Few, Move, Wave, moved, rows_of
from gracezo.core.result import Finish, Status
from gracezo.core.shuffle import Shuffle
from gracezo.core.types import FloatArray, IntArray, record
from gracezo.estimators.noise import POINTS, judge
from gracezo.methods.auto import constants
from gracezo.methods.auto.here import Walls
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import insisted
from gracezo.methods.auto.search import Search
from gracezo.methods.auto.search.order import Rest, written
from gracezo.methods.auto.support.coordinates import Support

_CHECK = 0.25  # share of all queries that it may take to make sure
_ACROSS = "each coordinate leads uphill, but f has kinks across them"
_NEARER = 0.25  # of the lengths, at which kinks are told from curvature
TRIALS = 4  # random halves and signs; each shows one link between two coordinates with a chance of a quarter
_PLAINLY = 4.0  # times the error of f
_ADDED = 1e-3  # share of the rise by which a sum may be missed: far more than what curvature adds to it
BOTH_SIDES = tuple(side * 2.0**power * constants.SMOOTH for power in (2, 1, 0, -1) for side in (1, -1))
"""Of the scale: how far is looked along coordinates that matter."""
ONE_SIDE = tuple(length**2 for length in BOTH_SIDES[::2])
"""The same along the others."""


@dataclass(frozen=True, eq=False)
class Verdict:
    """What is known of a run that has nothing left to ask.

    Attributes
    ----------
    support, search, differences
        What it has met and learned.
    forgone
        The slopes, of those met first, that were given up because no step along them brought anything.
    fallen
        The decrease so far.
    spent
        The queries so far.
    free, box
        The coordinates that can move, and how far.
    trust
        Standard errors beyond which a slope would have been seen.
    """

    support: Support
    search: Search
    differences: Differences
    forgone: FloatArray
    fallen: float
    spent: int
    free: IntArray | Rest
    box: Box | None
    trust: float

    def told(self, at: Point, kinks_across: bool, rng: np.random.Generator) -> Steps[Finish]:
        """Say why the run ends here, given whether kinks are known to couple coordinates."""
        if self.search.flat and not len(self.support):
            flat = "all probes left the objective unchanged, up to the scales of the coordinates"
            return Finish(Status.NOTHING_TO_FIND, f"nothing to find: {flat}")
        if (why := (yield from self._stuck(at, kinks_across, rng))) is not None:
            return Finish(Status.STUCK, why)
        what = "noise" if self.differences.noise else "rounding error"
        return Finish(Status.CONVERGED, f"f does not fall any further from here by more than its {what}")

    def _stuck(self, at: Point, kinks_across: bool, rng: np.random.Generator) -> Steps[str | None]:
        """Say why lower values may be near though none is in sight; None where that is not so."""
        exact = self.differences.noise == 0.0
        if self.differences.values.coarse:
            return "f is coarse (few digits, or counts), and falls no further by more than one of its steps"
        if self._hides():
            return f"the {'rounding' if exact else 'noise'} of f hides what may be left to be found"
        given_up = np.zeros(len(self.support))
        given_up[: len(self.forgone)] = self.forgone
        forgone = max(self.support.promise_of(given_up), self.support.held_back if exact else 0.0)
        if forgone > constants.FORGONE * self.fallen and not (
            exact and (yield from self._stands(at, given_up))
        ):
            share = f"{min(forgone / self.fallen, 1.0):.1g} of that so far" if self.fallen > 0.0 else "f"
            return f"slopes promise a decrease by {share}, but no step brings any: f may have kinks, or jump"
        if kinks_across:
            return f"{_ACROSS}, and the way along these leads no further: this may be the minimum, or not"
        if exact and (yield from self._crossed(at, rng)):
            return f"{_ACROSS}: several together may lead down"
        return None

    def _hides(self) -> bool:
        """Whether noise or rounding may hide a decrease that matters: above itself, or all of a small one."""
        noise, partition = self.differences.noise, self.search.partition
        if noise > constants.LOUD * self.fallen or partition is None:
            return noise > constants.LOUD * self.fallen
        unseen = self.differences.promise(self.trust * partition.error)
        if noise == 0.0:
            moved = self.fallen > 0.0 and len(self.support) < len(self.free)
            return moved and unseen > max(constants.SMALL * self.fallen, self.differences.negligible)
        return max(self.search.promise, unseen) > max(noise, constants.LOUD * self.fallen)

    def _stands(self, at: Point, given_up: FloatArray) -> Steps[bool]:
        """Return whether those that promise what steps do not bring stand on kinks that were not located."""
        support = self.support
        steepest = np.maximum(np.abs(support.slopes), np.abs(given_up))
        promises = steepest**2 / (2.0 * support.smooth)
        suspects = np.flatnonzero(promises * len(support) > constants.FORGONE * self.fallen)
        if not 0 < 2 * len(suspects) <= _CHECK * self.spent:
            return False
        lengths, rounding = support.lengths()[suspects], self.differences.rounding
        return (yield from uphill(at, support.indices[suspects], lengths, rounding, self.box))

    def _crossed(self, at: Point, rng: np.random.Generator) -> Steps[bool]:
        """Return whether f has kinks here that couple coordinates, as far as differences can show it."""
        support = self.support
        outside = np.setdiff1d(np.array(self.search.kinks, np.int64), support.indices)
        if not (support.kinks.any or len(outside) or self.forgone.any()):
            return False
        # Those that have no slope here may have one beside it: all of them take part.
        free = written(self.free)
        lengths = np.zeros(int(free[-1]) + 1)
        lengths[free] = self.differences.single(1.0, 0.0)
        lengths[support.indices] = support.lengths()
        return (yield from coupled(at, free, lengths[free], self.differences.rounding, rng))


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


@record
class Lower:
    """A lower value, and how to get there."""

    move: Move
    value: float

    def point(self, at: Point, box: Box | None) -> Point:
        """Return where it is, seen from a point."""
        x = moved(at.x, self.move)
        return Point(x if box is None else box.clip(x), self.value)

    def halves(self) -> tuple[Move, Move]:
        """Return both halves of what has moved."""
        move = self.move
        if isinstance(move, Wave):
            middle = (move.start + move.stop) // 2
            return move.part(move.start, middle), move.part(middle, move.stop)
        assert isinstance(move, Few)
        half = len(move) // 2
        indices, values = move.indices, move.values
        return Few(indices[:half], values[:half]), Few(indices[half:], values[half:])


def lower_beyond(
    at: Point,
    support: Support,
    rest: IntArray | Rest,
    walls: Walls,
    differences: Differences,
    rng: np.random.Generator,
    smooth: bool,
) -> Steps[tuple[Point, float] | None]:
    """Return a lower point at longer scales, and how deep the ripples are that hid it, if any is.

    Parameters
    ----------
    at
        Where the run has come to.
    support, rest
        The coordinates that have mattered, and the others.
    walls, differences
        The bounds, and what is known of f.
    rng
        Where directions are drawn from.
    smooth
        Whether steps have shown f to be smooth along the support.
    """

    def plainly(found: Lower | None) -> bool:
        return found is not None and at.value - found.value > differences.negligible

    found, level = None, 0.0
    if not smooth:
        met = support.indices[~walls.shut(support.indices, support.slopes)] if len(support) else rest
        found = yield from lower(at, met, BOTH_SIDES, walls.box, rng)
        if plainly(found):
            level = yield from depth(at, met, rng)
    if not plainly(found):
        order = rest if isinstance(rest, Rest) else rng.permutation(rest)
        found = yield from lower(at, order, ONE_SIDE, walls.box, rng)
        if plainly(found) and found is not None:
            found = yield from narrowed(at, found)
    if found is None or not plainly(found):
        return None
    ripples = constants.STRIDE * differences.rounding < level < differences.scale  # no more: that is a wall
    return found.point(at, walls.box), level if ripples else 0.0


def lower(
    at: Point,
    coordinates: IntArray | Rest,
    lengths: Sequence[float],
    box: Box | None,
    rng: np.random.Generator,
) -> Steps[Lower | None]:
    """Return the lowest point at longer scales along these coordinates, if it is lower.

    Parameters
    ----------
    at
        Where the run has come to.
    coordinates
        Those that move together.
    lengths
        How far, of the scale; each is one query, along a direction of its own. The opposite of a length goes
        the other way.
    box
        The bounds, if there are any.
    rng
        Where the direction of each length is drawn from.
    """
    ways = {abs(length): _direction(coordinates, rng) for length in lengths}
    steps = [ways[abs(length)].times(length) for length in lengths]
    if box is not None:
        steps = [_inside(box, at, step) for step in steps]
    steps = [step for step in steps if step.reach > 0.0]
    if not steps:
        return None
    values = yield Ask(at.x, rows_of(steps), Role.PROBE)
    row = lowest(values)
    return Lower(steps[row], float(values[row])) if values[row] < at.value else None


def narrowed(at: Point, found: Lower) -> Steps[Lower]:
    """Return what is lower by at least half as much with as few of its coordinates as halving leaves."""
    while len(found.move) > 1:
        enough = at.value + 0.5 * (found.value - at.value)
        for half in found.halves():
            (value,) = yield Ask(at.x, rows_of([half]), Role.PROBE)
            if value <= enough:
                found = Lower(half, float(value))
                break
        else:
            break
    return found


def depth(at: Point, coordinates: IntArray | Rest, rng: np.random.Generator) -> Steps[float]:
    """Return how deep ripples are, as a standard deviation; 0 where f is smooth at these lengths."""
    way = _direction(coordinates, rng).times(constants.SMOOTH / (POINTS - 1))
    values = yield Ask(at.x, rows_of([way.times(place) for place in range(1, POINTS)]), Role.CONFIRM)
    return 0.0 if np.isnan(values).any() else judge(np.insert(values, 0, at.value))[1]


def _direction(coordinates: IntArray | Rest, rng: np.random.Generator) -> Move:
    """Return a random direction along coordinates."""
    if isinstance(coordinates, Rest):
        out = coordinates.without
        order = Shuffle(coordinates.d, Key(int(rng.integers(2**63))), _lengths)
        return Wave(order, 0, coordinates.d, indices=out, values=np.zeros(len(out)))
    return Few(coordinates, _lengths(rng, len(coordinates)))


def _lengths(rng: np.random.Generator, count: int) -> FloatArray:
    return np.asarray(rng.uniform(0.5, 1.5, count) * rng.choice([-1.0, 1.0], count))


def _inside(box: Box, at: Point, step: Move) -> Move:
    """Return a step as the bounds leave it."""
    assert isinstance(step, Few)
    return Few(step.indices, box.place(at.x, step.indices, step.values) - at.x[step.indices])
