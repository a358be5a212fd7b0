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


class CallbackError(RuntimeError):
    """A callback raised an exception, which ended the run; what was paid for is in `result`.

    Attributes
    ----------
    result : Result
        The best so far, as `minimize` would have returned it, with status 2. The exception is the cause.

    Examples
    --------
    >>> import gracezo
    >>> def breaks(intermediate_result):
    ...     raise KeyError("loss")
    >>> try:
    ...     gracezo.minimize(sum, [1.0, 2.0], method="fdsa", max_queries=9, callback=breaks)
    ... except gracezo.CallbackError as error:
    ...     print(error, error.result.nfev, type(error.__cause__).__name__)
    the callback raised KeyError: 'loss' 4 KeyError
    """

    def __init__(self, message: str, result: Result) -> None:
        super().__init__(message)
        self.result = result


class MethodError(RuntimeError):
    """A method itself has failed, by an error of its own; what was paid for is in `result`.

    Attributes
    ----------
    result : Result
        The best so far, as `minimize` would have returned it, with status 3. The exception is the cause.

    Examples
    --------
    >>> import gracezo
    >>> issubclass(gracezo.MethodError, RuntimeError)
    True
    """

    def __init__(self, message: str, result: Result) -> None:
        super().__init__(message)
        self.result = result


class EvaluationFailure(Exception):
    """One evaluation gave no usable value: raised where the objective is called, with its cause chained."""


class Lost(EvaluationFailure):
    """An evaluation was lost with the worker that made it. It was paid for; the point is asked again.

    `blamed` is whether it is known to have been this evaluation that ended the worker.
    """

    def __init__(self, how: str, blamed: bool = True) -> None:
        super().__init__(how)
        self.blamed = blamed


class Irreparable(EvaluationFailure):
    """A failure that ends the run whatever its rule for failures says."""


class WorkersLost(RuntimeError):
    """Those who evaluate are gone: no further answer can come. Raised by an evaluator, its cause chained."""
