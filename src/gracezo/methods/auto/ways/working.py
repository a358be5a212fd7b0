"""The way down where f has kinks at the start in most coordinates, as a penalty on every change has.

Such a penalty keeps most coordinates where they are, though most have a slope at first. So a gradient, a
query a coordinate, is not stepped along: it tells which coordinates to work with, those that have moved and
as many again of those that lead down most steeply. Along these alone f is taken down by orthant-wise
quasi-Newton steps (`updates/orthants.py`), for a query each, until what they promise is clearly less than
what the others did; then all are asked again. That is how solvers of the LASSO go about it that know their f
(Johnson & Guestrin, *Blitz*, ICML 2015; Massias, Gramfort & Salmon, *Celer*, ICML 2018).

Kinks elsewhere are not for it. Where steps bring clearly less than they promise, the sparse way goes on
with what it has found, and locates them.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from gracezo.core.asks import Point, Role, SparseRows, Steps
from gracezo.core.places import dense
from gracezo.core.rest import written
from gracezo.core.types import BoolArray, FloatArray, IntArray
from gracezo.core.walls import Walls
from gracezo.methods.auto import constants
from gracezo.methods.auto.instrument.look import asked_all
from gracezo.methods.auto.ways import Ledger, Offer
from gracezo.methods.auto.ways.sparse import Sparse
from gracezo.methods.kinks import coupled
from gracezo.methods.line_search import lowest_along
from gracezo.updates.orthants import Orthants
from gracezo.updates.projected import newton_path
from gracezo.updates.quasi_newton import LBFGS


class Slopes:
    """The slopes of all coordinates at a point, on both sides of where the run began; none is asked twice.

    Parameters
    ----------
    sparse
        What that way has learned.
    start
        Where the run began.
    """

    def __init__(self, sparse: Sparse, start: FloatArray) -> None:
        self._sparse = sparse
        self._start = start
        self._asked: BoolArray = np.zeros(0, np.bool_)  # which of them are known at the present point
        self._confirmed = False
        self.walls = Walls(sparse.walls.box)
        """The bounds around the present point, and the kinks at which steps end."""
        self.at: Point | None = None
        """The present point."""

    @cached_property
    def coordinates(self) -> IntArray:
        """All that can move."""
        return written(self._sparse.free)

    @cached_property
    def orthants(self) -> Orthants:
        """What was measured."""
        return Orthants(dense(self._start)[self.coordinates])

    @property
    def all_known(self) -> bool:
        """Whether those of all coordinates are known at the present point."""
        return bool(self._asked.all())

    def centre(self, at: Point) -> FloatArray:
        """Go to a point; return the coordinates there."""
        self._sparse.differences.centre(self.walls.centre(at.x), at.value)
        if at is not self.at:
            self.at, self._asked = at, np.zeros(len(self.coordinates), np.bool_)
        return np.asarray(at.x[self.coordinates])

    def measure(self, at: Point, chosen: IntArray) -> Steps[None]:
        """Ask some coordinates: on both sides where a jump is not known."""
        x, orthants = self.centre(at), self.orthants
        chosen = chosen[~self._asked[chosen]]
        if not len(chosen):
            return
        coordinates, sides = self.coordinates[chosen], orthants.sides(x)[chosen]
        ahead, behind = (self._steps(at, coordinates, each) for each in (sides, -sides))
        # A bound may leave one side only.
        both = (orthants.standing(x) & np.isnan(orthants.jumps))[chosen] & (ahead * behind < 0.0)
        asked = np.concatenate([np.arange(len(chosen)), np.flatnonzero(both)])
        steps = np.concatenate([ahead, behind[both]])
        rows = SparseRows.coordinates(coordinates[asked], steps)
        changes, _ = yield from asked_all(at, rows, Role.REFRESH, reserve=1)
        left, right = np.full((2, len(chosen)), np.nan)
        for slopes, side in ((left, steps < 0.0), (right, steps > 0.0)):
            slopes[asked[side]] = changes[side] / steps[side]
        self._note(x, chosen, left, right)

    def take(
        self, at: Point, some: IntArray, steps: FloatArray, ahead: FloatArray, behind: FloatArray
    ) -> None:
        """Take in how f changes by steps of some coordinates, and by those to the other side."""
        one, two = ahead / steps, -behind / steps
        left, right = np.where(steps > 0.0, (two, one), (one, two))
        self._note(self.centre(at), some, left, right)

    def _note(self, x: FloatArray, chosen: IntArray, left: FloatArray, right: FloatArray) -> None:
        self.orthants.note(x, chosen, left, right)
        self._asked[chosen] = True

    @property
    def kinked(self) -> bool:
        """Whether most of those whose two sides are known have a kink: more between them than curvature."""
        orthants = self.orthants
        told = np.flatnonzero(~np.isnan(orthants.jumps))
        least = np.maximum(constants.PRECISE * orthants.steepness[told], self.least(self.coordinates[told]))
        return 2 * int((np.abs(orthants.jumps[told]) > least).sum()) > len(told) > 0

    def confirmed(self, at: Point, rng: np.random.Generator) -> Steps[bool]:
        """Return whether most coordinates have kinks, and these do not couple them; once is enough."""
        if not self._confirmed and self.kinked:
            rounding = self._sparse.differences.rounding
            lengths = self._lengths(self.coordinates)
            across = yield from coupled(at, self.coordinates, lengths, rounding, rng, role=Role.PROBE)
            self._confirmed = not across
        return self._confirmed

    def least(self, coordinates: IntArray) -> FloatArray:
        """Return the least difference of two slopes that is none by rounding or curvature."""
        lengths, differences = self._lengths(coordinates), self._sparse.differences
        return constants.TRUST * (2.0 * differences.rounding / lengths + differences.newton(0.0) * lengths)

    def _lengths(self, coordinates: IntArray) -> FloatArray:
        differences = self._sparse.differences
        size = differences.size(1.0, 0.0) / math.sqrt(differences.newton(0.0))
        return np.maximum(size, self.walls.plainly(coordinates))

    def _steps(self, at: Point, coordinates: IntArray, sides: FloatArray) -> FloatArray:
        """Return steps to these sides, or to the other one where bounds leave no room."""
        steps = sides * self._lengths(coordinates)
        if self.walls.box is not None:
            steps = self.walls.box.inward(at.x, coordinates, steps)
        return self.walls.rounded(coordinates, steps)


class WorkingSets:
    """Steps along working sets of coordinates, most of which have kinks where the run began.

    Parameters
    ----------
    sparse
        What that way has learned.
    ledger
        Counts what is asked.
    start
        Where the run began.
    rng
        Where looks for kinks across coordinates are drawn from.
    """

    name = "along working sets of coordinates, with kinks where the run began"

    def __init__(self, sparse: Sparse, ledger: Ledger, start: FloatArray, rng: np.random.Generator) -> None:
        self._sparse = sparse
        self._ledger = ledger
        self._rng = rng
        self._slopes = Slopes(sparse, start)
        self._model = LBFGS(constants.MEMORY)
        self._members: IntArray | None = None  # of the working set, as they came
        self._rest = 0.0  # the steepest way down of another
        self._made: list[tuple[float, float]] = []  # decreases promised, and brought
        self._failed: Point | None = None  # where no step leads down
        self.kinked: bool | None = None
        """Whether most coordinates have kinks where the run began, and none across; None: not known."""

    def offer(self, here: Point) -> Offer | None:
        """Return what all slopes promise, for two queries a coordinate."""
        if self.ended(here):
            return None
        return Offer(self._sparse.promise, 2 * self._ledger.rounds_of(self._sparse.size))

    def ended(self, here: Point) -> bool:
        """Whether it has nothing to offer from this point; nor where a set is a large part of all."""
        few = self._sparse.size <= 2 * constants.DRAWN
        return few or self.kinked is False or here is self._failed

    def sampled(
        self, at: Point, free: IntArray, steps: FloatArray, reserve: int
    ) -> Steps[tuple[IntArray, FloatArray]]:
        """Look at a few of the free coordinates on both sides; return which, and how f has changed ahead.

        And behind, in a second row. Where few are free, these are too large a part of them: there are none
        but for the first time.
        """
        first = self.kinked is None and not self.ended(at)
        n = min(constants.DRAWN, len(free) // (1 if first else constants.DRAWN))
        if 2 * n < constants.DRAWN:
            return free[:0], np.zeros((2, 0))
        some = self._rng.choice(free, n, replace=False)
        both = np.concatenate([steps[some], -steps[some]])
        rows = SparseRows.coordinates(np.tile(self._slopes.coordinates[some], 2), both)
        found, _ = yield from asked_all(at, rows, Role.REFRESH, reserve=reserve - n)
        changes = found.reshape(2, -1)
        self._slopes.take(at, some, steps[some], *changes)
        self.kinked = self.kinked or self._slopes.kinked
        return some, changes

    def held(self, here: Point) -> IntArray | None:
        """Return the coordinates that their kinks hold at a point where no other has a slope; else None."""
        if here is not self._failed:
            return None
        slopes, x = self._slopes, self._slopes.centre(here)
        curvatures = np.full(len(x), self._sparse.differences.newton(0.0))
        promise = slopes.walls.promise(slopes.coordinates, slopes.orthants.slopes(x), curvatures)
        return None if self._matters(promise, here) else slopes.coordinates[slopes.orthants.standing(x)]

    def leg(self, here: Point) -> Steps[Point]:
        """Step along the working set, after a look at all coordinates where that is due."""
        if here is not self._slopes.at:
            self._members = None
            self._model.forget()
        if self.kinked is None:
            yield from self._sample(here)
        while self.kinked is not False:
            if self._members is None or not (self._slopes.all_known or self._worth(here, self._members)):
                yield from self._choose(here)
                continue
            moved = yield from self._step(here)
            if self._misled(moved):
                self.kinked = False
                self._hand_over(moved)
                return moved
            if moved is not here:
                return moved
            if len(self._model):
                self._model.forget()  # once more, without what it has learned
            elif self._slopes.all_known or not (yield from self._enlarged(here)):
                self._failed = here
                if self.held(here) is None:
                    self._hand_over(here)
                break
        return here

    def _sample(self, at: Point) -> Steps[None]:
        """Look at a few where the run began on both sides: a search may have taken them for kinks wrongly.

        It knows slopes from before the last steps, and where others have changed these, f rises.
        """
        standing = np.flatnonzero(self._slopes.orthants.standing(self._slopes.centre(at)))
        some = self._rng.choice(standing, min(constants.DRAWN, len(standing)), replace=False)
        yield from self._slopes.measure(at, some)
        self.kinked = None if self._slopes.kinked else False

    def _worth(self, here: Point, members: IntArray) -> bool:
        """Whether the working set still promises as much as the others did when it was chosen."""
        slopes = self._slopes.orthants.slopes(self._slopes.centre(here))[members]
        return bool(np.abs(slopes).max(initial=0.0) > constants.CLEARLY * self._rest)

    def _choose(self, at: Point) -> Steps[None]:
        """Ask all coordinates, and choose those to work with."""
        slopes, orthants, x = self._slopes, self._slopes.orthants, self._slopes.centre(at)
        yield from slopes.measure(at, np.arange(len(x)))
        self.kinked = yield from slopes.confirmed(at, self._rng)
        steep = np.abs(orthants.slopes(x))
        moved = np.flatnonzero(~orthants.standing(x))
        steep[moved] = 0.0
        # The steps along so many cost about as much as the gradient that has chosen them.
        count = max(len(moved), len(steep) // (2 * constants.PARTS), constants.DRAWN)
        chosen = np.argsort(-steep, kind="stable")[:count]
        chosen = np.concatenate([moved, chosen[steep[chosen] > 0.0]])
        known = np.zeros(0, np.int64) if self._members is None else self._members
        self._members = np.concatenate([known, np.setdiff1d(chosen, known)])
        steep[self._members] = 0.0
        self._rest = float(steep.max(initial=0.0))

    def _enlarged(self, at: Point) -> Steps[bool]:
        """Ask all coordinates, and return whether there are others to work with."""
        assert self._members is not None
        before = len(self._members)
        yield from self._choose(at)
        return len(self._members) > before

    # ------------------------------------------------------------ steps

    def _step(self, at: Point) -> Steps[Point]:
        """Step along the working set and measure its slopes there; return the same point if none is lower."""
        assert self._members is not None
        measured, orthants, members = self._slopes, self._slopes.orthants, self._members
        x, coordinates = measured.centre(at), measured.coordinates[members]
        slopes = orthants.slopes(x)
        ends = orthants.ends(x, slopes, measured.least(measured.coordinates))
        measured.walls.confine(coordinates, *(end[members] for end in ends))
        # All together promise no more than all of f.
        steepness = float(np.linalg.norm(slopes[members]))
        curvatures = np.full(len(members), self._sparse.differences.newton(steepness))
        path = newton_path(self._model, measured.walls, coordinates, slopes[members], curvatures)
        promise, known = -path.predicted(1.0), len(self._model) > 0  # without a model that is a guess
        if not path.descends or (known and promise <= self._sparse.differences.negligible):
            return at
        batch, rounds = self._ledger.batch, self._ledger.rounds_of(len(members))
        moved, t = yield from lowest_along(at, path, batch, rounds, self._sparse.noise)
        if known:
            self._made.append((promise, at.value - moved.value))
        if moved is at:
            return at
        before, there = orthants.copy(), measured.centre(moved)
        yield from measured.measure(moved, members)
        change = orthants.change(before, there, x)[members]
        # A step that was made longer has shown that f bends by as much less: that is no reason for damping.
        self._model.learn((there - x)[members], change, path.expected(t) / max(t, 1.0))
        return moved

    def _misled(self, at: Point) -> bool:
        """Whether most steps bring clearly less than they promise: there are kinks elsewhere, too."""
        recent = self._made[-constants.DRAWN :]
        short = [brought < constants.CLEARLY * promised for promised, brought in recent]
        matters = self._matters(sum(promised for promised, _ in recent), at)
        return len(recent) == constants.DRAWN and matters and 2 * sum(short) > len(short)

    def _matters(self, promise: float, at: Point) -> bool:
        """Whether a decrease is worth having, beside rounding and that so far."""
        fallen = self._sparse.first - at.value
        return promise > max(self._sparse.differences.negligible, constants.NEGLIGIBLE * fallen)

    def _hand_over(self, at: Point) -> None:
        """Leave it to the sparse way what the working set still promises and no step brings."""
        assert self._members is not None
        slopes = self._slopes.orthants.slopes(self._slopes.centre(at))[self._members]
        self._sparse.adopt(at, self._slopes.coordinates[self._members], slopes)
