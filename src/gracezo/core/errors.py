"""Errors of a run. Wrong input is a plain ValueError or TypeError, raised before any query."""

from __future__ import annotations

import pickle
import traceback
from typing import TYPE_CHECKING, Any

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
    """One evaluation gave no usable value: raised where the objective is called, with its cause chained.

    It can travel from a worker in another process, and keeps its cause on the
    way: the exception itself where it can be pickled, its traceback as text always.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrived, (str(self), *_packed(self.__cause__))


class WorkerTraceback(Exception):
    """Where in a worker an exception was raised, as text."""


class WorkersLost(RuntimeError):
    """Those who evaluate are gone: no further answer can come. Raised by an evaluator, its cause chained."""


def _packed(cause: BaseException | None) -> tuple[bytes, str]:
    if cause is None:
        return b"", ""
    trace = "".join(traceback.format_exception(cause))
    try:
        pickled = pickle.dumps(cause)
        pickle.loads(pickled)  # some exceptions can be pickled and not unpickled
    except Exception:  # an exception of the user's may fail in any way; its text is enough
        pickled = b""
    return pickled, trace


def _arrived(message: str, pickled: bytes, trace: str) -> EvaluationFailure:
    failure = EvaluationFailure(message)
    if trace:
        cause: BaseException = WorkerTraceback(f"in a worker:\n{trace}")
        try:
            original = pickle.loads(pickled)
        except Exception:  # nothing was sent, or its class is unknown here
            original = None
        if original is not None:
            original.__cause__ = cause
            cause = original
        failure.__cause__ = cause
    return failure
