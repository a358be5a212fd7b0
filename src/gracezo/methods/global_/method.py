"""Global search in a box, when few coordinates matter: screen, zoom and evolve along them, descend by `auto`.

The recipe, of parts that exist:

1. x0 is screened: the estimator of `auto` says which coordinates have a slope there, with at most `SCREEN`
   queries. `auto` goes down from x0, for as long as it falls.
2. Other points of the box, drawn at random, are screened for coordinates that were not met before, until one
   shows none, or after `POINTS` in all. Where those that are left have slopes but none that stands out, no
   further point is screened; one query tries the middle of the box for all of them. Where no small step
   changes f, or f is noisy, long ones look for coordinates (`sensitivity/trajectories.py`).
3. From then on four parts share the queries by what they bring (`shares.py`): **zoom** (along single
   coordinates of those met, from a random point, in windows that shrink: `zoom.py`), **evolve** (CMA-ES along
   all of them; once it has told its basin, again from elsewhere with twice the population: Auger & Hansen, *A
   restart CMA evolution strategy with increasing population size*, CEC 2005), **descend** (`auto` from the
   lowest point of all), **restart** (another point is screened, and `auto` goes down from there, for as long
   as that may lead below the lowest).

Nothing here knows the budget: whoever resumes a run with a larger one goes on where it was.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec

import numpy as np

from gracezo.core.asks import Ask, Moved, OutOfQueries, Point, Role, Steps
from gracezo.core.box import Box
from gracezo.core.keys import Key
from gracezo.core.method import Problem, uses
from gracezo.core.result import Finish, Status
from gracezo.core.steps import at_most, in_batches, relayed
from gracezo.core.subspace import Subspace
from gracezo.core.types import FloatArray, IntArray
from gracezo.methods.answer import drawn_again, measured_again
from gracezo.methods.auto import constants
from gracezo.methods.auto.method import auto
from gracezo.methods.global_.evolution import evolve, population
from gracezo.methods.global_.search import Search
from gracezo.methods.global_.shares import Shares
from gracezo.methods.global_.zoom import VALUES, zoom
from gracezo.sensitivity.trajectories import Trajectories

SCREEN = 60
"""Queries that one point may take to be screened."""
POINTS = 3
"""Points that are screened before the first evolution, at most."""
SPARSE = 0.5
"""Share of the squared norm of a gradient outside of what was found, above which nothing stands out there."""
TURN = 10
"""Queries of a turn: about a generation, or a step of `auto` and what it is made of."""
FALLS = 0.1
"""Of the decrease so far: a descent falls if the last half of its queries brought more."""
WIN = 0.01
"""Of the decrease so far: a turn that brings less has brought next to nothing."""
PARTS = ("zoom", "evolve", "descend", "restart")
"""That share the queries; of two that are alike the first goes first."""
_NO_CLAIM = "this is the lowest value met, which need not be the global minimum"


class Global:
    """One run of `global`.

    Parameters
    ----------
    problem
        What is known before the first query, with finite bounds.
    box
        These bounds.
    """

    def __init__(self, problem: Problem, box: Box) -> None:
        # A function of a seed is minimised for one draw, and is exact then; others judge it in the end.
        self._problem = replace(problem, random=False)
        self._random = problem.random
        self._box = box
        self._noise = problem.noise or 0.0
        self._shares = Shares(PARTS)
        self._met: IntArray = np.zeros(0, np.int64) if problem.support is None else problem.support
        self._screened = 0
        self._begun = dict.fromkeys(PARTS, 0)
        self._zooming: Search | None = None
        self._evolution: Search | None = None
        self._background = False  # whether the coordinates not met have slopes, but none that stands out
        self._doublings = 0  # of the population, along the same coordinates
        self._lowest: Search  # the descent that has led to the lowest point of all descents
        self._again: Search | None = None  # the one from another point
        self._closed: set[str] = set()  # parts whose next queries cannot be bought
        self._spent = False  # whether that is so of any

    def run(self, start: Point, key: Key) -> Steps[Finish]:
        """Minimise, from `start` at first; endless, unless nothing matters."""
        self._first = self._best = start
        self._keys = key.children()
        self._rng = next(self._keys).generator()
        finish = yield from relayed(self._searched(start), self._reserving)
        finish = finish.adding(self._done)
        if self._random:
            answer, draws = yield from drawn_again(self._best)
            judged = f"one draw was minimised, {draws} others have judged the answer"
            return replace(finish.adding(judged), answer=answer)
        if self._noise:
            again = yield from measured_again(self._best, self._noise)
            return replace(finish, answer=again.at)
        return finish

    def _reserving(self, ask: Ask) -> Steps[FloatArray]:
        """Keep what the end will take, where f is noisy or random; ask nothing once the queries are spent.

        Where no more is left than a turn takes, other parts are not to make something of it: a run with more
        queries would not have asked that.
        """
        if self._spent:
            raise OutOfQueries
        kept = 2 * constants.ANSWERS if self._random else constants.ANSWERS if self._noise else 0
        try:
            return (yield Ask(ask.base, ask.offsets, ask.role, ask.reserve + kept))
        except OutOfQueries:
            self._spent = len(ask) + ask.reserve <= TURN
            raise

    @property
    def _done(self) -> str:
        counts = (
            (self._screened, "point", "screened"),
            (len(self._met), "coordinate", "met that matters" if len(self._met) == 1 else "met that matter"),
            (self._begun["descend"] + self._begun["restart"], "descent", "by auto"),
            (self._begun["zoom"], "zoom", "along these"),
            (self._begun["evolve"], "evolution", "along these"),
        )
        said = [f"{count:,} {what}{'s' * (count != 1)} {how}" for count, what, how in counts]
        return f"{', '.join(said)}; {_NO_CLAIM}"

    # ------------------------------------------------------------ the recipe

    def _searched(self, start: Point) -> Steps[Finish]:
        try:
            yield from self._screen_at(start)
            self._lowest = self._descent(start, replace(self._problem, support=self._met))
            yield from self._follow("descend", self._lowest)
            self._shares.forget("descend")
            self._background = self._background and not self._noise  # that looks the same from near by
            yield from self._screen()
            ended = self._lowest.finish
            if not len(self._met) and ended is not None and ended.status is Status.NOTHING_TO_FIND:
                self._met = yield from self._far(self._best, self._box.free)
                if not len(self._met):
                    said = "nothing to find: neither short nor long probes have changed the objective"
                    return Finish(ended.status, said)
            parts = {
                "zoom": self._zoom,
                "evolve": self._evolve,
                "descend": self._descend,
                "restart": self._start_again,
            }
            while able := self._able:
                yield from parts[self._shares.next_of(able)]()
        except OutOfQueries:
            pass
        return Finish(Status.SPENT)

    @property
    def _able(self) -> set[str]:
        """The parts that have something to do, and can buy it."""
        able = set() if self._spent else set(PARTS) - self._closed
        if not len(self._met):
            able -= {"zoom", "evolve"}
        if self._lowest.finish is not None and self._best is self._lowest.best:
            able.discard("descend")
        return able

    @property
    def _fallen(self) -> float:
        return self._first.value - self._best.value

    def _falls(self, search: Search) -> bool:
        """Whether a search is to go on before anything else: it looks for its first step, or falls."""
        if not search.moved:
            return search.queries < 2 * TURN
        # What all have brought says nothing of a search that has begun elsewhere on its own.
        return search.falling > FALLS * (search.fallen if search is self._zooming else self._fallen)

    def _follow(self, part: str, search: Search) -> Steps[None]:
        """Let a search go on for a turn, and for as long as it falls."""
        yield from self._turn(part, search)
        while search.finish is None and self._falls(search):
            yield from self._turn(part, search)

    def _turn(self, part: str, search: Search) -> Steps[None]:
        """Let a search go on, and tell the best point of all if it is a new one."""
        before, new = self._best.value, search.queries == 0
        yield from search.go_on(TURN)
        self._begun[part] += new and search.queries > 0
        if search.best is not None and search.best.value < before:
            self._best = search.best
            self._noise = max(self._noise, self._best.error)
            yield Moved(self._best)
        self._shares.note(part, before - self._best.value > WIN * self._fallen)
        if search.refused:
            self._closed.add(part)

    # ------------------------------------------------------------ its parts

    def _descent(self, start: Point, problem: Problem) -> Search:
        return Search(auto(problem).run(start, next(self._keys)), start)

    def _descend(self) -> Steps[None]:
        """Go down from the lowest point of all."""
        if self._best is not self._lowest.best:
            self._lowest = self._descent(self._best, self._known)
        yield from self._follow("descend", self._lowest)

    @property
    def _known(self) -> Problem:
        """What is known by now."""
        return replace(self._problem, support=self._met, known=None)

    def _start_again(self) -> Steps[None]:
        """Go down from another point; if that leads to the lowest, it is the descent from there."""
        again = self._again
        if again is None or again.finish is not None or again.promise >= self._best.value:
            at = yield from self._point(self._met if len(self._met) else self._box.free)
            yield from self._screen_at(at)
            again = self._again = self._descent(at, self._known)
        yield from self._follow("restart", again)
        if again.best is self._best:
            self._lowest, self._again = again, None

    def _zoom(self) -> Steps[None]:
        """Let a search in windows that shrink go on, or begin the next, elsewhere."""
        search = self._zooming
        if search is None or search.finish is not None:
            at = yield from self._point(self._met)
            space = Subspace.of(at.x, self._met, self._box)
            assert space.bounds is not None
            size, clearly = max(VALUES, self._problem.batch), constants.TRUST * self._noise
            steps = zoom(space.bounds, space.inward(at), size, clearly, next(self._keys))
            search = self._zooming = Search(in_batches(space.minimised(steps), self._problem.batch), at)
        yield from self._follow("zoom", search)

    def _evolve(self) -> Steps[None]:
        """Let an evolution go on, or begin the next."""
        search = self._evolution
        if search is None or search.finish is not None:
            n = len(self._met)
            size = max(population(n), self._problem.batch) * 2**self._doublings
            first = self._rng.random(n) if self._doublings else np.full(n, 0.5)
            space = Subspace.of(self._best.x, self._met, self._box)
            assert space.bounds is not None
            role = Role.TRIAL if self._noise else Role.STEP
            steps = evolve(space.bounds, first, size, role, next(self._keys))
            search = self._evolution = Search(in_batches(space.minimised(steps), self._problem.batch))
            self._doublings += 1
        yield from self._follow("evolve", search)

    # ------------------------------------------------------------ screening

    def _screen(self) -> Steps[None]:
        """Screen points all over the box, until one shows no coordinate that was not met before."""
        more = True
        while more and self._screened < POINTS:
            at = yield from self._point(self._box.free)
            more = yield from self._screen_at(at)

    def _point(self, coordinates: IntArray) -> Steps[Point]:
        """Return a point drawn at random along some coordinates, the others as in the best, with its f."""
        while True:
            x = self._best.x.copy()
            low, high = self._box.lower[coordinates], self._box.upper[coordinates]
            x[coordinates] = low + (high - low) * self._rng.random(len(coordinates))
            (value,) = yield Ask.at(x, Role.TRIAL if self._noise else Role.STEP)
            if not np.isnan(value):
                return Point(x, float(value), self._noise)

    def _screen_at(self, at: Point) -> Steps[bool]:
        """Look for coordinates with a slope at a point; return whether there is one not met before."""
        others = np.setdiff1d(self._box.free, self._met)
        if self._background or not len(others):
            return False
        met = yield from self._far(at, others) if self._noise else self._near(at, others)
        if self._background:
            yield from self._centre(others)
            return False
        if len(met):
            self._met = np.union1d(self._met, met)
            self._zooming, self._evolution, self._doublings = None, None, 0
            self._shares.forget("zoom")
            self._shares.forget("evolve")
        return len(met) > 0

    def _near(self, at: Point, others: IntArray) -> Steps[IntArray]:
        """Return the coordinates that have a slope; see whether others have some that do not stand out."""
        space = Subspace.of(at.x, others, self._box)
        estimator = auto(space.problem(self._known)).estimator
        steps = space.estimated(estimator.estimate(space.inward(at), 1, next(self._keys)))
        found = yield from at_most(steps, SCREEN)
        self._screened += not self._spent
        self._background = found.residual > SPARSE
        if not (len(self._met) or len(found.indices) or self._background or self._spent):
            return (yield from self._far(at, others))
        return found.indices

    def _far(self, at: Point, others: IntArray) -> Steps[IntArray]:
        """Return the coordinates that change f by long steps, where small ones tell nothing: steps, noise."""
        batch = self._problem.batch
        looks = Trajectories(self._box, others, None, constants.NEGLIGIBLE, batch, self._noise, True)
        known = Point(at.x, at.value, outputs=np.array([at.value]))
        steps = in_batches(looks.look(known, next(self._keys), others[:0]), batch)
        seen = yield from at_most(steps, SCREEN)
        self._screened += bool(self._noise) and not self._spent
        return others[np.array(sorted(seen.values), np.int64)]

    def _centre(self, others: IntArray) -> Steps[None]:
        """Try the middle of the box for what has slopes but none that stands out: the best guess of each.

        Of a bowl whose lowest point may be anywhere between the bounds, that leaves half as much as a random
        place does, and all of them cost one query.
        """
        x = self._best.x.copy()
        x[others] = 0.5 * (self._box.lower + self._box.upper)[others]
        if np.array_equal(x, self._best.x):  # that is where they are
            return
        (value,) = yield Ask.at(x, Role.TRIAL if self._noise else Role.PROBE)
        if self._best.value - value > max(WIN * self._fallen, constants.TRUST * self._noise):
            self._best = Point(x, float(value), self._noise)
            yield Moved(self._best)


@uses("support", "known", "bounds", "noise", "scale", "tol", needs=("bounds",))
def global_(problem: Problem) -> Global:
    """Global: screens a box for the coordinates that matter, searches along these, goes down by auto.

    Parameters
    ----------
    problem
        What is known before the first query; every coordinate needs finite bounds.
    """
    box = problem.bounds
    assert box is not None, "it is named among what is needed"
    endless = ~(np.isfinite(box.lower) & np.isfinite(box.upper))
    if endless.any():
        raise ValueError(
            f"method 'global' needs finite bounds for every coordinate: {int(endless.sum()):,} of {box.d:,} "
            f"have none on one side or both, the first of them at index {int(np.argmax(endless))}"
        )
    if find_spec("cma") is None:
        raise ImportError("method 'global' needs pycma: pip install 'gracezo[global]'")
    return Global(problem, box)
