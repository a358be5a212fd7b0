"""Orders of very many coordinates within bounds."""

import numpy as np
import pytest

from gracezo.core.box import Box
from gracezo.core.places import Place
from gracezo.core.rest import Rest
from gracezo.core.walls import Walls
from gracezo.methods.auto.search.order import LongOrder, labelled, mean_square

D = 140_000


def long_order(low: float, at: float) -> LongOrder:
    walls = Walls(Box.of(low, 1.0, D))
    walls.centre(Place.constant(at, D).stand_in)
    return LongOrder(Rest(D, np.array([3, 9])), np.random.default_rng(1), walls, 1e-3)


def test_the_room_of_a_start_that_is_one_number_is_that_of_all_bounds() -> None:
    low, high = np.full(D, -1.0), np.full(D, 1.0)
    high[D - 1] = low[D - 1] + 1.0 + 1e-6  # it has room for ε = 1e-6 on one side, and enough on the other
    low[D - 2], high[D - 2] = -1e-6, 1e-6
    walls = Walls(Box.of(low, high, D))
    walls.centre(Place.constant(0.0, D).stand_in)
    order = LongOrder(Rest(D, np.array([3])), np.random.default_rng(1), walls, 1e-3)
    assert order.room(0, D).both < 2e-6


def test_coordinates_that_bounds_fix_stay_where_they_are() -> None:
    fixed = np.random.default_rng(2).random(D) < 0.3
    fixed[[3, 9]] = False
    box = Box.of(np.where(fixed, 0.5, -1.0), np.where(fixed, 0.5, 2.0), D)
    walls = Walls(box)
    x = np.full(D, 0.5)
    walls.centre(Place.at(x).stand_in)
    rest = Rest(D, np.array([3, 9]), box)
    order = LongOrder(rest, np.random.default_rng(1), walls, 1e-3)
    free = ~fixed
    free[[3, 9]] = False
    assert len(rest) == free.sum()
    assert rest.written().tolist() == np.flatnonzero(free).tolist()
    for start, stop in ((0, D), (1_000, 60_000), (500, 800)):
        moved = order.move(start, stop).at(np.arange(D), x) != 0.0
        assert not (moved & ~free).any()
        there = order.gone(start, stop, 7)
        assert there.tolist() == (~free[order.written().coordinates[start:stop:7]]).tolist()
        assert order.left(start, stop) == pytest.approx(moved.sum() * mean_square(), rel=0.05)
    assert order.count(500, 800) == int(free[order.written().coordinates[500:800]].sum())


@pytest.mark.parametrize(("at", "bounded"), [(0.0, True), (0.5, False), (1e-4, True), (2e-3, False)])
def test_a_bound_is_behind_a_weight_where_it_is_as_near_as_looks_go(at: float, bounded: bool) -> None:
    order = long_order(0.0, at)
    assert order.bounded == bounded
    # Labels of one sign stay inside; those of both would lead out where a bound is behind.
    x = np.full(D, at)
    for both in (False, True):
        step = order.move(0, D, labelled(False, both)).times(1e-3)
        ends = x + step.at(np.arange(D), x)
        assert (ends.min() < 0.0) == (both and bounded)
