"""How far to move: the size of a difference."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gracezo.methods.auto.instrument.forward import Differences


def test_eps_follows_the_size_of_the_set() -> None:
    differences = Differences()
    differences.centre(np.zeros(10_000), 2.0)
    one, many = differences.across(1.0, 0.0), differences.across(10_000.0, 0.0)
    assert many.eps < one.eps
    # One coordinate of the curvature that is guessed, all of it uncertain, and a typical one beside it.
    uncertain = 2.0 * differences.curvatures.mean
    assert one.eps == pytest.approx(math.sqrt(2.0 * differences.rounding / uncertain))


def test_a_fixed_eps_is_kept() -> None:
    differences = Differences(1e-5)
    differences.centre(np.zeros(3), 1.0)
    assert differences.size(123.0, 4.0) == 1e-5
