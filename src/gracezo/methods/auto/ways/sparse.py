"""The sparse way down: search for the coordinates that matter, and step along those found (`agenda.py`)."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import TypeVar

import numpy as np

from gracezo.core.asks import Point, Role, Steps
from gracezo.core.keys import Key
from gracezo.core.method import Problem
from gracezo.core.precision import SHOWN
from gracezo.core.rest import Rest, outside
from gracezo.core.result import Finish
from gracezo.core.types import FloatArray, IntArray
from gracezo.core.walls import Walls
from gracezo.methods.answer import Again, measured_again
from gracezo.methods.auto import constants
from gracezo.methods.auto.belief import Belief
from gracezo.methods.auto.beyond import Beyond
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import answered
from gracezo.methods.auto.search import Search
from gracezo.methods.auto.search.alone import Found
from gracezo.methods.auto.support.coordinates import Support
from gracezo.methods.auto.support.refresh import Refresh
from gracezo.methods.auto.verdict import Verdict
from gracezo.methods.auto.ways import Ledger, Offer
from gracezo.methods.auto.ways.agenda import Agenda, Draws, Parts
from gracezo.methods.auto.ways.stepper import Stepper, Timing

R = TypeVar("R")


class Sparse:
    """The sparse way down.

    Parameters
    ----------
    problem
        What is known before the first query.
    ledger
        Counts what is asked.
    eps
        A fixed ε, when the user wants one.
    unit
        What a value of one is in the user's f; 0 if that is not known.
    """

    name = "along the few coordinates that the search finds"

    def __init__(self, problem: Problem, ledger: Ledger, eps: float | None = None, unit: float = 0.0) -> None:
        differences, walls = Differences(eps, problem.tol, unit), Walls(problem.bounds)
        support = Support(differences, walls)

        def found(one: Found) -> None:
            support.add(one.coordinate, one.slope, one.curvature)

        search = Search(differences, Belief(problem.free), found, walls)
        timing = Timing(constants.OVERHEAD, ledger)
        refresh = Refresh(support, differences, walls)
        stepper = Stepper(differences, walls, refresh, search, timing, ledger)
        self._parts = Parts(problem, ledger, differences, walls, support, refresh, search, timing, stepper)
        self._silent = True  # whether the coordinates outside of the support leave f as it is
        self._hidden = False  # whether sums over these show slopes that noise hides
        self._again: Again | None = None  # the last point of a noisy f that was measured anew
        self._agreed: Point | None = None  # where another way has seen that nothing leads down
        self._share = (0.0, 0.0)  # of the coordinates that matter, summed over questions, and their number
        self.done = False
        """Whether there is nothing left to ask where it is."""

    @property
    def differences(self) -> Differences:
        """How far to move, and what is known of f."""
        return self._parts.differences

    @property
    def walls(self) -> Walls:
        """The bounds around the present point."""
        return self._parts.walls

    @property
    def noise(self) -> float:
        """The standard deviation of f's noise, as far as it is known."""
        return self.differences.noise

    @cached_property
    def free(self) -> IntArray | Rest:
        """All coordinates that can move."""
        problem = self._parts.problem
        return outside(problem.d, box=self.walls.box, places=problem.places)

    @property
    def met(self) -> IntArray:
        """Those that have mattered, those that lead uphill on both sides among them."""
        kinks = self._parts.search.kinks.all
        return np.union1d(self._parts.support.indices, np.array([*kinks], np.int64))

    @property
    def kinked(self) -> bool:
        """Whether it has met kinks."""
        search, support, stepper = self._parts.search, self._parts.support, self._parts.stepper
        return bool(search.kinks) or support.kinks.any or bool(stepper.confidence.given_up.any())

    @property
    def mostly_kinked(self) -> bool:
        """Whether many of those met have kinks, so that slopes are no guide."""
        support = self._parts.support
        located = int(np.isfinite(support.kinks.places).sum())
        unfound = len(self._parts.search.kinks.all)
        return located + unfound > constants.CLEARLY * (len(support) + unfound)

    @property
    def begun_on_kinks(self) -> bool:
        """Whether many of those met have kinks, all of them where the run began."""
        if not self.mostly_kinked:
            return False
        support = self._parts.support
        places, start = support.kinks.places, self._start.x[support.indices]
        return not (np.isfinite(places) & (places != start[: len(places)])).any()

    @property
    def first(self) -> float:
        """The value of f where the run began, of which this may be a later stage."""
        first = self._parts.problem.first
        return self._start.value if first is None else first

    @property
    def value(self) -> float:
        """The value of f where it is."""
        return self._here.value

    @property
    def flat(self) -> bool:
        """Whether nothing has changed f so far."""
        return self._parts.search.flat and not len(self._parts.support)

    def begin(self, at: Point, key: Key) -> Steps[Point]:
        """Take the first look at f where the run begins; return the point with the value of f beside it."""
        problem, search = self._parts.problem, self._parts.search
        self._agenda = Agenda(self._parts, Draws(key))
        self._start = self._here = at
        self.differences.values.centre(self.first)
        search.centre(at)
        if problem.support is not None:
            self._agenda.suspect(problem.support)
        self._start = self._here = yield from search.begin(at, problem.noise, *self._agenda.begin())
        return self._here

    def reconsider(self, at: Point) -> Steps[bool]:
        """Take a first look again, if f is so small by now that its error may have hidden what is left.

        That was rounding, or noise: where f is a mean over draws, say, noise falls with it.
        """
        fallen, problem = self.first - at.value, self._parts.problem
        noise = 0.0 if problem.noise == 0.0 else None
        if self.noise:
            if problem.noise or self.differences.values.coarse or self.noise <= constants.NEGLIGIBLE * fallen:
                return False
            again = yield from self.again(at)
            small, noise = again.deviation < constants.UNSEEN * self.noise, 2.0 * again.deviation
            self._again = None if small else again
        else:
            least = max(problem.tol or 0.0, SHOWN) * fallen
            least = max(least, self.differences.values.rounding_error / constants.SMALL)
            small = least < abs(at.value) <= constants.SMALL * self.differences.scale
        if not small:
            return False
        exact = self.noise == 0.0
        self.differences.forget()
        if self._parts.search.kinks.holding:
            self.settle(at, self._parts.search.kinks.held)
        else:
            if exact:
                yield from self._bend_again(at)
            self._relocate(at)
        yield from self._parts.search.begin(at, noise, *self._agenda.begin())
        return True

    def _bend_again(self, at: Point) -> Steps[None]:
        """See whether curvatures of the support are less by now, unless that would take too many queries.

        Those of an exponential fall with it by as many orders. Too large ones would hide what slopes promise.
        """
        parts = self._parts
        requests = parts.refresh.lesser()
        if not requests or constants.CLEARLY * parts.ledger.queries < len(requests):
            return
        before = parts.support.smooth.copy()
        yield from answered(at, requests)
        if (parts.support.smooth < before).any():
            parts.stepper.forget()

    @property
    def mixed(self) -> bool:
        """Whether coordinates differ by orders of magnitude, and nobody has told that."""
        return not self._sized and self.differences.curvatures.mixed

    @property
    def _sized(self) -> bool:
        """Whether the sizes of coordinates were told, or shown by bounds on both sides."""
        return self._parts.problem.scale is not None or math.isfinite(self.walls.reach)

    def again(self, at: Point) -> Steps[Again]:
        """Return the value of a noisy f where it is, measured anew, unless it has been."""
        if self._again is None or self._again.at.x is not at.x:
            self._again = yield from measured_again(at, self.noise)
        return self._again

    def beyond(self, at: Point) -> Steps[tuple[Point, float] | None]:
        """Look at longer scales; return a lower point and how deep the ripples are that hid it, if any is."""
        parts, support, walls = self._parts, self._parts.support, self.walls
        if parts.search.flat:
            return None
        rest, rng = self._agenda.outside()
        open_ = np.flatnonzero(~walls.active_at_bounds(support.indices, support.slopes))
        unsure = support.indices[np.flatnonzero(parts.stepper.confidence.unsure)]
        unsure = unsure[at.x[unsure] != self._start.x[unsure]]
        if 4 * len(unsure) > parts.ledger.queries:
            unsure = unsure[:0]  # that would take too many queries
        here = (yield from self.again(at)).at if self.noise else at
        looks = Beyond(here, self.plainly(at), walls, self.differences, rng, self._sized)
        # Rounding hides as noise does, below an offset that is large enough.
        hides = self.noise or self.differences.rounding > constants.NEGLIGIBLE * (self.first - at.value)
        most = parts.ledger.queries // 4 if hides else 0
        kinked = at is self._agreed
        found = yield from looks.lower(support, open_, rest, self._start.x, unsure, most, kinked)
        again, self._silent, self._hidden = looks.hidden and not self._hidden, looks.silent, looks.hidden
        if again and self.noise:
            self._relocate(at)  # once more, with other weights
            return at, 0.0
        if found is not None and self.noise and here.value - found[0].value <= self.plainly(at):
            self._relocate(found[0])
            self.done = True  # no more than the last bit was left, and no reason to search again
        elif found is not None and found[0] is not at:
            self.done = False
        return found

    def ended(self, here: Point) -> bool:
        """Whether it has nothing to offer from this point."""
        return self.done and here is self._here

    def plainly(self, at: Point) -> float:
        """Return by how much another value has to be lower than that of a point to be plainly so."""
        differences, fallen = self.differences, self.first - at.value
        least = min(fallen, differences.scale, abs(at.value) / constants.SMALL)
        return max(
            differences.negligible, constants.TRUST * differences.rounding, constants.NEGLIGIBLE * least
        )

    def offer(self, here: Point) -> Offer | None:
        """Return what all slopes promise, and what it takes to find those that matter."""
        if self.ended(here):
            return None
        return Offer(self.promise, self.rounds)

    @property
    def size(self) -> int:
        """How many coordinates can move."""
        return self._parts.problem.free

    @property
    def share(self) -> float:
        """The share of the coordinates that matter, as a mean over the last questions of the search."""
        total, questions = self._share
        return total / questions if questions else 0.0

    @property
    def rounds(self) -> int:
        """What it takes to find the coordinates that matter."""
        return self._parts.ledger.rounds_of(math.ceil(constants.EACH * self.share * self.size))

    @property
    def slope(self) -> float:
        """The root mean square of a slope outside of the support, as the sums over groups show it."""
        partition = self._parts.search.partition
        if partition is None or partition.open.squares == 0.0:
            return 0.0
        return partition.open.norm / math.sqrt(partition.open.squares)

    def leg(self, here: Point, until: Callable[[], bool] | None = None) -> Steps[Point]:
        """Search and step; return the present point after a step, or after a while without one.

        Now and then `until` is asked whether that is to be at once.
        """
        parts, ledger, at = self._parts, self._parts.ledger, here
        if at is self._agreed:
            return at
        if at is not self._here:
            self._relocate(at)
        began, free, fallen = ledger.rounds, parts.problem.free, self.first - at.value
        patience = max(ledger.rounds_of(free // constants.PARTS), constants.WINDOW)
        turn = free.bit_length()  # cuts that lead to one coordinate
        while (spent := ledger.rounds - began) < patience:
            if spent >= turn and until is not None:
                if until():
                    break
                turn += free.bit_length()
            requests = self._agenda.next(at, fallen)
            if requests is None:
                self._here = yield from self._step(at)
                return self._here
            if not requests:
                self.done = True
                break
            refreshing = sum(
                len(request.stencil.shares) * request.repeats
                for request in requests
                if request.role is Role.REFRESH
            )
            before = ledger.rounds
            heard = yield from answered(at, requests)
            parts.timing.spend(ledger.rounds - before, ledger.rounds_of(refreshing))
            (total, number), keep = self._share, 1.0 - 1.0 / constants.WINDOW
            self._share = keep * total + parts.search.dense, keep * number + 1.0
            parts.stepper.lowest_met.note(at, heard, fallen)
        return at

    def overhear(self, at: Point, steps: Steps[R]) -> Steps[R]:
        """Run the looks of another way around a point; the next step may go to the lowest that they meet."""
        return self._parts.stepper.lowest_met.overhearing(at, steps)

    def adopt(self, at: Point, coordinates: IntArray, slopes: FloatArray) -> None:
        """Take coordinates with their slopes at a point from another way."""
        support = self._parts.support
        for new in np.flatnonzero((slopes != 0.0) & ~np.isin(coordinates, support.indices)).tolist():
            support.add(int(coordinates[new]), float(slopes[new]), self.differences.newton(0.0))
        self._relocate(at)

    def agree(self, at: Point, kinks: IntArray) -> None:
        """Take it from another way that nothing leads down from a point, and which coordinates kinks hold."""
        self._relocate(at)
        for kink in kinks.tolist():
            self._parts.search.kinks.note(kink)
        self.done, self._agreed = True, at

    def settle(self, at: Point, coordinates: IntArray) -> None:
        """Take it from another way that some coordinates do not lead down from a point: search the others."""
        parts = self._parts
        self._here, self.done = at, False
        parts.stepper.restart(at)
        parts.refresh.settle()
        parts.support.give_up()
        parts.search.kinks.hold(coordinates)
        self._agenda.settled()

    def _relocate(self, at: Point) -> None:
        """Go on at a point that was reached in another way."""
        self._here, self.done = at, False
        self._parts.search.kinks.release()
        self._parts.stepper.restart(at)
        self._agenda.relocated()

    def _step(self, at: Point) -> Steps[Point]:
        """Step, and return the present point, which may be the same."""
        parts = self._parts
        stepped = yield from parts.stepper.step(at, self._start.x, parts.problem.bounds)
        if stepped.doubt is not None:
            self._agenda.doubt(stepped.doubt)
        if stepped.to is None:
            return at
        self._agenda.moved()
        if parts.search.kinks.holding:
            self._relocate(stepped.to)
        return stepped.to

    @property
    def promise(self) -> float:
        """The decrease that all slopes promise, those found and those that sums over the others show.

        Within bounds the others bring no more than straight lines to them; s slopes sum up to √s times their
        norm, at most.
        """
        others = self._parts.search.promise
        if math.isfinite(self.walls.reach):
            others = min(others, math.sqrt(self.share) * self.size * self.slope * self.walls.reach)
        return self._agenda.step_promise() + self._parts.refresh.promise + others

    def end(self, at: Point, kinks_across: bool, bound: float) -> Steps[Finish]:
        """Say why nothing is left to ask, given whether kinks couple coordinates, and what these bound."""
        parts = self._parts
        verdict = Verdict(
            parts.support,
            parts.search,
            self.differences,
            parts.stepper.confidence.given_up,
            self.first - at.value,
            parts.ledger.queries,
            self.free,
            self.walls.box,
            self._silent or self._sized,
            self._hidden,
        )
        return verdict.told(at, kinks_across, bound, self._agenda.draws.next())
