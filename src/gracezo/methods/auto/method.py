"""The loop: each query goes where it promises the largest decrease of f per query.

What can be asked next makes a bid, a promised decrease and its cost in queries:

- the open sets of the search over the coordinates outside the support,
- the open sets of the refreshing of the support,
- doubts: after a step, the share of its decrease that the model did not foresee
  may also hide in the support, or outside of it;
- the step itself. Waiting for one more find, q queries away, delays the decrease P
  that a step would bring now by q queries; stepping now delays everything else, R, by
  the c queries that a step costs. So it steps when q·P ≥ c·R.
"""

from __future__ import annotations

import math

import numpy as np

from gracezo.core.asks import Moved, Point, Role, Steps
from gracezo.core.keys import Key
from gracezo.core.method import Estimator, Problem
from gracezo.core.result import Finish, Status
from gracezo.core.types import FloatArray
from gracezo.methods.auto.constants import Constants
from gracezo.methods.auto.density import Density
from gracezo.methods.auto.difference import Differences
from gracezo.methods.auto.estimator import TreeEstimator
from gracezo.methods.auto.line import line_search
from gracezo.methods.auto.model import Model
from gracezo.methods.auto.request import Request, ask_for
from gracezo.methods.auto.search import Search, outside
from gracezo.methods.auto.support import Support


MISS, UP, DOWN = 0.3, 10.0, 3.0
CAP = 1e8


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
        self._support = Support(constants, self._differences)
        self._search = Search(
            constants, self._differences, Density(problem.d, constants.forget), self._support.add
        )
        self._model = Model(constants.memory)
        self._overhead = constants.overhead
        self._care = 10.0
        self._failures = 0
        self._queries = 1
        self._redeemed = 1.0
        self._promised = math.inf
        self._spent = 0
        self._doubt_support = 0.0
        self._doubt_outside = 0.0
        self._searched_here = True
        self._refreshed_here = True
        self._pending: tuple[FloatArray, FloatArray] | None = None
        self._draws = 0

    @property
    def estimator(self) -> Estimator:
        """The search alone."""
        return TreeEstimator(self._problem.d, batch=self._batch, constants=self._constants, eps=self._eps)

    def run(self, start: Point, key: Key) -> Steps[Finish]:
        """Minimise from `start`."""
        yield Moved(start)
        at = start
        self._search.centre(at)
        self._plant_outside(key)
        while True:
            requests = self._next_requests(key)
            if requests is None:
                moved = yield from self._step(at, key)
                if moved is not None:
                    at = moved
                    yield Moved(at)
                continue
            if not requests:
                if self._search.flat:
                    return Finish(Status.NOTHING_TO_FIND, "all probes left the objective unchanged")
                return Finish(Status.CONVERGED, "no decrease above the rounding of f is in sight")
            changes = (yield ask_for(at.x, requests)) - at.value
            self._queries += len(requests)
            self._spent += sum(request.role is Role.REFRESH for request in requests)
            for request, change in zip(requests, changes, strict=True):
                request.absorb(float(change))

    # ------------------------------------------------------------ bids

    def _next_requests(self, key: Key) -> list[Request] | None:
        """Return the queries worth most now, None for a step, nothing when nothing is left."""
        search, support = self._search, self._support
        noise = self._constants.trust * self._differences.rounding
        if not search.rooted:
            return search.requests(self._batch)
        if len(support) == self._problem.d:
            self._doubt_outside = 0.0
        hidden = support.promise + (self._doubt_support if support.pending else 0.0)
        gain = self._step_promise() + hidden
        finds = [search.best, (self._doubt_outside, self._overhead)]
        finds = [find if find[0] > noise else (0.0, 1.0) for find in finds]
        promise, cost = max(finds, key=lambda find: find[0] / find[1])
        # What is left can be had at this rate at best, over a run that lasts as long again.
        rest = min(search.promise + self._doubt_outside, self._queries * promise / cost)
        if gain > noise:
            if self._known() >= self._care * hidden:
                if promise == 0.0 or cost * gain >= self._overhead * rest:
                    self._promised = gain
                    return None
            else:
                # The step has to wait for its gradient, which has its price too.
                price = self._redeemed * gain / (self._refresh_cost() + self._overhead)
                if price >= promise / cost:
                    self._promised = gain
                    return support.requests(self._batch) or None
        if promise > 0.0:
            if (promise, cost) == finds[0]:
                return search.requests(self._batch)
            self._doubt_outside = 0.0
            self._spent += 1
            return [search.recheck()]
        if support.pending:
            return support.requests(self._batch)
        if not self._searched_here:
            return self._replant(key)
        return []

    def _step_promise(self) -> float:
        if not len(self._support):
            return 0.0
        g = self._support.slopes
        return 0.5 * float(-g @ self._model.direction(g, self._support.diagonal))

    def _refresh_cost(self) -> float:
        left = self._support.open
        return left if self._care > 100.0 else math.log2(1.0 + left)

    def _known(self) -> float:
        return 0.5 * float(np.sum(self._support.slopes**2 / self._support.diagonal))

    def _replant(self, key: Key) -> list[Request]:
        self._plant_outside(key)
        return self._search.requests(self._batch)

    def _plant_outside(self, key: Key) -> None:
        self._draws += 1
        self._search.plant(
            outside(self._problem.d, self._support.indices), key.child(self._draws).generator()
        )
        self._searched_here = True
        self._doubt_outside = 0.0

    # ------------------------------------------------------------ the step

    def _step(self, at: Point, key: Key) -> Steps[Point | None]:
        support = self._support
        self._measured = not support.pending
        support.settle()
        slopes = support.slopes
        if self._pending is not None and self._measured:
            step, before = self._pending
            n = len(step)
            self._model.learn(step, slopes[:n] - before, self._expected[:n])
        self._pending = None
        direction = self._model.direction(slopes, support.diagonal)
        slope = float(slopes @ direction)
        if not slope < 0.0:
            self._model.forget()
            direction = -slopes / support.diagonal
            slope = float(slopes @ direction)
        trials = yield from line_search(at, support.indices, direction, slope, self._constants, self._batch)
        best = trials[0]
        if best.change >= 0.0:
            self._queries += len(trials)
            support.stiffen(direction, min(trial.t for trial in trials), 0.0)
            self._failed(key)
            return None
        step = best.t * direction
        x = at.x.copy()
        x[support.indices] += step
        moved = Point(x, at.value + best.change)
        # Along the step the model had curvature −slope; f itself shows another.
        shown = 2.0 * (best.change - slope * best.t) / best.t**2
        foreseen = best.t * slope * (1.0 - 0.5 * best.t)
        missed = abs(best.change - foreseen) / abs(best.change)
        # A step that came out as foreseen had all it needed; one that did not needs a fuller gradient.
        if missed > MISS:
            self._care = min(self._care * UP, CAP)
        elif missed < MISS / 3:
            self._care = max(self._care / DOWN, 4.0)
        self._failures = 0
        self._expected = -best.t * slopes
        self._pending = (step, slopes.copy())
        doubt = min(missed, 1.0) * abs(best.change)
        # Cut far short of the model's length: something in the support is not as the model has it.
        shortened = best.t < 0.3
        self._doubt_support = max(doubt, -0.5 * slope + best.change) if shortened else doubt
        support.relax()
        if shortened:
            support.stiffen(direction, best.t, -best.change)
        support.slopes = slopes * float(np.clip(1.0 + best.t * shown / slope, -1.0, 1.0))
        self._doubt_outside += doubt
        self._draws += 1
        self._search.centre(moved)
        support.plant(key.child(self._draws).generator())
        self._searched_here = False
        self._redeemed += 0.3 * (min(-best.change / self._promised, 1.0) - self._redeemed)
        self._queries += len(trials)
        self._overhead += 0.2 * (self._spent + len(trials) - self._overhead)
        self._spent = 0
        return moved

    def _failed(self, key: Key) -> None:
        """No descent: a slope is out of date, or was measured on the other side of a kink."""
        support = self._support
        self._failures += 1
        self._pending = None
        self._model.forget()
        if self._failures < 3:
            return
        if self._failures > 3:
            support.slopes[:] = 0.0
            return
        # Measure all of it again before giving the support up.
        self._care = CAP
        self._doubt_support = math.inf
        self._draws += 1
        support.plant(key.child(self._draws).generator())


def auto(problem: Problem, *, eps: float | None = None) -> Auto:
    """Search by splitting sets, remember the support, quasi-Newton steps; nothing to tune."""
    if eps is not None and not eps > 0.0:
        raise ValueError(f"eps must be positive, or None to let the method choose; got {eps}")
    return Auto(problem, Constants(), eps)
