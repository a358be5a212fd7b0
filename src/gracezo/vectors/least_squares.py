"""Least squares where few parameters matter: found once, then fitted with a model that forgets nothing.

1. The columns of the Jacobian at x0 are found (`columns.py`).
2. Steps go to the minimum of a surrogate (`surrogate.py`) of the residuals in a trust region (`region.py`),
   one query each. The surrogate has the measured Jacobian and passes through all points tried.
3. The Jacobian is measured again, a difference for each column, when that pays: after as many poor steps as
   half of its price; and after one where the model says that most of the residual will stay, because there
   the gradient Jᵀr has to be right, and errors of J do not vanish with r. Then it is those columns first of
   which the model is most uncertain, and others only if that does not do.
4. One query displaces everything outside of the columns, after steps 1, 3, 7, … and before the end. If it
   answers, what has begun to matter is searched for and joins in.
5. "Converged" is said only of a point where the Jacobian was measured, where it promises no more than `ftol`
   of the cost (or its columns are orthogonal to the residual up to `gtol`), and where nothing else answers.

Where so many parameters matter that their columns cannot be told apart, the probes of the search are
directions whose answers are paid for: the fit goes on in their span, and moves all parameters. It begins
without a guard (`spanned.py`); where that does not pay, it goes on as above, and takes other directions where
these bring no more.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from gracezo.core.asks import Ask, OutOfQueries, Point, Role, Steps
from gracezo.core.keys import Key
from gracezo.core.method import Estimator, Problem
from gracezo.core.result import Finish, Status
from gracezo.core.steps import in_batches, reserving
from gracezo.core.types import FloatArray, IntArray
from gracezo.vectors.accuracy import accuracy
from gracezo.vectors.columns import Search
from gracezo.vectors.estimate import measured, outputs_of, scalars
from gracezo.vectors.fit import Fit
from gracezo.vectors.found import Columns, End
from gracezo.vectors.losses import Loss
from gracezo.vectors.space import Space, beside
from gracezo.vectors.spanned import Spanned
from gracezo.vectors.verdict import described

_LEAVE = 1e-4  # a set of coordinates that answers less than this share of the whole is left alone
_LAST = 3  # queries kept for steps in the span of the probes, if those end the budget
_CUT = "before it was known which parameters matter, the fit moved all of them, in random directions"
_DENSE = (
    "more parameters matter than the outputs tell apart (a dense Jacobian): the fit moved all parameters, "
    "in random directions, and names none of them"
)
_HIDDEN = (
    "noise or few digits hide which parameters matter, or more do than the outputs tell apart (a dense "
    "Jacobian): the fit moved all parameters, in random directions, and names none of them"
)
_BESIDE = 2**20  # number of the probe that leads to a point near by: larger than any that is asked
_AGAIN = 4  # measurements of the answer of a noisy function


class LeastSquares:
    """One run of a fit.

    Parameters
    ----------
    problem
        What is known before the first query.
    loss
        What of a residual counts.
    ftol, gtol
        When to call it converged.
    single
        What finds the gradient of a function with a single output.
    """

    def __init__(self, problem: Problem, loss: Loss, ftol: float, gtol: float, single: Estimator) -> None:
        self._problem = problem
        self._loss = loss
        self._ftol = ftol
        self._gtol = gtol
        self._single = single
        self._fit: Fit | None = None

    def cost(self, outputs: FloatArray) -> float:
        """Return the cost of residuals."""
        return self._loss.cost(outputs)

    def fields(self, best: Point) -> dict[str, Any]:
        """Return what is known of the fit at its best point."""
        fit = self._fit
        if fit is None:
            return described(best, None, None, self._loss, self._problem.bounds)
        return described(best, fit.frame, fit.model, self._loss, self._problem.bounds)

    def run(self, start: Point, key: Key) -> Steps[Finish]:
        """Fit from `start`, with asks no larger than the batch."""
        return in_batches(self._run(start, key), self._problem.batch)

    def _run(self, start: Point, key: Key) -> Steps[Finish]:
        if start.value == 0.0:
            if outputs_of(start).any():
                return Finish(Status.NOTHING_TO_FIND, "the sum of squares at x0 is too small for a number")
            return Finish(Status.CONVERGED, "converged: the residual is zero")
        if math.isinf(start.value):
            return Finish(Status.NOTHING_TO_FIND, "the sum of squares at x0 is too large for a number")
        found = yield from self._searched(start, key.child(0))
        if found is None:
            return Finish(Status.SPENT)
        cut = len(found.indices) == 0 and found.end is End.SPENT
        if cut:  # what is left is for steps in the span of the probes
            found = replace(found, end=End.DENSE)
        elif len(found.indices) == 0 and not found.dense:
            return Finish(Status.NOTHING_TO_FIND, _nothing(found))
        if found.dense:
            at, finish = yield from self._spanned(start, found, key)
            said = [_CUT if cut else _HIDDEN if found.accuracy.noisy else _DENSE]
        else:
            fit = self._fit = self._begun(start, found, key)
            finish = yield from fit.run()
            at, said = fit.at, fit.remarks
        if found.accuracy.noisy:
            finish = replace(finish, answer=(yield from self._measured_again(at)))
        return finish.adding(*said)

    def _begun(self, start: Point, found: Columns, key: Key) -> Fit:
        return Fit(self._problem, self._loss, self._ftol, self._gtol, start, found, self._search, key)

    def _spanned(self, start: Point, found: Columns, key: Key) -> Steps[tuple[Point, Finish]]:
        """Fit in the span of the probes; return the lowest point, too."""
        fit: Spanned | Fit
        fit = spanned = Spanned(self._problem, self._loss, self._ftol, start, found, key.child(3))
        try:
            yield from spanned.begin(_LAST)
            finish = yield from spanned.run()
            if finish is None:
                fit = self._begun(spanned.at, (yield from spanned.renewed()), key)
                finish = yield from fit.run()
        except OutOfQueries:
            finish = Finish(Status.SPENT)
        return fit.at, finish

    def _searched(self, at: Point, key: Key) -> Steps[Columns | None]:
        """Find the columns at the start; of a single output, by the search for a gradient."""
        space = Space.around(at.x, self._problem.scale, self._problem.bounds, np.zeros(0, np.int64), key)
        if len(outputs_of(at)) > 1:
            if self._problem.support is not None:
                return (yield from self._suspected(at, space, self._problem.support))
            return (yield from reserving(self._at_the_start(at, space, key), _LAST))
        try:
            seen, probes, answers = yield from accuracy(at, space, self._noise(at), 0)
            alone = Point(at.x, float(outputs_of(at)[0]))
            gradient = yield from scalars(self._single.estimate(alone, 1, key))
        except OutOfQueries:
            return None
        return Columns.of_gradient(gradient, seen, space, probes, answers)

    def _at_the_start(self, at: Point, space: Space, key: Key) -> Steps[Columns | None]:
        """Search at the start; where it has kinks, beside it."""
        found = yield from self._search(at, space, cautious=True).run()
        if found is None or found.end is not End.KINKED:
            return found
        try:
            there = yield from beside(at, space, _BESIDE)
        except OutOfQueries:
            return found
        if there is None:
            return found
        none = np.zeros(0, np.int64)
        space = Space.around(there.x, self._problem.scale, self._problem.bounds, none, key.child(1))
        found_there = yield from self._search(there, space, cautious=True).run()
        return found if found_there is None else found_there

    def _suspected(self, at: Point, space: Space, support: IntArray) -> Steps[Columns | None]:
        """Measure the columns that the user suspects; what else matters joins as in any fit."""
        support = support[np.isin(support, space.order)]
        try:
            seen, probes, answers = yield from accuracy(at, space, self._noise(at), 0)
            values, errors = yield from measured(at, support, seen, self._problem.scale, self._problem.bounds)
        except OutOfQueries:
            return None
        there = np.isfinite(values).all(axis=0) & (np.abs(values) > 3.0 * errors).any(axis=0)
        return Columns.measured(
            support[there], values[:, there], errors[:, there], seen, space, probes, answers
        )

    def _search(self, at: Point, space: Space, *, cautious: bool = False) -> Search:
        return Search(at, space, self._problem.batch, _LEAVE, self._noise(at), cautious=cautious)

    def _noise(self, at: Point) -> FloatArray | None:
        noise = self._problem.noise
        return None if noise is None else np.full(len(outputs_of(at)), noise)

    def _measured_again(self, at: Point) -> Steps[Point]:
        """Measure the answer of a noisy function anew: the lowest of noisy values is the luckiest."""
        try:
            answers = yield Ask.at(at.x, Role.AGAIN, _AGAIN)
        except OutOfQueries:
            return at
        there = answers[np.isfinite(answers[:, 0])]
        if len(there) == 0:
            return at
        costs = np.array([self.cost(one) for one in there])
        error = float(costs.std(ddof=1) / math.sqrt(len(costs))) if len(costs) > 1 else at.error
        return Point(at.x, float(costs.mean()), error, there.mean(axis=0))


def _nothing(found: Columns) -> str:
    if found.accuracy.flat:
        return "nothing to find: no output changes with any coordinate, moved by as much as its scale"
    if found.complete:
        return "nothing to find: outputs bend, but none has a slope at x0; begin elsewhere"
    if found.accuracy.too_noisy:
        return "nothing was found: noise is as large as the answers; a larger scale would help"
    return "nothing was found: the answers are not those of few columns, nor of many"
