"""Where a run stands: the best point that may be its answer, and the iterates that led there.

The best point is the lowest of those that may answer. Where values have errors, the lowest is the luckiest:
the best point is then where the method has moved last. A whole set of coordinates that was moved at once
must be lower by its margin, a share of the decrease so far.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gracezo.core.asks import Ask, Point
from gracezo.core.places import Place
from gracezo.core.result import Trace, changed
from gracezo.core.types import FloatArray, record


@record
class Reached:
    """The point of one row of an ask, with its value; as a `Point`, it would be written down."""

    ask: Ask
    row: int
    value: float
    outputs: FloatArray | None
    error: float = 0.0

    def point(self) -> Point:
        """Return it written down."""
        return Point(self.ask.reached(self.row), self.value, outputs=self.outputs)


class Standing:
    """The best point and the trace of one run; `target` is the value that ends it."""

    def __init__(self, target: float | None) -> None:
        self._best: Point | Reached | None = None
        self._target = target
        self._broad = False  # whether a whole set of coordinates has moved there
        self._moves: list[tuple[int, float]] = []

    @property
    def best(self) -> Point | None:
        """The best point, if there is one: written down when somebody wants to know."""
        if isinstance(self._best, Reached):
            self._best = self._best.point()
        return self._best

    def betters(self, value: float, margin: float) -> bool:
        """Whether a value is low enough to be the best, given the margin of its role."""
        if self._best is None:
            return value < math.inf
        fallen = self._moves[0][1] - self._best.value if self._moves else 0.0
        return value < self._best.value - (0.0 if self._broad else margin * fallen)

    def take(self, point: Point | Reached, margin: float) -> None:
        """Let a point be the best."""
        self._best, self._broad = point, margin > 0.0

    def move(self, queries: int, to: Point) -> None:
        """Note an iterate, reached after so many queries."""
        if self._best is None or to.error > 0.0 or to.value < self._best.value:
            self._best, self._broad = to, False
        self._moves.append((queries, to.value))

    @property
    def begun(self) -> bool:
        """Whether there is an iterate."""
        return bool(self._moves)

    @property
    def nit(self) -> int:
        """Steps made."""
        return max(0, len(self._moves) - 1)

    @property
    def target_reached(self) -> bool:
        """Whether the best point is at the target, its error considered."""
        best = self._best
        return self._target is not None and best is not None and best.value + 2.0 * best.error <= self._target

    def fields(self, start: FloatArray, shape: tuple[int, ...]) -> dict[str, Any]:
        """Return what the result says of the way from `start` to the best point."""
        best = self.best or Point(start, math.nan)
        support, change = changed(start, best.x)
        return {
            **_whole(best.x, shape),
            "fun": best.value,
            "fun_error": best.error,
            "nit": self.nit,
            "support": support,
            "change": (support, change),
            "trace": self.trace,
        }

    @property
    def trace(self) -> Trace:
        """The value of each iterate, and the queries that had been made."""
        moves = np.array(self._moves, dtype=np.float64).reshape(-1, 2)
        return Trace(queries=moves[:, 0].astype(np.int64), values=moves[:, 1])


def _whole(x: FloatArray, shape: tuple[int, ...]) -> dict[str, object]:
    """Return a point as the result has it: whole, or as it is where the start is sparse."""
    if isinstance(x, Place):
        return {"_reached": x} if x.lean else {"x": x.dense().reshape(shape)}
    return {"x": x.reshape(shape).copy()}
