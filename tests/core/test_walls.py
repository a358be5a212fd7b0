"""The bounds around a point."""

from __future__ import annotations

import numpy as np
import pytest

from gracezo.core.box import Box
from gracezo.core.walls import Walls


def walls(lower: list[float], upper: list[float], x: list[float]) -> Walls:
    made = Walls(Box.of(np.array(lower), np.array(upper), len(x)))
    made.centre(np.array(x))
    return made


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
