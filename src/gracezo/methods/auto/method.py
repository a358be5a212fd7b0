"""One run of `auto`: its units, the first look, the ways down, and the end."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from gracezo.core.asks import Ask, Decided, Moved, OutOfQueries, Point, Steps
from gracezo.core.box import Box
from gracezo.core.keys import Key
from gracezo.core.memory import Memory
from gracezo.core.method import Estimator, Problem, uses
from gracezo.core.places import LARGE, Place, dense, lean
from gracezo.core.precision import ULP
from gracezo.core.result import Finish, GradientEstimate, Status
from gracezo.core.steps import in_batches, reserving
from gracezo.core.types import FloatArray
from gracezo.core.units import Units
from gracezo.estimators.digits import Remainders
from gracezo.methods.answer import Lowest, answering, drawn_again, remembered
from gracezo.methods.auto import constants
from gracezo.methods.auto.search.estimator import TreeEstimator, Wanted
from gracezo.methods.auto.verdict import MIXED
from gracezo.methods.auto.ways import Ledger
from gracezo.methods.auto.ways.bandit import Bandit, Ways
from gracezo.methods.auto.ways.gradients import Dense, Nonsmooth
from gracezo.methods.auto.ways.sparse import Sparse
from gracezo.methods.auto.ways.values import Coordinates, Far, off_the_plateau
from gracezo.methods.auto.ways.working import WorkingSets
from gracezo.methods.grouped import Grouped


class Auto:
    """One run of `auto`.

    Parameters
    ----------
    problem
        What is known before the first query.
    eps
        A fixed ε, when the user wants one.
    """

    def __init__(self, problem: Problem, eps: float | None = None) -> None:
        self._problem = problem
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
            eps=self._eps,
            bounds=problem.bounds,
            noise=problem.noise,
            wanted=Wanted(problem.tol),
            places=problem.places,
            unit=units.unit,
        )
        return units.estimated(search.estimate(units.inward(at), step, key))

    def run(self, start: Point, key: Key) -> Steps[Finish]:
        """Minimise from `start`, with asks no larger than the batch: a look to both sides is two queries."""
        units = self._units(start)
        descents = self._descents(units, units.inward(start), key)
        return units.minimised(in_batches(descents, self._problem.batch))

    def _descents(self, units: Units, at: Point, key: Key) -> Steps[Finish]:
        """Minimise from a point; from a plateau that a descent cannot leave, where a look was lower."""
        problem = units.problem(self._problem)
        while True:
            descent = Descent(units, problem, self._eps)
            finish = yield from descent.run(at, key)
            if finish.status is not Status.STUCK or descent.lower is None:
                return finish
            yield Moved(descent.lower)
            yield Decided("f is a plateau here: the run goes on where a look at all coordinates was lower")
            at, key = descent.lower, key.child(0, 6)

    def _units(self, at: Point) -> Units:
        # Whoever chooses ε means it in x as it is, unless the scales are given too.
        plain = self._eps is not None and self._problem.scale is None
        return Units.of(self._problem, at, np.ones(1) if plain else sizes_of(self._problem, at.x))


class Descent:
    """The same, in units in which all coordinates and f are of size one.

    Parameters
    ----------
    units
        What they are, for messages.
    problem, eps
        As of `Auto`, in these units.
    """

    def __init__(self, units: Units, problem: Problem, eps: float | None) -> None:
        self._units = units
        self._problem = problem
        self._ledger = Ledger(problem.batch)
        self._sparse = Sparse(problem, self._ledger, eps, units.unit)
        self._lowest = Lowest(problem.bounds)
        self._worth = self._sparse.differences.values
        self._remainders = Remainders()
        self._hole = math.inf  # f at x0, or next to nothing below, if it jumps to more right beside that
        self.lower: Point | None = None
        """A lower point that looks have met, where a descent on a coarse function has not moved at all."""

    def run(self, start: Point, key: Key) -> Steps[Finish]:
        """Minimise from `start`; where f answers the same again, no point is asked twice."""
        memory = Memory(start, self._problem.bounds)
        return self._ledger.keep(memory.through(self._run(start, key), self._exact))

    def _exact(self) -> bool:
        """Return whether f answers the same again, as far as is known."""
        return self._worth.noise == 0.0 or self._worth.coarse

    def _run(self, start: Point, key: Key) -> Steps[Finish]:
        at = best_known(self._problem, start)
        if at is not start:
            yield Moved(at)
        exact = not self._problem.noise and not self._problem.random
        try:
            at, finish = yield from answering(self._begin(at, key), exact, self._note)
        except OutOfQueries:
            return Finish(Status.SPENT)
        if finish is not None:
            return finish
        exact = self._exact() and not self._problem.random
        yield Decided(self._kind(exact))
        descent = answering(self._descend(at, key), exact, self._note)
        if self._problem.random:
            at, finish = yield from reserving(descent, 2 * constants.ANSWERS)
            answer, draws = yield from drawn_again(at)
            judged = f"one draw was minimised, {draws} others have judged the answer"
            return replace(finish.adding(self._errors(), judged), answer=answer)
        if not exact:
            at, finish = yield from reserving(descent, constants.ANSWERS)
            again = yield from self._sparse.again(at)
            rough = again.same and not self._problem.noise  # else that is what the user has said of it
            return replace(finish.adding(self._errors(rough)), answer=again.at)
        at, finish = yield from descent
        if finish.status is Status.CONVERGED and at.value >= self._hole:
            finish = Finish(Status.STUCK, "f jumps at x0: it is lower there than where it was seen around it")
        return finish.adding(self._errors())

    def _note(self, ask: Ask, values: FloatArray) -> None:
        """Take in answers: the lowest, and whether f is what is left of larger terms that cancel."""
        self._lowest.note(ask, values)
        size = self._worth.largest
        if self._lowest.value > size * Remainders.NEAR or self._worth.noise:
            return  # the usual case
        if self._remainders.hear(values, size):
            self._worth.enlarge(size)

    def _begin(self, at: Point, key: Key) -> Steps[tuple[Point, Finish | None]]:
        """Take the first look; from a plateau of a box, go to where f is lower at once, and look there.

        Return where that is, and why nothing is to be found, if that is known.
        """
        before, at = at.value, (yield from self._sparse.begin(at, key))
        if at.value > before:
            self._hole = before - constants.NEGLIGIBLE * (at.value - before)
        if not self._sparse.flat:
            return at, None
        lower, changed = yield from off_the_plateau(self._sparse, at, key.child(0, 4).generator())
        if lower is at:
            rises = "f is flat around x0, and rises where many coordinates are at their far bounds"
            return at, Finish(Status.NOTHING_TO_FIND, f"nothing to find: {rises}") if changed else None
        yield Moved(lower)
        yield Decided("f is flat around x0: the run goes on where many coordinates are at their far bounds")
        self._sparse.differences.forget()
        at = yield from self._sparse.begin(lower, key.child(0, 5))
        again = "f is flat around x0, and around where it is lower with many coordinates at their far bounds"
        return at, Finish(Status.STUCK, again) if self._sparse.flat else None

    def _descend(self, at: Point, key: Key) -> Steps[tuple[Point, Finish]]:
        """Go down until nothing is left or the queries are spent; return where that was, and why."""
        sparse = self._sparse
        size = sparse.differences.scale
        nonsmooth = Nonsmooth(sparse, at, key.child(0))
        working = WorkingSets(sparse, self._ledger, at.x, key.child(0, 2).generator())
        ways = Ways(
            sparse,
            Dense(sparse, self._ledger, working),
            Coordinates(sparse.walls, sparse.free, at.x, sparse.noise, key.child(0, 0).generator()),
            nonsmooth,
            Far(sparse, self._problem.batch, key.child(0, 3).generator()),
            working,
        )
        bandit = Bandit(ways, self._ledger)
        try:
            finish, beyond = None, 0
            while finish is None:
                while not bandit.over(at):
                    at = yield from bandit.leg(at)
                    if at.value < -size / ULP:
                        return at, Finish(Status.STUCK, "f falls without end: no lower bound was met")
                if not self._remainders.seen and (yield from sparse.reconsider(at)):
                    yield Decided(
                        "f has become small: rounding may have hidden what is left, so the search begins anew"
                    )
                    continue
                rough = None if nonsmooth.coupled else (yield from sparse.beyond(at))
                if rough is None:
                    left = nonsmooth.left(at.value, constants.NEGLIGIBLE * (sparse.first - at.value))
                    finish = yield from sparse.end(at, nonsmooth.coupled, left)
                    lower = self._lowest.below(at, sparse.plainly(at), self._sparse.first - at.value)
                    if finish.status is not Status.CONVERGED or sparse.noise or lower is None:
                        continue
                    finish, rough = None, (lower, 0.0)
                yield Decided(
                    "a longer look before the end has found lower values, or ripples: the descent goes on"
                )
                if rough[0] is not at:
                    yield Moved(rough[0])
                at, depth = rough
                if depth > 0.0:
                    return (yield from self._over_ripples(at, depth, key.child(0, 1)))
                beyond += 1
                if beyond == 4 * constants.DRAWN:  # a way out of a saddle may take one for each coordinate
                    why = "f is rough or jumps: lower values lie at longer distances"
                    finish = Finish(Status.STUCK, MIXED if sparse.mixed else why)
        except OutOfQueries:
            if not (self._sparse.noise or self._remarks(bandit) or self._problem.random):
                raise
            finish = Finish(Status.SPENT)
        if self._worth.coarse and at.value >= sparse.first:
            self.lower = self._lowest.below(at, 0.0, 0.0)
        elsewhere = "" if finish.status is Status.SPENT else self._elsewhere
        return at, finish.adding(elsewhere, *self._remarks(bandit))

    def _over_ripples(self, at: Point, depth: float, key: Key) -> Steps[tuple[Point, Finish]]:
        """Go on where a run has stopped in a ripple, as on a noisy function, but that none is asked twice."""
        again = Descent(self._units, replace(self._problem, noise=depth), None)
        at, finish = yield from remembered(again.descend(at, key))
        ripples = f"its ripples of about {self._units.value(depth):.2g}"
        if finish.status is Status.SPENT:
            return at, finish.adding(f"f is rough: {ripples} are taken for noise")
        rough = f"f is rough, and falls no further by more than {ripples}"
        return at, Finish(Status.STUCK, rough).adding(self._elsewhere)

    def descend(self, at: Point, key: Key) -> Steps[tuple[Point, Finish]]:
        """Take a first look, and go down as on a noisy function that answers the same when asked again."""
        return self._ledger.keep(self._descended(at, key))

    def _descended(self, at: Point, key: Key) -> Steps[tuple[Point, Finish]]:
        at = yield from self._sparse.begin(at, key)
        return (yield from self._descend(at, key))

    def _kind(self, exact: bool) -> str:
        """Say as what f is taken."""
        if self._problem.random:
            return "f takes a seed: one draw is minimised, others judge the answer"
        if exact:
            return "f is taken to be exact, up to its rounding"
        noise = self._units.value(self._sparse.noise)
        return f"f is taken to be noisy, by about {noise:.2g}: values are averaged"

    @property
    def _elsewhere(self) -> str:
        """What to say of other minima, where a box says where they might be."""
        closed = math.isfinite(self._sparse.walls.reach)
        return "for other minima in the box there is method='global'" if closed else ""

    def _errors(self, rough: bool = False) -> str:
        """Return what to add to a message about errors of f: that it is noisy, coarse, or rough."""
        noise = self._units.value(self._sparse.noise)
        if not noise:
            return ""
        if self._worth.coarse:
            return f"its values are rounded, to steps of about {math.sqrt(12.0) * noise:.2g}"
        if rough:
            return f"f is rough, not random: its values lie about {noise:.2g} off a smooth function"
        return f"f is noisy, with a standard deviation of about {noise:.2g}"

    def _remarks(self, bandit: Bandit) -> list[str]:
        """Return what to add to a message: that the gradient is not sparse."""
        d = self._problem.free
        met = d if bandit.dense else len(self._sparse.met)
        if met <= constants.CLEARLY * d or d < constants.DRAWN / constants.CLEARLY:
            return []  # of a few, most matter as a rule
        return [f"the gradient is not sparse: {met:,} of {d:,} coordinates went through finite differences"]


@uses("support", "known", "bounds", "noise", "scale", "tol", "groups", "places")
def auto(problem: Problem, *, eps: float | None = None) -> Auto | Grouped:
    """Auto: the fewest queries, with nothing to tune; splits groups, remembers, steps by quasi-Newton.

    Parameters
    ----------
    problem
        What is known before the first query.
    eps
        A fixed finite difference, in units of `scale` where that is given; by default it follows the size
        of the set, the curvature met and the precision of f.

    Examples
    --------
    >>> from gracezo.core.method import Problem
    >>> method = auto(Problem(d=100))
    """
    if eps is not None and not (math.isfinite(eps) and eps > 0.0):
        raise ValueError(f"eps must be positive and finite, or None to let the method choose; got {eps!r}")
    if problem.groups is not None:
        return Grouped(lambda inner: auto(inner, eps=eps), problem)
    return Auto(problem, eps)


def best_known(problem: Problem, start: Point) -> Point:
    """Return the best of the start and the known points, those outside the bounds left out."""
    if problem.known is None:
        return start
    points, values = problem.known
    if problem.bounds is not None:
        values = np.where(problem.bounds.inside(points), values, np.inf)
    row = int(np.argmin(values))
    if not values[row] < start.value:
        return start
    x = Place.at(points[row]).stand_in if isinstance(start.x, Place) else points[row]
    return Point(x, float(values[row]))


def sizes_of(problem: Problem, x: FloatArray) -> FloatArray:
    """Return the size of each coordinate, or one for all.

    That is what the user says; else the width of its bounds, else |x0|, where these differ by orders of
    magnitude; else one for all: |x0| if that is large, the width of the bounds if that is small.
    """
    if problem.scale is not None:
        return problem.scale[:1] if lean(problem.scale) else problem.scale
    box = problem.bounds
    some = slice(0, len(x), max(1, len(x) // LARGE) if isinstance(x, Place) else 1)  # stand for all
    room, away = _room(box, some), _away(x, some)
    if box is None or (box.lean and not np.isfinite(room[0])):
        if len(away) and float(np.log10(away).std()) > constants.DECADES:
            x = dense(x)
            return np.where(x != 0.0, np.abs(x), 1.0)
    elif not box.lean:
        known = _extents(room, _origin(x)[some])
        known = known[known > 0.0]
        if len(known) and float(np.log10(known).std()) > constants.DECADES:
            sizes = _extents(_room(box, slice(None)), dense(x))
            return np.where(sizes > 0.0, sizes, 1.0)
    # One size for all. A small x0 says nothing, since many begin near zero, nor does a wide box.
    common = float(np.median(away)) if len(away) else 1.0
    width = float(room[0] if len(room) == 1 else np.median(room))
    if width < 1.0 / constants.STRIDE:
        return np.full(1, width)
    return np.full(1, common if common > constants.STRIDE else 1.0)


def _room(box: Box | None, some: slice) -> FloatArray:
    """Return the widths of some bounds, infinite where there are none; one, if all have the same."""
    if box is None:
        return np.full(1, np.inf)
    lower, upper = (side[:1] if box.lean else side[some] for side in (box.lower, box.upper))
    return np.where(upper > lower, upper - lower, np.inf)


def _extents(room: FloatArray, x: FloatArray) -> FloatArray:
    """Return how large coordinates are: as wide as their bounds, or as they are themselves."""
    return np.where(np.isfinite(room), room, np.abs(x))


def _origin(x: FloatArray) -> FloatArray:
    return x.origin if isinstance(x, Place) else x


def _away(x: FloatArray, some: slice) -> FloatArray:
    """Return the magnitudes of the coordinates that are not zero."""
    if isinstance(x, Place) and x.lean:
        rest = abs(float(x.origin[0]))
        own = np.abs(x.values[x.values != 0.0])
        return np.append(own, rest) if rest else own
    x = _origin(x)[some]
    return np.asarray(np.abs(x[x != 0.0]))
