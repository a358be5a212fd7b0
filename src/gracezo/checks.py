"""Checks of what the user gives, made before any query is spent."""

from __future__ import annotations

import inspect
import math
import numbers
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt
from scipy.optimize import OptimizeResult
from scipy.sparse import issparse

from gracezo.core.failures import DEFAULT_LIMITS, OnFailure
from gracezo.core.keys import SeedLike, draw_seed
from gracezo.core.limits import Limits
from gracezo.core.names import Names
from gracezo.core.places import Place
from gracezo.core.types import FloatArray, IntArray


def point(name: str, given: npt.ArrayLike, named: object = None) -> FloatArray:
    """Return a read-only float64 copy of a point of any shape, with these names of coordinates in errors."""
    try:
        raw = np.asarray(given)
    except ValueError as error:  # lists of unequal lengths
        raise TypeError(f"{name} must be an array of real numbers; given: {str(given)[:60]!r}") from error
    if raw.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be an array of real numbers; given: {_kind(given, raw)}")
    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        raise ValueError(
            f"{name} must have a number for each coordinate; given: a masked array, with "
            f"{raw.size - given.count():,} of {raw.size:,} masked (give its .filled(value))"
        )
    x = np.array(raw, dtype=np.float64, order="C")
    if x.size == 0:
        raise ValueError(f"{name} must have at least one coordinate; given: an array of shape {x.shape}")
    bad = np.flatnonzero(~np.isfinite(x))
    if len(bad):
        raise ValueError(
            f"{name} must be finite; {len(bad):,} of its {x.size:,} coordinates are not, "
            f"the first of them {x.ravel()[bad[0]]} at {names(named, given, x.shape).at(int(bad[0]))}"
        )
    x.flags.writeable = False
    return x


def start(name: str, given: Any, dim: object, named: object = None) -> FloatArray:
    """Return a starting point: an array, or a place where a sparse vector or one number is given."""
    if issparse(given):
        place = _sparse(name, given)
    elif dim is not None and np.ndim(given) == 0:
        value = number(name, given)
        if value is None:
            raise ValueError(
                f"{name} must be a number where dim says how many coordinates there are; given: None"
            )
        place = Place.constant(value, _whole("dim", dim, 1))
    else:
        x = point(name, given, named)
        if dim is not None and dim != x.size:
            raise ValueError(
                f"dim must be the number of coordinates, {x.size:,}, or left out; given: {dim!r}"
            )
        return x
    if dim is not None and dim != len(place):
        raise ValueError(
            f"dim must be the number of coordinates, {len(place):,}, or left out; given: {dim!r}"
        )
    return place.stand_in


def _sparse(name: str, given: Any) -> Place:
    """Return the place of a sparse vector, a row, or a column."""
    size = math.prod(given.shape)
    if size == 0 or max(given.shape) != size:
        raise ValueError(
            f"{name} must be a vector, or a sparse matrix of one row or column; given: shape {given.shape}"
        )
    if given.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers; given: {given.dtype}")
    entries = given.tocoo()
    axis = int(np.argmax(given.shape))
    indices = np.asarray(entries.coords[axis], np.int64)
    values = np.array(entries.data, np.float64)
    if len(indices) and not (np.diff(indices) > 0).all():
        repeated = len(np.unique(indices)) < len(indices)
        what = "has an index more than once" if repeated else "has indices that are not in order"
        raise ValueError(f"{name} {what}; call its sum_duplicates() first")
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise ValueError(f"{name} must be finite; it is {values[bad[0]]} at {indices[bad[0]]}")
    return Place(np.broadcast_to(np.float64(0.0), size), indices, values)


def names(given: object, x0: object, shape: tuple[int, ...]) -> Names:
    """Return what the coordinates are called: as given, by the index of a pandas Series, or by place."""
    said = "names"
    if given is None:
        index = getattr(x0, "index", None)
        if index is None or callable(index) or len(shape) != 1:
            return Names(shape)
        given, said = index, "names (the index of x0)"
    if isinstance(given, Names):
        given = given.given
        if given is None:
            return Names(shape)
    if isinstance(given, (str, bytes, set, frozenset)) or not isinstance(given, Iterable):
        raise TypeError(f"{said} must be in order, one name a coordinate; given: {str(given)[:60]!r}")
    own = [str(name) for name in _flat(list(given), len(shape))]
    size = math.prod(shape)
    if len(own) != size:
        raise ValueError(f"{said} must be one for each of the {size:,} coordinates; given: {len(own):,}")
    places: dict[str, int] = {}
    for place, name in enumerate(own):
        if places.setdefault(name, place) != place:
            raise ValueError(
                f"{said} must differ; {name!r} is given to the coordinates {places[name]} and {place}"
            )
    by_place = all(name == str(place) for place, name in enumerate(own))  # pandas' own numbering
    return Names(shape) if by_place and len(shape) == 1 else Names(shape, own)


def groups(given: object, shape: tuple[int, ...]) -> IntArray | None:
    """Return the group of each coordinate, counted from 0: of labels, or of blocks of the point's shape.

    Examples
    --------
    >>> groups(["a", "b", "a"], (3,)).tolist(), groups((2, 1), (2, 3)).tolist(), groups(2, (5,)).tolist()
    ([0, 1, 0], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 2])
    """
    if given is None:
        return None
    size = math.prod(shape)
    block = (given,) if _is_whole(given) else given
    if isinstance(block, tuple) and len(block) == len(shape) and all(_is_whole(side) for side in block):
        if any(side < 1 for side in block):
            raise ValueError(f"groups must be blocks of at least one coordinate a side; given: {given!r}")
        places = [np.arange(n) // side for n, side in zip(shape, block, strict=True)]
        counts = tuple(int(place[-1]) + 1 for place in places)
        return np.ravel_multi_index(np.ix_(*places), counts).ravel()
    if isinstance(given, (str, bytes, set, frozenset, Mapping)) or not isinstance(given, Iterable):
        raise TypeError(
            f"groups must be a label for each coordinate, or the shape of a block such as (4, 4); "
            f"given: {str(given)[:60]!r}"
        )
    labels = _flat(list(given), len(shape))
    if len(labels) != size:
        raise ValueError(
            f"groups must cover all of the {size:,} coordinates of x0, with a label for each (or be "
            f"the shape of a block, with as many sides as x0: {len(shape)}); given: {len(labels):,} labels"
        )
    missing = [
        place
        for place, label in enumerate(labels)
        if label is None or (isinstance(label, float) and math.isnan(label))
    ]
    if missing:
        raise ValueError(
            f"groups must cover all coordinates; {len(missing):,} of {size:,} have no label, the first of "
            f"them at {Names(shape).at(missing[0])}"
        )
    numbers: dict[Any, int] = {}
    try:
        return np.array([numbers.setdefault(label, len(numbers)) for label in labels], np.int64)
    except TypeError:
        raise TypeError("groups must have labels that can be compared: numbers or strings") from None


def _flat(items: list[Any], depth: int) -> list[Any]:
    """Return the items of nested lists, as far as the point's shape nests; a tuple is a name."""
    for _ in range(depth - 1):
        if not all(isinstance(item, (list, np.ndarray)) for item in items):
            break
        items = [inner for item in items for inner in item]
    return items


def function(name: str, given: object) -> None:
    """Check that something can be called."""
    if not callable(given):
        raise TypeError(f"{name} must be callable; given: {given!r} ({type(given).__name__})")


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
    s = _whole("sparsity", given, 1)
    if s > d:
        raise ValueError(f"sparsity must be at most the number of coordinates, {d:,}; given: {s:,}")
    return s


def support(given: npt.ArrayLike | None, d: int) -> IntArray | None:
    """Return coordinates, distinct and ascending."""
    if given is None:
        return None
    raw = np.asarray(given)
    if raw.ndim != 1 or (raw.size and raw.dtype.kind not in "iu"):
        raise TypeError(f"support must be a list of coordinates, whole numbers; given: {_kind(given, raw)}")
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
    """Return the typical size of a change of each coordinate, flat."""
    if given is None:
        return None
    raw = np.asarray(given)
    if raw.dtype.kind not in "iuf":
        raise TypeError(f"scale must be positive numbers; given: {_kind(given, raw)}")
    size = math.prod(shape)
    if raw.size != 1 and raw.shape not in {shape, (size,)}:
        raise ValueError(
            f"scale must be one number, or one for each coordinate in x0's shape {shape}; "
            f"given: an array of shape {raw.shape}"
        )
    sizes = np.array(np.broadcast_to(raw.astype(np.float64).ravel(), size))
    wrong = np.flatnonzero(~(np.isfinite(sizes) & (sizes > 0.0)))
    if len(wrong):
        raise ValueError(
            f"scale must be positive and finite, the typical size of a change of each coordinate; "
            f"given: {sizes[wrong[0]]} at flat index {wrong[0]}"
        )
    return sizes


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
            f"function, or None to have it measured; given: {_kind(given, raw)}"
        )
    return raw.astype(np.float64)


def outputs(name: str, given: npt.ArrayLike | None) -> FloatArray | None:
    """Return outputs that are known."""
    if given is None:
        return None
    raw = np.asarray(given)
    if raw.dtype.kind not in "biuf" or raw.ndim != 1 or raw.size == 0 or not np.isfinite(raw).all():
        raise ValueError(f"{name} must be the finite outputs, a vector; given: {_kind(given, raw)}")
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
    return _whole("batch", given, 1)


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
        action, DEFAULT_LIMITS[action] if limit is None else _whole("the limit of on_failure", limit, 1)
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
        None if max_queries is None else _whole("max_queries", max_queries, 1),
        None if max_steps is None else _whole("max_steps", max_steps, 1),
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
    if _is_whole(source) and source >= 0:
        return int(source)
    raise ValueError(
        f"{name} must be a whole number of at least 0, or a SeedSequence, BitGenerator or Generator "
        f"of numpy.random; given: {source!r}"
    )


def drawn_seed(given: SeedLike | None, rng: SeedLike | None) -> int:
    """Return the same, drawn by the operating system when neither is given."""
    chosen = seed(given, rng)
    return draw_seed() if chosen is None else chosen


def options(given: object) -> dict[str, Any]:
    """Return the options as a dictionary."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(f"options must be a dictionary; given: {given!r} ({type(given).__name__})")
    return dict(given)


def whole(name: str, given: object, least: int) -> int:
    """Return a whole number that is large enough."""
    return _whole(name, given, least)


def _whole(name: str, given: object, least: int) -> int:
    if not _is_whole(given) or given < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; given: {given!r}")
    return int(given)


def _is_whole(given: object) -> TypeGuard[int]:
    return isinstance(given, numbers.Integral) and not isinstance(given, bool)


def _kind(given: object, raw: npt.NDArray[Any]) -> str:
    return f"an array of {raw.dtype}" if isinstance(given, np.ndarray) else f"{str(given)[:60]!r}"
