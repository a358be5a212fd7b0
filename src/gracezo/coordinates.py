"""Checks of points, and of what is said of each of their coordinates: names and groups."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from gracezo import checks
from gracezo.core.names import Names
from gracezo.core.places import Place
from gracezo.core.types import FloatArray, IntArray


def point(name: str, given: npt.ArrayLike, named: object = None) -> FloatArray:
    """Return a read-only float64 copy of a point of any shape, with these names of coordinates in errors."""
    try:
        raw = np.asarray(given)
    except (ValueError, RuntimeError) as error:  # lists of unequal lengths, tensors that refuse
        raise TypeError(
            f"{name} must be an array of real numbers; given: {checks.clipped(given)} ({error})"
        ) from error
    if raw.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be an array of real numbers; given: {checks.kind(given, raw)}")
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
        value = checks.number(name, given)
        if value is None:
            raise ValueError(
                f"{name} must be a number where dim says how many coordinates there are; given: None"
            )
        place = Place.constant(value, checks.whole("dim", dim, 1))
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
        raise TypeError(f"{said} must be in order, one name a coordinate; given: {checks.clipped(given)}")
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
    block = (given,) if checks.is_whole(given) else given
    if isinstance(block, tuple) and len(block) == len(shape) and all(checks.is_whole(side) for side in block):
        if any(side < 1 for side in block):
            raise ValueError(f"groups must be blocks of at least one coordinate a side; given: {given!r}")
        places = [np.arange(n) // side for n, side in zip(shape, block, strict=True)]
        counts = tuple(int(place[-1]) + 1 for place in places)
        return np.ravel_multi_index(np.ix_(*places), counts).ravel()
    if isinstance(given, (str, bytes, set, frozenset, Mapping)) or not isinstance(given, Iterable):
        raise TypeError(
            f"groups must be a label for each coordinate, or the shape of a block such as (4, 4); "
            f"given: {checks.clipped(given)}"
        )
    if isinstance(given, np.ndarray) and given.size == size and _numbered(given.ravel()):
        return given.ravel().astype(np.int64)
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


def _numbered(labels: npt.NDArray[Any]) -> bool:
    """Whether labels are whole numbers already, each new one the next: the same without a list of them.

    >>> _numbered(np.array([0, 0, 1, 0, 2])), _numbered(np.array([1, 0])), _numbered(np.array([0.0, 1.0]))
    (True, False, False)
    """
    if labels.dtype.kind not in "iu" or len(labels) == 0 or labels[0] != 0 or labels.min() < 0:
        return False
    met = np.maximum.accumulate(labels)
    return not np.count_nonzero(met[1:] - met[:-1] > 1)


def _flat(items: list[Any], depth: int) -> list[Any]:
    """Return the items of nested lists, as far as the point's shape nests; a tuple is a name."""
    for _ in range(depth - 1):
        if not all(isinstance(item, (list, np.ndarray)) for item in items):
            break
        items = [inner for item in items for inner in item]
    return items
