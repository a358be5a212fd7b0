"""Checks of what the user gives, made before any query is spent."""

from __future__ import annotations

import inspect
import math
import numbers
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt
from scipy.optimize import OptimizeResult

from gracezo.core.failures import DEFAULT_LIMITS, OnFailure
from gracezo.core.keys import SeedLike, draw_seed
from gracezo.core.limits import Limits
from gracezo.core.types import FloatArray, IntArray


def function(name: str, given: object) -> None:
    """Check that something can be called."""
    if not callable(given):
        raise TypeError(f"{name} must be callable; given: {clipped(given)} ({type(given).__name__})")


def objective(name: str, given: Any) -> None:
    """Check that something can be called for a value: neither a coroutine nor a generator comes of it."""
    function(name, given)
    for kind, is_one in {
        "coroutine": inspect.iscoroutinefunction,
        "generator": inspect.isgeneratorfunction,
    }.items():
        if is_one(given):
            hint = ": lambda x: asyncio.run(fun(x))" if kind == "coroutine" else ""
            raise TypeError(
                f"{name} must return a number; given: a function that returns a {kind}; wrap it in one that "
                f"runs it{hint}"
            )


def callback(given: Callable[..., object] | None) -> Callable[[OptimizeResult], object] | None:
    """Return a callback as it is to be called: with one result, by place, or by SciPy's name for it."""
    if given is None:
        return None
    function("callback", given)
    try:
        signature = inspect.signature(given)
    except (TypeError, ValueError):  # some of C's functions do not tell
        return given
    with suppress(TypeError):
        signature.bind(None)
        return given
    with suppress(TypeError):
        signature.bind(intermediate_result=None)
        return lambda result: given(intermediate_result=result)
    name = getattr(given, "__name__", type(given).__name__)
    raise TypeError(
        f"callback must take one argument, the result so far (x, fun, nit, nfev); given: {name}{signature}"
    )


def sparsity(given: object, d: int) -> int | None:
    """Return s, from 1 to d."""
    if given is None:
        return None
    s = whole("sparsity", given, 1)
    if s > d:
        raise ValueError(f"sparsity must be at most the number of coordinates, {d:,}; given: {s:,}")
    return s


def support(given: npt.ArrayLike | None, d: int) -> IntArray | None:
    """Return coordinates, distinct and ascending."""
    if given is None:
        return None
    raw = np.asarray(given)
    if raw.ndim != 1 or (raw.size and raw.dtype.kind not in "iu"):
        raise TypeError(f"support must be a list of coordinates, whole numbers; given: {kind(given, raw)}")
    wrong = raw[(raw < 0) | (raw >= d)]
    if len(wrong):
        raise ValueError(f"support must name coordinates from 0 to {d - 1:,}; given: {wrong[0]}")
    return np.unique(raw.astype(np.int64))


def noise(given: object) -> float | None:
    """Return the standard deviation of the noise."""
    value = number("noise", given)
    if value is not None and value < 0.0:
        raise ValueError(
            f"noise must be a standard deviation, 0 for an exact function, or None to have it measured; "
            f"given: {given!r}"
        )
    return value


def scale(given: object, shape: tuple[int, ...]) -> FloatArray | None:
    """Return the typical size of a change of each coordinate, flat: a view of one number, if it is one."""
    if given is None:
        return None
    raw = np.asarray(given)
    if raw.dtype.kind not in "iuf":
        raise TypeError(f"scale must be positive numbers; given: {kind(given, raw)}")
    size = math.prod(shape)
    if raw.size != 1 and raw.shape not in {shape, (size,)}:
        raise ValueError(
            f"scale must be one number, or one for each coordinate in x0's shape {shape}; "
            f"given: an array of shape {raw.shape}"
        )
    sizes = raw.astype(np.float64).ravel()
    wrong = np.flatnonzero(~(np.isfinite(sizes) & (sizes > 0.0)))
    if len(wrong):
        raise ValueError(
            f"scale must be positive and finite, the typical size of a change of each coordinate; "
            f"given: {sizes[wrong[0]]} at flat index {wrong[0]}"
        )
    return np.broadcast_to(sizes[0], size) if sizes.size == 1 else sizes


def tol(given: object) -> float | None:
    """Return the share of the decrease, or of the squared norm of a gradient, that may be left."""
    value = number("tol", given)
    if value is not None and not 0.0 < value < 1.0:
        raise ValueError(
            f"tol must be between 0 and 1, the share of the decrease so far (of a gradient: of its squared "
            f"norm) that may be left, or None; given: {given!r}"
        )
    return value


def deviations(given: npt.ArrayLike | None) -> FloatArray | None:
    """Return the standard deviations of outputs: one for all, or one for each."""
    if given is None:
        return None
    raw = np.asarray(given)
    if raw.dtype.kind not in "biuf" or raw.ndim > 1 or raw.size == 0 or not (raw >= 0).all():
        raise ValueError(
            f"noise must be one standard deviation for all outputs, or one for each, 0 for an exact "
            f"function, or None to have it measured; given: {kind(given, raw)}"
        )
    return raw.astype(np.float64)


def outputs(name: str, given: npt.ArrayLike | None) -> FloatArray | None:
    """Return outputs that are known."""
    if given is None:
        return None
    raw = np.asarray(given)
    if raw.dtype.kind not in "biuf" or raw.ndim != 1 or raw.size == 0 or not np.isfinite(raw).all():
        raise ValueError(f"{name} must be the finite outputs, a vector; given: {kind(given, raw)}")
    return raw.astype(np.float64)


def known(given: object, shape: tuple[int, ...]) -> tuple[FloatArray, FloatArray] | None:
    """Return points as flat rows, and their values."""
    if given is None:
        return None
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise TypeError("known must be a pair (X, F): points, one a row, and their values")
    points, values = (np.array(part, dtype=np.float64) for part in given)
    size = math.prod(shape)
    if values.ndim not in (1, 2) or points.shape not in {(len(values), *shape), (len(values), size)}:
        raise ValueError(
            f"known must have one value a point (of a function with many outputs, one row of them), each "
            f"point in x0's shape {shape}; given: X of shape {points.shape}, F of shape {values.shape}"
        )
    if not (np.isfinite(points).all() and np.isfinite(values).all()):
        raise ValueError("known must be finite, points and values")
    return (points.reshape(len(values), size), values) if len(values) else None


def batch(given: object) -> int:
    """Return how many useful queries an ask may carry."""
    return whole("batch", given, 1)


def timeout(given: object) -> float | None:
    """Return how many seconds one evaluation may take."""
    seconds = number("timeout", given)
    if seconds is not None and seconds <= 0:
        raise ValueError(f"timeout must be a positive number of seconds, or None; given: {given!r}")
    return seconds


def on_failure(given: object) -> OnFailure:
    """Return what becomes of failed evaluations: an action, or an action with its limit."""
    action, limit = given if isinstance(given, (tuple, list)) and len(given) == 2 else (given, None)
    if (
        not isinstance(action, str)
        or action not in DEFAULT_LIMITS
        or (action == "raise" and limit is not None)
    ):
        raise ValueError(
            f"on_failure must be 'raise', 'retry' or 'skip', the last two also with a limit such as "
            f"('retry', 5); given: {given!r}"
        )
    return OnFailure(
        action, DEFAULT_LIMITS[action] if limit is None else whole("the limit of on_failure", limit, 1)
    )


def number(name: str, given: object) -> float | None:
    """Return a finite number."""
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, numbers.Real) or not math.isfinite(given):
        raise ValueError(f"{name} must be a finite number; given: {given!r}")
    return float(given)


def limits(
    max_queries: object, max_steps: object = None, max_seconds: object = None, target: object = None
) -> Limits:
    """Return the stopping rules."""
    seconds = number("max_seconds", max_seconds)
    if seconds is not None and seconds <= 0:
        raise ValueError(f"max_seconds must be positive; given: {max_seconds!r}")
    return Limits(
        None if max_queries is None else whole("max_queries", max_queries, 1),
        None if max_steps is None else whole("max_steps", max_steps, 1),
        seconds,
        number("target", target),
    )


def seed(given: SeedLike | None, rng: SeedLike | None = None) -> int | None:
    """Return the seed that `seed` or `rng`, two names of one argument, stands for; None where none is given.

    A seed is drawn from a generator or a `SeedSequence`, and recorded in the place of it.
    """
    if given is not None and rng is not None:
        raise TypeError("seed and rng are two names of one argument: give one of them")
    name, source = ("seed", given) if rng is None else ("rng", rng)
    if isinstance(source, (np.random.SeedSequence, np.random.BitGenerator, np.random.Generator)):
        return draw_seed(source)
    if source is None:
        return None
    if is_whole(source) and source >= 0:
        return int(source)
    raise ValueError(
        f"{name} must be a whole number of at least 0, or a SeedSequence, BitGenerator or Generator "
        f"of numpy.random; given: {source!r}"
    )


def options(given: object) -> dict[str, Any]:
    """Return the options as a dictionary."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(f"options must be a dictionary; given: {given!r} ({type(given).__name__})")
    return dict(given)


def whole(name: str, given: object, least: int) -> int:
    """Return a whole number of at least so much; 1e4 is one, too."""
    if isinstance(given, float) and given.is_integer():
        given = int(given)
    if not is_whole(given) or given < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; given: {given!r}")
    return int(given)


def is_whole(given: object) -> TypeGuard[int]:
    """Whether something is a whole number, and no truth."""
    return isinstance(given, numbers.Integral) and not isinstance(given, bool)


def kind(given: object, raw: npt.NDArray[Any]) -> str:
    """Say of what kind something is that was given."""
    return f"an array of {raw.dtype}" if isinstance(given, np.ndarray) else clipped(given)


def clipped(given: object) -> str:
    """Say on one line, of 60 letters at most, what was given."""
    text = " ".join(repr(given).split())
    return text if len(text) <= 60 else f"{text[:59]}…"
