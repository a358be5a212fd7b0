"""The lowest point that was met between two steps.

A look is made to learn something, not to go there. But its value is paid for, and where kinks make a step
fail, a confirming look along one coordinate may well have been lower than all that the step has tried. Then
the method moves there, without a query.
"""

from __future__ import annotations

import math

import numpy as np

from gracezo.core.asks import Point
from gracezo.core.box import Box
from gracezo.core.types import FloatArray, IntArray
from gracezo.methods.auto.instrument.look import Heard


class Landing:
    """Remembers the lowest point met, as long as it is below where the method is."""

    def __init__(self) -> None:
        self._base: FloatArray = np.zeros(0)
        self.indices: IntArray = np.zeros(0, np.int64)
        self.steps: FloatArray = np.zeros(0)
        """Where it is, from the point around which it was met."""
        self.value = math.inf

    def note(self, at: Point, heard: Heard) -> None:
        """Take in what a round of looks around a point has met."""
        if heard.value < self.value:
            self._base, self.indices, self.steps, self.value = at.x, heard.indices, heard.steps, heard.value

    def met_from(self, x: FloatArray) -> bool:
        """Whether it was met around this point."""
        return self._base is x

    def point(self, bounds: Box | None) -> Point:
        """Return the point."""
        x = self._base.copy()
        x[self.indices] += self.steps
        return Point(x if bounds is None else bounds.clip(x), self.value)
