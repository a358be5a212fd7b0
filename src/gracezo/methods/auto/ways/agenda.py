"""What the sparse way asks next: each query goes where it promises the largest decrease of f per query.

What can be done, with its promised decrease and its cost in queries:

- open a group of the search over the coordinates outside the support;
- recheck that search, when steps have brought decreases that the model did not predict; at once, when the
  chance that it is out of date, times the queries until the next find, is more than the one query that a
  recheck costs;
- refresh the support, and then step (`stepper.py` says when and how).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from gracezo.core.asks import Point
from gracezo.core.keys import Key
from gracezo.core.method import Problem
from gracezo.core.rest import Rest, outside
from gracezo.core.types import IntArray, record
from gracezo.core.walls import Walls
from gracezo.methods.auto import constants
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import Request, together
from gracezo.methods.auto.search import Search
from gracezo.methods.auto.support.coordinates import Support
from gracezo.methods.auto.support.refresh import Refresh
from gracezo.methods.auto.ways import Ledger
from gracezo.methods.auto.ways.stepper import Stepper, Timing


@dataclass(frozen=True, eq=False)
class Parts:
    """What the sparse way is made of."""

    problem: Problem
    ledger: Ledger
    differences: Differences
    walls: Walls
    support: Support
    refresh: Refresh
    search: Search
    timing: Timing
    stepper: Stepper


class Draws:
    """Random streams of a run, one after the other."""

    def __init__(self, key: Key) -> None:
        self._keys = key.children()

    def next(self) -> np.random.Generator:
        """Return the next one."""
        return next(self._keys).generator()


@dataclass
class _Partitions:
    """When the search was begun anew: how many coordinates had been found, and how often without a find."""

    here: bool = True  # the last time at the present point
    size: int = -1
    in_vain: int = 0
    without: int = 0  # known kinks that are left out of the last one

    def note(self, size: int, without: int) -> None:
        """Note that the search begins anew, without so many known kinks."""
        self.in_vain = self.in_vain + 1 if self.here and size == self.size else 0
        self.here, self.size, self.without = True, size, without

    def moved(self) -> None:
        """Note that the run has gone to another point."""
        self.here = False


@record
class _Prediction:
    """What a step along the first `size` coordinates promised after so many answers about slopes."""

    size: int = 0
    answers: int = 0
    promise: float = 0.0


@dataclass(eq=False)
class Agenda:
    """What to ask next; see the rules on top of this file.

    Attributes
    ----------
    parts
        What the way is made of.
    draws
        Random streams.
    """

    parts: Parts
    draws: Draws
    _partitions: _Partitions = field(default_factory=_Partitions)
    _met: int = 0  # coordinates found, as far as was noticed
    _stale: bool = False  # whether slopes are known by subtraction, in part from before the last step
    _fruitless: int = 0  # looks at all coordinates since the last find
    _retried: float = math.inf  # what f has to come down to before coordinates are let go again
    _prediction: _Prediction | None = None
    _following: list[Request] = field(default_factory=list)  # what has to be asked next
    _last: int = 0  # the round of the last find or step

    # ------------------------------------------------------------ where the run is

    def suspect(self, coordinates: IntArray) -> None:
        """Take coordinates into the support; their slopes are to be measured first."""
        box, chosen = self.parts.walls.box, np.unique(coordinates)
        for coordinate in (chosen if box is None else chosen[box.moves(chosen)]).tolist():
            self.parts.support.add(coordinate, 0.0, math.nan)
        self._met = len(self.parts.support)
        self.parts.stepper.confidence.be_careful()
        self.doubt(math.inf)

    def relocated(self) -> None:
        """Go on at a point that was reached in another way: all slopes are to be measured again."""
        self.parts.search.belief.drift.moved()
        self.doubt(math.inf)
        self._prediction = None
        self.moved()

    def settled(self) -> None:
        """Go on at a point from which, as another way knows, no coordinate of the support leads down."""
        self.parts.search.belief.drift.moved()
        self._prediction, self._stale, self._fruitless = None, False, 0
        self.moved()

    def moved(self) -> None:
        """Note that the search was begun at another point."""
        self._notice()
        self._partitions.moved()
        self._last = self.parts.ledger.rounds

    def doubt(self, doubt: float, last: bool = False) -> None:
        """Take the slopes of the support as predictions, which may hide a decrease of `doubt`."""
        self.parts.refresh.begin(self.draws.next(), doubt, last)
        self._stale = False

    def outside(self, *known: IntArray) -> tuple[IntArray | Rest, np.random.Generator]:
        """Return the coordinates outside of the support, but some that are known, and a random stream."""
        parts = self.parts
        problem = parts.problem
        taken = parts.support.indices, *known
        free = outside(problem.d, *taken, box=parts.walls.box, places=problem.places)
        return free, self.draws.next()

    def _fresh(self) -> tuple[IntArray | Rest, np.random.Generator]:
        """Return what a search is made of: all of these but known kinks, and a random stream."""
        return self.outside(self.parts.search.kinks.left_out)

    def begin(self) -> tuple[IntArray | Rest, np.random.Generator]:
        """Return the same, for a search that begins now."""
        self._notice()
        self._partitions.note(len(self.parts.support), self.parts.search.kinks.waiting)
        return self._fresh()

    def _notice(self) -> None:
        """Notice what has been found."""
        if len(self.parts.support) > self._met:
            self._met, self._fruitless = len(self.parts.support), 0
            self._last = self.parts.ledger.rounds
            self._stale = self._stale or not self._partitions.here

    # ------------------------------------------------------------ bids

    def next(self, at: Point, fallen: float) -> list[Request] | None:
        """Return the queries worth most now, None for a step, nothing when nothing is left.

        The run is `at` a point, and f has fallen by so much.
        """
        self._notice()
        search, support, timing = self.parts.search, self.parts.support, self.parts.timing
        if self._following:
            return [self._following.pop()]
        drift = search.belief.drift
        if drift.outdated:
            return self._repartitioned(at, fallen)
        if not search.rooted:
            return search.requests(self._batch)
        noise = self.parts.differences.negligible
        doubt = drift.doubt if search.partition is not None else 0.0
        find = best if (best := search.best)[0] > noise else (0.0, 1.0)
        recheck = (doubt, timing.overhead) if doubt > noise else (0.0, 1.0)
        promise, cost = recheck if recheck[0] / recheck[1] > find[0] / find[1] else find
        overdue = find[0] > 0.0 and drift.overdue(find[1])
        rates = find[0] / find[1], math.inf if overdue else recheck[0] / recheck[1]
        if hiding := self.parts.refresh.alone(self._batch, promise / cost):
            return hiding
        hidden = self.parts.refresh.promise
        gain = self.step_promise() + hidden
        timing.offer(gain if gain > noise else 0.0)
        if gain > noise:
            # A step may have to wait for its gradient, which has its price too.
            waits = hidden > 0.0 and support.known < self.parts.stepper.confidence.care * hidden
            if waits:
                refresh = self._refresh_cost()
                # One sum tells little of what it hides: while nothing is found, the support has its turn.
                idle = self.parts.ledger.rounds - self._last
                worthwhile = timing.refresh_pays(gain, refresh, promise / cost)
                worthwhile |= idle >= constants.PARTS * (refresh + timing.overhead)
            else:
                worthwhile = timing.step_pays(gain, promise, cost, search.promise + doubt)
            if worthwhile:
                timing.begin(gain)
                return self._prepared(at, fallen, waits, rates)
        return self._find(at, fallen, *rates)

    @property
    def _batch(self) -> int:
        return self.parts.problem.batch

    def _prepared(
        self, at: Point, fallen: float, waits: bool, rates: tuple[float, float]
    ) -> list[Request] | None:
        """Return the queries that a step has to wait for: for its gradient, or for curvatures; else None."""
        if waits and self.parts.search.exhausted and self._partitions.in_vain < constants.PATIENCE:
            return self._repartitioned(at, fallen)
        if not waits:
            self._prediction = None
            return self.parts.refresh.bends(self._batch, rates[0]) or None
        if self.parts.refresh.pending and rates[1] > rates[0]:
            return self._recheck()
        return self.parts.refresh.requests(self._batch) or None

    def _find(self, at: Point, fallen: float, find: float, recheck: float) -> list[Request] | None:
        """Return the queries of the search, or those that make sure that nothing is left."""
        search, refresh = self.parts.search, self.parts.refresh
        if search.exhausted and not self._partitions.here:
            return self._repartitioned(at, fallen)
        if find > 0.0 and find >= recheck:
            return search.requests(self._batch) or self.next(at, fallen)
        if recheck > 0.0:
            return self._recheck()
        if refresh.pending:
            return refresh.requests(self._batch)
        return self._look_again(at, fallen)

    def _recheck(self) -> list[Request]:
        """Return what makes sure of the search, and of the support if that is to be measured too.

        A batch has room for the sum over the order that would be searched next.
        """
        search, support, differences = self.parts.search, self.parts.support, self.parts.differences
        self.parts.timing.spend(0, only_for_step=1)
        some = len(support) + len(search.kinks.left_out) < self.parts.problem.free
        changed = search.belief.drift.drifting >= 0.5 and some
        unfound = search.recheck()
        if self._batch > 1:
            asked = [unfound, search.following(*self._fresh())] if changed else [unfound]
            if self.parts.refresh.pending:
                asked += self.parts.refresh.requests(self._batch - len(asked))
            return asked
        if not self.parts.refresh.pending:
            return [unfound]
        if differences.noise and differences.pairs is None:
            return [unfound]  # the difference of two noisy values would be too uncertain
        (inside,) = self.parts.refresh.requests(1)
        return [together(unfound, inside, self._following.append) or unfound]

    def _look_again(self, at: Point, fallen: float) -> list[Request] | None:
        """Return what is left to ask when nothing is in sight: with other weights, or more often."""
        search, noisy = self.parts.search, self.parts.differences.noise > 0.0
        # Beside a kink a coordinate may be level on one side; each look goes to either of them.
        again = constants.DRAWN if search.kinks.holding else noisy * constants.PATIENCE
        if self._partitions.here and self._fruitless >= again:
            if self._stale:
                self.doubt(0.0, last=True)
                return self.parts.refresh.requests(self._batch)
            if self._let_go(at, fallen):
                return self.next(at, fallen)
            if search.kinks and not (noisy or search.thorough):
                # Many coordinates may fall by little, and each brings its kink with it: so these come last.
                search.look_behind_kinks()
                return self._repartitioned(at, fallen)
            if self._partitions.without:
                search.kinks.let_in()
                return self._repartitioned(at, fallen)
            if not self._sharpen():
                return []
            self._fruitless = 0
            self.doubt(0.0)
        self._fruitless += 1
        return self._repartitioned(at, fallen)

    def _let_go(self, at: Point, fallen: float) -> bool:
        """Give coordinates that steps were cut short for another try, as long as that brings something."""
        support, least = self.parts.support, constants.NEGLIGIBLE * fallen
        if self.parts.differences.noise or support.held_back <= least or at.value > self._retried:
            return False
        self._retried = at.value - least
        support.loosen()
        self._prediction = None
        return True

    def _sharpen(self) -> bool:
        """Look more often from now on, if noise may hide a decrease; return whether it may."""
        differences, partition = self.parts.differences, self.parts.search.partition
        if partition is None or differences.pairs is None:
            return False
        # What is seen of all groups together, and in none of them, is hidden too.
        error = max(partition.error, partition.open.norm / constants.TRUST)
        return differences.pairs.sharpen(error, differences.curvatures.flattest)

    def _repartitioned(self, at: Point, fallen: float) -> list[Request] | None:
        """Begin the search anew; return its queries.

        At another point slopes are as large, as a rule. At this one those of that size have been found.
        """
        search, here = self.parts.search, self._partitions.here
        search.restart(*self.begin())
        if here:
            search.belief.forget()
        # Nothing is outside when all coordinates have been found; then the support goes on alone.
        return search.requests(self._batch) or self.next(at, fallen)

    def step_promise(self) -> float:
        """Return the decrease that the model promises for a step with what is known."""
        support, walls, told = self.parts.support, self.parts.walls, self._prediction
        slopes = support.slopes
        # An answer changes few of many slopes, and a path takes time in proportion to their number.
        refresh = self.parts.refresh
        heard = 0 if told is None else refresh.answers - told.answers
        if told is None or heard >= constants.PRECISE * len(slopes) or (heard and not refresh.left):
            path = self.parts.stepper.path()
            # Walls may leave nothing of what the model hoped for; each coordinate alone still has its part.
            blocked = walls.stops is not None and not path.descends
            promise = support.known if blocked else -path.predicted(1.0)
            told = self._prediction = _Prediction(len(slopes), refresh.answers, promise)
        if told.size == len(slopes):
            return told.promise
        # No step has been made yet along those found since: the model has their own curvature only.
        new = slice(told.size, None)
        return told.promise + walls.promise(support.indices[new], slopes[new], support.diagonal[new])

    def _refresh_cost(self) -> float:
        """Return the rounds until the gradient is known well enough: for all of it, or its largest part."""
        left = self.parts.refresh.left
        if self.parts.stepper.confidence.care > 1.0 / constants.PRECISE:
            return self.parts.ledger.rounds_of(left)
        return math.log2(1.0 + left) / math.log2(1.0 + self._batch)
