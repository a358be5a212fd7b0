"""Looks before anything is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from gracezo.core.asks import Ask, Point
from gracezo.core.keys import Key
from gracezo.core.types import FloatArray
from gracezo.vectors.accuracy import Accuracy, accuracy
from gracezo.vectors.looks import Looks
from gracezo.vectors.space import Space

SLOPES = np.random.default_rng(0).normal(size=(40, 30))


def space_around(at: Point) -> Space:
    return Space.around(at.x, None, None, np.zeros(0, np.int64), Key(0))


def answered(steps: Any, fun: Any) -> tuple[Any, int]:
    """Return what steps return, and how many queries they have asked."""
    queries = 0
    try:
        ask: Ask = next(steps)
        while True:
            queries += len(ask)
            ask = steps.send(np.array([fun(ask.point(row)) for row in range(len(ask))]))
    except StopIteration as end:
        return end.value, queries


def test_a_distance_that_differs_by_rounding_is_not_asked_again() -> None:
    at = Point(np.zeros(30), 0.0, 0.0, np.zeros(40))
    looks = Looks(at, space_around(at), np.full(40, 1e-16), 0)
    seen, queries = answered(looks.look(1e-4), lambda x: SLOPES @ x)
    assert queries == 2
    again, queries = answered(looks.look(1e-4 * (1.0 - 1e-15)), lambda x: SLOPES @ x)
    assert queries == 0
    assert again.distance == seen.distance


def test_residuals_in_single_precision_that_pass_through_zero_are_seen_to_be_such() -> None:
    """Two queries tell; the digits of a small residual are not to be made up from the quotient."""
    data = (50.0 + SLOPES @ np.full(30, 1e-4)).astype(np.float32)

    def residuals(x: FloatArray) -> FloatArray:
        return np.asarray((50.0 + SLOPES @ x).astype(np.float32) - data, np.float64)

    found: tuple[Accuracy, Any, Any]
    for seed in range(20):
        at = Point(np.zeros(30), 0.0, 0.0, residuals(np.zeros(30)))
        space = Space.around(at.x, None, None, np.zeros(0, np.int64), Key(seed))
        found, queries = answered(accuracy(at, space, None, 0), residuals)
        assert found[0].noisy
        assert queries <= 4
        assert found[0].distance >= 1e-4


def test_a_residual_that_ends_in_zeros_by_chance_is_not_taken_for_coarse() -> None:
    """Of a hundred outputs in single precision one hardly moves: a later look tells its last digit."""
    slopes = 1e-2 * np.random.default_rng(1).normal(size=(100, 30))
    slopes[7] *= 1e-3
    data = np.full(100, 50.0, np.float32)
    data[7] += 2.0**-12

    def residuals(x: FloatArray) -> FloatArray:
        return np.asarray((50.01 + slopes @ x).astype(np.float32) - data, np.float64)

    at = Point(np.zeros(30), 0.0, 0.0, residuals(np.zeros(30)))
    found, _ = answered(accuracy(at, space_around(at), None, 0), residuals)
    assert found[0].deviations.max() <= 0.3 * 2.0**-18
