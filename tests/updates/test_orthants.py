"""Slopes on both sides of kinks that are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gracezo.core.types import FloatArray
from gracezo.updates.orthants import Orthants

PLACES = np.array([0.0, 1.0, -2.0])
ALL = np.arange(3)
numbers = st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3).map(np.array)
sizes = st.lists(st.floats(0.1, 2.0), min_size=3, max_size=3).map(np.array)
NONE = np.full(3, np.nan)


def sided(smooth: FloatArray, jumps: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the slopes to the left and to the right of smooth + ½·jumps·|x − places|."""
    right = smooth + 0.5 * jumps * np.where(x >= PLACES, 1.0, -1.0)
    return np.where(x == PLACES, right - jumps, right), right


@given(numbers, sizes, numbers)
def test_once_a_jump_is_known_one_side_tells_both(
    smooth: FloatArray, jumps: FloatArray, later: FloatArray
) -> None:
    left, right = sided(later, jumps, PLACES)
    told = []
    for sides in ((left, right), (left, NONE), (NONE, right)):
        orthants = Orthants(PLACES)
        orthants.note(PLACES, ALL, *sided(smooth, jumps, PLACES))
        orthants.note(PLACES, ALL, *sides)
        told.append(np.concatenate([orthants.slopes(PLACES), orthants.steepness]))
    np.testing.assert_allclose(told[1:], [told[0]] * 2, atol=1e-14)


@given(numbers, sizes)
def test_a_kink_holds_what_leads_uphill_on_both_sides(smooth: FloatArray, jumps: FloatArray) -> None:
    orthants = Orthants(PLACES)
    orthants.note(PLACES, ALL, *sided(smooth, jumps, PLACES))
    slopes = orthants.slopes(PLACES)
    # The derivative of least size in [h' − λ, h' + λ]: that of soft thresholding.
    np.testing.assert_allclose(slopes, np.sign(smooth) * np.maximum(np.abs(smooth) - 0.5 * jumps, 0.0))
    low, high = orthants.ends(PLACES, slopes, np.zeros(3))
    for j in range(3):
        allowed = (low[j] < PLACES[j], high[j] > PLACES[j])
        assert allowed == (slopes[j] > 0.0, slopes[j] < 0.0)


def test_a_step_ends_where_it_would_cross_a_kink_and_only_there() -> None:
    orthants, x = Orthants(PLACES), np.array([0.5, 0.5, -2.0])
    orthants.note(PLACES, ALL, np.array([-1.0, -1.0, 1.0]), np.array([1.0, 1.0, 1.0 + 1e-9]))
    orthants.note(x, ALL, np.full(3, 0.3), NONE)
    low, high = orthants.ends(x, orthants.slopes(x), np.full(3, 1e-6))
    assert low.tolist() == [0.0, -np.inf, -np.inf]
    assert high.tolist() == [np.inf, 1.0, np.inf]  # the jump of the last is none


def test_a_jump_that_is_not_known_may_be_one() -> None:
    orthants, x = Orthants(PLACES), PLACES + 1.0
    orthants.note(x, ALL, NONE, np.ones(3))
    assert orthants.slopes(x).tolist() == [1.0] * 3
    assert orthants.ends(x, np.ones(3), np.full(3, 1e-6))[0].tolist() == PLACES.tolist()
    assert np.isnan(orthants.jumps).all()


@given(numbers, sizes, st.sampled_from([-1.0, 1.0]), st.booleans())
def test_the_change_is_that_of_the_smooth_part(
    smooth: FloatArray, jumps: FloatArray, side: float, away: bool
) -> None:
    """On the way from a kink to one side of it, or back to it, |x − a| adds nothing."""
    curvatures = np.array([1.0, 2.0, 3.0])
    points = [PLACES, PLACES + 0.5 * side]
    first, second = points if away else points[::-1]
    orthants = Orthants(PLACES)
    orthants.note(first, ALL, *sided(smooth, jumps, first))
    before = orthants.copy()
    orthants.note(second, ALL, *sided(smooth + curvatures * (second - first), jumps, second))
    change = orthants.change(before, second, first)
    assert change == pytest.approx(curvatures * (second - first), abs=1e-12)
