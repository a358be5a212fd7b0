"""A screening: which coordinates matter, at one point or over a box.

1. At the first point the coordinates that matter are searched for, as `estimate_gradient` and
   `estimate_jacobian` do.
2. At each further point (`points.py`) those known are measured, and one query over the rest tells whether
   there is more (`looks.py`). What is found late is measured at the earlier points, too.
3. It ends when two points in a row have shown nothing new (`table.py`), or at the number that is wanted.

When the queries run out, what was measured by then is the answer.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from gracezo.core.asks import Ask, Moved, OutOfQueries, Point, Role, Steps
from gracezo.core.keys import Key
from gracezo.core.method import Problem
from gracezo.core.result import Finish, Status
from gracezo.core.steps import in_batches
from gracezo.core.subspace import Subspace
from gracezo.core.types import FloatArray, IntArray
from gracezo.sensitivity.looks import ManyOutputs, OneOutput
from gracezo.sensitivity.points import inner, spread
from gracezo.sensitivity.table import Effects, Table
from gracezo.vectors.estimate import outputs_of

MOST = 20
"""Points at most, where their number is not given: as many as are customary for Morris' method."""


_NONE: IntArray = np.zeros(0, np.int64)


class Screen:
    """One screening.

    Parameters
    ----------
    problem
        What is known.
    widths
        What an effect is counted over: the width of the box, or a scale; zero where nothing can move.
    points
        How many points; None: as many as it takes.
    further
        The points after the first, where they are given.
    leave
        Share of the squared effects that is not worth a query.
    """

    def __init__(
        self,
        problem: Problem,
        widths: FloatArray,
        points: int | None,
        further: FloatArray | None,
        leave: float,
    ) -> None:
        self._problem = problem
        self._widths = widths
        self._free = np.flatnonzero(widths > 0.0)
        self._count = points
        self._further = further
        self._leave = leave
        self._looks: OneOutput | ManyOutputs | None = None
        self._table = Table(len(self._free))
        self._seen: list[tuple[Point, Subspace]] = []

    def cost(self, outputs: FloatArray) -> float:
        """Return the output, if there is one; of several, no point is better than another."""
        return float(outputs[0]) if len(outputs) == 1 else 0.0

    def fields(self, best: Point) -> dict[str, Any]:
        """Return what was seen."""
        fields = self._table.fields()
        return fields | {"indices": self._free[fields["indices"]]}

    # ------------------------------------------------------------ the points

    def run(self, start: Point, key: Key) -> Steps[Finish]:
        """Look at the start, and at points that go with it."""
        return in_batches(self._run(start, key), self._problem.batch)

    def _run(self, start: Point, key: Key) -> Steps[Finish]:
        at = start
        try:
            for number, x in enumerate(self._points(start.x, key.child(0))):
                if number:
                    outputs = yield from self._value(x)
                    if not np.isfinite(outputs).all():
                        continue  # it failed and was skipped
                    at = Point(x, self.cost(outputs), outputs=outputs)
                    yield Moved(at)
                yield from self._look(at, key.child(1, number))
                if self._count is None and self._table.settled:
                    break
        except OutOfQueries:
            if not self._table.rows:
                raise
            return Finish(Status.SPENT, f"the queries are spent; {self._said}")
        return Finish(Status.CONVERGED, self._said)

    def _points(self, x: FloatArray, key: Key) -> Iterator[FloatArray]:
        """Return the points, the first of them x."""
        if self._further is not None:
            return itertools.chain([x], self._further)
        box = self._problem.bounds
        if self._count == 1 or box is None:
            return iter([x])
        width = np.where(self._widths > 0.0, self._widths, 1.0)

        def placed(u: FloatArray) -> FloatArray:
            if self._looks is not None and self._looks.noisy:
                u = inner(u)  # noise asks for long differences, and these for room on both sides
            return box.clip(np.where(self._widths > 0.0, box.lower + u * width, x))

        around = spread(np.clip((x - box.lower) / width, 0.0, 1.0), key)
        later = (placed(u) for u in itertools.islice(around, 1, self._count or MOST))
        return itertools.chain([x], later)

    def _value(self, x: FloatArray) -> Steps[FloatArray]:
        """Ask for the outputs at a further point: of no use without those known there, and the rest."""
        at = Ask.at(x, Role.PROBE)
        known = len(self._table.known)
        answers = yield Ask(at.base, at.offsets, at.role, known + (known < len(self._free)))
        return np.asarray(answers[0])

    def _look(self, at: Point, key: Key) -> Steps[None]:
        """Look at a point, and back at the earlier ones for what was found late."""
        space = self._space(at.x)
        here = None
        if self._looks is None:
            made = OneOutput if len(outputs_of(at)) == 1 else ManyOutputs
            self._looks = made(space.problem(self._problem), self._leave)
            if self._problem.groups is not None:
                here = yield from self._grouped(made, self._problem.groups, at, key)
        known = self._table.known
        seen = yield from space.within(self._looks.look(space.inward(at), key, known, here))
        self._table.add(seen.plain(known))
        self._seen.append((at, space))
        for row, (earlier, there) in enumerate(self._seen):
            if len(missing := self._table.missing(row)):
                late = yield from there.within(self._looks.measure(there.inward(earlier), missing))
                self._table.rows[row].take(late)

    def _grouped(
        self, made: type[OneOutput] | type[ManyOutputs], groups: IntArray, at: Point, key: Key
    ) -> Steps[Effects]:
        """Look at groups, each moved as one, and then inside those that matter."""
        labels = np.full(self._problem.d, -1)
        labels[self._free] = np.unique(groups[self._free], return_inverse=True)[1]
        whole = Subspace.grouped(at.x, labels, self._problem.bounds, self._widths)
        first: Any = made(whole.problem(self._problem), self._leave)
        seen = (yield from whole.within(first.look(whole.inward(at), key.child(1), _NONE))).plain(_NONE)
        inside = np.sort(whole.inside(np.array(list(seen.values), np.int64)))
        places = np.searchsorted(self._free, inside)
        looks: Any = self._looks
        looks.go_on_from(first)
        if len(inside) == 0:
            return Effects({}, {}, seen.outside, seen.background)
        some = Subspace(at.x, np.arange(len(inside) + 1), inside, self._widths[inside], self._problem.bounds)
        second: Any = made(some.problem(self._problem), self._leave)
        found = (yield from some.within(second.look(some.inward(at), key.child(2), _NONE))).plain(_NONE)
        looks.go_on_from(second)
        return Effects(
            {int(places[j]): value for j, value in found.values.items()},
            {int(places[j]): error for j, error in found.errors.items()},
            found.outside,
            found.background,
        )

    def _space(self, x: FloatArray) -> Subspace:
        """Return the coordinates that can move, in units of their widths."""
        free = self._free
        return Subspace(x, np.arange(len(free) + 1), free, self._widths[free], self._problem.bounds)

    @property
    def _said(self) -> str:
        points, found = len(self._table.rows), len(self._table.known)
        return (
            f"{found:,} of {self._problem.d:,} coordinates found to matter, "
            f"at {points:,} point{'s' * (points != 1)}"
        )
