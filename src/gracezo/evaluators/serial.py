"""One call of f a query, in order. The reference that every other evaluator is compared with."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from gracezo.core.asks import Ask
from gracezo.core.run import Answer
from gracezo.core.sampling import seeds_of
from gracezo.evaluators.objective import Objective


@dataclass(frozen=True)
class Serial:
    """Evaluate point by point.

    With `copy`, the function gets an array of its own at every call; without,
    one read-only buffer that is valid during the call.
    """

    objective: Objective
    copy: bool = True

    def at_once(self, count: int) -> int:
        """Return how many rows may be in flight: an evaluator that says nothing may have a whole ask."""
        return 1

    def __call__(self, ask: Ask) -> Generator[list[Answer], None, None]:
        """Yield the answers in the order of the rows, one call of f at a time."""
        seeds, one = seeds_of(ask), self.objective.one
        if self.copy:
            for row in range(len(ask)):
                yield [(row, one(ask.point(row), None if seeds is None else seeds[row]))]
        else:
            buffer = np.empty_like(ask.base)
            shown = buffer.view()
            shown.flags.writeable = False
            for row in range(len(ask)):
                ask.write(row, buffer)
                yield [(row, one(shown, None if seeds is None else seeds[row]))]
