"""How many columns there may be in a set of positions, and how large a part to split off.

Columns are scattered evenly: the number in n positions has Poisson's law with the mean ρn. Before anything
is known, ρ may be anything, more than s columns having a chance that falls as 1/s (as far as the harmonic
series goes). Sets that were decoded say how many they hold; sets that were not say that it is more than can
be told apart. The part to split off is that which costs the fewest queries for each column found.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.special import gammainc, gammaincc

from gracezo.core.types import FloatArray

_GRID = 64  # densities that are considered
_MOST_PARTS = 64  # of a set, between which one is chosen at a time
_SPARE = 2  # probes of a part beyond its columns


@dataclass(eq=False)
class Density:
    """What is known of the density of columns among `size` positions, of which `most` can be told apart.

    Examples
    --------
    >>> density = Density(10_000, 30)
    >>> density.full(10_000)  # more than thirty in all
    >>> first = density.part(10_000)
    >>> density.decoded(first, 25)
    >>> density.part(10_000 - first) < first  # there are many: the next is smaller
    True
    """

    size: int
    most: int
    _means: FloatArray = field(init=False)  # of the number of columns in all
    _weights: FloatArray = field(init=False)  # logarithms of what speaks for each

    def __post_init__(self) -> None:
        self._means = np.geomspace(1.0, max(2.0, float(self.size)), _GRID)
        self._weights = -np.log(self._means)

    def decoded(self, size: int, count: int) -> None:
        """Note that a set of so many positions holds so many columns."""
        mean = self._means * size / self.size
        self._weights = self._weights + count * np.log(mean) - mean

    def full(self, size: int) -> None:
        """Note that a set of so many positions holds more than can be told apart."""
        mean = self._means * size / self.size
        self._weights = self._weights + np.log(gammainc(self.most + 1.0, mean) + 1e-300)

    def part(self, size: int) -> int:
        """Return how large a part of a set of so many positions to split off."""
        chance = np.exp(self._weights - self._weights.max())
        parts = np.append(1.5, np.arange(2.0, 2.0 + min(size, _MOST_PARTS)))
        mean = self._means[:, None] * (size / self.size)
        best = int(np.argmin(chance @ _price(mean / parts, mean - mean / parts, self.most)))
        return int(np.clip(round(size / parts[best]), 1, size - 1))


def _price(part: FloatArray, rest: FloatArray, m: int) -> FloatArray:
    """Return the mean number of queries if a part and the rest of a set hold so many columns in the mean.

    The part is asked: 1 query if it is empty, k and two spare ones for k ≤ m columns, m + 2 if it does not
    decode. The rest is what is left; it is known if it holds no more than m. What does not decode is split
    again, which takes 1 + 3/m queries for each column beyond m and 1 + √m/2 besides (as dynamic programming
    has it for known numbers, to 10 % for m = 2 to 30). All this of sets that hold more than m columns
    together: others were decoded.
    """
    none, fits = np.exp(-part), _within(m, part)
    asked = part * _within(m - 1, part) + _SPARE * (fits - none) + none + (m + _SPARE) * (1.0 - fits)
    both = part + rest
    decoded = part * _within(m - 1, both) + _SPARE * _within(m, both) - none * _within(m, rest)
    return asked - decoded + _later(part, m) + _later(rest, m)


def _later(mean: FloatArray, m: int) -> FloatArray:
    """Return the queries that a set takes later, of which m + 2 probes are known."""
    beyond = mean * (1.0 - _within(m - 1, mean)) - m * (1.0 - _within(m, mean))
    return np.asarray((1.0 + 3.0 / m) * beyond + (1.0 + 0.5 * math.sqrt(m)) * (1.0 - _within(m, mean)))


def _within(count: int, mean: FloatArray) -> FloatArray:
    """Return the chance of no more than so many, by Poisson's law."""
    return np.asarray(gammaincc(count + 1.0, mean)) if count >= 0 else np.zeros_like(mean)
