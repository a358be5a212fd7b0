"""What bounds make of the weights of very many coordinates: decided where they are asked, and never kept.

A set that is moved by its weights has to stay inside. Each coordinate is given what its own place leaves it
as a block of the set is written (`shuffle.py`): nothing of the length of the space is made.
"""

from __future__ import annotations

import numpy as np

from gracezo.core.box import Box
from gracezo.core.types import FloatArray, IntArray, record


@record
class Inward:
    """Weights that keep a set inside up to ε = `reach`.

    Where the drawn side has too little room the other is taken, if it has more; where neither has enough the
    weight is made so small that ε times the weight fits: zero, where the bounds are the same.

    Attributes
    ----------
    box, reach
        The bounds, and how far looks go.
    typical
        Where looks go to both sides: the ε that the typical coordinate has room for on both. Those that have
        less move by as much less, and hold up nobody.
    """

    box: Box
    reach: float
    typical: float | None = None

    def __call__(self, x: FloatArray, where: IntArray | slice, weights: FloatArray) -> FloatArray:
        """Return the weights of some coordinates of x as they are taken."""
        if self.typical is not None:
            weights = weights * np.minimum(self.both(x, where, weights) / self.typical, 1.0)
        drawn = self.reach * weights
        farthest = max(float(drawn.max(initial=0.0)), -float(drawn.min(initial=0.0)))
        if 4.0 * farthest > self.box.narrowest:
            inward = self.box.inward(x, where, drawn)
            return np.where(inward == drawn, weights, inward / self.reach)
        # One of both sides has room enough: the same in a fraction of the time.
        down, up = self.box.room(x, where)
        turned = drawn > up
        turned |= drawn < -down
        if not turned.any():
            return weights
        aimed = weights * ~turned - (drawn / self.reach) * turned
        if self.box.holds_some:
            aimed *= down + up > 0.0
        return aimed

    def both(self, x: FloatArray, where: IntArray | slice, weights: FloatArray) -> FloatArray:
        """Return the largest ε of each coordinate to both sides."""
        return np.asarray(np.minimum(*self.box.room(x, where)) / np.abs(weights))

    def limits(
        self, x: FloatArray, where: IntArray | slice, aimed: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the largest ε of each coordinate ahead and behind, given its weight as it is taken."""
        return self._limit(x, where, aimed), self._limit(x, where, -aimed)

    def _limit(self, x: FloatArray, where: IntArray | slice, steps: FloatArray) -> FloatArray:
        room = self.box.ahead(x, where, steps)
        most: FloatArray = np.full(len(steps), self.reach)
        return np.divide(room, np.abs(steps), out=most, where=steps != 0.0)

    def idle(self, x: FloatArray, weight: float) -> bool:
        """Whether it leaves all weights of a place as they are, given the largest of them."""
        return self.typical is None and self.box.holds(x, self.reach * weight)

    def heaviest(self, weight: float) -> float:
        """Return the largest weight by magnitude, given that of those drawn."""
        return weight

    def name(self) -> tuple[object, ...]:
        """Return what tells it from others, for a digest."""
        return self.reach, self.typical


@record
class Roomy:
    """Weights of coordinates that have room for ε = `reach` on both sides; the others stay where they are."""

    box: Box
    reach: float

    def __call__(self, x: FloatArray, where: IntArray | slice, weights: FloatArray) -> FloatArray:
        """Return the weights of some coordinates of x as they are taken."""
        room = np.minimum(*self.box.room(x, where))
        return np.where(room >= np.abs(self.reach * weights), weights, 0.0)

    def heaviest(self, weight: float) -> float:
        """Return the largest weight by magnitude, given that of those drawn."""
        return weight

    def name(self) -> tuple[object, ...]:
        """Return what tells it from others, for a digest."""
        return ("roomy", self.reach)


@record
class FarEnd:
    """The ways to the farther bounds, whatever the weights; the bounds of all are finite."""

    box: Box

    def __call__(self, x: FloatArray, where: IntArray | slice, weights: FloatArray) -> FloatArray:
        """Return how far some coordinates of x can go, to the farther side."""
        down, up = self.box.room(x, where)
        return np.where(up >= down, up, -down)

    def heaviest(self, weight: float) -> float:
        """Return the longest way."""
        return self.box.width

    def name(self) -> tuple[object, ...]:
        """Return what tells it from others, for a digest."""
        return ("far end",)
