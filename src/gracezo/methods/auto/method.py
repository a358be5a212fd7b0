"""One run of `auto`: the first look, the ways down, and the end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gracezo.core.asks import Moved, OutOfQueries, Point, Steps
from gracezo.core.keys import Key
from gracezo.core.method import Estimator, Problem
from gracezo.core.result import Finish, GradientEstimate, Status
from gracezo.core.steps import in_batches, reserving
from gracezo.methods.auto.answer import DRAWS, answering, drawn_again, measured_again
from gracezo.methods.auto.constants import ANSWERS, BOTTOMLESS, Constants
from gracezo.methods.auto.search.estimator import TreeEstimator
from gracezo.methods.auto.units import Units
from gracezo.methods.auto.ways.coordinates import Coordinates
from gracezo.methods.auto.ways.dense import Dense
from gracezo.methods.auto.ways.market import Market
from gracezo.methods.auto.ways.nonsmooth import Nonsmooth
from gracezo.methods.auto.ways.sparse import Hunt
from gracezo.methods.auto.ways.way import Ledger

BEYOND = 20
"""Times that a run goes on from a lower point at a longer distance, where no ripples show."""


class Auto:
    """One run of `auto`.

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
        self._constants = constants
        self._eps = eps

    @property
    def estimator(self) -> Estimator:
        """The search alone."""
        return self

    def estimate(self, at: Point, step: int, key: Key) -> Steps[GradientEstimate]:
        """Estimate the gradient at a point."""
        units = self._units(at)
        problem = units.problem(self._problem)
        search = TreeEstimator(
            problem.d,
            batch=problem.batch,
            constants=self._constants,
            eps=self._eps,
            bounds=problem.bounds,
            noise=problem.noise,
            tol=problem.tol,
        )
        return units.estimated(search.estimate(units.inward(at), step, key))

    def run(self, start: Point, key: Key) -> Steps[Finish]:
        """Minimise from `start`, with asks no larger than the batch: a look to both sides is two queries."""
        units = self._units(start)
        descent = Descent(units, units.problem(self._problem), self._constants, self._eps)
        return units.minimised(in_batches(descent.run(units.inward(start), key), self._problem.batch))

    def _units(self, at: Point) -> Units:
        # Whoever chooses ε means it in x as it is, unless the scales are given too.
        return Units.of(self._problem, at, learn=self._eps is None)


class Descent:
    """The same, in units in which all coordinates and f are of size one.

    Parameters
    ----------
    units
        What they are, for messages.
    problem, constants, eps
        As of `Auto`, in these units.
    """

    def __init__(self, units: Units, problem: Problem, constants: Constants, eps: float | None) -> None:
        self._units = units
        self._problem = problem
        self._constants = constants
        self._ledger = Ledger(problem.batch)
        self._hunt = Hunt(problem, constants, self._ledger, eps)

    def run(self, start: Point, key: Key) -> Steps[Finish]:
        """Minimise from `start`."""
        return self._ledger.keep(self._run(start, key))

    def _run(self, start: Point, key: Key) -> Steps[Finish]:
        at = best_known(self._problem, start)
        if at is not start:
            yield Moved(at)
        exact = not self._problem.noise and not self._problem.random
        try:
            at = yield from answering(self._hunt.begin(at, key), exact)
        except OutOfQueries:
            return Finish(Status.SPENT, "the queries are spent before anything could be found")
        noise = self._hunt.noise
        exact = (noise == 0.0 or self._hunt.differences.coarse) and not self._problem.random
        descent = answering(self._descend(at, key), exact)
        if self._problem.random:
            at, finish = yield from reserving(descent, DRAWS)
            answer, draws = yield from drawn_again(at)
            judged = f"{finish.message}; one draw was minimised, {draws} others have judged the answer"
            return replace(finish, message=judged, answer=answer)
        if not exact:
            at, finish = yield from reserving(descent, ANSWERS)
            return replace(finish, answer=(yield from measured_again(at, noise)))
        return (yield from descent)[1]

    def _descend(self, at: Point, key: Key) -> Steps[tuple[Point, Finish]]:
        """Go down until nothing is left or the queries are spent; return where that was, and why."""
        hunt = self._hunt
        size = hunt.differences.scale
        nonsmooth = Nonsmooth(hunt, at, key.child(0))
        market = Market(
            hunt,
            Dense(self._constants, hunt, self._ledger, key.child(0, 2).generator()),
            Coordinates(hunt.walls, hunt.free, at.x, hunt.noise, key.child(0, 0).generator()),
            nonsmooth,
            self._ledger,
        )
        try:
            finish, beyond = None, 0
            while finish is None:
                while not market.over(at):
                    at = yield from market.leg(at)
                    if at.value < -BOTTOMLESS * size:
                        return at, Finish(Status.STUCK, "f has no lower bound in sight")
                if (yield from hunt.reconsider(at)):
                    continue
                rough = None if nonsmooth.coupled else (yield from hunt.beyond(at))
                if rough is None:
                    finish = yield from hunt.end(at, nonsmooth.coupled)
                    continue
                at, depth = rough
                yield Moved(at)
                if depth > 0.0:
                    return (yield from self._over_ripples(at, depth, key.child(0, 1)))
                beyond += 1
                if beyond == BEYOND:
                    finish = Finish(Status.STUCK, "f is rough or jumps: lower values lie at longer distances")
        except OutOfQueries:
            if not self._remarks(market) and not self._problem.random:
                raise
            finish = Finish(Status.SPENT, "the queries are spent")
        return at, replace(finish, message=finish.message + self._remarks(market))

    def _over_ripples(self, at: Point, depth: float, key: Key) -> Steps[tuple[Point, Finish]]:
        """Go on where a run has stopped in a ripple, as on a noisy function."""
        again = Descent(self._units, replace(self._problem, noise=depth), self._constants, None)
        at, finish = yield from again.descend(at, key)
        if finish.status is not Status.SPENT:
            ripples = f"its ripples of about {self._units.value(depth):.2g}"
            finish = Finish(Status.STUCK, f"f is rough, and no decrease above {ripples} is in sight")
        return at, finish

    def descend(self, at: Point, key: Key) -> Steps[tuple[Point, Finish]]:
        """Take a first look, and go down as on a noisy function that answers the same when asked again."""
        return self._ledger.keep(self._descended(at, key))

    def _descended(self, at: Point, key: Key) -> Steps[tuple[Point, Finish]]:
        at = yield from self._hunt.begin(at, key)
        return (yield from self._descend(at, key))

    def _remarks(self, market: Market) -> str:
        """Return what to add to a message: that f is noisy, or that its gradient is not sparse."""
        noise, d = self._hunt.noise, self._problem.free
        remarks = (
            f"; f is noisy, with a standard deviation of about {self._units.value(noise):.2g}"
            if noise
            else ""
        )
        met = d if market.dense else len(self._hunt.met)
        if met > d // 4:
            remarks += (
                f"; the gradient is not sparse: {met:,} of {d:,} coordinates went through finite differences"
            )
        return remarks


def best_known(problem: Problem, start: Point) -> Point:
    """Return the best of the start and the known points, those outside the bounds left out."""
    if problem.known is None:
        return start
    points, values = problem.known
    if problem.bounds is not None:
        values = np.where(problem.bounds.inside(points), values, np.inf)
    row = int(np.argmin(values))
    return Point(points[row], float(values[row])) if values[row] < start.value else start
