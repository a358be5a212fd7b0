"""Counts the calls of a function by itself, and keeps what a claim about the run can be checked against."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np

from gracezo.core.types import FloatArray, IntArray

Function = Callable[[FloatArray], float]


class Meter:
    """A function that remembers what it was asked.

    Attributes
    ----------
    calls
        How often it was asked.
    records
        (calls, value) whenever a value was lower than all before.
    strange
        Calls with a coordinate that is not finite.
    outside
        Calls outside of the bounds, if there are any.

    Without `points` no points are looked at, which takes time where they are long.
    """

    def __init__(
        self,
        fun: Function,
        x0: FloatArray,
        bounds: tuple[FloatArray, FloatArray] | None = None,
        *,
        points: bool = True,
    ) -> None:
        self._fun, self._x0, self._bounds = fun, x0, bounds
        self._digest = hashlib.sha256()
        self._moved: list[IntArray | None] = []
        self._values: list[float] = []
        self._points = points
        self.calls = self.strange = self.outside = 0
        self.records: list[tuple[int, float]] = []

    def __call__(self, x: FloatArray) -> float:
        """Return f(x)."""
        self.calls += 1
        if self._points:
            self._keep(x)
        self.strange += not np.isfinite(x).all()
        if self._bounds is not None:
            self.outside += bool((x < self._bounds[0]).any() or (x > self._bounds[1]).any())
        with np.errstate(all="ignore"):  # a user's function may overflow
            value = float(self._fun(x))
        if not self.records or value < self.records[-1][1]:
            self.records.append((self.calls, value))
        if len(self._moved) > len(self._values):
            self._values.append(value)
        return value

    def _keep(self, x: FloatArray) -> None:
        """Keep what is asked of a point, not the point: its digest, and the coordinates it moves if few."""
        self._digest.update(np.ascontiguousarray(x).tobytes())
        if len(self._moved) < 5_000:
            moved = np.flatnonzero(x != self._x0)
            self._moved.append(moved if len(moved) <= 300 else None)

    @property
    def digest(self) -> str:
        """A name for the points asked, in their order, bit for bit."""
        return self._digest.hexdigest()[:12]

    @property
    def lowest(self) -> float:
        """The lowest value paid for."""
        return self.records[-1][1] if self.records else np.inf

    def until(self, level: float) -> int | None:
        """Return the number of the first call whose value was at most this."""
        return next((calls for calls, value in self.records if value <= level), None)

    def lowest_within(self, support: IntArray) -> float:
        """Return the lowest value among the first 5,000 calls at points that differ from x0 on these only."""
        allowed = set(support.tolist())
        kept = zip(self._values, self._moved, strict=False)  # the last may have failed
        on_it = (value for value, moved in kept if moved is not None and allowed.issuperset(moved.tolist()))
        return min(on_it, default=np.inf)
