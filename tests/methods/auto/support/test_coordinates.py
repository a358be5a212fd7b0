"""Kinks in `auto`: one is found by tangents, fixed, and let go."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.methods.auto.rooms import written

import gracezo
from gracezo.core.asks import Ask, OutOfQueries, Point, Steps
from gracezo.core.types import FloatArray
from gracezo.core.walls import Walls
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.support.coordinates import Kinks, Support, Suspect
from gracezo.methods.auto.support.refresh import Refresh
from gracezo.methods.auto.ways import Ledger
from gracezo.methods.auto.ways.stepper import find_kinks
from gracezo.methods.corner import Corner, Tangent

R = TypeVar("R")
Line = Callable[[float], float]


def answer(search: Steps[R], line: Line) -> R:
    """Answer queries along one coordinate, and return what the search returns."""
    try:
        ask = next(search)
        while True:
            assert isinstance(ask, Ask)
            ask = search.send(np.array([line(float(ask.point(row)[0])) for row in range(len(ask))]))
    except StopIteration as end:
        result: R = end.value
        return result


def find(line: Line, here: float, slope: float, there: float, likely: float) -> tuple[object, Corner, int]:
    """Answer a search along one coordinate; return what it found, the search, and what it took."""
    corner = Corner(Point(np.array([here]), line(here)), 0, slope, there, rounding=2e-16)
    ledger = Ledger(1)
    found = answer(ledger.keep(corner.find(likely)), line)
    return found, corner, ledger.queries


@given(
    left=st.floats(0.1, 10.0),
    right=st.floats(0.1, 10.0),
    place=st.floats(-0.9, 0.9),
    mirrored=st.booleans(),
)
def test_a_corner_between_straight_lines_takes_five_queries(
    left: float, right: float, place: float, mirrored: bool
) -> None:
    def line(x: float) -> float:
        return right * (x - place) if x > place else left * (place - x)

    here, slope, there = (1.0, right, -1.0) if mirrored else (-1.0, -left, 1.0)
    # A kink so near to the end that the whole way is nearly as predicted is not looked for.
    assume(line(here) - line(there) < 0.89 * abs(slope * (there - here)))
    found, corner, queries = find(line, here, slope, there, likely=5.0)
    # The slopes come of differences next to the kink, with errors that go with its jump.
    assert found == pytest.approx((-left, right), abs=1e-3 * (left + right))
    assert corner.best.x[0] == pytest.approx(place, abs=1e-6)
    assert queries == 5


def test_curved_sides_take_more_rounds_and_give_the_kink_as_exactly() -> None:
    slope = -1.0 + 0.5 * np.exp(-0.5)
    found, corner, _ = find(lambda x: abs(x - 0.2) + np.exp(0.5 * x), -1.0, slope, 2.0, 9.0)
    assert isinstance(found, tuple)
    assert corner.best.x[0] == pytest.approx(0.2, abs=1e-6)
    assert found[1] - found[0] == pytest.approx(2.0, rel=0.1)


def test_a_place_and_its_slope_are_asked_at_once() -> None:
    corner = Corner(Point(np.array([0.0]), 1.0), 0, -1.0, 2.0, rounding=2e-16)
    search = corner.find(1.0)
    ask = next(search)
    assert isinstance(ask, Ask)
    places = [float(ask.point(row)[0]) for row in range(len(ask))]
    assert places == [1.0, pytest.approx(1.0, abs=1e-5)]
    assert places[0] < places[1]
    with pytest.raises(OutOfQueries):
        search.send(np.array([0.5]))  # the budget has reached for one of them only


def test_a_likely_place_is_tried_first() -> None:
    found, corner, queries = find(lambda x: abs(x) + 0.1 * x**2, -1.0, -1.2, 1.0, likely=0.0)
    assert found == pytest.approx((-1.0, 1.0), rel=1e-4)
    assert (corner.best.x[0], queries) == (0.0, 3)


def test_a_parabola_has_no_kink_and_ends_the_search_after_one_round() -> None:
    found, corner, queries = find(lambda x: (x - 0.3) ** 2, -1.0, -2.6, 1.0, likely=5.0)
    assert found is None
    assert queries == 4
    assert corner.best.value < 1.69


def test_nothing_on_the_way_is_a_step_of_one_query() -> None:
    found, corner, queries = find(lambda x: -x, 0.0, -1.0, 1.0, likely=5.0)
    assert (found, queries, corner.best.x[0]) == (None, 1, 1.0)


@pytest.mark.parametrize("seed", range(4))
def test_a_kink_that_couples_coordinates_breaks_nothing(seed: int) -> None:
    goal = np.array([0.5, 1.5])
    result = gracezo.minimize(
        lambda x: float(np.abs(x - goal).max()), [0.0, 0.0], max_queries=3000, seed=seed
    )
    assert result.fun < 1e-6


def test_tangents_that_do_not_meet_say_so() -> None:
    assert np.isnan(Tangent(0.0, 0.0, -1.0).meets(Tangent(1.0, -2.0, 1.0)))


@pytest.mark.parametrize(("line", "loosened"), [(lambda x: x, False), (lambda x: abs(x - 0.5), True)])
def test_a_coordinate_stays_stiff_unless_its_kink_is_found(line: Line, loosened: bool) -> None:
    differences = Differences()
    differences.centre(np.zeros(1), 1.0)
    walls = Walls()
    walls.centre(np.zeros(1))
    support = Support(differences, walls)
    support.add(0, -1.0, 1e-3)
    support.stiffen(np.array([1.0]), 0.01, 0.0, ahead=1.0)  # a step of 1 has failed down to 0.01
    assert support.diagonal.tolist() == [100.0]
    at = Point(np.zeros(1), line(0.0))
    search = find_kinks(at, support, differences, np.array([-7.0]), 0.0)
    ledger = Ledger(1)
    moved = answer(ledger.keep(search), line)
    assert ledger.queries >= 3
    assert (moved is not at) == loosened
    assert support.diagonal.tolist() == [1e-3 if loosened else 100.0]


def located(kinks: Kinks, x: FloatArray, slopes: FloatArray) -> FloatArray:
    """Let the first coordinate find its kink, at 0, where the slope jumps from −1 to 2; return the slopes."""
    kinks.grow(len(x))
    given = slopes.copy()
    slopes = kinks.update(x, slopes)
    kinks.blame(np.array([0]), np.array([1.0]))
    (suspect,) = kinks.suspects(x, slopes, np.ones(len(x)), 100.0)
    assert suspect == Suspect(0, 1.0, 0.5 * abs(slopes[0]) * 2.0)

    def line(y: float) -> float:
        return 2.0 * y if y > 0.0 else -y

    search = kinks.locate(Point(x, line(x[0])), 0, suspect, float(slopes[0]), 9.0, rounding=2e-16)
    best, slope = answer(search, line)
    assert best.x[0] == kinks.places[0]
    assert slopes.tolist() == given.tolist()  # nobody else's are written
    return np.array([slope, *slopes[1:]])


def test_a_kink_pins_its_coordinate_until_a_slope_turns() -> None:
    kinks = Kinks()
    slopes = located(kinks, np.array([-1.0, 0.0]), np.array([-1.0, 0.5]))
    x = np.array([kinks.places[0], 0.0])
    assert kinks.fixed.tolist() == [True, False]
    assert slopes[0] == pytest.approx(2.0, rel=1e-3)  # that on the right
    slopes, given = kinks.update(x, slopes), slopes
    assert given[0] == pytest.approx(2.0, rel=1e-3)  # nobody else's are written
    assert slopes[0] == pytest.approx(-1.0, rel=1e-3)  # each side in its turn
    slopes[0] -= 2.5  # the rest of f now pulls to the right
    slopes = kinks.update(x, slopes)
    assert not kinks.fixed[0]
    assert slopes[0] == pytest.approx(-0.5, rel=1e-2)
    kinks.moved(x + 1.0, slopes)
    assert kinks.sides.tolist() == [0.0, 0.0]


def test_a_look_goes_beyond_the_kink_that_a_coordinate_stands_on() -> None:
    """The kink is known no better than it was located: nearer to it, a look may show the other side."""
    x = np.array([-1.0, 0.0])
    differences, walls = Differences(), Walls()
    differences.centre(x, 1.0)
    walls.centre(x)
    support = Support(differences, walls)
    support.add(0, -1.0, 1.0)
    support.add(1, 0.5, 1.0)
    support.predict(located(support.kinks, x, support.slopes), np.zeros(len(support)))
    reach = support.kinks.reach
    assert reach[0] > 1e-6  # the way was one, and is searched to a millionth
    assert reach[1] == 0.0
    walls.centre(np.array([support.kinks.places[0], 0.0]))
    refresh = Refresh(support, differences, walls)
    refresh.begin(np.random.default_rng(0), doubt=0.0)
    (root,) = refresh.requests(1)
    assert written(root).indices.tolist().count(0) == 1
    assert abs(written(root).values[written(root).indices == 0]) >= reach[0]
    assert abs(written(root).values[written(root).indices == 0]) < 10.0 * reach[0]


def test_a_coordinate_that_comes_back_to_its_kink_is_predicted_to_stay() -> None:
    kinks = Kinks()
    slopes = located(kinks, np.array([-1.0, 0.0]), np.array([-1.0, 0.5]))
    slopes = kinks.moved(np.array([3.0, 0.0]), slopes)
    assert not kinks.fixed[0]
    slopes[0] = -1.0
    predicted = kinks.moved(np.array([kinks.places[0], 0.0]), slopes)
    assert predicted[0] == pytest.approx(2.0, rel=1e-3)  # that on the right
    assert slopes[0] == -1.0
    assert kinks.fixed[0]


def test_corners_in_hidden_coordinates_are_reached() -> None:
    rng = np.random.default_rng(5)
    goal = np.zeros(500)
    goal[rng.choice(500, 5, replace=False)] = rng.uniform(0.5, 1.5, 5)
    sizes = np.where(goal > 0.0, rng.uniform(0.5, 1.5, 500), 0.0)

    def f(x: FloatArray) -> float:
        return float((sizes * np.abs(x - goal)).sum() + 0.5 * ((x - goal) ** 2).sum() + 1.0)

    result = gracezo.minimize(f, np.zeros(500), max_queries=400, seed=1)
    assert result.fun - 1.0 < 1e-5 * (f(np.zeros(500)) - 1.0)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_lasso_is_solved_to_high_accuracy(seed: int) -> None:
    rng = np.random.default_rng(7)
    a = rng.standard_normal((40, 60)) / np.sqrt(40.0)
    truth = np.zeros(60)
    truth[:4] = (2.0, -1.5, 1.0, -1.0)
    b = a @ truth

    def f(x: FloatArray) -> float:
        rest = a @ x - b
        return float(0.5 * (rest @ rest) + 0.05 * np.abs(x).sum())

    # Proximal gradient steps, which know the kinks, as the oracle.
    x, length = np.zeros(60), 1.0 / np.linalg.norm(a, 2) ** 2
    for _ in range(20_000):
        y = x - length * a.T @ (a @ x - b)
        x = np.sign(y) * np.maximum(np.abs(y) - 0.05 * length, 0.0)
    result = gracezo.minimize(f, np.zeros(60), max_queries=5000, seed=seed)
    assert result.fun - f(x) < 1e-6 * (f(np.zeros(60)) - f(x))
