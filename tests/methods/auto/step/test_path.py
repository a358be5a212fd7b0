"""The line search."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from gracezo.core.asks import Ask, Point
from gracezo.core.types import FloatArray
from gracezo.methods.auto.step.path import Trial, line_search


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
    ("batch", "asked"),
    [
        (1, [[1.0], [2.0], [4.0], [8.0], [16.0]]),
        (2, [[1.0], [2.0, 4.0], [8.0, 16.0], [32.0, 64.0]]),
        (8, [[1.0], [2.0, 4.0], [8.0, 16.0, 32.0, 64.0]]),
    ],
)
def test_a_batch_doubles_a_step_several_times_at_once(batch: int, asked: list[list[float]]) -> None:
    lengths, trials = tried(lambda t: -2.0 * t if t < 30.0 else -2.0, batch)
    assert lengths == asked
    assert trials[0].t == 16.0
