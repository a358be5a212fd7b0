"""Random rows to look along, made fast; the one place where estimators draw them.

A dense method lives on the price of a random row. NumPy's `standard_normal`
spends some ten nanoseconds a number, one at a time; raw 32-bit integers
through the Box–Muller transform in single precision are several times
cheaper, because NumPy's float32 logarithm, root, sine and cosine work on
whole registers. Single precision is enough for a direction: a row is what we
say it is, and its 24 bits are converted exactly when it is added to a point.

Box & Muller, *A note on the generation of random normal deviates*, Annals of
Mathematical Statistics 29(2), 1958.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from gracezo.core.asks import SparseRows
from gracezo.core.types import AnyFloatArray, IntArray

RowBlock: TypeAlias = npt.NDArray[np.float32]
DrawRows: TypeAlias = Callable[[np.random.Generator, int, int], RowBlock]

BLOCK_BYTES = 2**26  # bounds the memory of the rows that are alive at a time
_PIECE = 2**14  # numbers transformed at a time: all arrays of one piece fit into the cache

_ONE, _MINUS_TWO = np.float32(1), np.float32(-2)
_UNIT = np.float32(2.0**-32)  # from whole numbers of 32 bits to numbers from 0 to 1
_HALF_TURN = np.float32(np.pi * 2.0**-31)  # and from those with a sign to angles from -π to π


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
    out = np.empty(total + total % 2, np.float32)  # they come in pairs
    for start in range(0, total, _PIECE):
        piece = out[start : start + _PIECE].reshape(2, -1)
        bits = random.bit_generator.random_raw(piece.shape[1]).view(np.uint32).reshape(2, -1)
        radius = bits[0].astype(np.float32)
        radius += _ONE  # uniform on (0, 1]: the logarithm stays finite
        radius *= _UNIT
        np.log(radius, out=radius)
        radius *= _MINUS_TWO
        np.sqrt(radius, out=radius)
        cosine, sine = piece[0], piece[1]
        sine[:] = bits[1].view(np.int32)
        sine *= _HALF_TURN
        np.cos(sine, out=cosine)
        np.sin(sine, out=sine)
        piece *= radius
    return out[:total].reshape(count, size)


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
    if queries <= most:  # the usual case
        return [(queries, 0)]
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
