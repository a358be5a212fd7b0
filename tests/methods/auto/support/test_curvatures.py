"""The coordinates found: which curvatures are asked for."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gracezo.core.moves import Few
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.support.coordinates import Support


@pytest.fixture
def support() -> Support:
    """Return five coordinates, two of them without a curvature; those met differ by a half."""
    differences = Differences()
    differences.centre(np.zeros(5), 1.0)
    for curvature in (0.5, 1.5, 0.5, 1.5, 0.5, 1.5, 1.0, 1.0):
        differences.curvatures.meet(curvature)
    made = Support(differences)
    for place, curvature in enumerate((1.0, math.nan, 0.5, math.nan, 1.5)):
        made.add(place, 0.1 * (place + 1), curvature)
    return made


def asked(support: Support, limit: int, rate: float) -> list[int]:
    moves = [request.move for request in support.bend(limit, rate)]
    return [int(move.indices[0]) for move in moves if isinstance(move, Few)]


def test_a_curvature_is_asked_for_where_its_guess_may_cost_more_than_a_query_brings(support: Support) -> None:
    lost = 0.5 * 0.1875 * np.array([0.2, 0.4]) ** 2  # the mean square of what those met differ by
    assert asked(support, 9, 0.0) == [3, 1]
    assert asked(support, 1, 0.0) == [3]
    assert asked(support, 9, 0.9 * lost[0]) == [3, 1]
    assert asked(support, 9, 1.1 * lost[0]) == [3]
    assert asked(support, 9, 1.1 * lost[1]) == []


def test_what_bends_downwards_goes_as_far_as_the_others_once_those_met_are_forgotten(
    support: Support,
) -> None:
    """f had fallen by orders of magnitude, and a slope of 6e-9 led 70,000 scales away."""
    support._differences.forget()
    support._differences.centre(np.zeros(5), 1.0)
    support._differences.curvatures.assume(1e-20)
    support.add(5, 6e-9, -0.3)
    assert support.smooth.tolist() == [1.0, 1.0, 0.5, 1.0, 1.5, 1.0]
