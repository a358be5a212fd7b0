"""What a worker reports, in a form that can travel.

Exceptions are not sent as they are: one of the user's may not survive the
journey, and other packages change how exceptions are pickled. So a failure
travels as plain data: its message, its cause where that can be pickled and
unpickled, and the cause's traceback as text.
"""

from __future__ import annotations

import pickle
import traceback
from dataclasses import dataclass
from typing import Any, NamedTuple

from gracezo.core.errors import EvaluationFailure
from gracezo.core.run import Outcome
from gracezo.core.types import FloatArray


class WorkerTraceback(Exception):
    """Where in a worker an exception was raised, as text."""


@dataclass(frozen=True)
class Report:
    """The outcomes of some rows, in their order, and the seconds that they took."""

    outcomes: list[Outcome]
    seconds: float

    def __reduce__(self) -> tuple[Any, ...]:
        packed = [_packed(one) if isinstance(one, EvaluationFailure) else one for one in self.outcomes]
        return _arrived, (packed, self.seconds)


class _Packed(NamedTuple):
    message: str
    cause: bytes
    trace: str


def _arrived(packed: list[float | FloatArray | _Packed], seconds: float) -> Report:
    return Report([_unpacked(one) if isinstance(one, _Packed) else one for one in packed], seconds)


def _packed(failure: EvaluationFailure) -> _Packed:
    cause = failure.__cause__
    if cause is None:
        return _Packed(str(failure), b"", "")
    try:
        pickled = pickle.dumps(cause)
        pickle.loads(pickled)  # some exceptions can be pickled and not unpickled
    except Exception:  # an exception of the user's may fail in any way; its text is enough
        pickled = b""
    return _Packed(str(failure), pickled, "".join(traceback.format_exception(cause)))


def _unpacked(packed: _Packed) -> EvaluationFailure:
    failure = EvaluationFailure(packed.message)
    if packed.trace:
        cause: BaseException = WorkerTraceback(f"in a worker:\n{packed.trace}")
        try:
            original = pickle.loads(packed.cause)
        except Exception:  # nothing was sent, or its class is unknown here
            original = None
        if original is not None:
            original.__cause__ = cause
            cause = original
        failure.__cause__ = cause
    return failure
