"""Distance: a weighted squared distance to a hidden sparse point.

Reference: Qiu & Tong, "Gradient Compressed Sensing", ICML 2024, section 5.1.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

import numpy as np
import numpy.typing as npt

from gracezo.core.types import FloatArray, IntArray
from gracezo.problems.base import Benchmark, SeparableBase, frozen, instance_generator, random_support

_FEW = 1.0 / 64.0
"""Of the coordinates: so many slopes are kept by index, where there are"""
_MANY = 2**17
"""coordinates at least; of fewer all are at hand sooner."""


class Distance(Benchmark):
    """f(x) = Σ w_i (x_i − x*_i)², the hidden point x* zero but on s coordinates.

    The weights w and the s coordinates of x* are uniform on (0, 1). From
    x0 = 0 the gradient has s nonzero coordinates, and keeps them while a
    method moves along them only.

    Parameters
    ----------
    seed
        Names the instance.
    d
        The number of coordinates.
    s
        How many coordinates of x* are not zero.

    Attributes
    ----------
    weights : ndarray
        The weights w.
    optimum : ndarray
        The hidden point x*, where f is 0.
    minimum : float
        0.

    Examples
    --------
    >>> f = Distance(seed=0, d=1000, s=3)
    >>> f(f.optimum)
    0.0
    >>> int((f.gradient(f.x0) != 0).sum())
    3
    """

    name = "distance"
    optimum: FloatArray

    def __init__(self, seed: int, d: int = 10_000, s: int = 10) -> None:
        rng = instance_generator(seed)  # drawn in the order of the definition: w, the support, x*
        self.weights = frozen(rng.random(d))
        hidden = np.zeros(d)
        hidden[random_support(rng, d, s)] = rng.random(s)
        self._hidden = frozen(hidden)
        super().__init__(np.zeros(d), s, optimum=self._hidden, minimum=0.0)

    def _values(self, rows: FloatArray) -> FloatArray:
        terms = rows - self._hidden
        terms *= terms
        terms *= self.weights
        values: FloatArray = terms.sum(axis=-1)
        return values

    def at(self, x: npt.ArrayLike) -> SeparableBase:
        """Keep what prices a change of x: 2 w ∘ (x − x*) where that is not zero, and the value there.

        >>> f = Distance(seed=0, d=1000, s=3)
        >>> there = f.x0.copy()
        >>> there[[5, 7]] = [0.5, -0.25]
        >>> priced = f.at(f.x0).value([(np.array([5, 7]), np.array([0.5, -0.25]))])
        >>> bool(np.isclose(priced, f(there)))
        True
        """
        flat, weights = self._flat(x), self.weights
        (where,) = np.nonzero(flat != self._hidden)
        ways = flat[where] - self._hidden[where]
        slopes = weights[where] * ways
        value = float(slopes @ ways)
        slopes *= 2.0
        kept: IntArray | None = where
        if self.d < _MANY or len(where) > _FEW * self.d:
            slopes, kept = _spread(slopes, where, self.d), None

        def change(indices: Any, values: FloatArray) -> float:
            return float((values * values) @ weights[indices]) + _along(slopes, kept, indices, values)

        return SeparableBase(value, change)

    def gradient(self, x: npt.ArrayLike) -> FloatArray:
        """Return 2 w ∘ (x − x*)."""
        return 2.0 * self.weights * (self._flat(x) - self._hidden)


def _along(slopes: FloatArray, where: IntArray | None, indices: Any, values: FloatArray) -> float:
    """Return Σ slope·value over the coordinates of a part; `where` are those of the slopes, None for all."""
    if where is None:
        return float(values @ slopes[indices])
    if isinstance(indices, slice):
        first, last = bisect_left(where, indices.start), bisect_left(where, indices.stop)
        return float(values[where[first:last] - indices.start] @ slopes[first:last]) if first < last else 0.0
    if not len(where):
        return 0.0
    places = np.minimum(np.searchsorted(where, indices), len(where) - 1)
    return float(values @ np.where(where[places] == indices, slopes[places], 0.0))


def _spread(slopes: FloatArray, where: IntArray, d: int) -> FloatArray:
    """Return all slopes, those that are zero, too."""
    spread = np.zeros(d)
    spread[where] = slopes
    return spread
