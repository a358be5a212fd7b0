"""The bounds around a point."""

from __future__ import annotations

import numpy as np
import pytest

from gracezo.core.bounded_shuffle import BoundedShuffle
from gracezo.core.box import Box
from gracezo.core.keys import Key
from gracezo.core.places import Place
from gracezo.core.shuffle import BLOCK, SAMPLE, Shuffle
from gracezo.core.walls import Walls


def walls(lower: list[float], upper: list[float], x: list[float]) -> Walls:
    made = Walls(Box.of(np.array(lower), np.array(upper), len(x)))
    made.centre(np.array(x))
    return made


@pytest.mark.parametrize("central", [False, True])
@pytest.mark.parametrize("width", [1e-6, 1e-2, 10.0])
@pytest.mark.parametrize("same", [False, True])
def test_an_order_that_is_not_written_down_has_the_weights_and_the_room_of_one_that_is(
    same: bool, width: float, central: bool
) -> None:
    d, reach = 3 * BLOCK + 5, 1e-3
    box, x = Box.of(0.0, width, d), np.full(d, 1e-4 * width)
    if not same:
        x = width * np.random.default_rng(0).random(d) ** 3
        x[:1000] = 0.0
    place = Place.constant(x[0], d) if same else Place.at(x)
    shuffle = Shuffle(
        d, Key(2), lambda random, count: random.uniform(0.5, 1.5, count) * random.choice([-1, 1], count)
    )
    long, written = Walls(box), Walls(box)
    for made, point in ((long, place.stand_in), (written, x)):
        made.look_to_both_sides(central)
        made.centre(point)
    bounded = BoundedShuffle.around(shuffle, long, reach)
    assert bounded is not None
    some = shuffle.coordinates(0, SAMPLE)  # what stands for all where the typical one is asked for
    inward = written.inward(some, shuffle.weights(some), reach)
    assert inward is not None
    order = shuffle.coordinates(0, d)
    aimed = inward(x, order, shuffle.weights(order))
    ahead, behind = inward.limits(x, order, aimed)
    assert np.array_equal(bounded.aimed(order), aimed)
    for start, stop in ((0, d), (7, d // 2), (5, 900), (d - 3, d)):
        assert bounded.squares(start, stop) == pytest.approx(float(np.sum(aimed[start:stop] ** 2)), rel=0.05)
        room = bounded.room(start, stop)
        least = float(ahead[start:stop].min()), float(behind[start:stop].min())
        assert room[0] <= least[0]
        assert room[1] <= least[1]
        if stop - start <= SAMPLE:
            assert room == least
    if bounded.aim is None:
        assert np.array_equal(aimed, shuffle.weights(order))
    assert bounded.room(0, d) == pytest.approx((float(ahead.min()), float(behind.min())), rel=1e-3)


class TestWalls:
    def test_without_bounds_nothing_changes(self) -> None:
        free = Walls()
        x = np.array([1.0, 2.0])
        assert free.centre(x) is x
        weights = np.array([-1.0, 0.7])
        assert free.aim(np.arange(2), weights, 1.0) == (weights, None)
        assert free.rooms(np.arange(2), weights).tolist() == [np.inf, np.inf]
        assert free.promise(np.arange(2), np.array([2.0, 1.0]), np.array([1.0, 2.0])) == 2.25

    def test_probes_lead_inward_and_fit(self) -> None:
        made = walls([0, -1, -1e-9, -5], [1, 0, 2e-9, 5], [0, 0, 0, 0])
        weights = np.array([-1.0, 1.0, 1.0, -0.5])
        aimed, limits = made.aim(np.arange(4), weights, reach=1e-6)
        assert limits is not None
        assert aimed.tolist() == pytest.approx([1.0, -1.0, 2e-3, -0.5])
        ahead, behind = limits
        assert ahead.tolist() == pytest.approx([1.0, 1.0, 1e-6, 10.0])
        assert behind.tolist() == pytest.approx([0.0, 0.0, 0.5e-6, 10.0])

    def test_held_is_who_stands_at_a_wall_and_would_go_through(self) -> None:
        made = walls([0, 0, 0, -1], [1, 1, 1, 1], [0, 0, 1, 1])
        assert made.active(np.arange(4), np.array([1.0, -1.0, -1.0, 1.0])).tolist() == [
            True,
            False,
            True,
            False,
        ]
        assert made.room(3, 1.0) == 2.0
        assert made.room(0, 1.0) == 0.0

    def test_no_more_is_promised_than_there_is_room_for(self) -> None:
        made = walls([0, 0], [1, 1], [0.5, 0.0])
        # Along the first: 0.5·2 − ½·1·0.5²; the second is active.
        assert made.promise(np.arange(2), np.array([2.0, 3.0]), np.ones(2)) == 0.875
