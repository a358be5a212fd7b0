"""The user's function, guarded: what comes out is a finite number or a failure."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gracezo.core.errors import EvaluationFailure
from gracezo.core.types import FloatArray


@dataclass(frozen=True)
class Objective:
    """How to call the user's function.

    Parameters
    ----------
    fun
        The function.
    args
        What it takes after the point.
    shape
        The shape of a point.
    """

    fun: Callable[..., Any]
    args: tuple[Any, ...]
    shape: tuple[int, ...]

    def one(self, x: FloatArray) -> float | EvaluationFailure:
        """Evaluate one flat point."""
        try:
            raw = self.fun(x.reshape(self.shape), *self.args)
        except EvaluationFailure as failure:  # an objective of ours, which says itself what went wrong
            return failure
        except Exception as error:  # whatever the user's code raises is a failed evaluation
            return _failure(f"the function raised {type(error).__name__}: {error}", error)
        return as_value(raw)

    def many(self, points: FloatArray) -> list[float | EvaluationFailure]:
        """Evaluate the rows of a matrix in one call."""
        count = len(points)
        try:
            raw = np.asarray(self.fun(points.reshape(count, *self.shape), *self.args))
        except Exception as error:  # whatever the user's code raises is a failed evaluation
            failure = _failure(f"the function raised {type(error).__name__}: {error}", error)
            return [failure] * count
        if raw.shape != (count,):
            failure = _failure(
                f"with vectorized=True the function must return {count} values for {count} points, "
                f"an array of shape ({count},); it returned one of shape {raw.shape}"
            )
            return [failure] * count
        return [as_value(value) for value in raw.tolist()]


def as_value(raw: object) -> float | EvaluationFailure:
    """Return a finite float, or the failure that says what was returned instead."""
    if isinstance(raw, float) and math.isfinite(raw):  # the usual case, np.float64 among it
        return float(raw)
    if np.ndim(raw) != 0 or isinstance(raw, (str, bytes)):  # type: ignore[arg-type]  # any object has an ndim
        return _failure(f"the function must return one finite number; it returned {_short(raw)}")
    try:
        value = float(raw)  # type: ignore[arg-type]  # what cannot be converted is caught
    except (TypeError, ValueError) as error:
        return _failure(f"the function must return one finite number; it returned {_short(raw)}", error)
    if not math.isfinite(value):
        return _failure(f"the function must return one finite number; it returned {value}")
    return value


def _short(raw: object) -> str:
    if isinstance(raw, np.ndarray):
        return f"an array of shape {raw.shape}"
    text = repr(raw)
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(raw).__name__})"


def _failure(message: str, cause: BaseException | None = None) -> EvaluationFailure:
    failure = EvaluationFailure(message)
    failure.__cause__ = cause
    return failure
