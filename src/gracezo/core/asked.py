"""The ask that is being answered: what has come of each of its rows, and which are still open."""

from __future__ import annotations

import math

import numpy as np

from gracezo.core.asks import Ask
from gracezo.core.errors import EvaluationFailure
from gracezo.core.types import IntArray


class Asked:
    """One ask, as it goes out.

    Attributes
    ----------
    ask
        All of it.
    values
        The answers so far, NaN where there is none.
    missing
        How many rows are still to be answered.
    failed
        Rows whose evaluation has failed: the number of the query, and why.
    lost
        Rows that were lost with their workers, to be asked again.
    given
        Which rows were given out last; None if it was all of them.
    """

    __slots__ = ("ask", "failed", "given", "lost", "missing", "values")

    def __init__(self, ask: Ask, rows: int) -> None:
        self.ask = ask
        self.values = [math.nan] * rows
        self.missing = rows
        self.failed: dict[int, tuple[int, EvaluationFailure]] = {}
        self.lost: list[int] = []
        self.given: IntArray | None = None

    def open(self) -> Ask:
        """Return it, less the rows that are answered."""
        self.given = None
        if self.missing == len(self.values):
            return self.ask
        self.given = np.array(
            [
                row
                for row, value in enumerate(self.values)
                if math.isnan(value) and row not in self.failed and row not in self.lost
            ]
        )
        return self.ask.take(self.given)

    def again(self, failed: list[int]) -> None:
        """Open rows that have failed once more, and those that were lost."""
        self.missing = len(failed) + len(self.lost)
        for row in failed:
            del self.failed[row]
        self.lost.clear()
