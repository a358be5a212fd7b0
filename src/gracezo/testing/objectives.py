"""What an objective that prices changes must keep: prices are what its calls say."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import scipy.sparse

from gracezo.core.shuffle import Piece
from gracezo.evaluators.priced import ALIKE, Prices


def check_objective(fun: Prices, x0: npt.ArrayLike, *, sparse: bool = False, seed: int = 0) -> None:
    """Check that an objective which prices changes, by `at` and `value`, agrees with its own calls.

    Parameters
    ----------
    fun
        An object with `__call__` and `at`.
    x0
        A point to check it around.
    sparse
        Whether `at` is to take sparse vectors, too.
    seed
        Of the displacements.

    Raises
    ------
    AssertionError
        Where prices and calls differ, up to rounding; the message says at which displacement.

    Examples
    --------
    >>> import gracezo.testing
    >>> from gracezo.problems import Distance
    >>> f = Distance(seed=0, d=100, s=3)
    >>> gracezo.testing.check_objective(f, f.x0, sparse=True)
    """
    random = np.random.default_rng(seed)
    start = np.array(x0, dtype=np.float64)
    size = start.size
    for moved in (0.0, 1.0):  # a base like x0, and another one
        base = start + moved * random.standard_normal(start.shape) * (random.random(start.shape) < 0.3)
        given = [base.copy()] + [scipy.sparse.coo_array(base.ravel())] * sparse
        for x in given:
            kept = fun.at(x)
            for what, parts in _displacements(random, size).items():
                there = base.copy()
                for indices, values in parts:
                    there.reshape(-1)[indices] += values
                expected = float(fun(there))
                for again in ("", ", asked again"):
                    price = float(kept.value(iter(parts)))
                    told = f"at(x).value(parts) is {price!r} with {what}{again}; fun says {expected!r}"
                    assert math.isclose(price, expected, rel_tol=ALIKE, abs_tol=1e-12), told
        assert np.array_equal(given[0], base), "at(x) or value(parts) has written into x"


def _displacements(random: np.random.Generator, size: int) -> dict[str, list[Piece]]:
    """Return kinds of displacements as an engine asks for: parts that have no coordinate in common."""
    order = random.permutation(size)
    values = random.standard_normal(size)
    few, half = min(3, size), size // 2
    zeros = np.where(random.random(size) < 0.5, 0.0, values)
    return {
        "no displacement": [],
        "a few coordinates displaced": [(order[:few], values[:few])],
        "all coordinates displaced in two parts": [
            (order[:half], values[:half]),
            (order[half:], values[half:]),
        ],
        "a slice displaced, some of it by zero": [(slice(0, half), zeros[:half])],
        "a slice and indices displaced": [
            (slice(0, half), 1e-6 * zeros[:half]),
            (np.arange(half, size), 1e-6 * values[half:]),
        ],
    }
