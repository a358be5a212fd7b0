"""The loop: each query goes where it promises the largest decrease of f per query.

What can be done next, with its promised decrease and its cost in queries:

- open a set of the search over the coordinates outside the support;
- recheck that search, when steps have brought decreases that the model did not foresee;
  at once, when the chance that it is out of date, times the queries until the next
  find, is more than the one query that a recheck costs;
- refresh the support, and then step (`timing.py` says when, `step.py` how).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gracezo.core.asks import Point, Role, Steps
from gracezo.core.keys import Key
from gracezo.core.method import Problem
from gracezo.core.result import Finish
from gracezo.core.types import IntArray
from gracezo.methods.auto import constants
from gracezo.methods.auto.belief import Belief
from gracezo.methods.auto.here import Walls
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import Request, answered, together
from gracezo.methods.auto.search import Search
from gracezo.methods.auto.search.confirm import Found
from gracezo.methods.auto.step.stepper import FULL, Stepper
from gracezo.methods.auto.support.coordinates import Support, outside
from gracezo.methods.auto.verdict import Verdict, lower_beyond
from gracezo.methods.auto.ways import LEAST, PARTS, Ledger, Offer
from gracezo.methods.auto.ways.timing import Timing

_PATIENCE = 2  # times that a noisy sum of all coordinates must show nothing
_BARREN = 2  # plantings at one point without a find after which the search is not worth another
_EACH = 5.0 / 3.0  # queries that the search takes for each coordinate of a dense gradient
_JUMPY = 0.25  # share of those met: if more have kinks, slopes are no guide
_SLOWLY = 0.03  # weight of the last question in what the search says of the density
_PARTS = 256  # of a refresh, after each of which a step is foretold anew


@dataclass(frozen=True)
class _Foretold:
    """What a step along the first `size` coordinates promised after so many answers about slopes."""

    size: int
    answers: int
    promise: float


class Hunt:
    """The sparse way down; see the rules on top of this file.

    Parameters
    ----------
    problem
        What is known before the first query.
    ledger
        Counts what is asked.
    eps
        A fixed ε, when the user wants one.
    """

    def __init__(self, problem: Problem, ledger: Ledger, eps: float | None = None) -> None:
        self._problem = problem
        self._ledger = ledger
        self._batch = problem.batch
        self._eps = eps
        self.differences = Differences(eps, problem.tol)
        """How far to move, and what is known of f."""
        self.walls = Walls(problem.bounds)
        """The bounds around the present point."""
        self._support = Support(self.differences, self.walls)
        belief = Belief(problem.free)
        self._search = Search(self.differences, belief, self._found, self.walls)
        self._timing = Timing(constants.OVERHEAD, ledger)
        self._stepper = Stepper(
            self.differences,
            self.walls,
            self._support,
            self._search,
            self._timing,
            ledger,
        )
        self._draws = 0
        self._searched_here = True
        self._stale = False  # whether slopes are known by subtraction, in part from before the last step
        self._fruitless = 0
        self._planted = -1  # size of the support when the search was planted last
        self._barren = 0  # plantings at this point since the last find
        self._retried = math.inf  # what f has to come down to before coordinates are let go again
        self._foretold: _Foretold | None = None
        self._following: list[Request] = []  # what has to be asked next
        self.share = 0.0
        """The share of the coordinates that matter, as a mean over the last questions of the search."""
        self.done = False
        """Whether there is nothing left to ask where it is."""

    @property
    def noise(self) -> float:
        """The standard deviation of f's noise, as far as it is known."""
        return self.differences.noise

    @property
    def free(self) -> IntArray:
        """All coordinates that can move."""
        return outside(self._problem.d, self.walls.fixed)

    @property
    def met(self) -> IntArray:
        """Those that have mattered; when nothing is left, those that lead uphill on both sides, too."""
        kinks = self._search.kinks if self.done else []
        return np.union1d(self._support.indices, np.array(kinks, np.int64))

    @property
    def kinked(self) -> bool:
        """Whether it has met kinks."""
        return bool(self._search.kinks) or self._support.kinks.any or bool(self._stepper.forgone.any())

    @property
    def jumpy(self) -> bool:
        """Whether many of those met have kinks, so that slopes are no guide."""
        located = int(np.isfinite(self._support.kinks.places).sum())
        outside = len(self._search.kinks)
        return located + outside > _JUMPY * (len(self._support) + outside)

    @property
    def first(self) -> float:
        """The value of f where the run began."""
        return self._start.value

    @property
    def value(self) -> float:
        """The value of f where it is."""
        return self._here.value

    def begin(self, at: Point, key: Key) -> Steps[Point]:
        """Take the first look at f where the run begins; return the point with the value of f beside it."""
        self._key = key
        self._start = self._here = at
        self._search.centre(at)
        self._suspect()
        self._plant_outside()
        self._start = self._here = yield from self._search.begin(at, self._problem.noise)
        return self._here

    def reconsider(self, at: Point) -> Steps[bool]:
        """Take a first look again, if f is so small by now that rounding may have hidden what is left."""
        fallen = self._start.value - at.value
        least = max(self._problem.tol or 0.0, constants.NOTHING) * fallen
        least = max(least, self.differences.grain / constants.SMALL)
        if self.noise or self.kinked or not least < abs(at.value) <= constants.SMALL * self.differences.scale:
            return False
        self.differences.forget()
        self._relocate(at)
        self._plant_outside()
        yield from self._search.begin(at, 0.0 if self._problem.noise == 0.0 else None)
        return True

    def beyond(self, at: Point) -> Steps[tuple[Point, float] | None]:
        """Look at longer scales; return a lower point and how deep the ripples are that hid it, if any is."""
        if self.noise or self._search.flat:
            return None
        rest, rng = self._fresh()
        smooth = self._stepper.foreseen >= constants.SMOOTH
        found = yield from lower_beyond(at, self._support, rest, self.walls, self.differences, rng, smooth)
        self.done = self.done and found is None
        return found

    def offer(self, here: Point) -> Offer | None:
        """Return what all slopes promise, and what it takes to find those that matter."""
        if self.done and here is self._here:
            return None
        coordinates = _EACH * self.share * self._problem.free
        return Offer(self.promise, self._ledger.rounds_of(math.ceil(coordinates)))

    def leg(self, here: Point) -> Steps[Point]:
        """Search and step; return the present point after a step, or after a while without one."""
        at = here
        if at is not self._here:
            self._relocate(at)
        most = self._ledger.rounds + max(self._ledger.rounds_of(self._problem.free // PARTS), LEAST)
        while self._ledger.rounds < most:
            requests = self._next_requests()
            if requests is None:
                self._here = yield from self._step(at)
                return self._here
            if not requests:
                self.done = True
                break
            refreshing = sum(
                len(request.shares) * request.repeats for request in requests if request.role is Role.REFRESH
            )
            before = self._ledger.rounds
            heard = yield from answered(at, requests)
            self._timing.spend(self._ledger.rounds - before, self._rounds(refreshing))
            self.share += _SLOWLY * (self._search.dense - self.share)
            self._stepper.landing.note(at, heard)
        return at

    def _relocate(self, at: Point) -> None:
        """Go on at a point that was reached in another way: all slopes are to be measured again."""
        self._here, self.done = at, False
        self._stepper.restart(at)
        self._search.outdated = True
        self._replant_support(doubt=math.inf)
        self._foretold = None
        self._searched_here = False

    @property
    def promise(self) -> float:
        """The decrease that all slopes promise, those found and those that sums over the others show."""
        return self._step_promise() + self._support.promise + self._search.promise

    def end(self, at: Point, kinks_across: bool) -> Steps[Finish]:
        """Say why nothing is left to ask, given whether kinks are known to couple coordinates."""
        self._draws += 1
        verdict = Verdict(
            self._support,
            self._search,
            self.differences,
            self._stepper.forgone,
            self._start.value - at.value,
            self._ledger.queries,
            self.free,
            self.walls.box,
            constants.TRUST,
        )
        return verdict.told(at, kinks_across, self._key.child(self._draws).generator())

    def _step(self, at: Point) -> Steps[Point]:
        """Step, and return the present point, which may be the same."""
        stepped = yield from self._stepper.step(at, self._start.x, self._problem.bounds)
        if stepped.doubt is not None:
            self._replant_support(stepped.doubt)
        if stepped.to is None:
            return at
        self._searched_here = False
        return stepped.to

    # ------------------------------------------------------------ what the user knows

    def _suspect(self) -> None:
        """Take the user's coordinates into the support; their slopes are to be measured first."""
        if self._problem.support is None:
            return
        for coordinate in np.setdiff1d(self._problem.support, self.walls.fixed).tolist():
            self._support.add(coordinate, 0.0, math.nan)
        self._stepper.care = FULL
        self._replant_support(doubt=math.inf)

    def _found(self, found: Found) -> None:
        self._fruitless = 0
        self._stale = self._stale or not self._searched_here
        self._support.add(found.coordinate, found.slope, found.curvature, found.error)

    # ------------------------------------------------------------ bids

    def _next_requests(self) -> list[Request] | None:
        """Return the queries worth most now, None for a step, nothing when nothing is left."""
        search, support, timing = self._search, self._support, self._timing
        if self._following:
            return [self._following.pop()]
        if search.outdated:
            return self._replant_outside()
        if not search.rooted:
            return search.requests(self._batch)
        noise = self.differences.negligible
        doubt = search.watch.doubt if len(support) < self._problem.free else 0.0
        find, recheck = (
            bid if bid[0] > noise else (0.0, 1.0) for bid in (search.best, (doubt, timing.overhead))
        )
        promise, cost = max(find, recheck, key=lambda bid: bid[0] / bid[1])
        overdue = find[0] > 0.0 and search.watch.overdue(find[1])
        rates = find[0] / find[1], math.inf if overdue else recheck[0] / recheck[1]
        hidden = support.promise
        gain = self._step_promise() + hidden
        timing.offer(gain if gain > noise else 0.0)
        if gain > noise:
            # A step may have to wait for its gradient, which has its price too.
            waits = self._support.known < self._stepper.care * hidden
            if waits:
                worthwhile = timing.refresh_pays(gain, self._refresh_cost(), promise / cost)
            else:
                worthwhile = timing.step_pays(gain, promise, cost, search.promise + doubt)
            if worthwhile:
                timing.begin(gain)
                return self._prepare(waits, rates)
        return self._find(*rates)

    def _prepare(self, waits: bool, rates: tuple[float, float]) -> list[Request] | None:
        """Return the queries that a step has to wait for: for its gradient, or for curvatures; else None."""
        search, support = self._search, self._support
        if waits and search.exhausted and self._barren < _BARREN:
            return self._replant_outside()
        if not waits:
            self._foretold = None
            return support.bend(self._batch) or None
        if support.pending and rates[1] > rates[0]:
            return self._recheck()
        return support.requests(self._batch) or None

    def _find(self, find: float, recheck: float) -> list[Request] | None:
        """Return the queries of the search, or those that make sure that nothing is left."""
        if self._search.exhausted and not self._searched_here:
            return self._replant_outside()
        if find > 0.0 and find >= recheck:
            return self._search.requests(self._batch) or self._next_requests()
        if recheck > 0.0:
            return self._recheck()
        if self._support.pending:
            return self._support.requests(self._batch)
        return self._look_again()

    def _recheck(self) -> list[Request]:
        """Return what makes sure of the search, and of the support if that is to be measured too.

        A batch has room for the sum over the tree that would be planted next.
        """
        self._timing.spend(0, only_for_step=1)
        changed = self._search.watch.drifting >= 0.5 and len(self._support) < self._problem.free
        outside = self._search.recheck()
        if self._batch > 1:
            asked = [outside, self._search.sapling(*self._fresh())] if changed else [outside]
            if self._support.pending:
                asked += self._support.requests(self._batch - len(asked))
            return asked
        if not self._support.pending:
            return [outside]
        if self.differences.noise and self.differences.pairs is None:
            return [outside]  # the difference of two noisy values would be too uncertain
        (inside,) = self._support.requests(1)
        return [together(outside, inside, self._following.append) or outside]

    def _look_again(self) -> list[Request] | None:
        """Return what is left to ask when nothing is in sight: with other weights, or more often."""
        noisy = self.differences.noise > 0.0
        if self._searched_here and not (noisy and self._fruitless < _PATIENCE):
            if self._stale:
                self._replant_support(doubt=0.0, last=True)
                return self._support.requests(self._batch)
            if self._let_go():
                return self._next_requests()
            if self._search.kinks and not (noisy or self._search.thorough):
                # Many coordinates may fall by little, and each brings its kink with it: so these come last.
                self._search.thorough = True
                return self._replant_outside()
            if not self._sharpen():
                return []
            self._fruitless = 0
            self._replant_support(doubt=0.0)
        self._fruitless += 1
        return self._replant_outside()

    def _let_go(self) -> bool:
        """Give coordinates that steps were cut short for another try, as long as that brings something."""
        least = constants.FORGONE * (self._start.value - self._here.value)
        if self.noise or self._support.held_back <= least or self._here.value > self._retried:
            return False
        self._retried = self._here.value - least
        self._support.loosen()
        self._foretold = None
        return True

    def _sharpen(self) -> bool:
        """Look more often from now on, if noise may hide a decrease; return whether it may."""
        pairs = self.differences.pairs
        if self._search.order is None or pairs is None:
            return False
        # What is seen of all groups together, and in none of them, is hidden too.
        error = max(self._search.error, self._search.open.norm / constants.TRUST)
        return pairs.sharpen(error, self.differences.flattest)

    def _replant_outside(self) -> list[Request] | None:
        self._plant_outside()
        # Nothing is outside when all coordinates have been found; then the support goes on alone.
        return self._search.requests(self._batch) or self._next_requests()

    def _step_promise(self) -> float:
        """Return the decrease that the model promises for a step with what is known."""
        support, told = self._support, self._foretold
        slopes, diagonal = support.slopes, support.diagonal
        # An answer changes few of many slopes, and a path takes time in proportion to their number.
        heard = 0 if told is None else support.answers - told.answers
        if told is None or heard * _PARTS >= len(slopes) or (heard and not support.open):
            path = self._stepper.path()
            # Walls may leave nothing of what the model hoped for; each coordinate alone still has its part.
            blocked = self.walls.stops is not None and not path.descends
            promise = self._support.known if blocked else -path.foreseen(1.0)
            told = self._foretold = _Foretold(len(slopes), support.answers, promise)
        # No step has been made yet along those found since: the model has their own curvature only.
        new = slice(told.size, None)
        return told.promise + self.walls.promise(support.indices[new], slopes[new], diagonal[new])

    def _refresh_cost(self) -> float:
        """Return the rounds until the gradient is known well enough: for all of it, or its largest part."""
        left = self._support.open
        if self._stepper.care > 100.0:
            return self._rounds(left)
        return math.log2(1.0 + left) / math.log2(1.0 + self._batch)

    def _rounds(self, queries: int) -> int:
        """Return the rounds that so many queries take."""
        return self._ledger.rounds_of(queries)

    def _plant_outside(self) -> None:
        barren = self._searched_here and len(self._support) == self._planted
        self._barren = self._barren + 1 if barren else 0
        self._planted = len(self._support)
        self._search.plant(*self._fresh())
        self._searched_here = True

    def _fresh(self) -> tuple[IntArray, np.random.Generator]:
        """Return what a tree is made of: the coordinates outside of the support, and a stream of its own."""
        self._draws += 1
        free = outside(self._problem.d, self._support.indices, self.walls.fixed)
        return free, self._key.child(self._draws).generator()

    def _replant_support(self, doubt: float, last: bool = False) -> None:
        self._draws += 1
        self._support.plant(self._key.child(self._draws).generator(), doubt, last)
        self._stale = False
