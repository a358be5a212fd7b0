"""What a benchmark function is, and what all of them share.

The rules of this file:

- A function is written once, for a block of rows. One point is a block of one row, so the single and
  the batched form agree bit for bit as long as a row's sum does not depend on the rows beside it.
- NumPy's reductions over the last axis of a contiguous array, and its element-by-element operations,
  have that property. BLAS does not promise it, and its long dot products change with the number of
  threads besides: values use no `@` and no `dot`.
- A function never changes after it is made: all its arrays are read-only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from gracezo.core.types import FloatArray, IntArray

_BLOCK = 1 << 15
"""Elements in a block of rows: its temporaries stay in the cache, which nearly halves the time of a row."""


class SeparableBase:
    """A sum over coordinates at one base, which prices changes: what it is there, and how it changes.

    Parameters
    ----------
    value
        f at the base.
    change
        (indices, values) to by how much the sum over these coordinates changes when they are displaced.
    """

    def __init__(self, value: float, change: Callable[[Any, FloatArray], float]) -> None:
        self._value = value
        self._change = change

    def value(self, parts: Iterable[tuple[Any, FloatArray]]) -> float:
        """Return f at the base displaced by parts (indices, values)."""
        return self._value + sum(self._change(indices, values) for indices, values in parts)


class Benchmark(ABC):
    """A function to compare methods on. Subclass it, give `x0` and `s`, and write `_values`.

    Parameters
    ----------
    x0
        The starting point, of any shape; kept flat.
    s
        The sparsity that methods are told.
    optimum
        A point where the function is least, if one is known.
    minimum
        The least value, or the least known; None if nothing is known.

    Attributes
    ----------
    name : str
        What tables and plots call the function.
    x0 : ndarray
        The starting point, flat, float64, read-only.
    d : int
        The number of coordinates.
    s : int
        The sparsity that methods are told.
    optimum : ndarray or None
        A point where the function is least, flat and read-only.
    minimum : float or None
        The least value. Each class says how it is known.

    Examples
    --------
    >>> import numpy as np
    >>> class Bowl(Benchmark):
    ...     name = "bowl"
    ...
    ...     def _values(self, rows):
    ...         return np.square(rows).sum(axis=-1)
    >>> bowl = Bowl(np.ones(4), s=2, minimum=0.0)
    >>> bowl([1, 2, 3, 4])
    30.0
    >>> bowl.many(np.eye(4)[:2])
    array([1., 1.])
    """

    name: str

    def __init__(
        self,
        x0: npt.ArrayLike,
        s: int,
        *,
        optimum: npt.ArrayLike | None = None,
        minimum: float | None = None,
    ) -> None:
        self.x0 = frozen(x0).reshape(-1)
        self.d = self.x0.size
        self.s = _sparsity(s, self.d)
        self.optimum = None if optimum is None else frozen(optimum).reshape(-1)
        self.minimum = minimum

    def __call__(self, x: npt.ArrayLike) -> float:
        """Return the value at one point, of any shape with d elements, dense or sparse."""
        return float(self._values(self._flat(x)[np.newaxis])[0])

    def many(self, rows: npt.ArrayLike) -> FloatArray:
        """Return the values at k points, given as (k, d) or as (k, ...) with d elements each.

        Bit for bit the values of k single calls.
        """
        points = np.asarray(rows, dtype=np.float64, order="C")
        if points.ndim < 2 or points.size != len(points) * self.d:
            raise ValueError(
                f"rows has shape {points.shape}; {self.name} takes (k, {self.d}), a point of {self.d:,} "
                "elements in each row"
            )
        points = points.reshape(len(points), self.d)
        values = np.empty(len(points))
        height = max(1, _BLOCK // self.d)
        for start in range(0, len(points), height):
            block = slice(start, start + height)
            values[block] = self._values(points[block])
        return values

    def gradient(self, x: npt.ArrayLike) -> FloatArray:
        """Return the gradient at one point, flat. For tests and least values; no method may see it."""
        raise NotImplementedError(f"{self.name} has no gradient")

    @abstractmethod
    def _values(self, rows: FloatArray) -> FloatArray:
        """Return the value of each row of a contiguous (k, d) array, which is not to be written to."""

    def _flat(self, x: npt.ArrayLike) -> FloatArray:
        if issparse(x):
            x = x.toarray()  # type: ignore[union-attr]  # a sparse array has one
        point = np.asarray(x, dtype=np.float64, order="C")
        if point.size != self.d:
            raise ValueError(f"x has {point.size:,} elements; {self.name} takes {self.d:,}")
        return point.reshape(-1)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # NumPy's pickles forget that an array was read-only.
        self.__dict__.update(state)
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False


def frozen(values: npt.ArrayLike) -> FloatArray:
    """Return a read-only contiguous float64 copy."""
    array = np.array(values, dtype=np.float64, order="C")
    array.flags.writeable = False
    return array


def instance_generator(seed: int) -> np.random.Generator:
    """Return the generator that an instance is drawn from.

    Not a `Key`: those feed SFC64, so that an optimiser with the same seed draws other numbers.
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed is {seed!r}; an instance is named by a whole number from 0 on")
    return np.random.Generator(np.random.PCG64(int(seed)))


def random_support(rng: np.random.Generator, d: int, s: int) -> IntArray:
    """Return s distinct coordinates of d."""
    return rng.choice(d, size=_sparsity(s, d), replace=False)


def _sparsity(s: int, d: int) -> int:
    if not 1 <= s <= d:
        raise ValueError(f"s is {s}; the sparsity must be from 1 to the dimension d = {d:,}")
    return s
