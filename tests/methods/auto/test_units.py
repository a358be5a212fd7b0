"""Any units: the run is the same in all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize as scipy_minimize

import gracezo
from gracezo.core.types import FloatArray


class Bowl:
    """Five of d coordinates that matter, each with a curvature of its own, seen through any units."""

    def __init__(self, seed: int, d: int = 300) -> None:
        random = np.random.default_rng(seed)
        self.goal = np.zeros(d)
        self.found = np.sort(random.choice(d, 5, replace=False))
        self.goal[self.found] = random.uniform(0.5, 1.0, 5) * random.choice([-1.0, 1.0], 5)
        self.curvatures = random.uniform(0.5, 2.0, d)
        self.scale: FloatArray = np.ones(d)
        self.unit = 1.0
        self.offset = 0.3
        self.asked: list[bytes] = []

    def __call__(self, x: FloatArray) -> float:
        z = x / self.scale
        self.asked.append(z.tobytes())
        return self.unit * (float(self.curvatures @ (z - self.goal) ** 2) + self.offset)

    @property
    def start(self) -> FloatArray:
        return np.zeros(len(self.goal))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(-830, 830), st.integers(-200, 200), st.integers(1, 4))
def test_powers_of_two_change_no_bit(seed: int, power: int, size: int, batch: int) -> None:
    plain, scaled = Bowl(seed), Bowl(seed)
    scaled.scale = np.exp2(size + np.random.default_rng(seed).integers(-30, 30, 300).astype(float))
    scaled.unit = 2.0**power
    keywords: dict[str, Any] = {"seed": seed, "batch": batch, "max_queries": 90}
    one = gracezo.minimize(plain, plain.start, scale=1.0, **keywords)
    two = gracezo.minimize(scaled, scaled.start, scale=scaled.scale, **keywords)
    assert plain.asked == scaled.asked
    assert (one.nfev, one.status, one.nit) == (two.nfev, two.status, two.nit)
    assert one.fun * scaled.unit == two.fun
    assert np.array_equal(one.x * scaled.scale, two.x)


@pytest.mark.parametrize("power", [-700, 0, 700])
def test_so_it_is_with_bounds_noise_known_points_and_a_gradient(power: int) -> None:
    unit = 2.0**power
    answers = []
    for factor, scale in ((1.0, np.ones(300)), (unit, np.exp2(np.arange(-150.0, 150.0)))):
        bowl = Bowl(3)
        bowl.unit, bowl.scale = factor, scale
        known = np.zeros((1, 300))
        known[0, bowl.found[0]] = 0.1
        result = gracezo.minimize(
            bowl,
            bowl.start,
            scale=scale,
            bounds=np.stack([-0.6 * scale, 0.6 * scale], axis=1),
            known=(known * scale, [bowl(known[0] * scale)]),
            noise=1e-9 * factor,
            max_queries=120,
            seed=5,
        )
        gradient = gracezo.estimate_gradient(bowl, bowl.start, scale=scale, seed=5)
        slopes, errors = gradient.values * scale[gradient.indices], gradient.errors * scale[gradient.indices]
        answers.append(
            (
                bowl.asked,
                [result.fun / factor, result.fun_error / factor, *(result.x / scale)],
                [*gradient.indices, *(slopes / factor), *(errors / factor)],
            )
        )
    assert answers[0] == answers[1]


@pytest.mark.parametrize("unit", [1e-250, 1e-200, 1e-8, 1e8, 1e200, 1e250])
def test_any_unit_of_f_is_solved_for_the_same_queries(unit: int) -> None:
    plain, other = Bowl(7), Bowl(7)
    other.unit = unit
    level = plain.offset + 1e-8
    one = gracezo.minimize(plain, plain.start, target=level, seed=1, max_queries=100)
    two = gracezo.minimize(other, other.start, target=level * unit, seed=1, max_queries=100)
    assert one.status == two.status == 0
    assert abs(one.nfev - two.nfev) <= 3  # rounding is another one


@pytest.mark.parametrize("seed", range(5))
def test_sizes_from_1e_minus_6_to_1e11_in_one_x(seed: int) -> None:
    random = np.random.default_rng(seed)
    bowl, plain = Bowl(seed), Bowl(seed)
    bowl.scale = 10.0 ** random.uniform(-6, 11, 300)
    start = random.uniform(0.5, 2.0, 300) * random.choice([-1.0, 1.0], 300)
    bowl.goal[:] = plain.goal[:] = np.where(bowl.goal, 2.0 * start, start)
    target = plain.offset + 1e-6
    one = gracezo.minimize(plain, start, seed=seed, target=target, max_queries=300)
    two = gracezo.minimize(bowl, start * bowl.scale, seed=seed, target=target, max_queries=300)
    assert one.success
    assert two.success
    assert two.nfev <= 1.5 * one.nfev


@pytest.mark.parametrize("all_bend", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_sizes_that_nobody_has_told_are_no_success(seed: int, all_bend: bool) -> None:
    """From x0 = 0 nothing shows them: flat coordinates hide behind steep ones, or lead down far away."""
    random = np.random.default_rng([seed, 5])
    sizes, goal = np.repeat([1e5, 1e-3, 10.0], 100), np.zeros(300)
    some = np.concatenate([100 * k + random.choice(100, 2, replace=False) for k in range(3)])
    goal[some] = random.uniform(0.5, 1.2, 6) * random.choice([-1.0, 1.0], 6)
    which = np.arange(300) if all_bend else some

    def f(x: FloatArray) -> float:
        return float(((x[which] / sizes[which] - goal[which]) ** 2).sum())

    result = gracezo.minimize(f, np.zeros(300), seed=seed, max_queries=1500)
    assert not result.success or result.fun < 1e-4
    assert result.status != 5 or "orders of magnitude" in result.message
    told = gracezo.minimize(f, np.zeros(300), scale=sizes, seed=seed, max_queries=300)
    assert told.success
    assert told.fun < 1e-8


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_sizes_that_are_alike_need_not_be_told(size: float) -> None:
    bowl = Bowl(2)
    bowl.scale = np.full(300, size)
    result = gracezo.minimize(bowl, bowl.start, seed=0)
    assert result.success
    assert result.fun - bowl.offset < 1e-8


def test_two_sizes() -> None:
    result = gracezo.minimize(lambda x: (x[0] / 2e11 - 1) ** 2 + (x[1] / 4 - 1) ** 2, [2.1e11, 5.0], seed=0)
    assert result.success
    assert result.fun < 1e-12


def test_the_width_of_bounds_is_a_scale() -> None:
    widths = 10.0 ** np.linspace(-8, 8, 50)
    goal = np.where(np.arange(50) % 10 == 0, 0.3, 0.5) * widths
    result = gracezo.minimize(
        lambda x: float((((x - goal) / widths) ** 2).sum()),
        0.5 * widths,
        bounds=np.stack([0.0 * widths, widths], axis=1),
        seed=0,
        max_queries=100,
    )
    assert result.fun < 1e-12


@pytest.mark.parametrize("wall", [1e300, 1.7e308])
@pytest.mark.parametrize("seed", range(3))
def test_a_wall_of_1e300(wall: float, seed: int) -> None:
    goal = np.zeros(40)
    goal[[3, 20]] = [1.0, -1.0]

    def fun(x: FloatArray) -> float:
        assert np.isfinite(x).all()
        return wall if abs(x[3]) > 0.7 else float(((x - goal) ** 2).sum())

    result = gracezo.minimize(fun, np.zeros(40), seed=seed, max_queries=400)
    assert result.fun < 0.2  # 0.09 behind the wall


def test_a_value_of_zero_tells_no_unit() -> None:
    """Then the first change that is seen does."""
    counts = []
    for unit in (2.0**-600, 1.0, 2.0**600):
        slopes = np.zeros(200)
        slopes[[5, 50]] = [1.0, -0.7]
        result = gracezo.minimize(
            lambda x, unit=unit, slopes=slopes: unit * float(slopes @ x + x @ x), np.zeros(200), seed=2
        )
        counts.append((result.nfev, result.fun / unit))
    assert len(set(counts)) == 1
    assert counts[0][1] == pytest.approx(-(1.0 + 0.49) / 4.0)


def _never(x: FloatArray) -> float:
    raise AssertionError("a query was spent")


@pytest.mark.parametrize("entry", [gracezo.minimize, gracezo.estimate_gradient])
@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"scale": 0.0}, ValueError, "positive"),
        ({"scale": [1.0, -2.0, 1.0]}, ValueError, "-2.0 at flat index 1"),
        ({"scale": [1.0, np.inf, 1.0]}, ValueError, "finite"),
        ({"scale": [1.0, 2.0]}, ValueError, r"shape \(2,\)"),
        ({"scale": "large"}, TypeError, "numbers"),
        ({"scale": 1.0, "method": "fdsa"}, ValueError, "makes no use of scale"),
    ],
)
def test_a_wrong_scale_costs_nothing(
    entry: Callable[..., object], wrong: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        entry(_never, np.zeros(3), **wrong)


@pytest.mark.parametrize("tol", [0.0, 1.0, -1e-3, 2.0, float("nan")])
def test_a_wrong_tol_costs_nothing(tol: float) -> None:
    with pytest.raises(ValueError, match="tol must be"):
        gracezo.minimize(_never, np.zeros(3), tol=tol)
    with pytest.raises(ValueError, match="tol must be"):
        scipy_minimize(_never, np.zeros(3), tol=tol, method=gracezo.scipy_method())


def test_a_journal_knows_the_scale(tmp_path: Any) -> None:
    journal = tmp_path / "run.db"
    bowl = Bowl(0)
    scale = np.linspace(1.0, 9.0, 300)
    first = gracezo.minimize(bowl, bowl.start, scale=scale, seed=0, max_queries=20, journal=journal)
    more = gracezo.resume(journal, bowl, max_queries=60)
    whole = gracezo.minimize(bowl, bowl.start, scale=scale, seed=0, max_queries=60)
    assert first.nfev == 20
    assert (more.nfev, more.fun) == (whole.nfev, whole.fun)
    with pytest.raises(gracezo.JournalError, match="scale"):
        gracezo.minimize(bowl, bowl.start, scale=2.0 * scale, seed=0, max_queries=60, journal=journal)


def test_ask_and_tell_asks_the_same() -> None:
    one, two = Bowl(4), Bowl(4)
    scale = np.linspace(1.0, 9.0, 300)
    gracezo.minimize(one, one.start, scale=scale, tol=1e-6, seed=0, max_queries=60)
    optimizer = gracezo.Optimizer(two.start, scale=scale, tol=1e-6, seed=0, max_queries=60)
    while len(points := optimizer.ask()):
        optimizer.tell([two(x) for x in points])
    assert one.asked == two.asked
