"""`method="global"` as it is called: what it finds, what it says, and exactly what it spends."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

import gracezo
from gracezo.core.types import FloatArray

D = 200
BOX = [(0.0, 1.0)] * D


class Hidden:
    """Levy's function on four of 200 coordinates, counted."""

    def __init__(self, seed: int, bowl: float = 0.0) -> None:
        rng = np.random.default_rng([seed, 4])
        self.places = rng.choice(D, 4, replace=False)
        self.goal = rng.uniform(0.2, 0.8, 4)
        self.x0 = rng.random(D)
        self.bowl = bowl
        self.points: list[FloatArray] = []

    def __call__(self, x: FloatArray) -> float:
        assert x.min() >= 0.0
        assert x.max() <= 1.0
        self.points.append(x.copy())
        w = 1.0 + 5.0 * (x[self.places] - self.goal)
        first, last = np.sin(np.pi * w[0]) ** 2, (w[-1] - 1.0) ** 2 * (1.0 + np.sin(2 * np.pi * w[-1]) ** 2)
        middle = ((w[:-1] - 1.0) ** 2 * (1.0 + 10.0 * np.sin(np.pi * w[:-1] + 1.0) ** 2)).sum()
        return float(first + middle + last + self.bowl * ((x - 0.5) ** 2).mean())


@pytest.mark.parametrize("seed", [0, 1, 2, 4])
def test_minima_that_a_descent_misses_are_found(seed: int) -> None:
    f = Hidden(seed)
    local = gracezo.minimize(Hidden(seed), f.x0, bounds=BOX, max_queries=1000, seed=seed)
    assert local.fun > 0.1
    assert local.nfev < 1000
    assert "; for other minima in the box there is method='global'" in local.message
    result = gracezo.minimize(f, f.x0, method="global", bounds=BOX, target=0.1, max_queries=1000, seed=seed)
    assert result.success
    assert result.nfev == len(f.points)
    assert set(result.support.tolist()) <= set(f.places.tolist())


@pytest.mark.parametrize("budget", [1, 2, 7, 30, 61, 150, 333])
def test_every_budget_is_spent_to_the_last_query_and_a_larger_one_goes_on_the_same_way(budget: int) -> None:
    f, longer = Hidden(1), Hidden(1)
    result = gracezo.minimize(f, f.x0, method="global", bounds=BOX, max_queries=budget, seed=3)
    assert result.nfev == len(f.points) <= budget
    assert result.nfev >= budget - 1 if budget > 30 else True
    gracezo.minimize(longer, longer.x0, method="global", bounds=BOX, max_queries=400, seed=3)
    np.testing.assert_array_equal(f.points[: max(budget - 10, 0)], longer.points[: max(budget - 10, 0)])
    assert result.fun <= f(f.x0)
    assert f(result.x) == result.fun


def test_with_noise_that_is_told_long_steps_find_the_coordinates() -> None:
    for seed in range(3):
        f, rng = Hidden(seed), np.random.default_rng(seed)

        def noisy(x: FloatArray, f: Hidden = f, rng: np.random.Generator = rng) -> float:
            return f(x) + 0.3 * float(rng.standard_normal())

        result = gracezo.minimize(
            noisy, f.x0, method="global", bounds=BOX, noise=0.3, max_queries=300, seed=seed
        )
        assert re.search("[34] coordinates met that matter", result.message)


def test_it_says_what_it_did_and_claims_nothing() -> None:
    f = Hidden(0)
    result = gracezo.minimize(f, f.x0, method="global", bounds=BOX, max_queries=500, seed=0)
    assert result.status == 1
    assert not result.success
    assert re.fullmatch(
        r"(all|\d+ of) 500 queries are spent(; what comes next takes \d+ together, more than the \d+ left)?; "
        r"\d points screened, 4 coordinates met that matter, \d+ descents? by auto, "
        r"\d+ zooms? along these, \d+ evolutions? along these; "
        r"this is the lowest value met, which need not be the global minimum",
        result.message,
    )


def test_a_run_repeats_and_leaves_global_states_alone() -> None:
    before = repr(np.random.get_state(legacy=False)), random.getstate()  # noqa: NPY002
    runs = []
    for _ in range(2):
        f = Hidden(2)
        gracezo.minimize(f, f.x0, method="global", bounds=BOX, max_queries=300, seed=5)
        runs.append(f.points)
    np.testing.assert_array_equal(runs[0], runs[1])
    assert before == (repr(np.random.get_state(legacy=False)), random.getstate())  # noqa: NPY002


def test_a_background_is_no_reason_to_evolve_along_it() -> None:
    f = Hidden(3, bowl=2.0)
    result = gracezo.minimize(f, f.x0, method="global", bounds=BOX, max_queries=400, seed=1)
    assert ", 4 coordinates met that matter" in result.message
    assert result.nfev == len(f.points) == 400


def test_units_of_the_box_and_of_f_do_not_matter() -> None:
    f, scaled = Hidden(1), Hidden(1)
    width = 2.0 ** np.random.default_rng(0).integers(-8, 9, D)
    plain = gracezo.minimize(f, f.x0, method="global", bounds=BOX, max_queries=200, seed=3)
    bounds = [(0.0, w) for w in width]
    other = gracezo.minimize(
        lambda x: 1024.0 * scaled(x / width),
        f.x0 * width,
        method="global",
        bounds=bounds,
        scale=width,
        max_queries=200,
        seed=3,
    )
    alike = gracezo.minimize(
        Hidden(1), f.x0, method="global", bounds=BOX, scale=np.ones(D), max_queries=200, seed=3
    )
    assert plain.nfev == other.nfev == alike.nfev == 200
    assert other.fun == 1024.0 * alike.fun
    np.testing.assert_array_equal(other.x, alike.x * width)


def test_noisy_values_are_measured_again() -> None:
    rng = np.random.default_rng(0)
    clean, calls = Hidden(2), 0

    def noisy(x: FloatArray) -> float:
        nonlocal calls
        calls += 1
        return clean(x) + 0.1 * float(rng.standard_normal())

    result = gracezo.minimize(
        noisy, clean.x0, method="global", bounds=BOX, noise=0.1, max_queries=600, seed=1
    )
    assert result.nfev == calls <= 600
    assert result.fun_error == pytest.approx(0.05)  # four values
    assert abs(result.fun - clean(result.x)) < 5 * result.fun_error
    assert clean(result.x) < clean(clean.x0)


def test_a_function_of_a_seed_is_judged_by_other_draws() -> None:
    clean = Hidden(2)

    def drawn(x: FloatArray, *, seed: int) -> float:
        return clean(x) + 0.01 * float(np.random.default_rng(seed).standard_normal())

    result = gracezo.minimize(drawn, clean.x0, method="global", bounds=BOX, max_queries=200, seed=1)
    assert "one draw was minimised, 8 others have judged the answer" in result.message
    assert result.nfev <= 200
    assert 0.0 < result.fun_error < 0.01


def test_where_nothing_matters_it_ends() -> None:
    result = gracezo.minimize(lambda x: 3.0, np.zeros(50), method="global", bounds=[(-1, 1)] * 50, seed=0)
    assert result.status == 4
    assert "neither short nor long probes have changed the objective" in result.message
    assert "method=" not in result.message  # that is what was run
    assert result.nfev < 50
    assert "0 coordinates met that matter" in result.message


def test_where_all_coordinates_matter_alike_it_starts_again_elsewhere() -> None:
    goal = np.random.default_rng(1).uniform(-0.5, 0.5, 300)

    def f(x: FloatArray) -> float:
        return float(((x - goal) ** 2).sum())

    result = gracezo.minimize(
        f, np.zeros(300), method="global", bounds=[(-1, 1)] * 300, max_queries=900, seed=0
    )
    assert result.nfev <= 900
    assert result.fun < 0.01 * f(np.zeros(300))


def test_few_coordinates_all_of_which_matter() -> None:
    def f(x: FloatArray) -> float:
        return float(np.cos(9.0 * x).sum() + (x**2).sum())

    best = min(f(np.array([t])) for t in np.linspace(-1, 1, 20001))
    result = gracezo.minimize(f, [0.9, -0.9], method="global", bounds=[(-1, 1)] * 2, max_queries=300, seed=0)
    assert result.fun == pytest.approx(2 * best, abs=1e-3)


@pytest.mark.parametrize(
    ("bounds", "says"),
    [
        (None, "method 'global' needs bounds="),
        (
            [(0.0, 1.0), (None, 1.0), (0.0, None)],
            "method 'global' needs finite bounds for every coordinate: 2 of 3 have none on one side or both, "
            "the first of them at index 1",
        ),
    ],
)
def test_a_box_is_needed(bounds: object, says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        gracezo.minimize(lambda x: 1 / 0, [0.5] * 3, method="global", bounds=bounds)


@pytest.mark.parametrize("seed", range(3))
def test_whole_numbers_are_searched_though_they_have_no_slopes(seed: int) -> None:
    """A bowl of four coordinates in steps of a twentieth: no small step changes f."""
    rng = np.random.default_rng(seed)
    places, x0 = rng.choice(500, 4, replace=False), rng.random(500)
    calls = 0

    def f(x: FloatArray) -> float:
        nonlocal calls
        calls += 1
        return float(((np.rint(20.0 * x[places]) - 7.0) ** 2).sum())

    result = gracezo.minimize(
        f, x0, method="global", bounds=[(0, 1)] * 500, target=0.0, max_queries=1_000, seed=seed
    )
    assert result.fun == 0.0
    assert result.nfev == calls <= 1_000
