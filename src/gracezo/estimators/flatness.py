"""When is there nothing to find? For estimators that look at some of the coordinates at a time."""

from __future__ import annotations

import numpy as np

from gracezo.core.asks import Point
from gracezo.core.types import BoolArray, FloatArray, IntArray


class FlatGround:
    """Remembers which coordinates of one point did not change f when they were moved."""

    def __init__(self) -> None:
        self._x: FloatArray | None = None
        self._flat: BoolArray = np.zeros(0, np.bool_)

    def everywhere(self, at: Point, coordinates: IntArray) -> bool:
        """Note that probes of these coordinates were flat; return whether that is now so for all of them."""
        if self._x is not at.x:
            self._x = at.x
            self._flat = np.zeros(len(at.x), np.bool_)
        self._flat[coordinates.ravel()] = True
        return bool(self._flat.all())
