"""Functions of which small steps tell nothing, or too little: noise, steps, plateaus, few digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gracezo
from gracezo.core.types import FloatArray

D = 1000
BOX = [(0.0, 1.0)] * D
MATTER = [30, 50, 70, 200, 900]


def friedman(x: FloatArray) -> float:
    value = 10.0 * np.sin(np.pi * x[30] * x[50]) + 20.0 * (x[70] - 0.5) ** 2 + 10.0 * x[200] + 5.0 * x[900]
    return float(value)


class Counted:
    """A function that counts its calls and remembers the points."""

    def __init__(self, fun: Callable[[FloatArray], Any]) -> None:
        self.fun = fun
        self.points: list[bytes] = []

    def __call__(self, x: FloatArray) -> Any:
        self.points.append(x.tobytes())
        assert ((x >= 0.0) & (x <= 1.0)).all()
        return self.fun(x)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "made",
    [
        lambda value: float(np.round(value)),
        lambda value: round(value, 1),
        lambda value: round(value, 3),
        lambda value: round(value, 5),
        lambda value: float(np.float32(value)),
        lambda value: float(np.float32(value)) + 1e6,
    ],
    ids=["whole numbers", "1 digit", "3 digits", "5 digits", "single precision", "single, offset"],
)
def test_few_digits_cost_little(made: Callable[[float], float], seed: int) -> None:
    f = Counted(lambda x: made(friedman(x)))
    found = gracezo.screen(f, bounds=BOX, seed=seed)
    assert sorted(found.indices.tolist()) == MATTER
    assert found.important.all()
    assert found.queries == len(f.points) <= 130
    place = found.indices.tolist().index(200)
    assert found.mu[place] == pytest.approx(10.0, abs=1.5)


@pytest.mark.parametrize("seed", range(3))
def test_steps_and_plateaus_are_seen(seed: int) -> None:
    switch = gracezo.screen(lambda x: float(x[3] > 0.5), bounds=BOX, seed=seed)
    assert switch.indices.tolist() == [3]
    assert switch.queries <= 60
    beside = gracezo.screen(lambda x: float(x[3] > 0.5) + float(x[7]), bounds=BOX, seed=seed)
    assert sorted(beside.indices.tolist()) == [3, 7]
    flat = gracezo.screen(lambda x: max(friedman(x) - 15.0, 0.0), bounds=BOX, seed=seed)
    assert set(flat.indices.tolist()) <= set(MATTER)
    assert len(flat.indices) >= 4


@pytest.mark.parametrize("outputs", [1, 3])
def test_of_a_constant_two_queries_a_point_tell_it(outputs: int) -> None:
    f = Counted(lambda x: np.full(outputs, 7.0))
    found = gracezo.screen(f, bounds=BOX, seed=0)
    assert len(found.indices) == 0
    assert found.points == 20
    assert found.queries == len(f.points) <= 2 * 20 + 8


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("noise", [1e-6, 1e-4, 1e-2, 0.1, 0.3])
def test_noise_of_any_size_costs_little_and_makes_nothing_up(noise: float, told: bool) -> None:
    """Of 0.02 to 5 % of the effects: before, one in two took thousands of queries, or found nothing."""
    missed = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)

        def noisy(x: FloatArray, rng: Any = rng) -> float:
            return friedman(x) + noise * float(rng.standard_normal())

        f = Counted(noisy)
        found = gracezo.screen(f, bounds=BOX, seed=seed, noise=noise if told else None)
        assert found.queries == len(f.points) <= 180
        claimed = set(found.indices[found.important].tolist())
        assert claimed <= set(MATTER)
        missed += 5 - len(claimed)
    assert missed <= 6


def test_noise_on_many_outputs() -> None:
    rng = np.random.default_rng(0)

    def f(x: FloatArray) -> FloatArray:
        return np.array([friedman(x), 1e6 * x[4]]) + np.array([0.02, 1e4]) * rng.standard_normal(2)

    found = gracezo.screen(f, bounds=BOX, seed=0)
    assert sorted(found.indices.tolist()) == [4, *MATTER]
    assert found.queries <= 150
    assert found.important[1].sum() == 1


def test_an_output_with_an_offset_hides_nothing() -> None:
    def f(x: FloatArray) -> FloatArray:
        return np.array([friedman(x), 2.0, 1e-9 * x[4], 1e9 + x[7]])

    found = gracezo.screen(f, bounds=BOX, seed=0)
    assert sorted(found.indices.tolist()) == [4, 7, *MATTER]


def test_batches_find_the_same_in_fewer_rounds() -> None:
    f = lambda x: float(np.round(friedman(x)))  # noqa: E731
    rounds = []
    for seed in range(4):
        one, many = (gracezo.screen(f, bounds=BOX, seed=seed, batch=batch) for batch in (1, 8))
        assert sorted(many.indices.tolist()) == sorted(one.indices.tolist()) == MATTER
        assert one.rounds == one.queries
        rounds.append((many.rounds, one.rounds))
    assert np.sum(rounds, axis=0)[0] < 0.5 * np.sum(rounds, axis=0)[1]


def test_groups_are_cut_before_what_is_inside() -> None:
    weights = np.zeros((50, 50))
    weights[10:15, 20:25] = np.arange(1.0, 26.0).reshape(5, 5)

    def f(x: FloatArray) -> float:
        return float(np.round((weights * x).sum()))

    box = np.tile([0.0, 1.0], (50, 50, 1))
    blocks = gracezo.screen(f, bounds=box, groups=(5, 5), seed=0)
    single = gracezo.screen(f, bounds=box, seed=0)
    matter = set(np.flatnonzero(weights).tolist())
    assert set(blocks.indices.tolist()) <= matter
    assert blocks.queries < 0.7 * single.queries
    assert blocks.important.sum() >= 20


@pytest.mark.parametrize("budget", [1, 2, 3, 8, 12, 20, 33, 50])
def test_the_budget_is_held(budget: int) -> None:
    f = Counted(lambda x: float(np.round(friedman(x))))
    found = gracezo.screen(f, bounds=BOX, seed=1, max_queries=budget)
    assert found.queries == len(f.points) <= budget
    assert set(found.indices.tolist()) <= set(MATTER)
    assert not found.complete
    assert budget < 50 or len(found.indices) >= 3


@pytest.mark.parametrize("every", [3, 5])
def test_evaluations_that_fail_hide_little(every: int) -> None:
    calls = 0

    def f(x: FloatArray) -> float:
        nonlocal calls
        calls += 1
        return np.nan if calls % every == every - 1 else float(np.round(friedman(x)))

    numbers = []
    for seed in range(5):
        calls = 0
        found = gracezo.screen(f, bounds=BOX, seed=seed, on_failure="skip", max_queries=600)
        assert found.queries == calls
        assert set(found.indices.tolist()) <= set(MATTER)
        numbers.append(len(found.indices))
    assert sum(numbers) >= 20


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(0, 6), st.integers(1, 4))
def test_of_steps_nothing_is_made_up_and_morris_is_never_dearer(
    seed: int, d: int, s: int, points: int
) -> None:
    """Sums of steps: exact, so that each coordinate found has one, and no point takes more than d + 1."""
    rng = np.random.default_rng(seed)
    places = rng.choice(d, min(s, d), replace=False)
    heights, where = rng.normal(size=len(places)), rng.random(len(places))
    f = Counted(lambda x: float(heights @ (x[places] > where)))
    found = gracezo.screen(f, bounds=[(0.0, 1.0)] * d, seed=seed, points=points + 1)
    assert set(found.indices.tolist()) <= set(places.tolist())
    assert found.queries == len(f.points) <= (points + 1) * (d + 1) + 12


@pytest.mark.parametrize("digits", [None, 1])
def test_where_all_matters_it_is_not_dearer_than_trajectories(digits: int | None) -> None:
    slopes = np.random.default_rng(0).normal(size=300)

    def f(x: FloatArray) -> float:
        value = float(slopes @ x)
        return value if digits is None else round(value, digits)

    found = gracezo.screen(f, bounds=[(0.0, 1.0)] * 300, points=4, seed=0)
    assert found.queries <= 1.1 * 4 * 301 + 9


def test_an_outlier_is_no_effect() -> None:
    """Noise with heavy tails: a value in a hundred is far off, and no coordinate is claimed for it."""
    wrong = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)

        def noisy(x: FloatArray, rng: Any = rng) -> float:
            return friedman(x) + 0.05 * float(rng.standard_t(2))

        found = gracezo.screen(noisy, bounds=BOX, seed=seed)
        wrong += bool(set(found.indices[found.important].tolist()) - set(MATTER))
    assert wrong <= 2
