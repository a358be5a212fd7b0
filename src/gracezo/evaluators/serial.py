"""One call of f a query, in order. The reference that every other evaluator is compared with."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator

from gracezo.core.asks import Ask
from gracezo.core.interrupts import listening
from gracezo.core.places import Place
from gracezo.core.run import Answer, Outcome
from gracezo.core.sampling import seeds_of
from gracezo.core.types import FloatArray
from gracezo.evaluators.objective import Objective
from gracezo.evaluators.point_buffer import PointBuffer
from gracezo.evaluators.priced import Pricing, prices, sparse, starts


class Serial:
    """Evaluate point by point.

    With `copy`, the function gets an array of its own at every call; without,
    one read-only buffer that is valid during the call.
    """

    def __init__(self, objective: Objective, copy: bool = True) -> None:
        self._objective = objective
        self._copy = copy
        self._prices = prices(objective)
        self._own = threading.local()  # buffers: of each thread one
        self.unfinished = 0
        """Evaluations that had been begun when the run ended, without an answer."""

    def __reduce__(self) -> tuple[object, ...]:
        return Serial, (self._objective, self._copy)

    def release(self) -> None:
        """Let the buffer go."""
        self._own = threading.local()

    def at_once(self, count: int) -> int:
        """Return how many rows may be in flight: an evaluator that says nothing may have a whole ask."""
        return 1

    def __call__(self, ask: Ask) -> Generator[list[Answer], None, None]:
        """Yield the answers in the order of the rows, one call of f at a time."""
        seeds, one, written = seeds_of(ask), self._objective.one, self._writing(ask)
        priced = seeds is None and self._prices
        for row in range(len(ask)):
            point = None if priced else written(ask, row)
            with listening:
                self.unfinished = 1  # unless it comes to its end: an interrupt may not let it
                if point is None:
                    outcome = self._priced(ask, row)
                else:
                    outcome = one(point, None if seeds is None else seeds[row])
            self.unfinished = 0
            yield [(row, outcome)]

    def _writing(self, ask: Ask) -> Callable[[Ask, int], FloatArray]:
        """Return what writes the points of an ask."""
        if not self._copy:
            return self._buffer.show
        return self._copied if isinstance(ask.base, Place) else Ask.point

    def _copied(self, ask: Ask, row: int) -> FloatArray:
        return self._buffer.show(ask, row).copy()

    @property
    def _buffer(self) -> PointBuffer:
        own = self._own
        if not hasattr(own, "buffer"):
            own.buffer, own.pricing = PointBuffer(), Pricing(self._objective, self._copy)
        buffer: PointBuffer = own.buffer
        return buffer

    def _priced(self, ask: Ask, row: int) -> Outcome:
        """Evaluate by prices; `at` is shown a new base, and both ways must agree at x0."""
        buffer = self._buffer
        pricing: Pricing = self._own.pricing
        shown = None
        if pricing.needs(ask) and not sparse(ask.base):
            shown = buffer.show(Ask.at(ask.base, ask.role), 0)
        outcome = pricing.one(ask, row, shown)
        return outcome if shown is None or not starts(ask) else pricing.checked(outcome, shown)
