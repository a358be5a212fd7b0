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
    """

    __slots__ = ("_given", "ask", "failed", "lost", "missing", "values")

    def __init__(self, ask: Ask, rows: int) -> None:
        self.ask = ask
        self.values = [math.nan] * rows
        self.missing = rows
        self.failed: dict[int, tuple[int, EvaluationFailure]] = {}
        self.lost: list[int] = []
        self._given: IntArray | None = None  # which rows were given out last; None: all

    def open(self) -> Ask:
        """Return it, less the rows that are answered."""
        self._given = None
        if self.missing == len(self.values):
            return self.ask
        self._given = np.array(
            [
                row
                for row, value in enumerate(self.values)
                if math.isnan(value) and row not in self.failed and row not in self.lost
            ]
        )
        return self.ask.take(self._given)

    def arrived(self, given: int) -> int:
        """Return which row it is that has come back, of those that were given out last."""
        self.missing -= 1
        return given if self._given is None else int(self._given[given])

    def again(self, failed: list[int]) -> None:
        """Open rows that have failed once more, and those that were lost."""
        self.missing = len(failed) + len(self.lost)
        for row in failed:
            del self.failed[row]
        self.lost.clear()
