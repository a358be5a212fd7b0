"""No point that is not finite leaves a run: what it would cost is lost, whatever the function answers."""

from __future__ import annotations

import math

import numpy as np

from gracezo.core.asks import Ask, DenseRows, Offsets, SparseRows
from gracezo.core.box import SparsePoints
from gracezo.core.moves import PieceRows
from gracezo.core.places import Place
from gracezo.core.sampling import Seeded
from gracezo.core.types import AnyFloatArray, FloatArray


class Finite:
    """Looks at asks. A base is looked at once, as long as asks follow around the same one."""

    def __init__(self) -> None:
        self._base: FloatArray | None = None
        self._size = 0.0  # its largest coordinate

    def __call__(self, ask: Ask) -> bool:
        """Whether all points of an ask are finite."""
        if ask.base is not self._base:
            self._base, self._size = ask.base, _size(ask.base)
        if not self._size < math.inf:
            return False
        offsets = ask.offsets.rows if isinstance(ask.offsets, Seeded) else ask.offsets
        reach = self._size + _reach(offsets)
        if reach < math.inf:  # not the usual case's business which of them is how large
            return True
        return all(np.isfinite(ask.point(row)).all() for row in range(len(ask)))


def _reach(offsets: Offsets) -> float:
    """Return how far rows displace at most: infinite or NaN if they have to be looked at."""
    if isinstance(offsets, SparsePoints):
        return 0.0 if np.isfinite(offsets.values).all() else math.inf
    if isinstance(offsets, SparseRows):
        values = offsets.values
        return math.sqrt(values.dot(values))  # no less than the largest: one pass, and no warning
    if isinstance(offsets, DenseRows):
        return abs(float(offsets.scale)) * _largest(offsets.rows)
    if isinstance(offsets, PieceRows):
        return offsets.reach
    return math.inf


def _size(x: FloatArray) -> float:
    return x.largest if isinstance(x, Place) else _largest(x)


def _largest(numbers: AnyFloatArray) -> float:
    """Return the largest magnitude, NaN if there is one."""
    if not numbers.size:
        return 0.0
    high, low = np.maximum.reduce(numbers, axis=None), np.minimum.reduce(numbers, axis=None)
    return max(abs(float(high)), abs(float(low)))
