"""Errors of a run. Wrong input is a plain ValueError or TypeError, raised before any query."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gracezo.core.result import Result


class EvaluationError(RuntimeError):
    """An evaluation of the objective failed; what was paid for is in `result`.

    Attributes
    ----------
    query : int
        The number of the failed query, counted from 1.
    result : Result
        The best so far, as `minimize` would have returned it, with status 3.

    Examples
    --------
    >>> import gracezo
    >>> try:
    ...     gracezo.minimize(lambda x: None, [0.0, 0.0], method="fdsa", max_queries=9)
    ... except gracezo.EvaluationError as error:
    ...     print(error.query, error.result.status)
    1 3
    """

    def __init__(self, message: str, query: int, result: Result) -> None:
        super().__init__(message)
        self.query = query
        self.result = result


class EvaluationFailure(Exception):
    """One evaluation gave no usable value: raised where the objective is called, with its cause chained."""


class Irreparable(EvaluationFailure):
    """A failure that ends the run whatever its rule for failures says."""


class WorkersLost(RuntimeError):
    """Those who evaluate are gone: no further answer can come. Raised by an evaluator, its cause chained."""
