"""How many digits outputs have."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gracezo.estimators.digits import are_single, last_digit, last_place


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


@given(st.integers(1, 5), st.integers(0, 1000))
def test_changes_of_residuals_have_the_digits_of_the_model(digits: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    model, data = random.normal(size=(6, 30)), random.normal(size=30)
    unit = last_place(np.round(model, digits) - data)
    assert unit is not None
    assert np.median(unit) == pytest.approx(10.0**-digits)
    assert (unit > 0.9 * 10.0**-digits).all()


@given(st.integers(0, 1000))
def test_residuals_of_single_precision_to_data_of_double_have_their_unit(seed: int) -> None:
    random = np.random.default_rng(seed)
    model, data = random.uniform(32.0, 64.0, (6, 30)).astype(np.float32), random.uniform(32.0, 64.0, 30)
    unit = last_place(model.astype(np.float64) - data)
    assert unit is not None
    assert np.median(unit) == 2.0**-18


@given(st.integers(0, 1000))
def test_smooth_changes_have_all_digits(seed: int) -> None:
    random = np.random.default_rng(seed)
    slopes = random.normal(size=30)
    assert last_place(1.0 + np.outer([0.0, 2e-8, 8e-8, 1e-4], slopes)) is None
    assert last_place(random.normal(size=30) + np.zeros((3, 30))) is None


@given(st.integers(9, 30), st.integers(0, 1000))
def test_large_numbers_in_single_precision_are_no_whole_numbers(decade: int, seed: int) -> None:
    """Below 1e12 they are short decimals as well, with a unit that is much too small."""
    numbers = np.random.default_rng(seed).uniform(1.0, 2.0, (4, 20)) * 10.0**decade
    single = numbers.astype(np.float32).astype(np.float64)
    assert are_single(single[0])
    unit = last_place(single)
    assert unit is not None
    assert np.median(unit / np.spacing(np.float32(10.0**decade))) in (1.0, 2.0)
