"""The bounds around the present point of a run: how much room they leave, and what they make of a step.

Without bounds there is room everywhere, and nothing here changes a number.

- Probes lead inward: where the drawn side has too little room, the other is taken if it has more, and
  where neither has enough the weight is made so small that ε times the weight fits.
- A coordinate whose way down is shut belongs to the *active set*. It is no find, but it is known: it stays in
  the support, whose refreshing notices when its slope turns and it may leave the wall.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from gracezo.core.aims import Inward
from gracezo.core.box import Box, MovablePart
from gracezo.core.places import Place, lean, replaced
from gracezo.core.precision import SHOWN, ULP
from gracezo.core.types import BoolArray, FloatArray, IntArray

_THERE = 4.0 * ULP  # of |x|: what a sum of two may be off, and is at the wall still
BEYOND = math.fsum((1.0, 2.0 * _THERE))
"""Times the way to a wall: a step whose sum is not rounded short of it. What is beyond is cut."""


class Walls:
    """The bounds around the present point.

    Parameters
    ----------
    box
        The bounds, if there are any.
    """

    def __init__(self, box: Box | None = None) -> None:
        self.box = box
        self._x: FloatArray = np.zeros(0)
        self.stops = box
        """Where steps end: at the bounds, and at kinks. Probes mind the bounds only."""
        self._known: tuple[FloatArray | None, dict[str, float]] = None, {}  # of what can move of an origin
        self._central = False  # whether looks at sums are to reach to both sides

    @cached_property
    def reach(self) -> float:
        """How far a coordinate can go, at least, to one side or the other: half the mean width of the box."""
        if self.box is None:
            return math.inf
        if self.box.lean:
            return 0.5 * (float(self.box.upper[0]) - float(self.box.lower[0]))
        return 0.5 * (float(np.mean(self.box.upper)) - float(np.mean(self.box.lower)))

    def stop(self, indices: IntArray, places: FloatArray, fixed: BoolArray) -> None:
        """Let steps of these coordinates end at these places, too; those fixed do not move."""
        x = self._x[indices]
        low = np.where(fixed | (places < x), places, -np.inf)
        self.confine(indices, low, np.where(fixed | (places > x), places, np.inf))

    def confine(self, indices: IntArray, low: FloatArray, high: FloatArray) -> None:
        """Let steps of these coordinates end there, too."""
        lower, upper = (Place.constant(end, len(self._x)).stand_in for end in (-np.inf, np.inf))
        if self.box is not None:
            lower, upper = (
                Place.at(side).stand_in if lean(side) else side for side in (self.box.lower, self.box.upper)
            )
        low, high = np.fmax(lower[indices], low), np.fmin(upper[indices], high)
        self.stops = Box(replaced(lower, indices, low), replaced(upper, indices, high))

    @property
    def x(self) -> FloatArray:
        """The present point."""
        return self._x

    def centre(self, x: FloatArray) -> FloatArray:
        """Note the present point; return the coordinates of it that can move."""
        self._x = x
        if self.box is None or not self.box.holds_some:
            return x
        return self._movable(x) if isinstance(x, Place) else x[self.box.free]

    def _movable(self, x: Place) -> FloatArray:
        """Return the coordinates of a place that can move."""
        assert self.box is not None
        if self._known[0] is not x.root:
            self._known = x.root, {}
        return MovablePart(x, self.box, self._known[1]).stand_in

    # ------------------------------------------------------------ probes

    def look_to_both_sides(self, central: bool) -> None:
        """Let coordinates with little room to a wall move by less, so that sums can be looked at far away."""
        self._central = central

    def aim(
        self, indices: IntArray, weights: FloatArray, reach: float
    ) -> tuple[FloatArray, tuple[FloatArray, FloatArray] | None]:
        """Return the weights of a probe that stays inside up to ε = `reach`, and the largest ε of each.

        The latter ahead and behind: a look to both sides needs room on both. Those that have less of it than
        the typical one move by as much less where looks go to both sides, and hold up nobody.
        """
        inward = self.inward(indices, weights, reach)
        if inward is None:
            return weights, None
        aimed = inward(self._x, indices, weights)
        return aimed, inward.limits(self._x, indices, aimed)

    def inward(self, indices: IntArray, weights: FloatArray, reach: float) -> Inward | None:
        """Return what makes a probe stay inside up to ε = `reach`, where these coordinates are typical."""
        if self.box is None:
            return None
        if self._central:
            free = self.box.moves(indices)
            both = Inward(self.box, reach).both(self._x, indices[free], weights[free])
            typical = float(np.median(both)) if len(both) else 0.0
            if typical > 0.0:
                return Inward(self.box, reach, typical)
        return Inward(self.box, reach)

    def rounded(self, indices: IntArray, steps: FloatArray) -> FloatArray:
        """Return steps from the present point as the precision of x leaves them."""
        here = self._x[indices]
        return np.asarray((here + steps) - here)

    def plainly(self, indices: IntArray) -> FloatArray:
        """Return how far each coordinate has to go for its displacement not to be lost in its precision."""
        return np.asarray(SHOWN * np.abs(self._x[indices]))

    # ------------------------------------------------------------ the way down

    def rooms(self, indices: IntArray, slopes: FloatArray) -> FloatArray:
        """Return how far each coordinate can go against its slope."""
        if self.stops is None:
            return np.full(len(indices), np.inf)
        return self.stops.ahead(self._x, indices, -slopes)

    def room(self, coordinate: int, slope: float) -> float:
        """Return how far one coordinate can go against its slope."""
        if self.box is None:
            return np.inf
        return float(self.box.ahead(self._x, np.array([coordinate]), np.array([-slope]))[0])

    def active(self, indices: IntArray, slopes: FloatArray) -> BoolArray:
        """Return the active set: those at a wall that shuts their way down, a bound or a kink."""
        return self._at(self.stops, indices, slopes)

    def active_at_bounds(self, indices: IntArray, slopes: FloatArray) -> BoolArray:
        """Return the active set of the bounds alone."""
        return self._at(self.box, indices, slopes)

    def _at(self, box: Box | None, indices: IntArray, slopes: FloatArray) -> BoolArray:
        if box is None:
            return np.zeros(len(indices), np.bool_)
        return np.asarray(box.ahead(self._x, indices, -slopes) <= _THERE * np.abs(self._x[indices]))

    def promise(self, indices: IntArray, slopes: FloatArray, diagonal: FloatArray) -> float:
        """Return the decrease of Newton steps along each coordinate alone, as far as there is room."""
        if self.stops is None:
            return 0.5 * float(np.add.reduce(slopes**2 / diagonal))
        lengths = np.minimum(np.abs(slopes) / diagonal, self.rooms(indices, slopes))
        return float(np.add.reduce(lengths * (np.abs(slopes) - 0.5 * diagonal * lengths)))

    # ------------------------------------------------------------ steps

    def ends(self, indices: IntArray, steps: FloatArray) -> FloatArray:
        """Return the coordinates at the end of steps, which the walls may cut."""
        if self.stops is None:
            return np.asarray(self._x[indices] + steps)
        return self.stops.place(self._x, indices, steps)

    def asked(self, indices: IntArray, steps: FloatArray) -> FloatArray:
        """Return steps to be asked: cut at kinks. At bounds the engine cuts them, to the last bit."""
        if self.stops is None or self.stops is self.box:
            return steps
        here, ends = self._x[indices], self.ends(indices, steps)
        bound = np.zeros(len(ends), np.bool_)
        if self.box is not None:
            bound = (ends == self.box.lower[indices]) | (ends == self.box.upper[indices])
        return np.where(bound | (ends == here + steps), steps, ends - here)

    def reached(self, indices: IntArray, asked: FloatArray) -> FloatArray:
        """Return the coordinates where such steps lead."""
        if self.box is None:
            return np.asarray(self._x[indices] + asked)
        return self.box.place(self._x, indices, asked)

    def ahead(self, indices: IntArray, steps: FloatArray) -> FloatArray:
        """Return how far each coordinate can go in the direction of its step."""
        if self.stops is None:
            return np.full(len(indices), np.inf)
        return self.stops.ahead(self._x, indices, steps)

    def displacement(self, indices: IntArray, steps: FloatArray) -> FloatArray:
        """Return steps as the walls leave them."""
        if self.stops is None:
            return steps
        ends, here = self.ends(indices, steps), self._x[indices]
        # A step that no wall cuts is left as it is: the difference would be rounded.
        return np.where(ends == here + steps, steps, ends - here)
