"""Magnitude: a reward for the s largest coordinates, a small penalty for the others.

Reference: Qiu & Tong, "Gradient Compressed Sensing", ICML 2024, section 5.1.
"""

from __future__ import annotations

from math import isqrt

import numpy as np
import numpy.typing as npt

from gracezo.core.types import FloatArray
from gracezo.problems.base import Benchmark, instance_generator, random_support


class Magnitude(Benchmark):
    """f(x) = s − Σ_{s largest} tanh(x_i²) + λ Σ_{others} tanh(x_i²), largest by magnitude.

    x0 is zero but on s random coordinates, where it is ± `start`.

    Parameters
    ----------
    seed
        Names the instance.
    d
        The number of coordinates.
    s
        How many coordinates are rewarded.
    lam
        The weight λ of the others.
    start
        The magnitude of the nonzero coordinates of x0.

    Attributes
    ----------
    lam : float
        The weight λ.
    optimum : None
        The least value is approached as s coordinates grow without limit and the others vanish.
    floor : float
        0.

    Examples
    --------
    >>> f = Magnitude(seed=0, d=1000, s=3)
    >>> round(f(f.x0), 4)
    2.8801
    >>> int((f.gradient(f.x0) != 0).sum())
    3
    """

    name = "magnitude"

    def __init__(self, seed: int, d: int = 10_000, s: int = 5, lam: float = 0.1, start: float = 0.2) -> None:
        if not lam >= 0:
            raise ValueError(f"lam is {lam!r}; the weight of the small coordinates cannot be negative")
        rng = instance_generator(seed)
        support = random_support(rng, d, s)
        x0 = np.zeros(d)
        x0[support] = start * rng.choice([-1.0, 1.0], size=s)
        self.lam = lam
        super().__init__(x0, s, floor=0.0)

    def _values(self, rows: FloatArray) -> FloatArray:
        terms = np.square(rows)
        np.tanh(terms, out=terms)
        largest = np.array([_largest(row, self.s) for row in terms]).sum(axis=-1)
        # The largest are in the sum of all; rounding may leave less than nothing for the others.
        others = np.maximum(terms.sum(axis=-1) - largest, 0.0)
        values: FloatArray = (self.s - largest) + self.lam * others
        return values

    def gradient(self, x: npt.ArrayLike) -> FloatArray:
        """Return the gradient where the s-th and the next magnitude differ.

        Where they are equal f has a ridge, and this is the slope on the side
        that counts the first of the equal coordinates as larger.
        """
        point = self._flat(x)
        weights = np.full(self.d, self.lam)
        weights[np.argsort(-np.abs(point), kind="stable")[: self.s]] = -1.0
        square = np.square(point)
        slope: FloatArray = weights * 2.0 * point * (1.0 - np.tanh(square) ** 2)
        return slope


def _largest(terms: FloatArray, s: int) -> FloatArray:
    """Return the s largest terms in ascending order.

    The s-th largest of the maxima of disjoint parts is a lower bound on the
    s-th largest term, and few terms exceed it. A partition of all terms is
    ten times slower when most of them are equal, as here near x0.
    """
    parts = max(s, isqrt(s * terms.size))
    height = terms.size // parts
    maxima = terms[: height * parts].reshape(height, parts).max(axis=0)
    bound = np.partition(maxima, parts - s)[parts - s]
    above = np.sort(terms[terms > bound])
    # At least s terms reach the bound, so those that the strict comparison left out equal it.
    missing = s - above.size
    return above[-s:] if missing <= 0 else np.concatenate([np.full(missing, bound), above])
