"""Looks before a success: what they find, and what they cost where there is nothing to find."""

from __future__ import annotations

import re

import numpy as np
import pytest

import gracezo
from gracezo.core.types import FloatArray

SEEDS = range(6)


def test_a_success_costs_eight_looks_along_what_matters_and_four_along_the_rest() -> None:
    """A parabola of three of 500 coordinates is predicted step by step: nothing else is asked at its end."""
    asked: list[int] = []

    def f(x: FloatArray) -> float:
        asked.append(int(np.count_nonzero(x[3:])))
        return float(((x[:3] - [0.7, -0.4, 0.9]) ** 2).sum())

    result = gracezo.minimize(f, np.zeros(500), seed=0)
    assert result.success
    assert asked[-12:] == [0] * 8 + [497] * 4


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_last_look_along_what_matters_pays_for_is_the_answer(seed: int, precision: type) -> None:
    """Of all values at points that differ from x0 on the support alone, the lowest is returned."""
    rng = np.random.default_rng(seed)
    goal, paid = rng.uniform(0.3, 1.0, 3), []

    def f(x: FloatArray) -> float:
        y = x[:3] - goal
        value = float(precision(0.4 + y @ y + (y @ y + y[0] * y[1]) ** 2))
        if not x[3:].any():
            paid.append(value)
        return value

    result = gracezo.minimize(f, np.zeros(40), seed=seed)
    assert set(result.support.tolist()) == {0, 1, 2}
    assert result.fun == min(paid) == f(result.x)


@pytest.mark.parametrize("seed", SEEDS)
def test_two_that_only_matter_together_are_found(seed: int) -> None:
    """Nothing shows of (1 − x₀x₁)² unless both move."""

    def f(x: FloatArray) -> float:
        return float((1 - x[10] * x[60]) ** 2 + (x[5] - 0.5) ** 2)

    result = gracezo.minimize(f, np.zeros(100), seed=seed, max_queries=600)
    assert result.fun < 1e-8, result.message


def test_shallow_ripples_are_no_minimum() -> None:
    """Steps come out as predicted above ripples of half a percent; the end is in one of them."""
    ends = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        goal = rng.uniform(0.3, 1.0, 5) * rng.choice([-1.0, 1.0], 5)

        def f(x: FloatArray, goal: FloatArray = goal) -> float:
            y = x[:5] - goal
            return float(y @ y + 0.005 * (1.0 - np.cos(2.0 * np.pi * y / 0.05)).sum())

        result = gracezo.minimize(f, np.zeros(50), seed=seed, max_queries=1000)
        assert not result.success or result.fun < 1e-6
        assert result.status == 1 or re.search("rough", result.message) or result.fun < 1e-6
        ends.append(result.fun)
    assert np.mean(ends) <= 0.03  # half of what one ripple of each coordinate is deep
    assert max(ends) <= 0.1


@pytest.mark.parametrize("seed", SEEDS)
def test_a_coordinate_that_went_too_far_comes_back(seed: int) -> None:
    """Bells turned over: a step along all of them may carry one to where f is flat."""
    rng = np.random.default_rng(seed)
    goal, heights = rng.uniform(0.6, 1.0, 6) * rng.choice([-1.0, 1.0], 6), 10.0 ** rng.uniform(-1, 0, 6)

    def f(x: FloatArray) -> float:
        return float(heights @ -np.expm1(-3.0 * (x[:6] - goal) ** 2))

    result = gracezo.minimize(f, np.zeros(60), seed=seed, max_queries=1500)
    assert not result.success or result.fun < 1e-6 * f(np.zeros(60))


def test_below_an_offset_of_1e10_coordinates_are_looked_at_one_by_one() -> None:
    """Rounding hides as noise does: what is left in each is below what one direction along all can show."""
    left = []
    for seed in range(9):
        rng = np.random.default_rng(seed)
        goal, weights = rng.uniform(0.3, 1.0, 8), 10.0 ** rng.uniform(-1.0, 0.0, 8)

        def exact(x: FloatArray, goal: FloatArray = goal, weights: FloatArray = weights) -> float:
            return float(weights @ ((x[:8] - goal) ** 2 + (x[:8] - goal) ** 4))

        result = gracezo.minimize(lambda x, exact=exact: exact(x) + 1e10, np.zeros(60), seed=seed)
        assert result.success or "rounding" in result.message
        left.append(exact(result.x) / np.spacing(1e10))
    assert np.median(left) <= 4.0  # last places; several hundred otherwise


@pytest.mark.parametrize("offset", [0.0, 1e5, -1e5])
@pytest.mark.parametrize("seed", range(3))
def test_kinks_near_by_are_found_below_a_large_offset(offset: float, seed: int) -> None:
    """By |f| alone a step would be a million times too long, and the kink would seem to be right here."""
    rng = np.random.default_rng(seed)
    goal = 1e-3 * rng.uniform(0.3, 1.0, 3) * rng.choice([-1.0, 1.0], 3)

    def f(x: FloatArray) -> float:
        return float(1e3 * np.abs(x[:3] - goal).sum() + offset)

    result = gracezo.minimize(f, np.zeros(80), seed=seed, max_queries=800)
    assert result.fun - offset <= 1e-6 * (f(np.zeros(80)) - offset), result.message


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("seed", range(3))
def test_a_noisy_minimum_is_looked_at_coordinate_by_coordinate(scale: float, seed: int) -> None:
    """Slopes that cancel in one noisy sum do not hide; what is left is of the size of the noise."""
    rng = np.random.default_rng(seed)
    weights = 10.0 ** rng.uniform(-1, 0, 6)
    goal = scale * rng.uniform(0.3, 1.0, 6) * rng.choice([-1.0, 1.0], 6)
    draws = np.random.default_rng([seed, 1])

    def exact(x: FloatArray) -> float:
        return float(weights @ ((x - goal) / scale) ** 2)

    result = gracezo.minimize(
        lambda x: exact(x) + 1e-4 * draws.standard_normal(),
        np.zeros(6),
        scale=np.full(6, scale),
        seed=seed,
        max_queries=600,
    )
    assert not result.success or exact(result.x) <= 20e-4, result.message


@pytest.mark.parametrize("seed", [1, 3, 5])
def test_a_smooth_function_that_saturates_has_no_ripples(seed: int) -> None:
    """Robust losses rise from their minimum less and less, and that is all that ripples show along a line."""
    rng = np.random.default_rng(seed)
    rows, found = np.zeros((200, 1000)), rng.choice(1000, 8, replace=False)
    rows[:, found] = rng.standard_normal((200, 8))
    truth = np.zeros(1000)
    truth[found] = 2.0 * rng.normal(size=8)
    data = rows @ truth + 0.3 * rng.standard_t(2, 200)

    def f(x: FloatArray) -> float:
        return float(np.log1p((rows @ x - data) ** 2 / 0.09).sum())

    result = gracezo.minimize(f, np.zeros(1000), seed=seed, max_queries=3000)
    assert (result.status, result.nfev < 1000) == (0, True), result.message
    assert "rough" not in result.message


@pytest.mark.parametrize("budget", [400, 2000])
@pytest.mark.parametrize("seed", range(3))
def test_ripples_of_an_exact_function_are_not_called_noise_nor_asked_twice(seed: int, budget: int) -> None:
    rng, asked = np.random.default_rng(seed), set()
    goal = rng.normal(size=5)

    def f(x: FloatArray) -> float:
        asked.add(x.tobytes())
        y = x[:5] - goal
        return float(y @ y + 0.2 * (1.0 - np.cos(2.0 * np.pi * y / 0.3)).sum())

    result = gracezo.minimize(f, np.zeros(100), seed=seed, max_queries=budget)
    assert "f is rough" in result.message, result.message
    assert "noisy" not in result.message
    assert len(asked) == result.nfev


@pytest.mark.parametrize("seed", SEEDS)
def test_no_look_goes_on_to_where_an_exponential_overflows(seed: int) -> None:
    """Nobody has told how small the scale is; a value that is not finite would end the run."""
    goal = 0.004 * np.random.default_rng(seed).uniform(-1.0, 1.0, 3)

    def f(x: FloatArray) -> float:
        with np.errstate(over="ignore"):
            return float(np.exp(5.0 * ((x[:3] - goal) / 0.004) ** 2).sum())

    result = gracezo.minimize(f, np.zeros(20), seed=seed)
    assert (result.status, result.fun - 3.0 < 1e-6) == (0, True), result.message
