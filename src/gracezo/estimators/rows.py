"""Random rows to look along, made fast; the one place where estimators draw them.

A dense method lives on the price of a random row. NumPy's `standard_normal`
spends some ten nanoseconds a number, one at a time. Sixteen random bits that
look a number up among 65,536 equally likely ones take less than two. These
are the means of the normal distribution over its 65,536 parts of equal
probability, scaled to variance 1. What the estimators rest on, E zzᵀ = I,
holds to single precision; the kurtosis is 2.9998; no number lies beyond 4.4.
Nor does a difference of f see more of a direction than its first digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gracezo.core.asks import SparseRows
from gracezo.core.keys import Key
from gracezo.core.types import AnyFloatArray, IntArray

RowBlock: TypeAlias = npt.NDArray[np.float32]
DrawRows: TypeAlias = Callable[[np.random.Generator, int, int], RowBlock]

BLOCK_BYTES = 2**26  # bounds the memory of the rows that are alive at a time
_PIECE = 2**14  # numbers looked up at a time: all arrays of one piece fit into the cache
# Numbers that are drawn at a time for several steps: a call of NumPy costs as much as some hundred of them.
_TOGETHER = 2**16
_VALUES = 2**16  # that a normal number can take: one for each index of 16 bits
_INDICES = 4  # of 16 bits in a raw word


@cache
def _normals() -> npt.NDArray[np.float32]:
    """Return the means of the standard normal over its parts of equal probability, scaled to variance 1."""
    from scipy.special import ndtri  # noqa: PLC0415 - for the methods with such rows only

    edges = -ndtri(np.arange(_VALUES // 2 + 1) / _VALUES)  # from infinity down to 0
    upper = np.diff(np.exp(-(edges**2) / 2))  # between edges, ∫ z·exp(−z²/2) dz
    upper /= np.sqrt(np.mean(upper**2))
    return np.concatenate([upper, -upper]).astype(np.float32)


def gaussian(random: np.random.Generator, count: int, size: int) -> RowBlock:
    """Return `count` rows of independent standard normals.

    Examples
    --------
    >>> import numpy as np
    >>> rows = gaussian(np.random.default_rng(0), 3, 100_000)
    >>> rows.shape, bool(np.all(abs(rows.std(axis=1) - 1) < 0.01))
    ((3, 100000), True)
    """
    total = count * size
    out = np.empty(total, np.float32)
    values = _normals()
    for start in range(0, total, _PIECE):
        piece = out[start : start + _PIECE]
        words = random.bit_generator.random_raw(-(-len(piece) // _INDICES))
        indices = words.view(np.uint16)[: len(piece)]
        values.take(indices, out=piece, mode="clip")  # all are in range: not checked, and no copy of `out`
    return out.reshape(count, size)


def sphere(random: np.random.Generator, count: int, size: int) -> RowBlock:
    """Return `count` rows, uniform on the unit sphere.

    Examples
    --------
    >>> import numpy as np
    >>> rows = sphere(np.random.default_rng(0), 3, 1000)
    >>> bool(np.all(abs(np.linalg.norm(rows, axis=1) - 1) < 1e-6))
    True
    """
    rows = gaussian(random, count, size)
    rows /= np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return rows


def signs(random: np.random.Generator, count: int, size: int) -> RowBlock:
    """Return `count` rows of independent random signs ±1.

    Examples
    --------
    >>> import numpy as np
    >>> np.unique(signs(np.random.default_rng(0), 3, 1000)).tolist()
    [-1.0, 1.0]
    """
    total = count * size
    words = np.asarray(random.bit_generator.random_raw(-(-total // 64)))
    out = np.unpackbits(words.view(np.uint8), count=total).astype(np.float32)
    out *= np.float32(2)
    out -= np.float32(1)
    return out.reshape(count, size)


def drawn(draw: DrawRows, key: Key, queries: int, size: int) -> Iterable[tuple[RowBlock, int]]:
    """Return the rows of one step in batches of bounded memory, each with how many rows come after it.

    They depend on the key and on nothing else. They are not to be written to: where the steps of a run have
    few numbers each, several of them share one array.

    Examples
    --------
    >>> [(rows.shape, after) for rows, after in drawn(signs, Key(0), 100, 1000)]
    [((100, 1000), 0)]
    """
    together = _TOGETHER // (queries * size)
    if together > 1 and key.path:
        return [(_several(draw, key, together, queries, size), 0)]
    random = key.generator()
    return ((draw(random, count, size), after) for count, after in batches(queries, size))


class _Kept:
    """The rows that were drawn last for several steps, and what for; set at once, for the sake of threads."""

    last: tuple[tuple[Any, ...], RowBlock] = (), np.empty((0, 0, 0), np.float32)


def _several(draw: DrawRows, key: Key, steps: int, queries: int, size: int) -> RowBlock:
    """Return the rows of one step of several, all of them drawn from the key of the first."""
    *path, number = key.path
    place = number % steps
    wanted = draw, key.seed, path, number - place, steps, queries, size
    made_for, rows = _Kept.last
    if made_for != wanted:
        first = key.before(place) if place else key
        rows = draw(first.generator(), steps * queries, size).reshape(steps, queries, size)
        rows.flags.writeable = False
        _Kept.last = wanted, rows
    mine: RowBlock = rows[place]
    return mine


def batches(queries: int, size: int) -> list[tuple[int, int]]:
    """Cut `queries` rows of `size` numbers into batches of bounded memory.

    Returns
    -------
    list of (int, int)
        The rows of each batch, and how many come after it.

    Examples
    --------
    >>> batches(100, 1000), batches(5, 2**23)
    ([(100, 0)], [(2, 3), (2, 1), (1, 0)])
    """
    most = max(1, BLOCK_BYTES // (4 * size))
    starts = range(0, queries, most)
    return [(min(most, queries - start), max(0, queries - start - most)) for start in starts]


def placed(rows: AnyFloatArray, coordinates: IntArray, scale: float) -> SparseRows:
    """Return dense rows as displacements of a few coordinates of a long vector.

    Parameters
    ----------
    rows
        The displacements (k, m), before they are scaled.
    coordinates
        Which they move: (m,) for all rows, or (k, m) for each.
    scale
        What the rows are multiplied with.
    """
    count, width = rows.shape
    indices = np.broadcast_to(coordinates, rows.shape).ravel()
    values = np.multiply(rows, scale, dtype=np.float64).ravel()
    return SparseRows(np.arange(count + 1) * width, indices, values)
