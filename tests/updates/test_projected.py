"""The path of a quasi-Newton step, projected onto the box."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import hadamard

from gracezo.core.asks import Ask, Point
from gracezo.core.box import Box
from gracezo.core.walls import Walls
from gracezo.methods.line_search import Trial, line_search
from gracezo.updates.projected import newton_path
from gracezo.updates.quasi_newton import LBFGS


def walls(lower: list[float], upper: list[float], x: list[float]) -> Walls:
    made = Walls(Box.of(np.array(lower), np.array(upper), len(x)))
    made.centre(np.array(x))
    return made


class TestPath:
    def test_stops_at_the_wall_and_goes_on_along_it(self) -> None:
        made = walls([-9, -9, 0], [1, 9, 9], [0, 0, 0])
        slopes = np.array([-4.0, -2.0, 5.0])
        path = newton_path(LBFGS(5), made, np.arange(3), slopes, np.ones(3))
        assert path.displacement(1.0).tolist() == [1.0, 2.0, 0.0]
        assert path.displacement(2.0).tolist() == [1.0, 4.0, 0.0]
        # Diagonal curvature one: −4·1 + ½ and −2·2 + 2.
        assert path.predicted(1.0) == pytest.approx(-3.5 - 2.0)
        assert path.expected(1.0) == pytest.approx([1.0, 2.0, 0.0])
        assert path.predicted_slopes(1.0, 0.0) == pytest.approx([-3.0, 0.0, 5.0])
        assert path.share(1.0) == pytest.approx(1.0)
        assert path.share(2.0) == pytest.approx((4 + 8) / (2 * 8.0))

    def test_the_wall_is_reached_exactly(self) -> None:
        made = walls([-1.0], [-1e-20], [-1.0])
        path = newton_path(LBFGS(5), made, np.arange(1), np.array([-10.0]), np.ones(1))
        assert made.ends(np.arange(1), path.direction)[0] == -1e-20

    def test_the_model_is_asked_without_those_that_are_held(self) -> None:
        model = LBFGS(5)
        hessian = np.array([[2.0, 1.0], [1.0, 2.0]])
        for step in np.eye(2):
            model.learn(step, hessian @ step, step)
        made = walls([0, -9], [9, 9], [0, 0])
        path = newton_path(model, made, np.arange(2), np.array([1.0, -2.0]), np.ones(2))
        assert path.direction == pytest.approx([0.0, 1.0])

    def test_the_others_go_on_without_one_that_a_wall_stops(self) -> None:
        model = LBFGS(5)
        hessian = np.array([[2.0, 1.0], [1.0, 2.0]])
        for step in np.eye(2):
            model.learn(step, hessian @ step, step)
        made = walls([-9, -9], [0.1, 9], [0, 0])
        slopes = np.array([-4.0, -2.0])
        assert model.direction(slopes, np.ones(2))[1] < 0.0
        path = newton_path(model, made, np.arange(2), slopes, np.ones(2))
        assert path.direction == pytest.approx([0.1, 1.0])

    def test_pairs_serve_the_free_coordinates_whatever_their_scales(self) -> None:
        """Conjugate steps tell BFGS all; between step and change of the gradient the cosine is 1e-6."""
        model = LBFGS(50)
        curvatures = np.array([1e-6, 1.0, 1e3, 1e6])
        for signs in hadamard(4):
            step = np.append(0.5 * signs / np.sqrt(curvatures), 0.0)  # the last has always been active
            model.learn(step, np.append(curvatures, 1.0) * step, np.append(curvatures, 1.0) * step)
        made = walls([-1e9] * 4 + [0], [1e9] * 5, [0] * 5)
        slopes = np.append(np.sqrt(curvatures), 1.0)
        path = newton_path(model, made, np.arange(5), slopes, np.ones(5))
        assert path.direction == pytest.approx([*(-slopes[:4] / curvatures), 0.0])

    def test_a_step_that_the_walls_have_stopped_is_not_doubled(self) -> None:
        search = line_search(
            Point(np.zeros(1), 0.0),
            np.array([0]),
            lambda t: np.array([t]),
            -1.0,
            batch=1,
            share=lambda t: min(1.0, 1.0 / t),
        )
        ask = next(search)
        assert isinstance(ask, Ask)
        assert ask.point(0).tolist() == [1.0]
        with pytest.raises(StopIteration) as end:
            search.send(np.array([-1.0]))  # as the tangent says: without a wall it would be doubled
        assert end.value.value == [Trial(1.0, -1.0, -1.0)]
