"""The path of a step, and the line search along it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from gracezo.core.asks import Ask, Point
from gracezo.core.box import Box
from gracezo.core.types import FloatArray
from gracezo.core.walls import Walls
from gracezo.methods.line_search import Trial, line_search
from gracezo.updates.projected import Path, newton_path
from gracezo.updates.quasi_newton import LBFGS


def straight(t: float) -> FloatArray:
    return np.array([t])


def tried(value: Callable[[float], float], batch: int) -> tuple[list[list[float]], list[Trial]]:
    """Search along a line of slope -2; return the lengths of each round, and the trials."""
    at = Point(np.zeros(1), 0.0)
    steps = line_search(at, np.array([0]), straight, -2.0, batch=batch)
    asked: list[list[float]] = []
    said = next(steps)
    while True:
        assert isinstance(said, Ask)
        asked.append([float(said.point(row)[0]) for row in range(len(said))])
        try:
            said = steps.send(np.array([value(t) for t in asked[-1]]))
        except StopIteration as end:
            return asked, end.value


def test_a_trial_without_a_value_shortens_the_step() -> None:
    steps = line_search(Point(np.zeros(1), 0.0), np.array([0]), straight, -2.0, batch=1)
    said = [next(steps), *(steps.send(np.array([np.nan])) for _ in range(2))]
    assert [ask.point(0)[0] for ask in said if isinstance(ask, Ask)] == pytest.approx([1.0, 0.9, 0.225])
    with pytest.raises(StopIteration) as end:
        steps.send(np.array([-0.4]))
    assert [(trial.t, trial.change) for trial in end.value.value] == [(pytest.approx(0.225), -0.4)]


@pytest.mark.parametrize(("batch", "rounds"), [(1, 5), (2, 3), (16, 3)])
def test_no_trial_with_a_value_is_no_descent(batch: int, rounds: int) -> None:
    asked, trials = tried(lambda t: math.nan, batch)
    assert [trial.change for trial in trials] == [math.inf] * 5
    assert len(asked) == rounds


def test_a_batch_tries_two_shorter_lengths_at_once() -> None:
    asked, trials = tried(lambda t: -2.0 * t if t < 0.1 else 1.0, batch=8)
    assert [len(lengths) for lengths in asked] == [1, 2]
    shorter, beside = asked[1]
    assert 0.1 <= shorter <= 0.5
    assert beside == pytest.approx(0.25 * shorter)
    assert trials[0].t == beside


@pytest.mark.parametrize(
    ("batch", "asked", "best"),
    [
        (1, [[1.0], [2.0], [8.0], [128.0]], 8.0),
        (2, [[1.0], [2.0, 4.0], [16.0, 32.0]], 16.0),
        (8, [[1.0], [2.0, 4.0], [16.0, 32.0, 64.0, 128.0]], 16.0),
    ],
)
def test_a_batch_doubles_a_step_several_times_at_once(
    batch: int, asked: list[list[float]], best: float
) -> None:
    lengths, trials = tried(lambda t: -2.0 * t if t < 30.0 else -2.0, batch)
    assert lengths == asked
    assert trials[0].t == best


def test_a_step_is_made_longer_for_as_long_as_that_helps() -> None:
    """A trial costs a query; to stop at a fixed factor would cost a gradient for the rest of the way."""
    asked, trials = tried(lambda t: -2.0 * t + 1e-6 * t * t, batch=1)
    assert [lengths[0] for lengths in asked] == pytest.approx([1.0, 2.0, 8.0, 2.0**7, 2.0**15, 1e6])
    assert trials[0].t == pytest.approx(1e6)  # where it is least


def test_a_straight_way_down_ends() -> None:
    asked, _ = tried(lambda t: -2.0 * t, batch=1)
    assert [lengths[0] for lengths in asked] == [1.0, 2.0, 8.0, 2.0**7, 2.0**15, 2.0**31]


def test_of_two_ways_along_walls_that_is_taken_which_the_model_sees_fall_more() -> None:
    """The others go on, or turn aside: either is the better one now and then."""
    n, went_on = 6, 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        root, diagonal = rng.normal(size=(n, n)), np.ones(n)
        model = LBFGS(5)
        for step in rng.normal(size=(4, n)):
            model.learn(step, root @ root.T @ step, diagonal * step)
        made = Walls(Box(np.full(n, -0.1), np.full(n, 0.1)))
        made.centre(np.zeros(n))
        slopes, each = rng.normal(size=n), np.arange(n)
        path = newton_path(model, made, each, slopes, diagonal)
        projected = Path(made, each, slopes, model.direction(slopes, diagonal))
        value = path.value(model, diagonal)
        assert value <= projected.value(model, diagonal)
        went_on += value == projected.value(model, diagonal)
    assert 5 < went_on < 35


def test_a_first_length_that_is_credible_is_tried_first() -> None:
    steps = line_search(Point(np.zeros(1), 0.0), np.array([0]), straight, -2.0, batch=1, first=1e-3)
    said = [next(steps), steps.send(np.array([-2e-3]))]
    assert [ask.point(0)[0] for ask in said if isinstance(ask, Ask)] == pytest.approx([1e-3, 2e-3])
