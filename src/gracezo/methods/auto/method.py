"""The loop: each query goes where it promises the largest decrease of f per query.

What can be done next, with its promised decrease and its cost in queries:

- open a set of the search over the coordinates outside the support;
- recheck that search, when steps have brought decreases that the model did not foresee;
  at once, when the chance that it is out of date, times the queries until the next
  find, is more than the one query that a recheck costs;
- refresh the support, and then step;
- step. While it is not made, its decrease P waits; to make it delays everything else,
  R, by the c queries that a step costs. So it steps when P, summed over the queries
  since the last step and those until the next find, comes to c·R: as one orders when
  what was held back has cost as much as an order.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from gracezo.core.asks import Moved, OutOfQueries, Point, Role, Steps
from gracezo.core.keys import Key
from gracezo.core.method import Estimator, Problem
from gracezo.core.result import Finish, Status
from gracezo.core.steps import in_batches, reserving
from gracezo.core.types import FloatArray
from gracezo.methods.auto.answer import ANSWERS, DRAWS, drawn_again, measured_again
from gracezo.methods.auto.beginning import best_known
from gracezo.methods.auto.both import together
from gracezo.methods.auto.constants import Constants
from gracezo.methods.auto.density import Density
from gracezo.methods.auto.difference import Differences
from gracezo.methods.auto.estimator import TreeEstimator
from gracezo.methods.auto.landing import Landing
from gracezo.methods.auto.line import Trial, line_search, slope_at_best
from gracezo.methods.auto.model import Model
from gracezo.methods.auto.path import Path, newton_path
from gracezo.methods.auto.pinning import pinned
from gracezo.methods.auto.request import Request, answered
from gracezo.methods.auto.search import Search
from gracezo.methods.auto.support import Support, outside
from gracezo.methods.auto.walls import Walls

_PATIENCE = 2  # times that a noisy sum of all coordinates must show nothing
_BARREN = 2  # plantings at one point without a find after which the search is not worth another
_FULL = 1e8  # care at which a refresh leaves nothing out
_FORGONE = 1e-6  # share of the decrease so far that slopes may still promise where a run has converged


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
        self._model = Model(constants.memory)
        self._draws = 0
        self._queries = 1
        self._care = 10.0  # how much of the support's gradient must be known before a step
        self._overhead = constants.overhead
        self._spent = 0  # queries since the last step that only this step needed
        self._redeemed = 1.0  # share of its promise that a step has brought
        self._promised = math.inf
        self._rate = 0.0  # decrease per query that the last step has brought
        self._waited = 0.0  # decrease at hand times the queries spent elsewhere since the last step
        self._idle = 0.0  # decrease at hand that is not taken now
        self._landing = Landing()
        self._failures = 0
        self._forgone = 0.0  # decrease that slopes promise where no step has brought any
        self._doubt_support = 0.0
        self._doubt_outside = 0.0
        self._stirred = 0.0  # how much reason steps have given to recheck the search, up to one
        self._searched_here = True
        self._stale = False  # whether slopes are known by subtraction, in part from before the last step
        self._fruitless = 0
        self._planted = -1  # size of the support when the search was planted last
        self._barren = 0  # plantings at this point since the last find
        self._pending: tuple[FloatArray, FloatArray, FloatArray] | None = None
        self._measured = True  # whether the slopes before the last step were measured, not predicted
        self._foretold: tuple[int, float] | None = None  # promise of a step along the first so many
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
        self._start, self._started = at.x, at.value
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
                    if moved is not None:
                        at = moved
                        yield Moved(at)
                    continue
                self._spent += sum(
                    len(request.shares) * request.repeats
                    for request in requests
                    if request.role is Role.REFRESH
                )
                heard = yield from answered(at, requests)
                self._queries += heard.queries
                self._waited += heard.queries * self._idle
                self._landing.note(at, heard)
        except OutOfQueries:
            if not self._remarks and not self._problem.random:
                raise
            return at, Finish(Status.SPENT, f"the queries are spent{self._remarks}")
        if self._search.flat and not len(self._support):
            return at, Finish(
                Status.NOTHING_TO_FIND, "nothing to find: all probes left the objective unchanged"
            )
        if self._forgone > _FORGONE * (self._started - at.value):
            stuck = f"slopes promise a decrease of {self._forgone:.2g}, but no step brings any"
            return at, Finish(Status.NOTHING_TO_FIND, f"{stuck}: f may have kinks here{self._remarks}")
        what = "rounding" if self._differences.noise == 0.0 else "noise"
        return at, Finish(Status.CONVERGED, f"no decrease above the {what} of f is in sight{self._remarks}")

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
        self._care = _FULL
        self._replant_support(key, doubt=math.inf)

    def _found(self, coordinate: int, slope: float, curvature: float, error: float) -> None:
        self._fruitless = 0
        self._stale = self._stale or not self._searched_here
        self._support.add(coordinate, slope, curvature, error)

    # ------------------------------------------------------------ bids

    def _next_requests(self, key: Key) -> list[Request] | None:
        """Return the queries worth most now, None for a step, nothing when nothing is left."""
        search, support = self._search, self._support
        if self._following:
            return [self._following.pop()]
        if search.outdated:
            return self._replant_outside(key)
        if not search.rooted:
            return search.requests(self._batch)
        noise = self._differences.negligible
        if len(support) == self._problem.free:
            self._doubt_outside = self._stirred = 0.0
        finds = [search.best, (self._doubt_outside, self._overhead)]
        find, recheck = (bid if bid[0] > noise else (0.0, 1.0) for bid in finds)
        promise, cost = max(find, recheck, key=lambda bid: bid[0] / bid[1])
        overdue = self._stirred * search.drifting * find[1] > 1.0 and find[0] > 0.0
        rates = find[0] / find[1], math.inf if overdue else recheck[0] / recheck[1]
        hidden = support.promise + (self._doubt_support if support.pending else 0.0)
        gain = self._step_promise() + hidden
        self._idle = 0.0
        if gain > noise:
            if self._known() < self._care * hidden:
                # The step has to wait for its gradient, which has its price too.
                price = self._redeemed * gain / (self._refresh_cost() + self._overhead)
                worthwhile = price >= promise / cost
            else:
                # What is left can be had at this rate at best, over a run that lasts as long again.
                rest = min(search.promise + self._doubt_outside, self._queries * promise / cost)
                worthwhile = self._waited + cost * gain >= self._overhead * rest
                hidden = 0.0
            self._idle = gain
            if worthwhile and hidden and search.exhausted and self._barren < _BARREN:
                return self._replant_outside(key)
            if worthwhile:
                self._promised = gain
                self._foretold = None
                if hidden and support.pending and rates[1] > rates[0]:
                    return self._recheck()
                return (support.requests if hidden else support.bend)(self._batch) or None
        return self._find(key, *rates)

    def _find(self, key: Key, find: float, recheck: float) -> list[Request] | None:
        """Return the queries of the search, or those that make sure that nothing is left."""
        if self._search.exhausted and not self._searched_here:
            return self._replant_outside(key)
        if find > 0.0 and find >= recheck:
            return self._search.requests(self._batch) or self._next_requests(key)
        if recheck > 0.0:
            return self._recheck()
        if self._support.pending:
            self._foretold = None
            return self._support.requests(self._batch)
        return self._look_again(key)

    def _recheck(self) -> list[Request]:
        """Return what makes sure of the search, and of the support if that is to be measured too."""
        self._doubt_outside = self._stirred = 0.0
        self._spent += 1
        outside = self._search.recheck()
        if not self._support.pending:
            return [outside]
        self._foretold = None
        if self._batch > 1:
            return [outside, *self._support.requests(self._batch - 1)]
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
                self._foretold = None
                return self._support.requests(self._batch)
            if not self._sharpen():
                return []
            self._fruitless = 0
            self._replant_support(key, doubt=0.0)
        self._fruitless += 1
        return self._replant_outside(key)

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
        slopes, diagonal = self._support.slopes, self._support.diagonal
        if self._foretold is None:
            path = self._path()
            # Walls may leave nothing of what the model hoped for; each coordinate alone still has its part.
            blocked = self._walls.stops is not None and not path.descends
            self._foretold = len(slopes), self._known() if blocked else -path.foreseen(1.0)
        # No step has been made yet along those found since: the model has their own curvature only.
        known, promise = self._foretold
        new = self._support.indices[known:]
        return promise + self._walls.promise(new, slopes[known:], diagonal[known:])

    def _path(self) -> Path:
        """Return the way of the step that the model would make now."""
        support = self._support
        return newton_path(self._model, self._walls, support.indices, support.slopes, support.diagonal)

    def _known(self) -> float:
        """Return the same in the scale of the refresh, coordinate by coordinate."""
        support = self._support
        return self._walls.promise(support.indices, support.slopes, support.diagonal)

    def _refresh_cost(self) -> float:
        """Return the queries until the gradient is known well enough: for all of it, or its largest part."""
        left = self._support.open
        return left if self._care > 100.0 else math.log2(1.0 + left)

    def _plant_outside(self, key: Key) -> None:
        self._draws += 1
        barren = self._searched_here and len(self._support) == self._planted
        self._barren = self._barren + 1 if barren else 0
        self._planted = len(self._support)
        free = outside(self._problem.d, self._support.indices, self._walls.fixed)
        self._search.plant(free, key.child(self._draws).generator())
        self._searched_here = True
        self._doubt_outside = self._stirred = 0.0

    def _replant_support(self, key: Key, doubt: float, last: bool = False) -> None:
        self._draws += 1
        self._support.plant(key.child(self._draws).generator(), last)
        self._stale = False
        self._doubt_support = doubt

    # ------------------------------------------------------------ the step

    def _step(self, at: Point, key: Key) -> Steps[Point | None]:
        support = self._support
        self._waited = 0.0
        measured = not support.pending
        support.settle()
        begun, slopes = at, support.slopes.copy()
        at = yield from self._mind_kinks(at)
        # A difference of slopes says something of the curvature only if both were measured.
        if self._pending is not None and measured and self._measured:
            step, before, expected = self._pending
            # What jumped at a kink is no curvature.
            crossed = support.kinks.located[: len(step)]
            change = np.where(crossed, support.smooth[: len(step)] * step, slopes[: len(step)] - before)
            self._model.learn(step, change, expected)
        self._pending, self._measured = None, measured
        path = self._path()
        if not path.descends:
            self._model.forget()
            path = self._path()
        trials = yield from line_search(
            at,
            support.indices,
            path.direction,
            path.slope,
            expand=self._constants.expand,
            batch=self._batch,
            share=path.share,
            role=Role.TRIAL if self._differences.noise else Role.STEP,
        )
        self._queries += len(trials)
        self._overhead += 0.2 * (self._spent + len(trials) - self._overhead)
        self._spent = 0
        best = trials[0]
        self._rate = -best.change / self._overhead if best.change < 0.0 else 0.5 * self._rate
        lower = not self._differences.noise and self._landing.value < min(at.value, best.value)
        if best.change >= 0.0:
            support.stiffen(path.direction, min(trial.t for trial in trials), 0.0, ahead=1.0)
            self._failed(key)
        else:
            self._failures, self._forgone = 0, 0.0
        if lower:
            return self._land(at, key)
        if best.change >= 0.0:
            if at is begun:
                return None
            self._replant_support(key, begun.value - at.value)
            return at
        x = at.x.copy()
        x[support.indices] = self._walls.ends(support.indices, best.t * path.direction)
        moved = Point(x, best.value, self._differences.noise)
        self._review(trials, path)
        self._arrive(moved)
        self._searched_here = False
        self._replant_support(key, self._doubt_support)
        return moved

    def _land(self, at: Point, key: Key) -> Point:
        """Go to the lowest point met, which is below what the step has come to."""
        landing, support = self._landing, self._support
        moved = landing.point(self._problem.bounds)
        fall = at.value - moved.value
        if landing.met_from(at.x):
            members = np.flatnonzero(np.isin(support.indices, landing.indices))
            support.slopes[members] += support.smooth[members] * (moved.x - at.x)[support.indices[members]]
        self._pending = None
        self._doubt(fall, missed=1.0)
        self._arrive(moved)
        self._searched_here = False
        self._replant_support(key, max(fall, self._doubt_support))
        return moved

    def _mind_kinks(self, at: Point) -> Steps[Point]:
        """Locate the kinks that slopes have shown; return the present point, moved onto them."""
        moved, queries = yield from pinned(at, self._support, self._differences, self._start, self._rate)
        self._queries += queries
        if moved is not at:
            self._failures = 0
            self._doubt(at.value - moved.value, missed=1.0)
        self._arrive(moved)
        return moved

    def _arrive(self, at: Point) -> None:
        """Go on around another point."""
        self._search.centre(at)
        support, kinks = self._support, self._support.kinks
        if kinks.any:
            kinks.moved(at.x[support.indices], support.slopes)
            self._walls.stop(support.indices, kinks.places, kinks.pinned)

    def _review(self, trials: list[Trial], path: Path) -> None:
        """Compare what a step brought with what the model foresaw, and doubt accordingly."""
        support, rules, best, slope = self._support, self._constants, trials[0], path.slope
        self._failures = 0
        self._redeemed += 0.3 * (min(-best.change / self._promised, 1.0) - self._redeemed)
        missed = abs(best.change - path.foreseen(best.t)) / abs(best.change)
        # A step that came out as foreseen had all it needed; one that did not needs a fuller gradient.
        if missed > rules.foreseen:
            self._care = min(self._care * 10.0, _FULL)
        elif missed < rules.foreseen / 3.0:
            self._care = max(self._care / 3.0, 4.0)
        doubt = min(missed, 1.0) * abs(best.change)
        self._doubt(doubt, missed)
        support.relax()
        if best.t < rules.short:
            cut = min((trial.t for trial in trials if trial.t > best.t), default=1.0)
            support.stiffen(path.direction, best.t, -best.change, ahead=cut)
            doubt = max(doubt, -path.foreseen(1.0) + best.change)
        # The model sees all slopes change in proportion; f has shown by how much.
        left = float(np.clip(slope_at_best(trials, slope) / slope, -1.0, 1.0))
        self._pending = (path.displacement(best.t), support.slopes, path.expected(best.t))
        support.slopes = path.predicted(best.t, left)
        self._doubt_support = doubt

    def _doubt(self, unforeseen: float, missed: float) -> None:
        """Doubt the search, given the decrease that was not foreseen, and its share of the whole."""
        self._doubt_outside += self._search.drifting * unforeseen
        # A step missed by as much as the tree may be off is reason enough to look.
        self._stirred = min(1.0, self._stirred + missed / self._constants.drift)

    def _failed(self, key: Key) -> None:
        """No descent: a kink ahead of some coordinates, now stiffened; or slopes that are out of date."""
        self._failures += 1
        self._pending = None
        self._model.forget()
        if self._failures == 3:
            self._care = _FULL
            self._replant_support(key, doubt=math.inf)
        elif self._failures > 3:
            support = self._support
            self._forgone = self._walls.promise(support.indices, support.slopes, support.smooth)
            support.slopes[:] = 0.0
