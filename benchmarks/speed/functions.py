"""The functions that are minimised beside `Distance`, and a watch on how long they take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np

from gracezo.core.types import FloatArray

SPARSITY = 10

Parts: TypeAlias = Iterable[tuple[Any, FloatArray]]


class Bowl:
    """w @ (x − v)², as one would write it: its rounding grows with d.

    Parameters
    ----------
    d
        The number of coordinates.
    seed
        Names the instance.
    s
        How many coordinates of v are not zero.
    """

    def __init__(self, d: int, seed: int = 0, s: int = SPARSITY) -> None:
        rng = np.random.default_rng(seed)
        self.d, self.s = d, s
        self.weights = rng.random(d)
        self.hidden = np.zeros(d)
        self.hidden[rng.choice(d, s, replace=False)] = rng.random(s)

    def __call__(self, x: FloatArray) -> float:
        """Return the value at a point."""
        return float(self.weights @ (x - self.hidden) ** 2)


class HiddenBowl:
    """Σ(x_i − v_i)², of which nothing of length d is kept, for a sparse start: it prices changes.

    Parameters
    ----------
    d, seed, s
        As of `Bowl`.
    """

    def __init__(self, d: int, seed: int = 0, s: int = SPARSITY) -> None:
        rng = np.random.default_rng(seed)
        self.d, self.s = d, s
        self.places = np.sort(rng.choice(d, s, replace=False))
        self.hidden = rng.random(s)

    def __call__(self, x: FloatArray) -> float:
        """Return the value at a point."""
        return float(x @ x - 2.0 * x[self.places] @ self.hidden + self.hidden @ self.hidden)

    def at(self, x: Any) -> HiddenPriced:
        """Keep the few coordinates in which a sparse base differs from zero."""
        coordinates = x.tocoo()
        return HiddenPriced(self, dict(zip(coordinates.coords[-1].tolist(), coordinates.data, strict=True)))


class HiddenPriced:
    """Σ(x_i − v_i)² at a base of few coordinates, displaced."""

    def __init__(self, bowl: HiddenBowl, base: dict[int, float]) -> None:
        ways = base.copy()
        for place, value in zip(bowl.places.tolist(), bowl.hidden.tolist(), strict=True):
            ways[place] = ways.get(place, 0.0) - value
        self._places = np.array(sorted(ways), np.int64)
        self._ways = np.array([ways[place] for place in self._places.tolist()])
        self._value = float(self._ways @ self._ways)

    def value(self, parts: Parts) -> float:
        """Return f at the base displaced by parts (indices, values)."""
        change = 0.0
        for indices, values in parts:
            change += float(values @ values)
            if isinstance(indices, slice):
                low, high = np.searchsorted(self._places, [indices.start, indices.stop]).tolist()
                change += 2.0 * float(values[self._places[low:high] - indices.start] @ self._ways[low:high])
            else:
                order = np.searchsorted(self._places, indices)
                met = self._places[np.minimum(order, len(self._places) - 1)] == indices
                change += 2.0 * float(values[met] @ self._ways[np.asarray(order)[met]])
        return self._value + change


class Timed:
    """A function that keeps count of its calls and of the time they take; it may have enough of them.

    Parameters
    ----------
    fun
        The function.
    calls, seconds
        After how many calls, or how much time in all, it raises `Enough`.
    """

    def __init__(self, fun: Callable[[Any], float], calls: int = 10**9, seconds: float = 1e9) -> None:
        self._fun = fun
        self.inside = 0.0
        self.calls = 0
        self._most = calls
        self._until = time.process_time() + seconds

    def __call__(self, x: Any) -> float:
        """Return the value at a point."""
        began = time.process_time()
        if self.calls >= self._most or began > self._until:
            raise Enough
        value = self._fun(x)
        self.calls += 1
        self.inside += time.process_time() - began
        return value


class Enough(BaseException):
    """A rival has asked often enough: it knows no limit of its own, or not so small a one."""
