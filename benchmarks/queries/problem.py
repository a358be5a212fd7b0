"""What a problem of the suite is, and the rules that hold for all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from gracezo.core.types import FloatArray

Objective: TypeAlias = Callable[[FloatArray], float]

TARGETS = (1e-1, 1e-2, 1e-4, 1e-8)
"""What counts as solved: this share of f(x0) − min f is left."""

TARGET_NAMES = dict(zip(TARGETS, ("0.1", "0.01", "1e-4", "1e-8"), strict=True))

_SWEEPS = 20
_LEAST_QUERIES = 20_000
_MOST_QUERIES = 100_000
_MOST_WORK = 2e9


@dataclass(frozen=True, eq=False)
class Problem:
    """One function with its starting point. Methods see `f`, `x0` and, if they ask, `s`; nothing else.

    Attributes
    ----------
    about
        One line for the table of the suite.
    s
        The sparsity that published GraCe is told: the true one, or `effective_sparsity` at x0.
    floor
        The least value: exact, or the least known (`benchmarks.queries.floors`).
    gradient
        The exact gradient where f is smooth; for floors and tests only.
    optimum
        A point where f is `floor`, when one is known in closed form.
    """

    about: str
    f: Objective
    gradient: Callable[[FloatArray], FloatArray]
    x0: FloatArray
    s: int
    floor: float
    optimum: FloatArray | None = None

    @property
    def d(self) -> int:
        """The number of coordinates."""
        return self.x0.size

    @property
    def budget(self) -> int:
        """The queries that each method gets: some twenty sweeps over the coordinates, or what is bearable."""
        wanted = max(_SWEEPS * (self.d + 1), _LEAST_QUERIES)
        return int(min(wanted, _MOST_QUERIES, _MOST_WORK / self.d))


def effective_sparsity(gradient: FloatArray, share: float = 0.99) -> int:
    """Return how few coordinates hold `share` of the squared norm: an s for those that have none."""
    mass = np.cumsum(np.sort(gradient**2)[::-1])
    return int(np.searchsorted(mass, share * mass[-1])) + 1


def random_rotation(rng: np.random.Generator, n: int) -> FloatArray:
    """Return an orthogonal matrix, uniformly distributed."""
    q, r = np.linalg.qr(rng.standard_normal((n, n)))
    rotation: FloatArray = q * np.sign(np.diag(r))
    return rotation


def spread(rng: np.random.Generator, n: int, condition: float) -> FloatArray:
    """Return n numbers from 1/condition to 1, evenly on a logarithmic scale, in random order."""
    return rng.permutation(np.logspace(-np.log10(condition), 0.0, n))
