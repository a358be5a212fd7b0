"""Many points a call, for functions that take a matrix."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from gracezo.core.asks import Ask
from gracezo.core.interrupts import listening
from gracezo.core.run import Answer
from gracezo.core.sampling import seeds_of
from gracezo.core.types import FloatArray
from gracezo.evaluators import memory
from gracezo.evaluators.objective import Objective


@dataclass(eq=False)
class Vectorized:
    """Evaluate the rows of an ask in chunks, one call of f a chunk; `copy` as in `Serial`.

    The points of a chunk take `most_bytes`, or are one.
    """

    objective: Objective
    copy: bool = True
    most_bytes: int = memory.USUAL
    unfinished: int = 0  # evaluations that had been begun when the run ended, without an answer

    def at_once(self, count: int) -> int:
        """Return how many rows may be in flight: those of one call."""
        return min(count, max(1, self.most_bytes // (8 * math.prod(self.objective.shape))))

    def __call__(self, ask: Ask) -> Generator[list[Answer], None, None]:
        """Yield the answers in the order of the rows, one call of f at a time."""
        size, seeds = len(ask.base), seeds_of(ask)
        most = min(len(ask), max(1, self.most_bytes // (8 * size)))
        buffer: FloatArray | None = None
        for start in range(0, len(ask), most):
            rows = range(start, min(start + most, len(ask)))
            if self.copy or buffer is None:
                buffer = None  # those of the last call go before these come
                buffer = np.empty((len(rows), size))
            points = buffer[: len(rows)]
            for place, row in enumerate(rows):
                ask.write(row, points[place])
            if not self.copy:
                points.flags.writeable = False
            chosen = None if seeds is None else [seeds[row] for row in rows]
            with listening:
                self.unfinished = len(rows)  # unless they come to their end: an interrupt may not let them
                outcomes = self.objective.many(points, chosen)
            self.unfinished = 0
            del points
            yield list(zip(rows, outcomes, strict=True))
