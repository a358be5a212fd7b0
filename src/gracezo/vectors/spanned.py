"""First steps in the span of random directions, where more parameters matter than the outputs tell apart.

m residuals are to vanish, and for that a few more than m directions with known answers are enough, whatever
d is. Those of the search are paid for. (Cartis & Roberts, *Scalable subspace methods for derivative-free
nonlinear least-squares optimization*, Mathematical Programming 199, 2023, choose directions anew each time.)
As long as it pays, nothing guards the steps:

1. A step is the shortest that promises what is aimed at. To ask less of it than that costs further steps; to
   ask more makes it many times longer, because some sums of outputs hardly answer to any direction.
2. Broyden's update lets the slopes explain every step (Mathematics of Computation 19, 1965).
3. A step is taken although it makes the cost larger, unless by very much. It is a long one, along directions
   in which little answers, and what bends throws the other outputs off; but these answer well, and the next
   step, a short one, puts them right. To go back and then less far follows the same valley in many more.
4. After a step that has not brought much, a direction is added, measured where the fit is now. The more
   there are beyond m, the shorter are the steps.

Where r bends more than that allows, the cost stops falling, and the trust region of `fit.py` has to go on.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace

import numpy as np

from gracezo.core.asks import Ask, DenseRows, Moved, OutOfQueries, Point, Role, Steps
from gracezo.core.keys import Key
from gracezo.core.method import Problem
from gracezo.core.result import Finish, Status
from gracezo.core.steps import reserving
from gracezo.core.types import FloatArray
from gracezo.vectors.directions import Directions
from gracezo.vectors.estimate import outputs_of
from gracezo.vectors.found import Columns
from gracezo.vectors.losses import Loss
from gracezo.vectors.space import Space, probed

_AIM = 3e-5  # of the cost: what is aimed at; once it is nearly reached, so much of what is left
_NEARLY = 3.0  # times what is aimed at, or promised
_BOLD = 1e-3  # of the cost: no step promises to leave less, unless the last one has kept its promise
_SURELY = 0.01  # of what is aimed at: if no more is beyond the span, it is wide enough
_MUCH = 0.3  # of the lowest cost so far: a step that leaves more has not brought much
_FAR = 100.0  # times the lowest cost so far: a step that leaves more is not taken
_OFF = 1e4  # times that: such a step tells nothing of what is near
_LONG = 1.0  # scale of the coordinates: steps that are longer need a guard
_PAYS = 0.5  # of the cost: to that it falls in as many queries as patience allows
_PATIENCE = 6  # queries, or a third as many as outputs


class Spanned:
    """Steps that move all parameters.

    Parameters
    ----------
    problem, loss, ftol
        As of the method.
    start, found
        Where it begins, and the probes that were asked there.
    key
        What its random numbers come from.
    """

    def __init__(
        self, problem: Problem, loss: Loss, ftol: float, start: Point, found: Columns, key: Key
    ) -> None:
        assert start.outputs is not None
        self._problem, self._loss, self._ftol = problem, loss, ftol
        self._key = key
        self._start, self._found = start, found
        self._turns = 0  # times that directions were asked for elsewhere
        self.at = self._here = start  # the lowest point, and where the fit is
        self._directions = Directions(found.space, found.probes, found.answers, found.accuracy.noise)
        self._course = _Course(start.value, max(_PATIENCE, len(start.outputs) // 3))

    @property
    def noisy(self) -> bool:
        """Whether the outputs are."""
        return self._found.accuracy.noisy

    @property
    def _deviations(self) -> FloatArray:
        return self._found.accuracy.deviations * float(self.noisy)

    def begin(self, kept: int) -> Steps[None]:
        """Ask for as many directions as there should be, unless the span is wide enough without.

        So many queries are kept for steps, if these end the budget.
        """
        start, space, distance = self._start, self._found.space, self._found.accuracy.distance
        assert start.outputs is not None
        weights = self._loss.weights(start.outputs)
        first = int(self._found.probes.max()) + 1
        m = len(start.outputs)
        wanted = m + max(2, math.isqrt(m) // 2)  # the steps are as long as √(m/(wanted − m))
        while (missing := wanted - len(self._directions)) > 0:
            if self._directions.beside(start.outputs, weights) <= _SURELY * _AIM:
                return
            count = min(missing, self._problem.batch)
            numbers = np.arange(first, first + count)
            first += count
            try:
                answers = yield from reserving(probed(start, space, numbers, distance, count), kept)
            except OutOfQueries:
                return
            there = np.isfinite(answers).all(axis=0)  # the others failed and were skipped
            if not there.any():
                return
            self._directions.add(space, numbers[there], answers[:, there])
            self._found = self._found.extended(numbers[there], answers[:, there])

    def run(self) -> Steps[Finish | None]:
        """Step as long as it pays; return how it has ended, or None if a guard is needed."""
        while True:
            if self.at.value <= self._ftol**2 * self._start.value:
                said = f"converged: the residual is zero, to {self._ftol:g} of the first"
                return Finish(Status.CONVERGED, said)
            if (yield from self._step()):
                continue
            if self._course.over:
                if self.noisy and self._loss.is_noise(outputs_of(self.at), self._deviations):
                    return Finish(Status.CONVERGED, "converged: the residuals are no larger than the noise")
                return None
            with suppress(OutOfQueries):  # a direction without a step after it is worth nothing
                yield from reserving(self._widen(self._problem.batch), 1)

    def _step(self) -> Steps[bool]:
        """Ask for the outputs at a step; return whether it has brought much."""
        here, bounds = self._here, self._problem.bounds
        assert here.outputs is not None
        share = self._course.share(here.value, self._loss.cost(self._deviations))
        weights = self._loss.weights(here.outputs)
        z, leaves = self._directions.step(here.outputs, weights, share)
        while np.linalg.norm(z) > _LONG and self.at is not self._start:
            share = math.sqrt(share)
            z, leaves = self._directions.step(here.outputs, weights, share)
        if leaves >= 1.0 - self._ftol or np.linalg.norm(z) > _LONG:
            self._course.end()
            return False
        move = self._directions.move(z, len(here.x))
        (outputs,) = yield Ask(here.x, DenseRows(move[None]), Role.TRIAL if self.noisy else Role.STEP)
        cost = self._loss.cost(outputs) if np.isfinite(outputs).all() else math.inf
        lowest = self.at.value
        self._course.note(cost, lowest, leaves * here.value)
        if cost <= _OFF * lowest:
            self._directions.learn(z, outputs - here.outputs)
        if not cost <= _FAR * lowest:
            self._here = self.at
            return False
        x = here.x + move if bounds is None else bounds.clip(here.x + move)
        self._here = Point(x, cost, self._loss.uncertainty(outputs, self._deviations), outputs)
        if cost < lowest:
            self.at = self._here
            yield Moved(self.at)
        return cost <= _MUCH * lowest

    def _widen(self, count: int) -> Steps[None]:
        """Measure further directions where the fit is."""
        space = self._around(self._here)
        numbers = np.arange(count)
        distance = min(self._found.accuracy.distance, space.farthest)
        answers = yield from probed(self._here, space, numbers, distance, self._problem.batch)
        self._course.spend(count)
        there = np.isfinite(answers).all(axis=0)
        self._directions.add(space, numbers[there], answers[:, there])

    def _around(self, here: Point) -> Space:
        problem, key = self._problem, self._key.child(self._turns)
        self._turns += 1
        return Space.around(here.x, problem.scale, problem.bounds, np.zeros(0, np.int64), key)

    def renewed(self) -> Steps[Columns]:
        """Return directions with their answers at the lowest point: those of the start, or others."""
        found = self._found
        if self.at is self._start:
            return found
        space, numbers = self._around(self.at), np.arange(len(found.probes))
        distance = min(found.accuracy.distance, space.farthest)
        answers = yield from probed(self.at, space, numbers, distance, self._problem.batch)
        there = np.isfinite(answers).all(axis=0)
        return replace(found, space=space, probes=numbers[there], answers=answers[:, there])


class _Course:
    """How a fit is going: what it aims at, and for how long it has brought nothing."""

    def __init__(self, first: float, patience: int) -> None:
        self._aim = _AIM * first
        self._bold = _BOLD
        self._timid = 0  # steps in a row that were not taken
        self._mark = first
        self._left = self._patience = patience  # queries in which the cost should fall

    def share(self, cost: float, noise: float) -> float:
        """Return what of the cost is to be left by the next step, and of noise in any case."""
        share = min(1.0, max(self._aim / cost, noise / cost, self._bold))
        return float(share ** (0.5**self._timid))

    def note(self, cost: float, lowest: float, promised: float) -> None:
        """Note the cost of a step beside the lowest so far, and what was promised."""
        self.spend(1)
        self._bold = self._bold**2 if cost <= _NEARLY * promised else _BOLD
        self._timid = 0 if cost <= _FAR * lowest else self._timid + 1
        lowest = min(cost, lowest)
        if lowest <= _NEARLY * self._aim:
            self._aim = _AIM * lowest
        if lowest <= _PAYS * self._mark:
            self._mark, self._left = lowest, self._patience

    def spend(self, count: int) -> None:
        """Note queries."""
        self._left -= count

    def end(self) -> None:
        """Note that there is no step to take."""
        self._left = 0

    @property
    def over(self) -> bool:
        """Whether the queries that were to bring something are spent."""
        return self._left <= 0
