"""The loop of a least-squares fit: steps on the surrogate, and what keeps it true. See `least_squares.py`."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from gracezo.core.asks import Moved, Point, Role, Steps
from gracezo.core.keys import Key
from gracezo.core.method import Problem
from gracezo.core.result import Finish, Status
from gracezo.core.types import FloatArray, IntArray
from gracezo.vectors.accuracy import accuracy
from gracezo.vectors.columns import Search
from gracezo.vectors.estimate import measured, outputs_of
from gracezo.vectors.found import Columns
from gracezo.vectors.frames import Frame, Span, Support
from gracezo.vectors.losses import Loss
from gracezo.vectors.region import Region, Step
from gracezo.vectors.space import Space, probed, reach
from gracezo.vectors.surrogate import Surrogate
from gracezo.vectors.worth import Worth

_STAYS = 0.05  # of the cost: if no more can be gained, most of the residual will stay
_LITTLE = 3.0  # times the error of the cost: a promise that noise may have made, if a step did not keep it
_STUCK = 12  # rejected steps in a row from a point whose Jacobian was measured there
_UNCERTAIN = 0.1  # of the excess that uncertain slopes make: that much is left to columns not measured
_LATELY = 4  # points: of so many it is looked how many digits outputs have
_EXHAUSTED = 0.9  # of the cost: if a set of directions leaves more, others will not do better


_MISSING = "the columns found promise no further decrease, but others answer that could not be told apart"


class Fit:
    """A fit from the moment that something to move is known.

    Parameters
    ----------
    problem, loss, ftol, gtol
        As of the method.
    start, found
        Where it begins, and what was found to move there.
    search
        Makes a search of a space around a point.
    key
        What its random numbers come from.
    """

    def __init__(
        self,
        problem: Problem,
        loss: Loss,
        ftol: float,
        gtol: float,
        start: Point,
        found: Columns,
        search: Callable[[Point, Space], Search],
        key: Key,
    ) -> None:
        assert start.outputs is not None
        self._problem, self._loss = problem, loss
        self._ftol, self._gtol = ftol, gtol
        self._search = search
        self._key = key
        self._found = found
        self._first_cost = start.value
        self.at = start
        self.dense = found.dense
        self.frame: Frame
        if found.dense:
            self.frame, columns = Span(start.x, found.space, found.probes, problem.bounds), found.answers
        else:
            self.frame, columns = Support(start.x, found.indices, problem.bounds), found.values
        errors = (
            found.errors if not found.dense else found.accuracy.errors(columns, len(found.space))[:, None]
        )
        self._missing = found.missing  # whether something answers that could not be told apart
        self._worth = Worth(found, len(start.outputs))
        self._z = np.zeros(columns.shape[1])
        columns, error = self._worth.trusted(columns, errors, self._lengths(len(self._z)))
        self.model = Surrogate(self._z, start.outputs, columns, error, self._worth.deviations)
        self._join(problem.known)
        self._region = Region(loss, self.frame.limits, self._lengths(len(self._z)))
        near = self._worth.suit_sums()  # else the columns will have to be measured anew, farther away
        self._fresh = np.full(len(self._z), near)  # columns that were measured where the fit is now
        self._stays = False  # whether the model says that most of the residual will
        self._steps = 0
        self._next_look = 1
        self._poor = 0  # steps since the Jacobian was measured
        self._rejected = 0  # steps in a row
        self._turns = 0  # sets of directions, or searches
        self._turned_at = start.value  # the cost when the last set of directions was taken
        self._looked_at: FloatArray | None = None
        self._stood = [start.outputs]  # where it has been: the outputs
        self._flat = np.zeros(0, np.int64)  # coordinates that were silent near by and farther away

    def _join(self, known: tuple[FloatArray, FloatArray] | None) -> None:
        """Let the model have points that were paid for before, where they differ in what moves alone."""
        if known is None or not isinstance(self.frame, Support):
            return
        moved = known[0] != self.at.x
        moved[:, self.frame.indices] = False
        for place in np.flatnonzero(~moved.any(axis=1)):
            z = known[0][place, self.frame.indices] - self.at.x[self.frame.indices]
            if z.any():
                self.model.add(z, known[1][place])

    # ------------------------------------------------------------ the loop

    def run(self) -> Steps[Finish]:
        """Step until it is over."""
        while True:
            if self.at.value <= self._ftol**2 * self._first_cost:
                return Finish(
                    Status.CONVERGED, f"converged: the residual is zero, to {self._ftol:g} of the first"
                )
            assert self.at.outputs is not None
            self._read_digits()
            self.model.fit()
            self.model.anchor(self._z, self.at.outputs)
            step = self._region.step(self.model, self._z, self.at.value)
            newton = self._region.newton(self.model, self._z).predicted  # not cut by the region
            self._stays = max(newton, step.predicted) < _STAYS * self.at.value
            if self._measured_here and (self._is_minimum() or self._is_doubtful(step, newton)):
                if (yield from self._has_grown()):
                    continue
                if self._missing:
                    return self._stuck(_MISSING)
                return Finish(Status.CONVERGED, self._verdict())
            useful = step.predicted > (0.0 if self._measured_here else self._least)
            again = not useful
            if useful:
                again = yield from self._try(step.to, step.predicted)
            elif self._measured_here:  # the model is at odds with its own slopes: nearer it must agree
                self._region.judge(-1.0, 1.0)
                self._rejected += 1
            if self._measured_here and self._rejected >= _STUCK:
                again = self.dense
                if not again:
                    return self._stuck("steps as short as they may be bring nothing")
            if again and self.dense and self._is_noise:
                return self._stuck("")
            if ((again and not self._measured_here) or (again and self.dense)) and not (
                yield from self._measure()
            ):
                return self._stuck("these directions bring no more")

    def _try(self, to: FloatArray, predicted: float) -> Steps[bool]:
        """Ask for the outputs at a step; return whether the Jacobian is to be measured again."""
        role = Role.TRIAL if self._worth.noisy else Role.STEP
        (outputs,) = yield self.frame.ask(to, role)
        self._steps += 1
        cost = self._loss.cost(outputs) if np.isfinite(outputs).all() else math.inf
        if math.isfinite(cost):
            self.model.judge(self._z, to, outputs - self.at.outputs)
            self.model.add(to, outputs)
        brought = self.at.value - cost
        # Where most of the residual will stay, what goes far goes to a plateau, and soon too far.
        poor = self._region.judge(brought, predicted, farther=not self._stays)
        self._rejected = self._rejected + 1 if brought <= 0.0 else 0
        if brought > 0.0:
            self._z, self._fresh = to, np.zeros(len(to), np.bool_)
            error = self._loss.uncertainty(outputs, self._worth.deviations)
            self.at = Point(self.frame.point(to), cost, error, outputs)
            self._stood.append(outputs)
            yield Moved(self.at)
            if self._steps >= self._next_look and not self.dense:
                self._next_look = self._steps + 1 if (yield from self._has_grown()) else 2 * self._steps + 1
        self._poor += poor
        soon = self._stays and not self.dense
        return self._poor >= (1 if soon else max(2, len(self._z) // 2)) and not self._measured_here

    def _read_digits(self) -> None:
        """See whether outputs have few digits where the fit has come to."""
        if self._problem.noise is not None or self.dense:
            return
        slopes = np.linalg.norm(self.model.jacobian * self._lengths(len(self._z)), axis=1)
        if self._worth.read_digits(np.array(self._stood[-_LATELY:]), slopes):
            self._renoise()

    def _renoise(self) -> None:
        self.model.noise = self._worth.deviations
        self._fresh[:] = False

    # ------------------------------------------------------------ the Jacobian anew

    @property
    def _measured_here(self) -> bool:
        return bool(self._fresh.all())

    def _uncertain(self) -> IntArray:
        """Return the columns to measure: those whose errors, as the model has them, spoil the next step.

        An error of column j with the variance v makes one of |r|²v in the gradient Jᵀr, and that an excess of
        ½|r|²v(JᵀJ)⁻¹_jj in the cost.
        """
        missing = np.flatnonzero(~self._fresh)
        if not self._stays:  # steps were poor: the model does not know better
            return missing
        slopes = self.model.slopes(self._z) / self.model.effects
        inverse = np.diag(np.linalg.pinv(slopes.T @ slopes, hermitian=True)) / self.model.effects**2
        excess = (self.model.slope_variances(self._z) * inverse)[missing]
        if not (np.isfinite(excess).all() and excess.any()):
            return missing
        order = np.argsort(-excess)
        left = np.append(excess[order][::-1].cumsum()[::-1], 0.0)  # if so many are measured
        return np.sort(missing[order[: int(np.argmax(left <= _UNCERTAIN * left[0]))]])

    def _measure(self) -> Steps[bool]:
        """Measure the Jacobian where the fit is now; return whether that makes a difference."""
        if self.dense:
            return (yield from self._turned())
        assert isinstance(self.frame, Support)
        assert self.at.outputs is not None
        problem = self._problem
        chosen = self._uncertain()
        values, own = yield from measured(
            self.at, self.frame.indices[chosen], self._worth.accuracy, problem.scale, problem.bounds
        )
        silent = self.frame.indices[chosen[(values == 0.0).all(axis=0)]]
        if (yield from self._looked_closer(silent)):
            return (yield from self._measure())
        columns, variances = self.model.slopes(self._z).copy(), self.model.slope_variances(self._z)
        there = np.isfinite(values).all(axis=0)  # the others failed and were skipped
        columns[:, chosen[there]] = values[:, there]
        errors = np.zeros_like(columns)
        errors[:, chosen] = own
        columns, error = self._worth.trusted(columns, errors, self._lengths(columns.shape[1]))
        variances[self._fresh] = variances[chosen[there]] = 0.0
        self._fresh[chosen] = True
        self.model = self.model.moved(self._z, self.at.outputs, columns, error, variances)
        self._renew()
        return True

    def _looked_closer(self, silent: IntArray) -> Steps[bool]:
        """Look how far columns have to be moved that are silent here; return whether it is farther.

        Where outputs are rounded, though they did not seem to be at x0, near by nothing changes.
        """
        silent = np.setdiff1d(silent, self._flat)
        if len(silent) == 0 or self._worth.noisy or self._problem.noise is not None:
            return False
        others = np.setdiff1d(np.arange(len(self.at.x)), silent)
        problem, key = self._problem, self._key.child(4, self._steps)
        space = Space.around(self.at.x, problem.scale, problem.bounds, others, key)
        known, _, _ = yield from accuracy(self.at, space, None, 0)
        self._flat = np.union1d(self._flat, silent)  # or else they are not silent any more
        if known.flat:
            return False
        self._worth.know(known)
        self._renoise()
        return True

    def _turned(self) -> Steps[bool]:
        """Take other directions; return False if the last ones have hardly brought anything."""
        assert isinstance(self.frame, Span)
        assert self.at.outputs is not None
        if self._turns and self.at.value > _EXHAUSTED * self._turned_at:
            return False
        self._turns += 1
        self._turned_at = self.at.value
        problem = self._problem
        none = np.zeros(0, np.int64)
        key = self._key.child(2, self._turns)
        space = Space.around(self.at.x, problem.scale, problem.bounds, none, key)
        count, distance = len(self.frame.probes), min(self._worth.search.distance, space.farthest)
        columns = np.nan_to_num(
            (yield from probed(self.at, space, np.arange(count), distance, problem.batch))
        )
        self.frame = Span(self.at.x, space, np.arange(count), problem.bounds)
        self._z = np.zeros(count)
        self.model = Surrogate(self._z, self.at.outputs, columns, self.model.error, self._worth.deviations)
        self._renew()
        return True

    def _has_grown(self) -> Steps[bool]:
        """Ask whether anything outside of the columns has begun to matter; if so, let it join."""
        if self.dense or self._looked_at is self.at.x:
            return False
        assert isinstance(self.frame, Support)
        self._looked_at = self.at.x
        problem = self._problem
        self._turns += 1
        key = self._key.child(1, self._turns)
        space = Space.around(self.at.x, problem.scale, problem.bounds, self.frame.indices, key)
        if len(space) == 0:
            return False
        search = self._search(self.at, space)
        if not (yield from search.glance(self._worth.search)):
            return False
        found = yield from search.run()
        if found is None:
            return False
        self._missing = self._missing or found.missing
        if len(found.indices) == 0:
            return False
        assert self.at.outputs is not None
        self.frame = self.frame.widened(found.indices)
        self.model = self.model.widened(found.values, self.at.outputs, self._z)
        self._z = self.model.centre
        self._renew()
        self._fresh[:] = False  # the former columns are those of the model
        return True

    def _lengths(self, count: int) -> FloatArray:
        """Return the scales of what moves; a direction of the span has all of them already."""
        if not isinstance(self.frame, Support):
            return np.ones(count)
        return reach(self.frame.base, self._problem.scale, self._problem.bounds)[self.frame.indices]

    def _renew(self) -> None:
        self._region.renew(self.frame.limits, self._lengths(len(self._z)))
        self._poor, self._rejected = 0, 0
        if len(self._fresh) != len(self._z) or self.dense:
            self._fresh = np.ones(len(self._z), np.bool_)

    # ------------------------------------------------------------ the end

    @property
    def _least(self) -> float:
        """The decrease of the cost that is not worth a query: as the user says, or lost in errors.

        Slopes measured of noisy outputs promise a decrease even at a minimum: of their errors, squared.
        """
        least = max(self._ftol * self.at.value, self.at.error)
        if self._worth.noisy and isinstance(self.frame, Support):
            moved = self._worth.accuracy.distance * reach(
                self.at.x, self._problem.scale, self._problem.bounds
            )
            noise = np.where(self._worth.followed, self._worth.deviations, 0.0)
            error = self._loss.uncertainty(outputs_of(self.at), noise)
            cosines = error / (moved[self.frame.indices] * self.model.effects)
            least = max(least, float(cosines @ cosines))
        return least

    def _is_minimum(self) -> bool:
        """Whether the slopes at a point where they were measured promise no decrease."""
        if self.dense:
            return False
        if self._region.newton(self.model, self._z).predicted <= self._least:
            return True
        return self._cosine() <= self._gtol

    def _is_doubtful(self, step: Step, newton: float) -> bool:
        """Whether noise leaves open what slopes promise: too little to be seen, after a step that was."""
        return bool(
            self._worth.noisy
            and not self.dense
            and self._rejected
            and step.predicted <= self._least
            and newton <= _LITTLE * self._least
        )

    def _cosine(self) -> float:
        """Return the largest cosine between a column that can move and the residual, as in MINPACK."""
        assert self.at.outputs is not None
        weighted = self._loss.weights(self.at.outputs) * self.at.outputs
        gradient = self.model.jacobian.T @ weighted
        lower, upper = self.frame.limits
        stopped = ((self._z <= lower) & (gradient > 0.0)) | ((self._z >= upper) & (gradient < 0.0))
        norms = np.linalg.norm(self.model.jacobian, axis=0) * np.linalg.norm(weighted)
        free = ~stopped & (norms > 0.0)
        return float(np.max(np.abs(gradient[free]) / norms[free], initial=0.0))

    @property
    def _is_noise(self) -> bool:
        """Whether residuals are no larger than noise makes them."""
        return self._worth.noisy and self._loss.is_noise(outputs_of(self.at), self._worth.deviations)

    def _stuck(self, why: str) -> Finish:
        if self._is_noise:
            return Finish(Status.CONVERGED, "converged: the residuals are no larger than the noise")
        return Finish(Status.NOTHING_TO_FIND, f"stuck: {why}")

    def _verdict(self) -> str:
        if self._worth.noisy:
            return "converged: the sum of squares falls no further by more than the noise of the outputs"
        return "converged: the measured slopes promise no further decrease"

    @property
    def remarks(self) -> list[str]:
        """What to add to the message."""
        said = ["the outputs are noisy, or have few digits"] if self._worth.noisy else []
        if self._worth.unseen:
            said.append(
                f"{self._worth.unseen:,} of the outputs show no slopes but noise, and were not followed"
            )
        if self._found.background > 0.0:
            said.append("slopes too small to be named, on all other parameters, were left alone")
        return said
