from __future__ import annotations

import math

import numpy as np
import pytest

from gracezo.problems import Distance


def test_the_formula() -> None:
    f = Distance(4, d=50, s=6)
    x = np.random.default_rng(0).standard_normal(50)
    assert f.optimum is not None
    expected = math.fsum(w * (a - b) ** 2 for w, a, b in zip(f.weights, x, f.optimum, strict=True))
    assert f(x) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("seed", range(10))
def test_an_instance(seed: int) -> None:
    f = Distance(seed)
    assert (f.d, f.s, f.minimum) == (10_000, 10, 0.0)
    assert not f.x0.any()
    assert f.optimum is not None
    assert np.count_nonzero(f.optimum) == 10
    assert ((f.optimum >= 0) & (f.optimum < 1)).all()
    assert ((f.weights >= 0) & (f.weights < 1)).all()
    assert f(f.optimum) == 0.0
    assert not f.gradient(f.optimum).any()
    # The start's value has mean 10/6 and is the sum of ten terms below 1.
    assert 0.3 < f(f.x0) < 4.5


def test_the_seed_names_the_instance() -> None:
    same, again, other = Distance(3), Distance(3), Distance(4)
    np.testing.assert_array_equal(same.weights, again.weights)
    np.testing.assert_array_equal(same.optimum, again.optimum)
    assert (same.weights != other.weights).any()


def test_a_million_coordinates() -> None:
    f = Distance(0, d=1_000_000, s=10)
    rows = np.zeros((2, f.d))
    assert f.optimum is not None
    rows[1] = f.optimum
    assert f.many(rows).tolist() == [f(f.x0), 0.0]


D = 200_000


@pytest.mark.parametrize("d", [1000, D])
@pytest.mark.parametrize("away", [0, 1, 3, 0.9])  # coordinates, or which share, in which the base is off x*
@pytest.mark.parametrize("block", [slice(0, 1000), slice(100, 137), np.array([7, 3, 999]), np.arange(1000)])
def test_prices_are_the_values_however_many_slopes_there_are(
    d: int, away: float, block: slice | np.ndarray
) -> None:
    f, rng = Distance(1, d=d, s=3), np.random.default_rng(0)
    base, count = f.optimum.copy(), int(away if away >= 1 else away * d)
    base[rng.choice(d, count, replace=False)] += rng.normal(size=count)
    base[[3, 120]] += 0.5
    there, values = base.copy(), rng.normal(size=len(base[block]))
    there[block] += values
    assert f.at(base).value([(block, values)]) == pytest.approx(f(there), rel=1e-11)
