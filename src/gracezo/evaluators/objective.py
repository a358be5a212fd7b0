"""The user's function, guarded: what comes out is a finite number or a failure."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gracezo.core.errors import EvaluationFailure
from gracezo.core.run import Outcome
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
    many_outputs
        Whether it answers with a vector.
    """

    fun: Callable[..., Any]
    args: tuple[Any, ...]
    shape: tuple[int, ...]
    many_outputs: bool = False

    def one(self, x: FloatArray, seed: int | None = None) -> Outcome:
        """Evaluate one flat point, with a seed if the function takes one."""
        try:
            if seed is None:
                raw = self.fun(x.reshape(self.shape), *self.args)
            else:
                raw = self.fun(x.reshape(self.shape), *self.args, seed=seed)
        except EvaluationFailure as failure:  # an objective of ours, which says itself what went wrong
            return failure
        except Exception as error:  # whatever the user's code raises is a failed evaluation
            return _failure(f"the function raised {type(error).__name__}: {error}", error)
        return as_outputs(raw) if self.many_outputs else as_value(raw)

    def many(self, points: FloatArray, seeds: list[int] | None = None) -> list[Outcome]:
        """Evaluate the rows of a matrix in one call, with an array of seeds if the function takes one."""
        count = len(points)
        given = {} if seeds is None else {"seed": np.array(seeds)}
        try:
            raw = np.asarray(self.fun(points.reshape(count, *self.shape), *self.args, **given))
        except Exception as error:  # whatever the user's code raises is a failed evaluation
            failure = _failure(f"the function raised {type(error).__name__}: {error}", error)
            return [failure] * count
        if self.many_outputs:
            if raw.ndim == 2 and len(raw) == count:
                return [as_outputs(row) for row in raw]
            failure = _failure(
                f"with vectorized=True the function must return a row of outputs for each of {count} points, "
                f"an array of shape ({count}, m); it returned one of shape {raw.shape}"
            )
            return [failure] * count
        if raw.shape != (count,):
            failure = _failure(
                f"with vectorized=True the function must return {count} values for {count} points, "
                f"an array of shape ({count},); it returned one of shape {raw.shape}"
            )
            return [failure] * count
        return [as_value(value) for value in raw.tolist()]


def takes_seed(fun: Callable[..., Any]) -> bool:
    """Whether a function asks for a seed: by a keyword of that name that it cannot be called without.

    >>> def simulate(x, *, seed): ...
    >>> takes_seed(simulate), takes_seed(lambda x, seed=0: 0.0)
    (True, False)
    """
    try:
        seed = inspect.signature(fun).parameters.get("seed")
    except (TypeError, ValueError):  # a built-in does not say
        return False
    return seed is not None and seed.kind is seed.KEYWORD_ONLY and seed.default is seed.empty


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


def as_outputs(raw: object) -> FloatArray | EvaluationFailure:
    """Return finite outputs as a vector of their own, or the failure that says what was returned instead."""
    try:
        given = np.asarray(raw)
    except Exception as error:  # lists of unequal lengths, objects that refuse
        return _failure(f"the function must return a vector of numbers; it returned {_short(raw)}", error)
    if given.dtype.kind not in "biuf" or given.ndim > 1:
        kind = f"an array of {given.dtype}, shape {given.shape}" if given.ndim else _short(raw)
        return _failure(f"the function must return a vector of real numbers; it returned {kind}")
    outputs = np.array(given, np.float64, ndmin=1)  # a copy: the function may use its own array again
    if len(outputs) == 0:
        return _failure("the function must return at least one number; it returned an empty vector")
    bad = np.flatnonzero(~np.isfinite(outputs))
    if len(bad):
        return _failure(
            f"the function must return finite numbers; {len(bad):,} of its {len(outputs):,} outputs are not, "
            f"the first of them {outputs[bad[0]]} at index {bad[0]}"
        )
    outputs.flags.writeable = False
    return outputs


def _short(raw: object) -> str:
    if isinstance(raw, np.ndarray):
        return f"an array of shape {raw.shape}"
    text = repr(raw)
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(raw).__name__})"


def _failure(message: str, cause: BaseException | None = None) -> EvaluationFailure:
    failure = EvaluationFailure(message)
    failure.__cause__ = cause
    return failure
