"""The largest entries of a vector by magnitude."""

from __future__ import annotations

import numpy as np

from gracezo.core.types import AnyFloatArray, FloatArray, IntArray


def largest(vector: AnyFloatArray, count: int) -> IntArray:
    """Return where the `count` largest magnitudes are, in index order.

    Examples
    --------
    >>> import numpy as np
    >>> largest(np.array([0.1, -3.0, 2.0, 0.5]), 2).tolist()
    [1, 2]
    """
    if count >= len(vector):
        return np.arange(len(vector))
    places = np.argpartition(np.abs(vector), len(vector) - count)[len(vector) - count :]
    return np.sort(places)


def keep_largest(vector: FloatArray, count: int) -> FloatArray:
    """Return the vector with all but its `count` largest magnitudes set to zero.

    Examples
    --------
    >>> import numpy as np
    >>> keep_largest(np.array([0.1, -3.0, 2.0, 0.5]), 2).tolist()
    [0.0, -3.0, 2.0, 0.0]
    """
    kept = np.zeros_like(vector)
    places = largest(vector, count)
    kept[places] = vector[places]
    return kept
