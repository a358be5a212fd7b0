"""The coordinates found: which curvatures are asked for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.methods.auto.rooms import written

from gracezo.core.moves import Few
from gracezo.core.types import FloatArray
from gracezo.core.walls import Walls
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import Change, Request
from gracezo.methods.auto.support.coordinates import Support
from gracezo.methods.auto.support.refresh import Refresh


class Quadratic:
    """A separable one, by its slopes where a run is and its curvatures: it answers requests."""

    def __init__(self, slopes: FloatArray, curvatures: FloatArray) -> None:
        self._slopes, self._curvatures = slopes, curvatures

    def answer(self, request: Request) -> None:
        """Tell a request how f changes."""
        which, steps = written(request).indices, written(request).values
        changes = steps * self._slopes[which] + 0.5 * self._curvatures[which] * steps**2
        request.absorb(Change(float(changes.sum())))


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
    walls = Walls()
    walls.centre(np.zeros(5))
    refresh = Refresh(support, support._differences, walls)
    moves = [request.move for request in refresh.bends(limit, rate)]
    return [int(move.indices[0]) for move in moves if isinstance(move, Few)]


def test_a_curvature_is_asked_for_where_its_guess_may_cost_more_than_a_query_brings(support: Support) -> None:
    lost = 0.5 * 0.1875 * np.array([0.2, 0.4]) ** 2  # the mean square of what those met differ by
    assert asked(support, 9, 0.0) == [3, 1]
    assert asked(support, 1, 0.0) == [3]
    assert asked(support, 9, 0.9 * lost[0]) == [3, 1]
    assert asked(support, 9, 1.1 * lost[0]) == [3]
    assert asked(support, 9, 1.1 * lost[1]) == []


def stepped(support: Support, steps: FloatArray, curvatures: FloatArray) -> tuple[Refresh, Quadratic]:
    """Return a refresh after a step along all coordinates, which was to leave no slopes, and what answers."""
    walls = Walls()
    walls.centre(steps)
    slopes = support.slopes + curvatures * steps
    support.predict(np.zeros(len(support)), steps)
    return Refresh(support, support._differences, walls), Quadratic(slopes, curvatures)


def test_a_slope_is_asked_alone_after_a_step_by_a_guessed_curvature(support: Support) -> None:
    """It was searched for among all that had moved, or never asked again."""
    steps = -support.slopes  # as if all curvatures were one
    true = np.array([1.0, 1.5, 1.0, 0.5, 1.0])
    refresh, f = stepped(support, steps, true)
    hidden = 0.5 * 0.1875 * np.array([0.2, 0.4]) ** 2
    assert refresh.alone(9, 1.1 * hidden[1]) == []
    (dearest,) = refresh.alone(9, 1.1 * hidden[0])
    assert written(dearest).indices.tolist() == [3]
    f.answer(dearest)
    assert support.slopes.tolist() == pytest.approx([0.0, 0.0, 0.0, 0.2, 0.0], abs=1e-6)
    assert support.curvatures[3] == pytest.approx(0.5, rel=1e-4)
    (other,) = refresh.alone(9, 0.0)
    f.answer(other)
    assert support.slopes[1] == pytest.approx(-0.1, rel=1e-4)
    assert support.curvatures[1] == pytest.approx(1.5, rel=1e-4)
    assert refresh.alone(9, 0.0) == []


def test_a_slope_behind_a_kink_tells_no_curvature(support: Support) -> None:
    refresh, f = stepped(support, -support.slopes, np.array([1.0, 1.0, 1.0, 9.0, 1.0]))
    f.answer(refresh.alone(1, 0.0)[0])
    assert support.slopes[3] == pytest.approx(-3.2, rel=1e-4)
    assert math.isnan(support.curvatures[3])


def test_what_bends_downwards_goes_as_far_as_the_others_once_those_met_are_forgotten(
    support: Support,
) -> None:
    """f had fallen by orders of magnitude, and a slope of 6e-9 led 70,000 scales away."""
    support._differences.forget()
    support._differences.centre(np.zeros(5), 1.0)
    support._differences.curvatures.assume(1e-20)
    support.add(5, 6e-9, -0.3)
    assert support.smooth.tolist() == [1.0, 1.0, 0.5, 1.0, 1.5, 1.0]
