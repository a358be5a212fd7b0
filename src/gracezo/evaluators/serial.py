"""One call of f a query, in order. The reference that every other evaluator is compared with."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from gracezo.core.asks import Ask
from gracezo.core.run import Answer
from gracezo.core.sampling import seeds_of
from gracezo.evaluators.objective import Objective


@dataclass(eq=False)
class Serial:
    """Evaluate point by point.

    With `copy`, the function gets an array of its own at every call; without,
    one read-only buffer that is valid during the call.
    """

    objective: Objective
    copy: bool = True
    unfinished: int = 0  # evaluations that had been begun when the run ended, without an answer

    def at_once(self, count: int) -> int:
        """Return how many rows may be in flight: an evaluator that says nothing may have a whole ask."""
        return 1

    def __call__(self, ask: Ask) -> Generator[list[Answer], None, None]:
        """Yield the answers in the order of the rows, one call of f at a time."""
        seeds = seeds_of(ask)
        buffer = None if self.copy else np.empty_like(ask.base)
        for row in range(len(ask)):
            if buffer is None:
                x = ask.point(row)
            else:
                ask.write(row, buffer)
                x = buffer.view()
                x.flags.writeable = False
            try:
                outcome = self.objective.one(x, None if seeds is None else seeds[row])
            except BaseException:  # an interrupt: failures are outcomes
                self.unfinished = 1
                raise
            yield [(row, outcome)]
