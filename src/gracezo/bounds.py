"""From what a user gives as bounds to a `Box`, or to an error that says what is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gracezo.core.box import Box
from gracezo.core.names import Names
from gracezo.core.places import chunks
from gracezo.core.types import BoolArray, FloatArray, IntArray

_NAMED = 3  # so many wrong coordinates are named


def checked(
    given: object, x0: FloatArray, names: Names | None = None, called: str | None = "x0"
) -> Box | None:
    """Return the box around x0, or None when it has no walls.

    Parameters
    ----------
    given
        As `minimize` takes them; or a dictionary of "lower" and "upper", as a journal keeps them.
    x0
        The start, which has to lie inside.
    names
        What its coordinates are called.
    called
        What the start is called; None: it is only there for its shape.

    Examples
    --------
    >>> import numpy as np
    >>> checked([(0, None), (None, 1)], np.zeros(2)).upper.tolist()
    [inf, 1.0]
    >>> checked((0, None), np.zeros(3)).lower.tolist()
    [0.0, 0.0, 0.0]
    """
    if given is None:
        return None
    low, high = _sides(given, x0)
    lower, upper = _numbers(low, -math.inf, x0), _numbers(high, math.inf, x0)
    if np.isneginf(lower).all() and np.isposinf(upper).all():
        return None
    box = Box.of(lower, upper, x0.size)
    start, coordinates = x0.ravel(), names or Names(x0.shape)
    unknown = _where(lambda some: np.isnan(box.lower[some]) | np.isnan(box.upper[some]), box)
    _none("bounds must be numbers, or None for no bound", unknown, box, coordinates)
    crossed = _where(lambda some: box.lower[some] > box.upper[some], box)
    _none("bounds must have low <= high", crossed, box, coordinates)
    if called is not None:
        _none(f"{called} must lie within the bounds", box.beyond(start), box, coordinates, start)
    return box


def _where(wrong: Callable[[slice], BoolArray], box: Box) -> IntArray:
    """Return the coordinates whose bounds are wrong: all, where they have one pair that is."""
    if box.lean and not wrong(slice(0, 1))[0]:
        return np.zeros(0, np.int64)
    return np.concatenate([some.start + np.flatnonzero(wrong(some)) for some in chunks(box.d)])


def _sides(given: object, x0: FloatArray) -> tuple[Any, Any]:
    """Return the lower and the upper bounds, as they were given."""
    if hasattr(given, "lb") and hasattr(given, "ub"):  # scipy.optimize.Bounds
        return given.lb, given.ub
    if isinstance(given, Mapping) and given.keys() == {"lower", "upper"}:
        return given["lower"], given["upper"]
    try:
        pairs = np.asarray(given)
    except ValueError:  # of unequal lengths
        pairs = np.zeros(0)
    if pairs.shape not in {(2,), (x0.size, 2), (*x0.shape, 2)}:
        raise ValueError(
            f"bounds must be one pair (low, high), or one for each of the {x0.size:,} coordinates of x0, or "
            f"a scipy.optimize.Bounds; given: {_described(given, pairs)}{_hint(pairs.shape, x0)}"
        )
    return pairs[..., 0], pairs[..., 1]


def _numbers(side: Any, infinite: float, x0: FloatArray) -> FloatArray:
    """Return one side of the bounds as numbers, one or d."""
    raw: npt.NDArray[Any] = np.asarray(side)
    if raw.dtype == object:
        raw = np.where([value is None for value in raw.ravel()], infinite, raw.ravel()).reshape(raw.shape)
    try:
        if raw.dtype.kind not in "biufO":
            raise TypeError
        numbers = raw.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise TypeError(
            f"bounds must be real numbers, or None for no bound; given: {str(side)[:60]}"
        ) from None
    if numbers.size == 1 or numbers.shape in {x0.shape, (x0.size,)}:
        return numbers
    raise ValueError(
        f"bounds must be one number, or one for each of the {x0.size:,} coordinates of x0; "
        f"given: an array of shape {numbers.shape}"
    )


def _none(rule: str, wrong: IntArray, box: Box, names: Names, x: FloatArray | None = None) -> None:
    """Check that no coordinate breaks a rule, or name the first that do, and where the point x has them."""
    if len(wrong) == 0:
        return
    first = wrong[:_NAMED].tolist()
    between = ["" if x is None else f"given {x[i]:g}, " for i in first]
    named = ", ".join(
        f"{names.at(i)} (low {box.lower[i]:g}, {value}high {box.upper[i]:g})"
        for i, value in zip(first, between, strict=True)
    )
    more = ", …" if len(wrong) > _NAMED else ""
    raise ValueError(f"{rule}; not so at {len(wrong):,} of {box.d:,} coordinates: {named}{more}")


def _hint(shape: tuple[int, ...], x0: FloatArray) -> str:
    """Return what may be meant by bounds of another shape."""
    if shape in {(2, x0.size), (2, *x0.shape)}:
        return " (all lower and all upper ones: scipy.optimize.Bounds(lower, upper))"
    return ""


def _described(given: object, pairs: npt.NDArray[Any]) -> str:
    return f"an array of shape {pairs.shape}" if pairs.size else f"{str(given)[:60]}"
