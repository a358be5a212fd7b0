"""The first look: whether f is exact, rounded, coarse or noisy, and what it costs to know."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gracezo
from gracezo.core.types import FloatArray
from gracezo.estimators.digits import grid, printed, quantum
from gracezo.problems import Distance, Magnitude
from gracezo.problems.base import Benchmark

Objective = Callable[[FloatArray], float]


def noisy(fun: Benchmark, level: float, seed: int) -> Objective:
    random = np.random.default_rng([seed, 1])
    deviation = level * fun(fun.x0)
    return lambda x: fun(x) + deviation * float(random.standard_normal())


def rounded(fun: Benchmark) -> Objective:
    return lambda x: float(np.float32(fun(x)))


# ------------------------------------------------------------ what f is like


@given(st.lists(st.floats(0.5, 100.0), min_size=3, max_size=9, unique=True))
def test_float32_shows_in_the_last_digits(values: list[float]) -> None:
    coarse = np.array(values, np.float32).astype(np.float64)
    step = quantum(coarse)
    if len(np.unique(coarse)) >= 3 and (np.diff(coarse) != 0).sum() >= 2:
        assert step >= np.spacing(np.float32(coarse.min())) / 2**24
        assert (np.rint(np.diff(coarse) / step) * step == np.diff(coarse)).all()


def test_exact_values_have_no_step() -> None:
    random = np.random.default_rng(0)
    assert not any(quantum(random.normal(size=7)) for _ in range(1000))
    assert quantum(np.zeros(5)) == 0.0


@given(
    step=st.floats(1e-3, 1e3),
    base=st.floats(-1e3, 1e3),
    counts=st.lists(st.integers(1, 10_000), min_size=2, max_size=6, unique=True),
)
def test_values_on_a_grid_show_its_step(step: float, base: float, counts: list[int]) -> None:
    found = grid(base + step * np.array([0, 0, *counts]))
    assert found == pytest.approx(math.gcd(*counts) * step, rel=1e-6)


def test_other_values_show_no_grid() -> None:
    random = np.random.default_rng(0)
    assert not any(grid(random.normal(size=7)) for _ in range(1000))
    assert grid(np.ones(5)) == 0.0
    assert grid(np.array([1.0, 2.0, 2.0])) == 0.0  # one change: it may be any multiple


@given(
    digits=st.integers(2, 12),
    base=st.floats(1e-3, 1e6),
    changes=st.lists(st.floats(-0.5, 3.0), min_size=9, max_size=9, unique=True),
)
def test_values_that_were_printed_show_their_last_digit(
    digits: int, base: float, changes: list[float]
) -> None:
    values = np.array([float(f"{base * (1.0 + change):.{digits}g}") for change in changes])
    last = 10.0 ** (math.floor(math.log10(values.max())) + 1 - digits)
    if len(np.unique(values)) >= 3:
        assert printed(values) == pytest.approx(last) or all(
            f"{value:.{digits - 1}e}"[-5] == "0" for value in values
        )


def test_other_values_were_not_printed() -> None:
    random = np.random.default_rng(0)
    assert not any(printed(random.normal(size=4)) for _ in range(1000))
    assert printed(random.normal(size=4).astype(np.float32).astype(np.float64)) == 0.0
    assert printed(np.array([1.5, 1.5, 2.5])) == 0.0  # two values: chance


@pytest.mark.parametrize("digits", [6, 8, 9, 10, 12])
@pytest.mark.parametrize("height", [1.0, 1.37, 83.1])
def test_what_a_program_prints_with_few_digits_is_seen_for_what_it_is(digits: int, height: float) -> None:
    for seed in range(3):
        random = np.random.default_rng(seed)
        gradient = np.zeros(30)
        gradient[random.choice(30, 5, replace=False)] = random.uniform(0.3, 1.0, 5)

        def fun(x: FloatArray, gradient: FloatArray = gradient) -> float:
            return float(f"{gradient @ x + 0.5 * (x @ x) + height:.{digits}g}")

        estimate = gracezo.estimate_gradient(fun, np.zeros(30), seed=seed)
        assert np.isin(np.flatnonzero(gradient), estimate.indices).all()
        assert (np.abs(estimate.values - gradient[estimate.indices]) <= 4.0 * estimate.errors).all()
        result = gracezo.minimize(fun, np.zeros(30), seed=seed, max_queries=300)
        z = result.x
        assert -(gradient @ z + 0.5 * (z @ z)) > 0.99 * 0.5 * (gradient @ gradient)


def test_the_noise_of_rounding_is_that_of_an_even_spread() -> None:
    fun = Distance(101)
    result = gracezo.minimize(rounded(fun), fun.x0, seed=1, max_queries=300)
    step = float(np.spacing(np.float32(fun(fun.x0))))
    assert result.success  # the step is nothing beside the decrease
    assert f"steps of about {step:.1g}" in result.message


@pytest.mark.parametrize("problem", [Distance, Magnitude])
def test_an_exact_function_pays_at_most_three_queries(problem: type[Distance] | type[Magnitude]) -> None:
    price = []
    for seed in range(100, 110):
        fun = problem(seed)
        target = 0.01 * fun(fun.x0)
        told = gracezo.minimize(fun, fun.x0, seed=seed, target=target, noise=0.0)
        looked = gracezo.minimize(fun, fun.x0, seed=seed, target=target)
        assert looked.fun_error == told.fun_error == 0.0
        price.append(looked.nfev - told.nfev)
    assert np.mean(price) <= 3.0  # one more at the root, where it also serves the slope


def test_noise_that_is_told_is_not_measured() -> None:
    fun = Distance(100)
    deviation = 1e-5 * fun(fun.x0)
    told = gracezo.minimize(noisy(fun, 1e-5, 0), fun.x0, seed=0, max_queries=60, noise=deviation)
    assert f"{deviation:.2g}" in told.message
    measured = gracezo.minimize(noisy(fun, 1e-5, 0), fun.x0, seed=0, max_queries=60)
    assert "f is noisy" in measured.message


@pytest.mark.parametrize("digits", [2, 3, 5, 6, 8])
def test_a_coarse_function_is_not_taken_for_a_flat_one(digits: int) -> None:
    for seed in range(3):
        fun = Magnitude(seed, d=2000)
        result = gracezo.minimize(
            lambda x, fun=fun: round(fun(x), digits), fun.x0, seed=seed, max_queries=300
        )
        assert fun(result.x) < 0.5 * fun(fun.x0)


@pytest.mark.parametrize("seed", range(5))
def test_counts_of_something_dear_are_coarse(seed: int) -> None:
    """Multiples of 100,000 end in binary zeros, too: it is the larger step that counts."""
    rng = np.random.default_rng(seed)
    rows, goal = rng.standard_normal((500, 6)), rng.standard_normal(6)
    result = gracezo.minimize(
        lambda x: 1e5 * int((np.abs(rows @ (x - goal)) > 0.3).sum()), np.zeros(6), seed=seed, max_queries=400
    )
    assert not result.success
    assert result.status == 1 or "coarse" in result.message


def test_float32_costs_no_noise_estimate() -> None:
    fun = Distance(101)
    result = gracezo.minimize(rounded(fun), fun.x0, seed=1, max_queries=300)
    assert fun(result.x) < 1e-5 * fun(fun.x0)
    assert result.nfev < 200


def test_what_cancels_leaves_a_grain_and_is_no_reason_to_look_to_both_sides() -> None:
    """Large terms leave an error of 1e-11 of f, thousands of its last places: far below noise proper."""
    goal = np.zeros(300)
    goal[[7, 90, 250]] = 0.5, -1.0, 0.8

    def f(x: FloatArray) -> float:
        return float(1e5 + ((x - goal) ** 2).sum()) - 1e5

    result = gracezo.minimize(f, np.zeros(300), seed=0, target=1e-6)
    assert result.success
    assert "noisy" not in result.message
    assert result.nfev <= 40
    assert "noisy" not in gracezo.minimize(f, np.zeros(300), seed=0, max_queries=60).message


def test_a_sum_that_loses_small_terms_beside_large_ones_costs_little_more_than_an_exact_one() -> None:
    """What is added term by term is rounded away below the last place of what has come together so far."""
    spent: dict[bool, list[int]] = {True: [], False: []}
    for seed in range(4):
        rng = np.random.default_rng(seed)
        weights, goal = rng.uniform(0.5, 2.0, 10_000), np.zeros(10_000)
        ten = np.sort(rng.choice(10_000, 10, replace=False))
        goal[ten] = rng.uniform(0.5, 1.0, 10) * rng.choice([-1.0, 1.0], 10)
        for one_by_one in (True, False):

            def parabola(
                x: FloatArray, w: FloatArray = weights, v: FloatArray = goal, plain: bool = one_by_one
            ) -> float:
                terms = w * (x - v) ** 2
                return float(np.cumsum(terms)[-1] if plain else np.sum(terms))

            found = gracezo.estimate_gradient(parabola, np.zeros(10_000), seed=seed)
            assert found.indices.tolist() == ten.tolist()
            true = -2.0 * (weights * goal)[ten]
            assert (np.abs(found.values - true) <= 4.0 * found.errors).all()
            spent[one_by_one].append(found.queries)
    assert np.mean(spent[False]) <= 42
    assert np.mean(spent[True]) <= np.mean(spent[False]) + 12  # 35 more where losses are not seen


def test_a_sum_of_very_many_terms_loses_small_ones_and_is_rounded_by_more_than_one_of_them() -> None:
    """Eight sums side by side, as compilers make of a loop; where losses are not seen, 64 queries."""
    d, spent = 400_000, []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        weights, goal = rng.random(d), np.zeros(d)
        goal[rng.choice(d, 10, replace=False)] = rng.random(10)

        def f(x: FloatArray, w: FloatArray = weights, v: FloatArray = goal) -> float:
            terms = w * (x - v) ** 2
            return float(np.add.accumulate(terms.reshape(8, -1), axis=1)[:, -1].sum())

        x0 = np.zeros(d)
        result = gracezo.minimize(f, x0, seed=seed, target=0.01 * f(x0), copy=False, max_queries=1_000)
        assert result.success
        spent.append(result.nfev)
    assert np.mean(spent) <= 60
