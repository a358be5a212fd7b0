"""Kinks in single coordinates: found where slopes jump, and then treated as walls.

A quasi-Newton model cannot hold a slope that jumps: each step crosses the kink, and what the slope on either
side promises is not there. So a kink is suspected where a coordinate has shown slopes of both signs, farther
apart than its curvature explains, and where a step was cut short before one that had promised much. The
suspicion is priced as everything else: by what it promises, by how often there was something behind it, and
by what a query brings elsewhere. `corner.py` then looks for the kink.

From then on steps end at it. A coordinate that stands there, uphill on both sides, is *pinned*: it takes no
part in steps, as if at a wall. The smooth rest of f adds the same to both of its slopes, so that one of them
is refreshed, and the other follows by the jump. When either leads downhill, it is let go.
"""

from __future__ import annotations

import math

import numpy as np

from gracezo.core.asks import Point, Steps
from gracezo.core.types import BoolArray, FloatArray, IntArray
from gracezo.methods.auto.belief import counted
from gracezo.methods.auto.corner import Corner

_JUMP = 3.0  # times as far as the curvature explains: slopes so far apart have a kink between them


class Kinks:
    """What is known of kinks, coordinate by coordinate of a support that may grow.

    Parameters
    ----------
    keep
        Share of the evidence on how often a suspicion was right that is kept at each new one.
    """

    def __init__(self, keep: float) -> None:
        self._keep = keep
        self._record = (1.0, 1.0)  # searches that brought something, and all
        # Columns: where the slope was last negative, that slope; the same where it was positive.
        self._seen: FloatArray = np.full((0, 4), math.nan)
        self.places: FloatArray = np.zeros(0)
        """Where the kink is; NaN where none is known."""
        self._jumps: FloatArray = np.zeros(0)
        self.located: BoolArray = np.zeros(0, np.bool_)
        """Which kinks were located just now."""
        self._ahead: FloatArray = np.zeros(0)  # where a kink may lie before; NaN where nothing says so
        self._far: FloatArray = np.zeros(0)
        self._far_slopes: FloatArray = np.zeros(0)
        self.stakes: FloatArray = np.zeros(0)
        """Of the suspects: how deep below them a kink may lie, half of what the slope promises."""
        self.sides: FloatArray = np.zeros(0)
        """Of those that stand on a kink: the side that their slope is of. Zero for the others."""
        self._blurs: FloatArray = np.zeros(0)  # how far from its place the kink may be
        self.pinned: BoolArray = np.zeros(0, np.bool_)
        """Which coordinates stand on a kink, uphill on both sides."""

    @property
    def any(self) -> bool:
        """Whether any kink is known."""
        return not bool(np.isnan(self.places).all())

    @property
    def reach(self) -> FloatArray:
        """How far each coordinate has to go to show the slope of one side: beyond the kink it stands on."""
        return np.where(self.sides != 0.0, self._blurs, 0.0)

    @property
    def rate(self) -> float:
        """How often the search behind a suspicion brought a kink, or at least a decrease."""
        return self._record[0] / self._record[1]

    def grow(self, n: int) -> None:
        """Make room for a support of n coordinates."""
        more = n - len(self.places)
        if more > 0:
            self._seen = np.concatenate([self._seen, np.full((more, 4), math.nan)])
            self.places = np.concatenate([self.places, np.full(more, math.nan)])
            self._jumps = np.concatenate([self._jumps, np.zeros(more)])
            self.sides = np.concatenate([self.sides, np.zeros(more)])
            self._blurs = np.concatenate([self._blurs, np.zeros(more)])
            self.located = np.concatenate([self.located, np.zeros(more, np.bool_)])
            self.pinned = np.concatenate([self.pinned, np.zeros(more, np.bool_)])
            self._ahead = np.concatenate([self._ahead, np.full(more, math.nan)])

    # ------------------------------------------------------------ slopes at a kink

    def update(self, x: FloatArray, slopes: FloatArray) -> None:
        """Take slopes measured at x: pin what stands on a kink, or let it go, and note the others."""
        for j in np.flatnonzero(self.sides).tolist():
            self._stand(j, float(slopes[j] + self._jumps[j] * (self.sides[j] < 0.0)), slopes)
        for column, signed in ((0, slopes < 0.0), (2, slopes > 0.0)):
            seen = signed & (self.sides == 0.0)
            self._seen[seen, column] = x[seen]
            self._seen[seen, column + 1] = slopes[seen]

    def moved(self, x: FloatArray, slopes: FloatArray) -> None:
        """Note where the coordinates are, and foresee the slopes of those that have come to their kink."""
        self.grow(len(x))
        away = x != self.places
        self.sides[away] = 0.0
        self.pinned[away] = False
        for j in np.flatnonzero(~away & (self.sides == 0.0)).tolist():
            # It came downhill: a negative slope was that on the left.
            self._stand(j, float(slopes[j] + self._jumps[j] * (slopes[j] < 0.0)), slopes)

    def _stand(self, j: int, right: float, slopes: FloatArray) -> None:
        """Decide what becomes of a coordinate on its kink, given its slope to the right."""
        left = right - self._jumps[j]
        self.pinned[j] = left < 0.0 < right
        if self.pinned[j]:
            # Each side in its turn, so that a jump that has changed does not stay hidden.
            self.sides[j] = -1.0 if self.sides[j] > 0.0 else 1.0
        else:
            self.sides[j] = 1.0 if right <= 0.0 else -1.0
        slopes[j] = right if self.sides[j] > 0.0 else left

    # ------------------------------------------------------------ finding kinks

    def blame(self, culprits: IntArray, places: FloatArray) -> None:
        """Suspect a kink before these places: a step there did not bring what these coordinates promised."""
        self._ahead[:] = math.nan
        self._ahead[culprits] = places

    def suspects(self, x: FloatArray, slopes: FloatArray, curvatures: FloatArray, most: float) -> IntArray:
        """Return the coordinates that may have a kink on their way down, the largest stake first.

        None is looked for farther than a decrease of `most` would take it.
        """
        low, down, high, up = self._seen.T
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            jumped = (up - down > _JUMP * curvatures * (high - low)) & (high > low)
            # The present place is one of the two, or it says nothing.
            jumped &= np.where(slopes < 0.0, low, high) == x
            blamed = ((self._ahead - x) * slopes < 0.0) & (self._ahead != self.places)
            self._far = np.where(jumped, np.where(slopes < 0.0, high, low), np.where(blamed, self._ahead, x))
            reach = most / np.abs(slopes)
            self._far = np.where(jumped, self._far, np.clip(self._far, x - reach, x + reach))
            self._far_slopes = np.where(jumped, np.where(slopes < 0.0, up, down), math.nan)
            chosen = np.flatnonzero((jumped | blamed) & ~self.pinned)
        self.stakes = 0.5 * np.fmin(np.abs(slopes), np.abs(self._far_slopes)) * np.abs(self._far - x)
        return chosen[np.argsort(-self.stakes[chosen], kind="stable")]

    def locate(
        self, at: Point, coordinate: int, j: int, slopes: FloatArray, start: float, rounding: float
    ) -> Steps[Point]:
        """Look for the kink of one suspect; return the best point met.

        Where the run began is tried first: that is where penalties on a change have their kinks.
        """
        self._seen[j] = self._ahead[j] = math.nan
        corner = Corner(at, coordinate, float(slopes[j]), float(self._far[j]), rounding=rounding)
        found = yield from corner.find(start)
        if math.isfinite(corner.slope):  # beside it an evaluation may have failed
            slopes[j] = corner.slope
        success = found is not None or corner.best is not at
        self._record = counted(self._record, success, self._keep)
        if found is not None:
            left, right = found
            self.places[j], self._jumps[j] = corner.best.x[coordinate], right - left
            self.sides[j], self.located[j], self._blurs[j] = 0.0, True, corner.blur
            self._stand(j, right, slopes)
        return corner.best
