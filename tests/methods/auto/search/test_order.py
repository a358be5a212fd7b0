"""Orders of very many coordinates within bounds."""

import numpy as np
import pytest

from gracezo.core.box import Box
from gracezo.core.places import Place
from gracezo.core.rest import Rest
from gracezo.core.walls import Walls
from gracezo.methods.auto.search.order import LongOrder, labelled

D = 140_000


def long_order(low: float, at: float) -> LongOrder:
    walls = Walls(Box.of(low, 1.0, D))
    walls.centre(Place.constant(at, D).stand_in)
    return LongOrder(Rest(D, np.array([3, 9])), np.random.default_rng(1), walls, 1e-3)


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
