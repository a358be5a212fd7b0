"""Points that are well spread over a box, however many there will be.

A Latin hypercube that grows: after 2^k points each of 2^k equal slices of every coordinate holds one of them.
(Sheikholeslami & Razavi, *Progressive Latin hypercube sampling*, Environmental Modelling & Software 93, 2017,
have the same doubling.) So the number need not be known beforehand, and the first point may be the user's.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gracezo.core.keys import Key
from gracezo.core.types import FloatArray


def spread(first: FloatArray, key: Key) -> Iterator[FloatArray]:
    """Return points of the unit box, endlessly: the first one, and those that go with it.

    Examples
    --------
    >>> import itertools, numpy as np
    >>> points = np.array(list(itertools.islice(spread(np.array([0.1, 0.6]), Key(1)), 8)))
    >>> np.sort((8 * points).astype(int), axis=0).T.tolist()
    [[0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 4, 5, 6, 7]]
    """
    yield first
    points = first[None]
    while True:
        rng = key.child(len(points)).generator()
        further = _further(points, rng)
        yield from further
        points = np.concatenate([points, further])


def _further(points: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return as many points as there are, in the slices that hold none when they are cut in halves."""
    count, d = points.shape
    taken = np.minimum((2 * count * points).astype(np.int64), 2 * count - 1)
    empty = np.ones((2 * count, d), np.bool_)
    np.put_along_axis(empty, taken, False, axis=0)
    slices = np.nonzero(empty.T)[1].reshape(d, count)
    placed = rng.permuted(slices, axis=1).T
    return np.asarray((placed + rng.random((count, d))) / (2 * count))
