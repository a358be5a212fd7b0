"""The step: kinks first, then a line search along the model's path, then what is to be learned from it.

A step that came out as predicted had all it needed to know. One that did not is reason to doubt the
slopes of the support and the search outside of it, and to ask for more care before the next.

When to step: while a step is not made, its decrease P waits; to make it delays everything else, R, by the c
rounds that a step costs. So it steps when P, summed over the rounds since the last step and those until the
next find, comes to c·R: as one orders when what was held back has cost as much as an order. What a step
costs, and what comes of its promises, is measured as the run goes on. A round is a query, or a batch of them:
queries that go out together take the time of one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gracezo.core.asks import Point, Role, Steps
from gracezo.core.box import Box
from gracezo.core.places import replaced
from gracezo.core.precision import ROOT, TINY
from gracezo.core.types import BoolArray, FloatArray
from gracezo.core.walls import Walls
from gracezo.methods.auto import constants
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import LowestMet
from gracezo.methods.auto.search import Search
from gracezo.methods.auto.support.coordinates import Support
from gracezo.methods.auto.support.refresh import Refresh
from gracezo.methods.auto.ways import Ledger
from gracezo.methods.corner import Corner
from gracezo.methods.line_search import Trial, line_search, slope_at_best
from gracezo.updates.projected import Path, newton_path
from gracezo.updates.quasi_newton import LBFGS


@dataclass(frozen=True, eq=False)
class Stepped:
    """What came of a step.

    Attributes
    ----------
    to
        Where it led; None if nowhere.
    doubt
        The decrease that slopes of the support may now hide; None if they are as they were.
    """

    to: Point | None
    doubt: float | None


@dataclass(frozen=True, eq=False)
class _Move:
    """The first half of a pair for the model: a way, and the slopes where it began.

    Attributes
    ----------
    step
        The way, trips to kinks included.
    slopes
        Those where it began.
    expected
        How the model saw them change.
    measured
        Whether these were measured, not predicted.
    crossed
        Which coordinates have gone to a kink: what their slopes do is no curvature.
    """

    step: FloatArray
    slopes: FloatArray
    measured: bool
    expected: FloatArray
    crossed: BoolArray


class Timing:
    """The rounds of a run, and what steps have cost and brought.

    Parameters
    ----------
    overhead
        First guess of what a step costs beside the search, in rounds.
    ledger
        Counts the rounds.
    """

    def __init__(self, overhead: float, ledger: Ledger) -> None:
        self._ledger = ledger
        self.overhead = overhead
        """What a step costs beside the search, in rounds."""
        self.rate = 0.0
        """Decrease per round that the last step has brought."""
        self._spent = 0  # rounds since the last step that only this step needed
        self._realised = 1.0  # share of its promise that a step has brought
        self._promised = math.inf
        self._idle = 0.0  # decrease at hand that is not taken now
        self._waited = 0.0  # the same, times the rounds spent elsewhere since the last step

    def spend(self, rounds: int, only_for_step: int = 0) -> None:
        """Note rounds of the search: how many, and how many of them only the next step needs."""
        self._spent += only_for_step
        if rounds:  # what waits may be without limit, as long as nothing is known of it
            self._waited += rounds * self._idle

    def offer(self, gain: float) -> None:
        """Note the decrease that a step promises now."""
        self._idle = gain

    def refresh_pays(self, gain: float, cost: float, elsewhere: float) -> bool:
        """Whether to measure the gradient of a step for `cost` rounds, given the rate elsewhere."""
        return self._realised * gain / (cost + self.overhead) >= elsewhere

    def step_pays(self, gain: float, promise: float, cost: float, rest: float) -> bool:
        """Whether to step, when the next find promises so much for so many rounds, and all finds `rest`."""
        # What is left can be had at this rate at best, over a run that lasts as long again.
        rest = min(rest, (1 + self._ledger.rounds) * promise / cost)
        return self._waited + cost * gain >= self.overhead * rest

    def begin(self, gain: float) -> None:
        """Note what the step that is made next has promised."""
        self._promised = gain

    def stepped(self, rounds: int, change: float) -> None:
        """Note what the trials of a step took and brought."""
        self._waited = 0.0
        self.overhead += (1.0 - constants.FORGET) * (self._spent + rounds - self.overhead)
        self._spent = 0
        self.rate = -change / self.overhead if change < 0.0 else 0.5 * self.rate

    def compare(self, change: float) -> None:
        """Compare what a step has brought with its promise."""
        self._realised += (1.0 - constants.FORGET) * (min(-change / self._promised, 1.0) - self._realised)


class Confidence:
    """How far the model is relied on, as the last steps have come out."""

    def __init__(self) -> None:
        self._failures = 0  # in a row
        self.care = 1.0 / constants.UNSEEN
        """How much of the support's gradient must be known before a step."""
        self.unsure: BoolArray = np.zeros(0, np.bool_)
        """Which of those met first have taken part in a step that was not predicted."""
        self.given_up: FloatArray = np.zeros(0)
        """The slopes, of those met first, that were given up because no step along them brought anything."""

    def be_careful(self) -> None:
        """Make no step before all slopes are known."""
        self.care = 1.0 / ROOT

    def restart(self) -> None:
        """Go on at a point that was reached in another way: what failed elsewhere may be tried here."""
        self._failures, self.given_up = 0, np.zeros(0)

    def descended(self) -> None:
        """Note that f has fallen."""
        self._failures = 0

    def failed(self) -> int:
        """Note a step that did not lead down; return how many that are in a row."""
        self._failures += 1
        return self._failures

    def give_up(self, slopes: FloatArray) -> None:
        """Note slopes along which no step brings anything."""
        self.given_up = slopes

    def review(self, missed: float, displacement: FloatArray) -> None:
        """Note by what share of its decrease a step was not predicted.

        One that came out as predicted had all it needed; one that did not needs a fuller gradient.
        """
        if missed > constants.CLEARLY:
            unsure = displacement != 0.0
            unsure[: len(self.unsure)] |= self.unsure
            self.unsure = unsure
            self.care = min(self.care / constants.UNSEEN, 1.0 / ROOT)
        elif missed < constants.UNSEEN:
            self.care = max(self.care / constants.FEW, 1.0 / constants.CLEARLY)


class Stepper:
    """Makes the steps of one run.

    Parameters
    ----------
    differences, walls
        What the run has learned.
    refresh, search
        What is known at the present point, of the coordinates found and of the others.
    timing
        Is told what steps cost and bring.
    ledger
        Counts what is asked.
    """

    def __init__(
        self,
        differences: Differences,
        walls: Walls,
        refresh: Refresh,
        search: Search,
        timing: Timing,
        ledger: Ledger,
    ) -> None:
        self._differences = differences
        self._walls = walls
        self._refresh = refresh
        self._search = search
        self._timing = timing
        self._ledger = ledger
        self._model = LBFGS(constants.MEMORY)
        self._made: _Move | None = None
        self.confidence = Confidence()
        """How far the model is relied on."""
        self.lowest_met = LowestMet()
        """The lowest point met by looks."""

    @property
    def _support(self) -> Support:
        return self._refresh.support

    def path(self) -> Path:
        """Return the way of the step that the model would make now."""
        support = self._support
        return newton_path(self._model, self._walls, support.indices, support.slopes, support.diagonal)

    def step(self, at: Point, start: FloatArray, bounds: Box | None) -> Steps[Stepped]:
        """Step from a point of a run that began at `start`."""
        support = self._support
        measured = not self._refresh.pending
        self._refresh.settle()
        begun, slopes = at, support.slopes.copy()
        at = yield from self._locate_kinks(at, start)
        # A difference of slopes says something of the curvature only if both were measured.
        if self._made is not None and measured and self._made.measured:
            self._learn(self._made, slopes)
        self._made = None
        path = self.path()
        if not path.descends:
            self._model.forget()
            path = self.path()
        search = line_search(
            at,
            support.indices,
            path.asked,
            path.slope,
            batch=self._ledger.batch,
            share=path.share,
            role=Role.TRIAL if self._differences.noise else Role.STEP,
            # Nothing brings many times all of f: slopes are wrong then, or curvatures of long ago.
            first=min(2.0 * constants.STRIDE * self._differences.scale / max(-path.slope, TINY), 1.0),
        )
        before = self._ledger.rounds
        trials = yield from search
        best = trials[0]
        self._timing.stepped(self._ledger.rounds - before, best.change)
        doubt = None if at is begun else begun.value - at.value
        if best.change >= 0.0:
            support.stiffen(path.direction, min(trial.t for trial in trials), 0.0, ahead=1.0)
            doubt = self._fail(doubt)
        else:
            self.confidence.descended()
        if not self._differences.noise and self.lowest_met.value < min(at.value, best.value):
            return self._to_lowest(at, bounds, doubt or 0.0)
        if best.change >= 0.0:
            return Stepped(None if at is begun else at, doubt)
        ends = self._walls.reached(support.indices, path.asked(best.t))
        moved = Point(replaced(at.x, support.indices, ends), best.value, self._differences.noise)
        self._made = self._move(begun, at, slopes, measured, path, best.t)
        doubt = self._review(trials, path)
        self._arrive(moved)
        return Stepped(moved, doubt)

    def _move(
        self, begun: Point, at: Point, slopes: FloatArray, measured: bool, path: Path, t: float
    ) -> _Move:
        """Return the way from where a step was begun, first to kinks and then along its path."""
        support = self._support
        step, expected = path.displacement(t), path.expected(t)
        if at is not begun:
            first = at.x[support.indices] - begun.x[support.indices]
            step, expected = step + first, expected + support.smooth * first
        return _Move(step, slopes, measured, expected, support.kinks.located.copy())

    def _learn(self, made: _Move, slopes: FloatArray) -> None:
        """Tell the model what the slopes have become on the way."""
        support, n = self._support, len(made.step)
        crossed = made.crossed | support.kinks.located[:n]
        change = np.where(crossed, support.smooth[:n] * made.step, slopes[:n] - made.slopes)
        self._model.learn(made.step, change, made.expected)

    def _to_lowest(self, at: Point, bounds: Box | None, doubt: float) -> Stepped:
        """Go to the lowest point met, which is below what the step has come to."""
        lowest_met, support = self.lowest_met, self._support
        moved = lowest_met.point(bounds)
        fall = at.value - moved.value
        if lowest_met.met_from(at.x):
            support.carry(moved.x[support.indices] - at.x[support.indices])
        self._made = None
        self._search.belief.drift.note_step(fall, missed=1.0)
        self._arrive(moved)
        return Stepped(moved, max(fall, doubt, self._refresh.doubt))

    def _locate_kinks(self, at: Point, start: FloatArray) -> Steps[Point]:
        """Locate the kinks that slopes have shown; return the present point, moved onto them."""
        before = self._ledger.rounds
        moved = yield from find_kinks(at, self._support, self._differences, start, self._timing.rate)
        self._timing.spend(self._ledger.rounds - before)
        if moved is not at:
            self.confidence.descended()
            self._search.belief.drift.note_step(at.value - moved.value, missed=1.0)
        self._arrive(moved)
        return moved

    def restart(self, at: Point) -> None:
        """Go on at a point that was reached in another way: what failed elsewhere may be tried here."""
        self.confidence.restart()
        self._made = None
        self._support.loosen()
        self._arrive(at)

    def forget(self) -> None:
        """Forget how slopes have changed where f was of another size."""
        self._model.forget()

    def _arrive(self, at: Point) -> None:
        """Go on around another point."""
        self._search.centre(at)
        support, kinks = self._support, self._support.kinks
        if kinks.any:
            support.arrive(at.x)
            self._walls.stop(support.indices, kinks.places, kinks.fixed)

    def _review(self, trials: list[Trial], path: Path) -> float:
        """Compare what a step brought with what the model foresaw; return the doubt that this leaves."""
        support, best, slope = self._support, trials[0], path.slope
        self._timing.compare(best.change)
        missed = abs(best.change - path.predicted(best.t)) / abs(best.change)
        self.confidence.review(missed, path.displacement(best.t))
        doubt = min(missed, 1.0) * abs(best.change)
        self._search.belief.drift.note_step(doubt, missed)
        support.relax()
        if best.t < constants.CLEARLY:
            cut = min((trial.t for trial in trials if trial.t > best.t), default=1.0)
            support.stiffen(path.direction, best.t, -best.change, ahead=cut)
            doubt = max(doubt, -path.predicted(1.0) + best.change)
        # The model sees all slopes change in proportion; f has shown by how much.
        left = float(np.clip(slope_at_best(trials, slope) / slope, -1.0, 1.0))
        support.predict(path.predicted_slopes(best.t, left), path.displacement(best.t))
        return doubt

    def _fail(self, doubt: float | None) -> float | None:
        """No descent: a kink ahead of some coordinates, now stiffened; or slopes that are out of date."""
        failures = self.confidence.failed()
        self._made = None
        self._model.forget()
        if failures == constants.FEW:
            self.confidence.be_careful()
            return math.inf
        if failures > constants.FEW:
            self.confidence.give_up(self._support.give_up())
        return doubt


def find_kinks(
    at: Point, support: Support, differences: Differences, start: FloatArray, rate: float
) -> Steps[Point]:
    """Look for kinks where the slopes of the support say so.

    Parameters
    ----------
    at
        The present point, at which the slopes were measured.
    support, differences
        What the run has met and learned. Slopes and kinks of the support are brought up to date.
    start
        Where the run began.
    rate
        The decrease that a query brings elsewhere.

    Returns
    -------
    Point
        The present point, moved onto kinks where f fell.
    """
    least = max(Corner.LEAST * rate, differences.rounding / constants.SMALL)
    for suspect in support.suspects(at):
        # Noise would blur what tells a kink from a bend.
        if differences.noise or support.kinks.rate * suspect.depth <= least:
            break
        at = yield from support.locate(at, suspect, start)
    return at
