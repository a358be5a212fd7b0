from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gracezo.problems import Magnitude


def formula(x: list[float], s: int, lam: float) -> float:
    ordered = sorted((abs(value) for value in x), reverse=True)
    terms = [math.tanh(value**2) for value in ordered]
    return s - math.fsum(terms[:s]) + lam * math.fsum(terms[s:])


# Few distinct values, so that ties at the s-th place are common.
COORDINATE = st.one_of(st.sampled_from([0.0, 0.2, -0.2, 1.0, 1e-6]), st.floats(-3, 3))


@given(x=st.lists(COORDINATE, min_size=1, max_size=60), data=st.data(), lam=st.floats(0, 2))
def test_the_formula(x: list[float], data: st.DataObject, lam: float) -> None:
    s = data.draw(st.integers(1, len(x)))
    f = Magnitude(0, d=len(x), s=s, lam=lam)
    assert f(x) == pytest.approx(formula(x, s, lam), rel=1e-13, abs=1e-13)
    assert f(x) >= 0


@pytest.mark.parametrize("seed", range(10))
def test_an_instance(seed: int) -> None:
    f = Magnitude(seed)
    assert (f.d, f.s, f.lam, f.minimum, f.optimum) == (10_000, 5, 0.1, 0.0, None)
    assert sorted(np.abs(f.x0[f.x0 != 0])) == [0.2] * 5
    assert f(f.x0) == pytest.approx(5 - 5 * math.tanh(0.04), rel=1e-15)


def test_the_floor_is_approached() -> None:
    f = Magnitude(0)
    assert f(50 * f.x0) == 0.0
    assert f(np.where(f.x0 != 0, 10.0, 1e-3)) > 0


def test_rounding_does_not_pass_the_floor() -> None:
    # Terms a few units of the last place below 1: the two orders of summation differ by more than f.
    f = Magnitude(0, d=50, s=20, lam=10.0)
    rng = np.random.default_rng(0)
    for _ in range(500):
        x = np.zeros(50)
        x[rng.permutation(50)[:20]] = np.sqrt(rng.uniform(17.5, 19.1, 20))
        assert f(x) >= 0


def test_the_gradient_at_a_tie_is_that_of_one_side() -> None:
    f = Magnitude(0, d=3, s=1)
    side = f.gradient([1.0 + 1e-9, 1.0, 0.0])
    np.testing.assert_allclose(f.gradient([1.0, 1.0, 0.0]), side, rtol=1e-6)


def test_a_negative_weight_is_refused() -> None:
    for lam in (-1.0, math.nan):
        with pytest.raises(ValueError, match="lam is"):
            Magnitude(0, d=10, s=2, lam=lam)
