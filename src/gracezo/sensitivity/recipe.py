"""A screening: which coordinates matter, at one point or over a box.

1. At the first point the coordinates that matter are searched for, as `estimate_gradient` and
   `estimate_jacobian` do.
2. At each further point (`points.py`) those known are measured, and one query over the rest tells whether
   there is more (`observer.py`). What is found late is measured at the earlier points, too.
3. It ends when two points in a row have shown nothing new (`table.py`), or at the number that is wanted; and
   if then all that was not found, moved by half of the box at once, changes f by no more than background.

Interactions, where they are asked for, come last: of the coordinates that matter, at the same points
(`pairs.py`). When the queries run out, what was measured by then is the answer.
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
from gracezo.core.steps import in_batches, relayed
from gracezo.core.types import FloatArray, IntArray
from gracezo.sensitivity.observer import Observer
from gracezo.sensitivity.pairs import Mixed
from gracezo.sensitivity.points import spread
from gracezo.sensitivity.table import Table, summary
from gracezo.vectors.estimate import outputs_of

MOST = 20
"""Points at most, where their number is not given: as many as are customary for Morris' method."""
_LARGEST = 1e120  # magnitude of an output: effects are squared, and some are larger than the output


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
    interactions
        Whether pairs that act together are looked for.
    """

    def __init__(
        self,
        problem: Problem,
        widths: FloatArray,
        points: int | None,
        further: FloatArray | None,
        leave: float,
        interactions: bool,
    ) -> None:
        self._problem = problem
        self._widths = widths
        self._free = np.flatnonzero(widths > 0.0)
        self._count = points
        self._further = further
        self._observer = Observer(problem, widths, self._free, leave, points)
        self._table = Table(len(self._free))
        self._seen: list[Point] = []
        self._spent = False
        self._mixed: Mixed | None = None
        if interactions:
            assert problem.bounds is not None, "that was looked at before"
            self._mixed = Mixed(problem.bounds)

    def cost(self, outputs: FloatArray) -> float:
        """Return the output, if there is one; of several, no point is better than another."""
        return float(outputs[0]) if len(outputs) == 1 else 0.0

    def fields(self, best: Point) -> dict[str, Any]:
        """Return what was seen."""
        fields = self._table.fields()
        fields |= {"indices": self._free[fields["indices"]]}
        if self._mixed is not None:
            fields |= {f"pair_{name}": value for name, value in self._mixed.fields().items()}
        return fields

    # ------------------------------------------------------------ the points

    def run(self, start: Point, key: Key) -> Steps[Finish]:
        """Look at the start, and at points that go with it."""
        return in_batches(relayed(self._run(start, key), self._asked), self._problem.batch)

    def _asked(self, ask: Ask) -> Steps[FloatArray]:
        """Ask; note when that cannot be afforded: looks end with what they know then."""
        try:
            return (yield ask)
        except OutOfQueries:
            self._spent = True
            raise

    def _run(self, start: Point, key: Key) -> Steps[Finish]:
        size = np.abs(outputs_of(start))
        if ((size > _LARGEST) | ((size > 0.0) & (size < 1.0 / _LARGEST))).any():
            sizes = " to ".join(dict.fromkeys(f"{one:.1g}" for one in (size.min(), size.max())))
            return Finish(Status.STUCK, f"outputs of {sizes} have squares beyond numbers: scale them")
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
                settled = self._count is None and self._table.settled
                if settled and not (yield from self._look_far(at, key.child(2, number))):
                    break
            else:
                yield from self._look_far(at, key.child(2))
            if self._mixed is not None:
                yield from self._mixed.run(self._important, self._seen, self._observer.pairs(), key.child(3))
        except OutOfQueries:
            if not self._table.rows:
                raise
        if self._spent:
            return Finish(Status.SPENT, self._said)
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

    @property
    def _important(self) -> IntArray:
        """The coordinates that matter, for one output at least."""
        said = summary(self._table.fields())
        which: IntArray = said["indices"][said["important"].any(axis=0)]
        return self._free[which]

    def _look(self, at: Point, key: Key) -> Steps[None]:
        """Look at a point, and back at the earlier ones for what was found late."""
        known = self._table.known
        seen = yield from self._observer.look(at, key, known)
        self._table.add(seen)
        self._seen.append(at)
        yield from self._look_back(key.child(4))

    def _look_back(self, key: Key) -> Steps[None]:
        """Measure what was found late at the earlier points."""
        for row, earlier in enumerate(self._seen):
            if len(missing := self._table.missing(row)):
                late = yield from self._observer.measure(earlier, missing, key.child(row))
                self._table.rows[row].take(late)

    def _look_far(self, at: Point, key: Key) -> Steps[bool]:
        """Move all that was not found at once, far; return whether that has shown something."""
        found = yield from self._observer.look_far(at, key, self._table.known, self._table.rows[-1])
        if not found.values:
            return False
        self._table.find_late(found)
        yield from self._look_back(key.child(4))
        return True

    @property
    def _said(self) -> str:
        points, found = len(self._table.rows), len(self._table.known)
        said = (
            f"{found:,} of {self._problem.d:,} coordinates found to matter, "
            f"at {points:,} point{'s' * (points != 1)}"
        )
        if self._mixed is None:
            return said
        return f"{said}; {len(self._mixed):,} pair{'s' * (len(self._mixed) != 1)} found to act together"
