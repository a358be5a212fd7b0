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
from dataclasses import dataclass, replace

import numpy as np

from gracezo.core.asks import Moved, OutOfQueries, Point, Role, Steps
from gracezo.core.keys import Key
from gracezo.core.method import Estimator, Problem
from gracezo.core.result import Finish, Status
from gracezo.core.steps import counting, in_batches, reserving
from gracezo.core.types import IntArray
from gracezo.methods.auto.answer import ANSWERS, DRAWS, drawn_again, measured_again
from gracezo.methods.auto.beginning import best_known
from gracezo.methods.auto.both import together
from gracezo.methods.auto.constants import Constants
from gracezo.methods.auto.coupling import coupled
from gracezo.methods.auto.density import Density
from gracezo.methods.auto.difference import Differences
from gracezo.methods.auto.estimator import TreeEstimator
from gracezo.methods.auto.request import Request, answered
from gracezo.methods.auto.search import Search
from gracezo.methods.auto.step import FULL, Stepper
from gracezo.methods.auto.support import Support, outside
from gracezo.methods.auto.timing import Timing
from gracezo.methods.auto.walls import Walls

_PATIENCE = 2  # times that a noisy sum of all coordinates must show nothing
_BARREN = 2  # plantings at one point without a find after which the search is not worth another
_PARTS = 256  # of a refresh, after each of which a step is foretold anew
_FORGONE = 1e-6  # share of the decrease so far that slopes may still promise where a run has converged


@dataclass(frozen=True)
class _Foretold:
    """What a step along the first `size` coordinates promised after so many answers about slopes."""

    size: int
    answers: int
    promise: float


class Auto:
    """One run of `auto`; see the rules on top of this file.

    Parameters
    ----------
    problem
        What is known before the first query.
    constants
        What the method assumes.
    eps
        A fixed ε, when the user wants one.
    """

    def __init__(self, problem: Problem, constants: Constants, eps: float | None = None) -> None:
        self._problem = problem
        self._batch = problem.batch
        self._constants = constants
        self._eps = eps
        self._differences = Differences(constants, eps)
        self._walls = Walls(problem.bounds)
        self._support = Support(constants, self._differences, self._walls)
        density = Density(problem.free, constants.forget)
        self._search = Search(constants, self._differences, density, self._found, self._walls)
        self._timing = Timing(constants.overhead)
        self._stepper = Stepper(
            constants,
            self._differences,
            self._walls,
            self._support,
            self._search,
            self._timing,
            self._batch,
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

    @property
    def estimator(self) -> Estimator:
        """The search alone."""
        return TreeEstimator(
            self._problem.d,
            batch=self._batch,
            constants=self._constants,
            eps=self._eps,
            bounds=self._problem.bounds,
            noise=self._problem.noise,
        )

    def run(self, start: Point, key: Key) -> Steps[Finish]:
        """Minimise from `start`, with asks no larger than the batch: a look to both sides is two queries."""
        return in_batches(self._run(start, key), self._batch)

    def _run(self, start: Point, key: Key) -> Steps[Finish]:
        at = best_known(self._problem, start)
        if at is not start:
            yield Moved(at)
        self._start = self._here = at
        self._search.centre(at)
        self._suspect(key)
        self._plant_outside(key)
        try:
            yield from self._search.begin(at, self._problem.noise)
        except OutOfQueries:
            return Finish(Status.SPENT, "the queries are spent before anything could be found")
        noise = self._differences.noise
        if self._problem.random:
            at, finish = yield from reserving(self._descend(at, key), DRAWS)
            judged = f"{finish.message}; one draw was minimised, {DRAWS} others have judged the answer"
            return replace(finish, message=judged, answer=(yield from drawn_again(at)))
        if noise > 0.0:
            at, finish = yield from reserving(self._descend(at, key), ANSWERS)
            return replace(finish, answer=(yield from measured_again(at, noise)))
        return (yield from self._descend(at, key))[1]

    def _descend(self, at: Point, key: Key) -> Steps[tuple[Point, Finish]]:
        """Search and step until nothing is left or the queries are spent; return where that was, and why."""
        try:
            while (requests := self._next_requests(key)) != []:
                if requests is None:
                    moved = yield from self._step(at, key)
                    if moved is not at:
                        at = self._here = moved
                        yield Moved(at)
                    continue
                refreshing = sum(
                    len(request.shares) * request.repeats
                    for request in requests
                    if request.role is Role.REFRESH
                )
                heard, rounds = yield from counting(answered(at, requests), self._batch)
                self._timing.spend(rounds, self._rounds(refreshing))
                self._stepper.landing.note(at, heard)
        except OutOfQueries:
            if not self._remarks and not self._problem.random:
                raise
            return at, Finish(Status.SPENT, f"the queries are spent{self._remarks}")
        if self._search.flat and not len(self._support):
            return at, Finish(
                Status.NOTHING_TO_FIND, "nothing to find: all probes left the objective unchanged"
            )
        forgone = max(self._stepper.forgone, self._held_back())
        if forgone > _FORGONE * (self._start.value - at.value):
            stuck = f"slopes promise a decrease of {forgone:.2g}, but no step brings any"
            return at, Finish(Status.NOTHING_TO_FIND, f"{stuck}: f may have kinks here{self._remarks}")
        if (yield from self._crossed(at, key)):
            stuck = (
                "each coordinate leads uphill, but f has kinks across them: several together may lead down"
            )
            return at, Finish(Status.NOTHING_TO_FIND, f"{stuck}{self._remarks}")
        what = "rounding" if self._differences.noise == 0.0 else "noise"
        return at, Finish(Status.CONVERGED, f"no decrease above the {what} of f is in sight{self._remarks}")

    def _step(self, at: Point, key: Key) -> Steps[Point]:
        """Step, and return the present point, which may be the same."""
        stepped = yield from self._stepper.step(at, self._start.x, self._problem.bounds)
        if stepped.doubt is not None:
            self._replant_support(key, stepped.doubt)
        if stepped.to is None:
            return at
        self._searched_here = False
        return stepped.to

    @property
    def _remarks(self) -> str:
        """What to add to a message: that f is noisy, or that its gradient is not sparse."""
        noise = self._differences.noise
        noisy = f"; f is noisy, with a standard deviation of about {noise:.2g}" if noise else ""
        return noisy + (f"; {self._dense}" if self._dense else "")

    @property
    def _dense(self) -> str:
        """What to say when the gradient turned out not to be sparse."""
        size, d = len(self._support), self._problem.free
        if size <= d // 4:
            return ""
        return f"the gradient is not sparse: {size:,} of {d:,} coordinates went through finite differences"

    # ------------------------------------------------------------ what the user knows

    def _suspect(self, key: Key) -> None:
        """Take the user's coordinates into the support; their slopes are to be measured first."""
        if self._problem.support is None:
            return
        for coordinate in np.setdiff1d(self._problem.support, self._walls.fixed).tolist():
            self._support.add(coordinate, 0.0, math.nan)
        self._stepper.care = FULL
        self._replant_support(key, doubt=math.inf)

    def _found(self, coordinate: int, slope: float, curvature: float, error: float) -> None:
        self._fruitless = 0
        self._stale = self._stale or not self._searched_here
        self._support.add(coordinate, slope, curvature, error)

    # ------------------------------------------------------------ bids

    def _next_requests(self, key: Key) -> list[Request] | None:
        """Return the queries worth most now, None for a step, nothing when nothing is left."""
        search, support, timing = self._search, self._support, self._timing
        if self._following:
            return [self._following.pop()]
        if search.outdated:
            return self._replant_outside(key)
        if not search.rooted:
            return search.requests(self._batch)
        noise = self._differences.negligible
        doubt = search.doubt if len(support) < self._problem.free else 0.0
        find, recheck = (
            bid if bid[0] > noise else (0.0, 1.0) for bid in (search.best, (doubt, timing.overhead))
        )
        promise, cost = max(find, recheck, key=lambda bid: bid[0] / bid[1])
        overdue = find[0] > 0.0 and search.overdue(find[1])
        rates = find[0] / find[1], math.inf if overdue else recheck[0] / recheck[1]
        hidden = support.promise
        gain = self._step_promise() + hidden
        timing.offer(gain if gain > noise else 0.0)
        if gain > noise:
            # A step may have to wait for its gradient, which has its price too.
            waits = self._known() < self._stepper.care * hidden
            if waits:
                worthwhile = timing.refresh_pays(gain, self._refresh_cost(), promise / cost)
            else:
                worthwhile = timing.step_pays(gain, promise, cost, search.promise + doubt)
            if worthwhile:
                timing.begin(gain)
                return self._prepare(key, waits, rates)
        return self._find(key, *rates)

    def _prepare(self, key: Key, waits: bool, rates: tuple[float, float]) -> list[Request] | None:
        """Return the queries that a step has to wait for: for its gradient, or for curvatures; else None."""
        search, support = self._search, self._support
        if waits and search.exhausted and self._barren < _BARREN:
            return self._replant_outside(key)
        if not waits:
            self._foretold = None
            return support.bend(self._batch) or None
        if support.pending and rates[1] > rates[0]:
            return self._recheck(key)
        return support.requests(self._batch) or None

    def _find(self, key: Key, find: float, recheck: float) -> list[Request] | None:
        """Return the queries of the search, or those that make sure that nothing is left."""
        if self._search.exhausted and not self._searched_here:
            return self._replant_outside(key)
        if find > 0.0 and find >= recheck:
            return self._search.requests(self._batch) or self._next_requests(key)
        if recheck > 0.0:
            return self._recheck(key)
        if self._support.pending:
            return self._support.requests(self._batch)
        return self._look_again(key)

    def _recheck(self, key: Key) -> list[Request]:
        """Return what makes sure of the search, and of the support if that is to be measured too.

        A batch has room for the sum over the tree that would be planted next.
        """
        self._timing.spend(0, only_for_step=1)
        changed = self._search.drifting >= 0.5 and len(self._support) < self._problem.free
        outside = self._search.recheck()
        if self._batch > 1:
            asked = [outside, self._search.sapling(*self._fresh(key))] if changed else [outside]
            if self._support.pending:
                asked += self._support.requests(self._batch - len(asked))
            return asked
        if not self._support.pending:
            return [outside]
        if self._differences.noise and self._differences.pairs is None:
            return [outside]  # the difference of two noisy values would be too uncertain
        (inside,) = self._support.requests(1)
        return [together(outside, inside, self._following.append) or outside]

    def _look_again(self, key: Key) -> list[Request] | None:
        """Return what is left to ask when nothing is in sight: with other weights, or more often."""
        noisy = self._differences.noise > 0.0
        if self._searched_here and not (noisy and self._fruitless < _PATIENCE):
            if self._stale:
                self._replant_support(key, doubt=0.0, last=True)
                return self._support.requests(self._batch)
            if self._let_go():
                return self._next_requests(key)
            if self._search.kinks and not (noisy or self._search.thorough):
                # Many coordinates may fall by little, and each brings its kink with it: so these come last.
                self._search.thorough = True
                return self._replant_outside(key)
            if not self._sharpen():
                return []
            self._fruitless = 0
            self._replant_support(key, doubt=0.0)
        self._fruitless += 1
        return self._replant_outside(key)

    def _held_back(self) -> float:
        """Return the decrease that slopes promise beyond what steps that were cut short have left of it."""
        if self._differences.noise:
            return 0.0
        support = self._support
        return self._walls.promise(support.indices, support.slopes, support.smooth) - self._known()

    def _crossed(self, at: Point, key: Key) -> Steps[bool]:
        """Return whether f has kinks here that couple coordinates, as far as differences can show it."""
        support, kinks = self._support, np.array(self._search.kinks, np.int64)
        outside = np.setdiff1d(kinks, support.indices)
        if self._differences.noise or not (support.kinks.any or len(outside)):
            return False
        lengths = np.append(support.lengths(), np.full(len(outside), self._differences.single(1.0, 0.0)))
        self._draws += 1
        return (
            yield from coupled(
                at,
                np.append(support.indices, outside),
                lengths,
                self._differences.rounding,
                key.child(self._draws).generator(),
            )
        )

    def _let_go(self) -> bool:
        """Give coordinates that steps were cut short for another try, as long as that brings something."""
        least = _FORGONE * (self._start.value - self._here.value)
        if self._held_back() <= least or self._here.value > self._retried:
            return False
        self._retried = self._here.value - least
        self._support.loosen()
        self._foretold = None
        return True

    def _sharpen(self) -> bool:
        """Look more often from now on, if noise may hide a decrease; return whether it may."""
        tree, pairs = self._search.tree, self._differences.pairs
        return (
            tree is not None and pairs is not None and pairs.sharpen(tree.error, self._differences.flattest)
        )

    def _replant_outside(self, key: Key) -> list[Request] | None:
        self._plant_outside(key)
        # Nothing is outside when all coordinates have been found; then the support goes on alone.
        return self._search.requests(self._batch) or self._next_requests(key)

    def _step_promise(self) -> float:
        """Return the decrease that the model promises for a step with what is known."""
        support, told = self._support, self._foretold
        slopes, diagonal = support.slopes, support.diagonal
        # An answer changes few of many slopes, and a path takes time in proportion to their number.
        heard = 0 if told is None else support.answers - told.answers
        if told is None or heard * _PARTS >= len(slopes) or (heard and not support.open):
            path = self._stepper.path()
            # Walls may leave nothing of what the model hoped for; each coordinate alone still has its part.
            blocked = self._walls.stops is not None and not path.descends
            promise = self._known() if blocked else -path.foreseen(1.0)
            told = self._foretold = _Foretold(len(slopes), support.answers, promise)
        # No step has been made yet along those found since: the model has their own curvature only.
        new = slice(told.size, None)
        return told.promise + self._walls.promise(support.indices[new], slopes[new], diagonal[new])

    def _known(self) -> float:
        """Return the same in the scale of the refresh, coordinate by coordinate."""
        support = self._support
        return self._walls.promise(support.indices, support.slopes, support.diagonal)

    def _refresh_cost(self) -> float:
        """Return the rounds until the gradient is known well enough: for all of it, or its largest part."""
        left = self._support.open
        if self._stepper.care > 100.0:
            return self._rounds(left)
        return math.log2(1.0 + left) / math.log2(1.0 + self._batch)

    def _rounds(self, queries: int) -> int:
        """Return the rounds that so many queries take."""
        return -(-queries // self._batch)

    def _plant_outside(self, key: Key) -> None:
        barren = self._searched_here and len(self._support) == self._planted
        self._barren = self._barren + 1 if barren else 0
        self._planted = len(self._support)
        self._search.plant(*self._fresh(key))
        self._searched_here = True

    def _fresh(self, key: Key) -> tuple[IntArray, np.random.Generator]:
        """Return what a tree is made of: the coordinates outside of the support, and a stream of its own."""
        self._draws += 1
        free = outside(self._problem.d, self._support.indices, self._walls.fixed)
        return free, key.child(self._draws).generator()

    def _replant_support(self, key: Key, doubt: float, last: bool = False) -> None:
        self._draws += 1
        self._support.plant(key.child(self._draws).generator(), doubt, last)
        self._stale = False
