"""Many outputs a query: what the ledger keeps where a function answers with a vector.

The rules of this file:

- How many outputs there are, m, is learned from the first answer. Another number of them later ends
  the run before a further query, whatever `on_failure` says: two answers that cannot be compared are
  worth nothing.
- The algorithm receives a matrix, a row for each row of its ask: NaN in all of it where the evaluation
  failed and was skipped.
- What ranks points is one number, which the algorithm makes of the outputs: the cost.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeGuard

import numpy as np

from gracezo.core.asks import Point
from gracezo.core.errors import Irreparable
from gracezo.core.types import FloatArray


class ReadsOutputs(Protocol):
    """A method for functions that answer with a vector."""

    def cost(self, outputs: FloatArray) -> float:
        """Return the number that ranks points, finite or infinite."""
        ...

    def fields(self, best: Point) -> dict[str, Any]:
        """Return what the result says beside the fields that all results have, or instead of them."""
        ...


def reads_outputs(method: object) -> TypeGuard[ReadsOutputs]:
    """Whether a method is one for functions that answer with a vector."""
    return hasattr(method, "cost") and hasattr(method, "fields")


class Outputs:
    """The outputs of the ask that is being answered.

    Parameters
    ----------
    reader
        What makes a number, and a result, of them.
    count
        How many outputs there are, where that is known before the first query.
    """

    def __init__(self, reader: ReadsOutputs, count: int | None = None) -> None:
        self._reader = reader
        self._count = count
        self._rows: dict[int, FloatArray] = {}

    def take(self, row: int, outputs: FloatArray) -> float | Irreparable:
        """Keep the answer to one row; return its cost, or why the run cannot go on."""
        if self._count is None:
            self._count = len(outputs)
        elif len(outputs) != self._count:
            return Irreparable(
                f"the function returned {len(outputs):,} outputs, and {self._count:,} before: "
                f"their number must not change during a run"
            )
        self._rows[row] = outputs
        return self._reader.cost(outputs)

    def fields(self, best: Point) -> dict[str, Any]:
        """Return what the result says of the outputs."""
        return self._reader.fields(best)

    def at(self, row: int) -> FloatArray:
        """Return the answer to one row."""
        return self._rows[row]

    def matrix(self, rows: int) -> FloatArray:
        """Return the answers to all rows, NaN where there is none."""
        answers = np.full((rows, self._count or 0), np.nan)
        for row, outputs in self._rows.items():
            answers[row] = outputs
        return answers

    def clear(self) -> None:
        """Turn to the next ask."""
        self._rows = {}
