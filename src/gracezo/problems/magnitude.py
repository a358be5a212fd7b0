"""Magnitude: a reward for the s largest coordinates, a small penalty for the others.

Reference: Qiu & Tong, "Gradient Compressed Sensing", ICML 2024, section 5.1.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from gracezo.core.types import FloatArray, IntArray
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
    minimum : float
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
        super().__init__(x0, s, minimum=0.0)

    def _values(self, rows: FloatArray) -> FloatArray:
        terms = np.square(rows)
        np.tanh(terms, out=terms)
        largest = np.array([_largest(row, self.s) for row in terms]).sum(axis=-1)
        # The largest are in the sum of all; rounding may leave less than nothing for the others.
        others = np.maximum(terms.sum(axis=-1) - largest, 0.0)
        values: FloatArray = (self.s - largest) + self.lam * others
        return values

    def at(self, x: npt.ArrayLike) -> MagnitudeBase:
        """Keep what prices a change of x: the terms tanh(x²), their sum, and the largest of them.

        >>> f = Magnitude(seed=0, d=1000, s=3)
        >>> there = f.x0.copy()
        >>> there[[5, 7]] += [0.5, -0.25]
        >>> priced = f.at(f.x0).value([(np.array([5, 7]), np.array([0.5, -0.25]))])
        >>> bool(np.isclose(priced, f(there)))
        True
        """
        return MagnitudeBase(self, self._flat(x))

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


class MagnitudeBase:
    """Magnitude at one base: prices changes.

    The largest terms, a few more than s, are kept apart from the sum of the others. A change is priced by
    what it does to that sum, and by which terms are the s largest then; if some of the others might be among
    these, all are looked at. No large sums are subtracted from each other.
    """

    def __init__(self, function: Magnitude, x: FloatArray) -> None:
        self._function = function
        self._x = x
        self._rest = np.tanh(np.square(x))  # the terms, zero for the largest
        first = x.size - min(2 * function.s + 8, x.size)
        self._top: IntArray = np.argpartition(self._rest, first)[first:]
        self._largest = self._rest[self._top]
        self._bar = float(self._largest.min())  # none of the others is larger
        self._rest[self._top] = 0.0
        self._is_top = np.zeros(x.size, np.bool_)
        self._is_top[self._top] = True
        self._sum = float(self._rest.sum())

    def value(self, parts: Iterable[tuple[Any, FloatArray]]) -> float:
        """Return f at the base displaced by parts (indices, values)."""
        function, total = self._function, self._sum
        kept, new, changed = np.ones(len(self._top), np.bool_), [], []
        for indices, values in parts:
            terms = np.tanh(np.square(self._x[indices] + values))
            apart = self._is_top[indices]
            if apart.any():
                here = np.arange(len(self._x))[indices] if isinstance(indices, slice) else indices
                kept &= ~np.isin(self._top, here[apart])
            apart = apart | (terms > self._bar)
            new.append(terms[apart])
            total += float((np.where(apart, 0.0, terms) - self._rest[indices]).sum())
            changed.append((indices, terms))
        terms = np.sort(np.concatenate([self._largest[kept], *new]))
        s = function.s
        if len(terms) < s or terms[-s] < self._bar:
            terms = self._rest.copy()
            terms[self._top] = self._largest
            for indices, there in changed:
                terms[indices] = there
            terms, total = np.sort(terms), 0.0
        return (s - float(terms[-s:].sum())) + function.lam * (total + float(terms[:-s].sum()))


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
