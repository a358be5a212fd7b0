"""The one door for what a function returns: a finite number, finite outputs, or a failure that says why not.

Numbers of any kind come in: Python's, NumPy's, `Decimal`, `Fraction`, whatever has a `__float__`, and an
array of one of them. Text, lists, None and complex numbers do not. Whoever evaluates, the answer is the same.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gracezo.core.errors import EvaluationFailure
from gracezo.core.types import FloatArray

_NOT_REAL = (str, bytes, bytearray, list, tuple, complex, np.complexfloating, type(None))


def as_value(raw: object) -> float | EvaluationFailure:
    """Return a finite float, or the failure that says what was returned instead.

    Examples
    --------
    >>> import numpy as np
    >>> from fractions import Fraction
    >>> as_value(Fraction(1, 4)), as_value(np.array([0.5]))
    (0.25, 0.5)
    >>> as_value("3")
    EvaluationFailure("the function must return one finite number; it returned '3' (str)")
    """
    if isinstance(raw, float) and math.isfinite(raw):  # the usual case, np.float64 among it
        return float.__float__(raw)  # a class of the user's may have one that does otherwise
    try:
        value = float(_alone(raw))
    except Exception as error:  # whatever the user's object raises
        told = f"the function must return one finite number; it returned {_short(raw)}{_hint(raw)}"
        return failure(told, error)
    if not math.isfinite(value):
        return failure(f"the function must return one finite number; it returned {value}")
    return value


def as_values(raw: object, count: int) -> list[float | EvaluationFailure]:
    """Return one value for each of so many points, from what a function of many points returned."""
    try:
        given = raw if isinstance(raw, (list, tuple)) else np.asarray(_unmasked(raw))
        if not isinstance(given, np.ndarray) or given.shape == (count,):
            rows = list(given)
            if len(rows) == count:
                return [as_value(row) for row in rows]
        shape = given.shape if isinstance(given, np.ndarray) else (len(given),)
        told = failure(
            f"with vectorized=True the function must return {count} values for {count} points, "
            f"an array of shape ({count},); it returned one of shape {shape}"
        )
    except Exception as error:  # whatever the user's object raises
        told = failure(
            f"with vectorized=True the function must return {count} values for {count} points; "
            f"it returned {_short(raw)}",
            error,
        )
    return [told] * count


def as_outputs(raw: object) -> FloatArray | EvaluationFailure:
    """Return finite outputs as a vector of their own, or the failure that says what was returned instead."""
    try:
        given = np.asarray(_unmasked(raw))
        if given.dtype.kind == "O" and given.ndim == 1:  # Decimal, Fraction and the like
            given = np.array([float(_alone(one)) for one in given])
    except Exception as error:  # lists of unequal lengths, objects that refuse
        return failure(f"the function must return a vector of numbers; it returned {_short(raw)}", error)
    if given.ndim == 2 and given.shape[1] == 1:  # a column
        given = given[:, 0]
    if given.dtype.kind not in "biuf" or given.ndim > 1:
        kind = f"an array of {given.dtype}, shape {given.shape}" if given.ndim else _short(raw)
        hint = " (its .ravel() is a vector)" if given.ndim > 1 else ""
        return failure(f"the function must return a vector of real numbers; it returned {kind}{hint}")
    outputs = np.array(given, np.float64, ndmin=1)  # a copy: the function may use its own array again
    if len(outputs) == 0:
        return failure("the function must return at least one number; it returned an empty vector")
    bad = np.flatnonzero(~np.isfinite(outputs))
    if len(bad):
        return failure(
            f"the function must return finite numbers; {len(bad):,} of its {len(outputs):,} outputs are not, "
            f"the first of them {outputs[bad[0]]} at index {bad[0]}"
        )
    outputs.flags.writeable = False
    return outputs


def as_rows_of_outputs(raw: object, count: int) -> list[FloatArray | EvaluationFailure]:
    """Return the outputs at each of so many points, from what a function of many points returned."""
    wanted = f"with vectorized=True the function must return a row of outputs for each of {count} points"
    try:
        rows = np.asarray(_unmasked(raw))
    except Exception as error:  # whatever the user's object raises
        return [failure(f"{wanted}; it returned {_short(raw)}", error)] * count
    if rows.ndim == 1 and len(rows) == count:  # one output
        rows = rows[:, None]
    if rows.ndim == 2 and len(rows) == count:
        return [as_outputs(row) for row in rows]
    told = f"an array of shape ({count}, m); it returned one of shape {rows.shape}"
    return [failure(f"{wanted}, {told}")] * count


def failure(message: str, cause: BaseException | None = None) -> EvaluationFailure:
    """Return a failure with its cause chained."""
    made = EvaluationFailure(message)
    made.__cause__ = cause
    return made


def raised(error: BaseException) -> EvaluationFailure:
    """Return the failure of a function that has raised an exception."""
    try:
        text = str(error)
    except Exception:  # whatever the user's exception raises
        text = "(it cannot say why)"
    by_name = isinstance(error, IndexError) and text.startswith("only integers, slices")
    by_name = by_name or (isinstance(error, AttributeError) and "numpy.ndarray" in text)
    hint = " (whatever x0 is, the function gets a NumPy array)" if by_name else ""
    if isinstance(error, (IndexError, TypeError)) and ("0-d" in text or "to scalar variable" in text):
        hint = " (x0 is one number, so that is what the function gets; d zeros are np.zeros(d))"
    return failure(f"the function raised {type(error).__name__}: {text}{hint}", error)


def _hint(raw: object) -> str:
    """Return what may be meant by something that is not one number."""
    if raw is None:
        return ": has it a return?"
    if isinstance(raw, (list, tuple)) and raw and isinstance(raw[0], (int, float, np.number)):
        return f": return its [0], if that is the value, or see gracezo.least_squares for {len(raw)} outputs"
    if isinstance(raw, np.ndarray) and raw.ndim == 1 and raw.size > 1:
        return "; for functions of many outputs there is gracezo.least_squares"
    return ""


def _alone(raw: Any) -> Any:
    """Return what can be asked for its float: a number, or the only element of an array."""
    shape = getattr(raw, "shape", ())
    if isinstance(shape, tuple) and shape != ():
        if len(shape) != 1 or shape[0] != 1:
            raise TypeError("not one number")
        raw = raw[0] if isinstance(raw, np.ndarray) or not hasattr(raw, "item") else raw.item()
    if isinstance(raw, np.ndarray):  # of no dimension
        raw = math.nan if np.ma.is_masked(raw) else raw.item()
    if isinstance(raw, _NOT_REAL):
        raise TypeError("not a real number")
    return raw


def _unmasked(raw: Any) -> Any:
    """Return an array with NaN where it is masked: what is not there is no number."""
    return raw.astype(np.float64).filled(np.nan) if np.ma.is_masked(raw) else raw


def _short(raw: object) -> str:
    kind = type(raw).__name__
    if isinstance(raw, np.ndarray):
        return f"an array of shape {raw.shape}" + f" of {raw.dtype}" * (raw.dtype.kind not in "biuf")
    try:
        text = " ".join(repr(raw).split())
    except Exception:  # whatever the user's object raises; int of too many digits, too
        return f"a {kind}"
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({kind})"
