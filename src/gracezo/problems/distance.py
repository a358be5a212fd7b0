"""Distance: a weighted squared distance to a hidden sparse point.

Reference: Qiu & Tong, "Gradient Compressed Sensing", ICML 2024, section 5.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gracezo.core.types import FloatArray
from gracezo.problems.base import Benchmark, SeparableBase, frozen, instance_generator, random_support


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
    floor : float
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
        super().__init__(np.zeros(d), s, optimum=self._hidden, floor=0.0)

    def _values(self, rows: FloatArray) -> FloatArray:
        terms = rows - self._hidden
        terms *= terms
        terms *= self.weights
        values: FloatArray = terms.sum(axis=-1)
        return values

    def at(self, x: npt.ArrayLike) -> SeparableBase:
        """Keep what prices a change of x: 2 w ∘ (x − x*), and the value there.

        >>> f = Distance(seed=0, d=1000, s=3)
        >>> there = f.x0.copy()
        >>> there[[5, 7]] = [0.5, -0.25]
        >>> priced = f.at(f.x0).value([(np.array([5, 7]), np.array([0.5, -0.25]))])
        >>> bool(np.isclose(priced, f(there)))
        True
        """
        ways, weights = self._flat(x) - self._hidden, self.weights
        slopes = weights * ways
        value = float(slopes @ ways)
        slopes *= 2.0

        def change(indices: Any, values: FloatArray) -> float:
            return float(values @ slopes[indices] + (values * values) @ weights[indices])

        return SeparableBase(value, change)

    def gradient(self, x: npt.ArrayLike) -> FloatArray:
        """Return 2 w ∘ (x − x*)."""
        return 2.0 * self.weights * (self._flat(x) - self._hidden)
