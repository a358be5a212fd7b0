"""One point of a screening: the effects of the coordinates known, and then what else there is.

All is in units of the box: a coordinate z that goes from end to end changes by one, and a derivative is an
effect. What mattered at the points before is measured first, by a difference each; then one query displaces
everything else, and only if that answers by more than background is there a search among the rest.
"""

from __future__ import annotations

import numpy as np

from gracezo.core.asks import Point, Steps
from gracezo.core.keys import Key
from gracezo.core.method import Problem
from gracezo.core.result import GradientEstimate
from gracezo.core.steps import at_most
from gracezo.core.types import FloatArray, IntArray
from gracezo.sensitivity.gradients import Points
from gracezo.sensitivity.table import Effects
from gracezo.vectors.columns import Search
from gracezo.vectors.estimate import measured, outputs_of, scalars
from gracezo.vectors.found import Columns
from gracezo.vectors.space import Space, reach

_SIGNIFICANT = 3.0  # times its error: what everything else together may answer


class OneOutput:
    """Looks at a function with one output.

    Parameters
    ----------
    problem
        What is known, in units of the box.
    leave
        Share of the squared effects that is not worth a query.
    """

    def __init__(self, problem: Problem, leave: float) -> None:
        self._points = Points(problem, leave)
        self._d = problem.d

    @property
    def noise(self) -> FloatArray:
        """The standard deviation of the noise of f, as far as it is known."""
        return np.array([self._points.noise])

    @property
    def lost(self) -> bool:
        """Whether the last look has not told what there is."""
        return self._points.lost

    def go_on_from(self, other: OneOutput | ManyOutputs) -> None:
        """Take what was learned of the same function along other coordinates."""
        assert isinstance(other, OneOutput)
        self._points.go_on_from(other._points)

    def look(
        self, at: Point, key: Key, known: IntArray, here: Effects | None = None, most: int | None = None
    ) -> Steps[Effects]:
        """Return the effects at a point: of the coordinates known, of those found `here`, and of others.

        By `most` queries at most; if not given, all is measured where nothing stands out.
        """
        given = None
        if here is not None and here.values:
            names = np.array(sorted(here.values))
            values, errors = (np.array([one[j][0] for j in names]) for one in (here.values, here.errors))
            given = GradientEstimate(self._d, names, values, errors)
        steps = self._points.estimate(_alone(at), key, known, given, whole=most is None)
        found = yield from scalars(steps if most is None else at_most(steps, most))
        inside = float(found.values @ found.values)
        outside = inside * found.residual / (1.0 - found.residual) if found.residual < 1.0 else np.nan
        return _effects(found, outside, found.background)

    def measure(self, at: Point, coordinates: IntArray) -> Steps[Effects]:
        """Return the effects of some coordinates alone, at a point that was looked at before."""
        return _effects((yield from scalars(self._points.measure(_alone(at), coordinates))), 0.0, 0.0)


def _alone(at: Point) -> Point:
    return Point(at.x, float(outputs_of(at)[0]))


def _effects(found: GradientEstimate, outside: float, background: float) -> Effects:
    names = found.indices.tolist()
    return Effects(
        dict(zip(names, found.values[:, None], strict=True)),
        dict(zip(names, np.nan_to_num(found.errors)[:, None], strict=True)),
        np.array([outside]),
        np.array([background]),
    )


class ManyOutputs:
    """Looks at a function with many outputs.

    Parameters
    ----------
    problem
        What is known, in units of the box.
    leave
        Share of the squared effects that is not worth a query.
    """

    def __init__(self, problem: Problem, leave: float) -> None:
        self._problem = problem
        self._leave = leave
        self._ones = np.ones(problem.d)
        self._first: Columns | None = None

    @property
    def noise(self) -> FloatArray:
        """The standard deviation of the noise of the outputs, as far as it is known."""
        told = np.array([self._problem.noise or 0.0])
        if self._first is None or not self._first.accuracy.noisy:
            return told
        return np.asarray(np.maximum(told, self._first.accuracy.deviations))

    @property
    def lost(self) -> bool:
        """Whether the last look has not told what there is: it measures all then."""
        return False

    def go_on_from(self, other: OneOutput | ManyOutputs) -> None:
        """Take what was learned of the same function along other coordinates."""
        assert isinstance(other, ManyOutputs)
        self._first = other._first

    def look(
        self, at: Point, key: Key, known: IntArray, here: Effects | None = None, most: int | None = None
    ) -> Steps[Effects]:
        """Return the effects at a point: of the coordinates known, of those found `here`, and of others."""
        outputs = outputs_of(at)
        m = len(outputs)
        problem, first = self._problem, self._first
        seen = here or Effects({}, {}, np.zeros(m), np.zeros(m))
        if first is not None and len(known):
            seen = _merged(seen, (yield from self.measure(at, known)))
        known = np.array(list(seen.values), np.int64)
        space = Space.around(at.x, self._ones, problem.bounds, known, key)
        if len(space) == 0:
            return seen
        noise = None if problem.noise is None else np.broadcast_to(problem.noise, outputs.shape)
        search = Search(at, space, problem.batch, float(np.sqrt(self._leave)), noise)
        if first is not None:
            significant = yield from search.glance(first.accuracy)
            if significant < _SIGNIFICANT:
                return _left(seen, first, 0.0)
        found = yield from search.run()
        if found is None:
            return Effects(seen.values, seen.errors, np.full(m, np.nan), seen.background)
        if first is None:
            self._first = found
        if found.dense:
            return _merged(seen, (yield from self._measured(at, np.sort(space.order), found)))
        names = found.indices.tolist()
        # Those of all columns together rest on few answers, which may fit better than they are.
        length = reach(at.x, self._ones, problem.bounds)[found.indices]
        alone = found.accuracy.errors(found.values * length, 1)[:, None] / length
        new = Effects(
            dict(zip(names, found.values.T, strict=True)),
            dict(zip(names, np.maximum(found.errors, alone).T, strict=True)),
            np.zeros(m),
            np.zeros(m),
        )
        return _merged(seen, _left(new, found, found.residual))

    def measure(self, at: Point, coordinates: IntArray) -> Steps[Effects]:
        """Return the effects of some coordinates alone."""
        assert self._first is not None
        return (yield from self._measured(at, coordinates, self._first))

    def _measured(self, at: Point, coordinates: IntArray, found: Columns) -> Steps[Effects]:
        values, _ = yield from measured(at, coordinates, found.accuracy, self._ones, self._problem.bounds)
        errors = np.repeat(found.accuracy.errors(values, 1)[:, None], len(coordinates), axis=1)
        there = np.isfinite(values).all(axis=0)
        names = coordinates[there].tolist()
        m = len(values)
        return Effects(
            dict(zip(names, values.T[there], strict=True)),
            dict(zip(names, errors.T[there], strict=True)),
            np.zeros(m),
            np.zeros(m),
        )


def _merged(one: Effects, two: Effects) -> Effects:
    return Effects(one.values | two.values, one.errors | two.errors, two.outside, two.background)


def _left(seen: Effects, found: Columns, residual: float) -> Effects:
    """Add what is left outside: a share of the squares, or the background if that is more."""
    tail: FloatArray = found.accuracy.tail
    inside = sum((values**2 for values in seen.values.values()), np.zeros(len(tail)))
    share = inside * residual / (1.0 - residual) if residual < 1.0 else inside
    outside = np.maximum(share, len(found.space) * tail**2)
    return Effects(seen.values, seen.errors, outside, tail)
