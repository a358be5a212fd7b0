"""Slopes on both sides of kinks that are known: |x_j − a_j| in f, as a penalty on every change has it.

f = h + Σ λ_j·|x_j − a_j| with a smooth h. The slopes of a coordinate to the left and to the right of a_j
differ by its *jump* 2·λ_j, wherever the others are: once that is known, one look tells both. Which way is
down, and how far a step may go, is as in the orthant-wise quasi-Newton method (Andrew & Gao, *Scalable
training of L1-regularized log-linear models*, ICML 2007, equation 4): a coordinate on its kink moves to the
side that leads down, if there is one, and a step ends where it would cross a kink. The pairs of a
quasi-Newton model are those of h: slopes on the same side.
"""

from __future__ import annotations

import numpy as np

from gracezo.core.types import BoolArray, FloatArray, IntArray


class Orthants:
    """The slopes of all coordinates, on both sides where they stand on their kinks.

    Parameters
    ----------
    places
        Where the kinks are, if there are any.

    Examples
    --------
    f = 3·x₀ + |x₀| + ½·x₁ + |x₁| at the origin: the first leads down to the left, the second stays.

    >>> orthants, x = Orthants(np.zeros(2)), np.zeros(2)
    >>> orthants.note(x, np.arange(2), np.array([2.0, -0.5]), np.array([4.0, 1.5]))
    >>> orthants.jumps, orthants.slopes(x)
    (array([2., 2.]), array([2., 0.]))
    """

    def __init__(self, places: FloatArray) -> None:
        self.places = places
        self.jumps: FloatArray = np.full(len(places), np.nan)
        """By how much the slope on the right is above that on the left; NaN where that is not known."""
        self._left, self._right = np.zeros((2, len(places)))

    def standing(self, x: FloatArray) -> BoolArray:
        """Return which coordinates stand where their kinks are."""
        return np.asarray(x == self.places)

    def note(self, x: FloatArray, chosen: IntArray, left: FloatArray, right: FloatArray) -> None:
        """Take in slopes of some coordinates, on the left and on the right; NaN where that was not asked."""
        standing, known = self.standing(x)[chosen], self.jumps[chosen]
        jumps = np.where(standing & np.isnan(known), right - left, known)
        across = np.where(standing & ~np.isnan(jumps), jumps, 0.0)
        self.jumps[chosen] = jumps
        self._left[chosen] = np.where(np.isnan(left), right - across, left)
        self._right[chosen] = np.where(np.isnan(right), left + across, right)

    @property
    def steepness(self) -> FloatArray:
        """The larger of the two slopes of each, without its sign."""
        return np.maximum(np.abs(self._left), np.abs(self._right))

    def slopes(self, x: FloatArray) -> FloatArray:
        """Return the slope of the way down of each coordinate; zero for those that their kinks hold."""
        left, right = self._left, self._right
        steeper = np.where(np.maximum(left, 0.0) >= np.maximum(-right, 0.0), np.maximum(left, 0.0), right)
        return np.where(self.standing(x), steeper, right)

    def sides(self, x: FloatArray) -> FloatArray:
        """Return the side on which each coordinate is looked at: where it is, or where it first may leave."""
        middle = np.where(self._left + self._right > 0.0, -1.0, 1.0)
        return np.where(self.standing(x), middle, np.sign(x - self.places))

    def change(self, before: Orthants, x: FloatArray, x_before: FloatArray) -> FloatArray:
        """Return how the slopes of h have changed since a point on the same sides."""
        above = np.maximum(x, x_before) > self.places
        return np.where(above, self._right - before._right, self._left - before._left)

    def copy(self) -> Orthants:
        """Return what is known now."""
        other = Orthants(self.places)
        other.jumps, other._left, other._right = self.jumps, self._left.copy(), self._right.copy()
        return other

    def ends(self, x: FloatArray, slopes: FloatArray, least: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how far each coordinate may go to either side: to its kink, if there is one.

        A jump of no more than `least` is none. One that is not known may be one.
        """
        kink = ~(np.abs(self.jumps) <= least)
        standing = self.standing(x)
        low = kink & ((x > self.places) | (standing & (slopes <= 0.0)))
        high = kink & ((x < self.places) | (standing & (slopes >= 0.0)))
        return np.where(low, self.places, -np.inf), np.where(high, self.places, np.inf)
