"""How many digits outputs have."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gracezo.vectors.digits import are_single, last_digit


@given(st.integers(2, 8), st.integers(0, 1000))
def test_significant_digits_are_counted(digits: int, seed: int) -> None:
    numbers = np.random.default_rng(seed).normal(size=(3, 40)) * 10.0 ** np.arange(-20, 20)
    written = np.array([[float(f"{one:.{digits}g}") for one in row] for row in numbers])
    unit = last_digit(written)
    assert unit is not None
    largest = np.floor(np.log10(np.abs(written).max(axis=0)))
    assert np.allclose(unit, 10.0 ** (largest - digits + 1))


@given(st.integers(0, 6), st.integers(0, 1000))
def test_digits_after_the_point_are_counted(digits: int, seed: int) -> None:
    written = np.round(np.random.default_rng(seed).normal(size=(3, 40)) * 1e3, digits)
    unit = last_digit(written)
    assert unit is not None
    assert np.allclose(unit, 10.0**-digits)


@given(st.integers(0, 1000))
def test_computed_numbers_are_no_short_decimals(seed: int) -> None:
    numbers = np.random.default_rng(seed).normal(size=(3, 5))
    assert last_digit(numbers) is None
    assert last_digit(numbers.astype(np.float32).astype(np.float64)) is None


@pytest.mark.parametrize(
    ("outputs", "single"),
    [
        ([0.1], False),
        ([float(np.float32(0.1))], True),
        ([2217.0, -31.0], False),
        ([0.5], False),
        ([0.0], False),
    ],
)
def test_single_precision(outputs: list[float], single: bool) -> None:
    assert are_single(np.array(outputs)) == single
