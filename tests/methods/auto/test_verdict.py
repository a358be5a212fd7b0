"""What a run of `auto` claims at its end is true, on functions where that is easily wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize

import gracezo
from gracezo.core.precision import SHOWN
from gracezo.core.result import Result, Status
from gracezo.core.types import FloatArray

Function = Callable[[FloatArray], float]


class Paid:
    """A function that remembers what was paid for."""

    def __init__(self, fun: Function) -> None:
        self.fun = fun
        self.points: list[FloatArray] = []
        self.values: list[float] = []

    def __call__(self, x: FloatArray) -> float:
        self.points.append(x.copy())
        self.values.append(self.fun(x))
        return self.values[-1]


def bowl(seed: int, d: int = 300, s: int = 4) -> Function:
    random = np.random.default_rng(seed)
    found = random.choice(d, s, replace=False)
    goal = random.uniform(0.5, 1.0, s) * random.choice([-1.0, 1.0], s)
    weights = random.uniform(0.5, 2.0, s)
    return lambda x: float(weights @ (x[found] - goal) ** 2)


def minimised(fun: Function, d: int, seed: int, **keywords: Any) -> Result:
    return gracezo.minimize(fun, np.zeros(d), seed=seed, **{"max_queries": 2000} | keywords)


# ---------------------------------------------------------------- solved


@pytest.mark.parametrize("offset", [0.0, 1e3, -1e6])
@pytest.mark.parametrize("shape", ["wall", "plateau", "explosion"])
@pytest.mark.parametrize("seed", range(3))
def test_a_bowl_far_smaller_than_the_scale_is_solved(shape: str, offset: float, seed: int) -> None:
    """What lies beyond says nothing of how f bends in it; this was taken for kinks, or for converged."""
    random = np.random.default_rng(seed)
    goal = 1e-4 * random.uniform(0.5, 1.0, 4) * random.choice([-1.0, 1.0], 4)

    def fun(x: FloatArray) -> float:
        y = 1e4 * (x[:4] - goal)
        square = float(y @ y)
        if shape == "wall":
            return square + offset if float(np.abs(y).max()) < 3.0 else 1e60
        return (min(square, 6.0) if shape == "plateau" else float(np.expm1(min(square, 200.0)))) + offset

    result = minimised(fun, 200, seed)
    assert result.success
    assert result.fun - offset <= 1e-6 * (fun(np.zeros(200)) - offset) + 100 * np.spacing(abs(offset))
    assert result.nfev <= 300


@pytest.mark.parametrize("offset", [1e3, 1e6, 1e8, -1e7])
def test_beside_an_offset_f_is_solved_to_what_rounding_allows(offset: float) -> None:
    queries, without = [], []
    for seed in range(8):
        fun = bowl(seed)

        def moved(x: FloatArray, fun: Callable[[FloatArray], float] = fun) -> float:
            return fun(x) + offset

        result = minimised(moved, 300, seed)
        assert result.success
        assert fun(result.x) <= 100 * np.spacing(abs(offset)) + 1e-9 or seed > 2
        assert fun(result.x) <= 500 * np.spacing(abs(offset)) + 1e-9
        queries.append(result.nfev)
        without.append(minimised(fun, 300, seed).nfev)
    # One run may be luckier than another; in the mean an offset costs a tenth at most.
    assert np.mean(queries) <= (1.1 if abs(offset) <= 1e3 else 2.0) * np.mean(without)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("left", [1e-17, -1e-14, 1e-12])
def test_what_is_left_of_terms_that_cancel_at_x0_is_no_size_of_f(left: float, seed: int) -> None:
    fun = bowl(seed)
    first = fun(np.zeros(300))
    result = minimised(lambda x: fun(x) - first + left, 300, seed)
    assert result.success
    assert fun(result.x) < 1e-11 * first
    assert result.nfev <= 60


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("away", [1e3, 1e8])
def test_a_minimum_far_away(away: float, seed: int) -> None:
    goal = away * np.random.default_rng(seed).uniform(0.5, 1.0, 3)
    result = minimised(lambda x: float(((x - goal) ** 2).sum()), 3, seed)
    assert result.success
    assert result.x == pytest.approx(goal, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_left_after_a_fall_by_many_orders_is_found(seed: int) -> None:
    result = minimised(lambda x: float(1e10 * (x[0] - 0.3) ** 2 + (x[1] - 1.0) ** 2), 2, seed)
    assert result.success
    assert result.x == pytest.approx([0.3, 1.0], abs=1e-4)
    assert result.nfev <= 40


@pytest.mark.parametrize("seed", range(3))
def test_an_exponential(seed: int) -> None:
    goal = np.random.default_rng(seed).uniform(0.6, 1.2, 3)
    result = minimised(lambda x: float(np.exp(10.0 * min(((x - goal) ** 2).sum(), 60.0))), 3, seed)
    assert result.fun == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("d", [50, 500])
@pytest.mark.parametrize("seed", range(5))
def test_an_exponential_among_many_coordinates_goes_down_to_what_was_claimed(d: int, seed: int) -> None:
    """Its curvatures fall with it, by as many orders: those measured high up must not hide what is left."""
    fun = bowl(seed, d)
    first = float(np.exp(10.0 * fun(np.zeros(d))))
    result = minimised(lambda x: float(np.exp(10.0 * min(fun(x), 60.0))), d, seed)
    assert result.success or result.fun - 1.0 <= 1e-4  # what is left below that may take the budget
    assert result.fun - 1.0 <= max(1e-4, SHOWN * first)
    assert result.fun - 1.0 <= 1e-4 or "of the decrease so far" in result.message


@pytest.mark.parametrize("drop", [0.1, -0.1])
@pytest.mark.parametrize("seed", range(3))
def test_a_jump_at_x0_is_no_noise(drop: float, seed: int) -> None:
    fun = bowl(seed)
    first = fun(np.zeros(300))
    result = minimised(lambda x: fun(x) - (0.0 if x.any() else drop * first), 300, seed)
    assert result.success
    assert "noisy" not in result.message
    assert fun(result.x) < 1e-10 * first


@pytest.mark.parametrize("offset", [50.0, 99.0, 200.0])
def test_a_run_that_never_left_a_jump_at_x0_is_no_success(offset: float) -> None:
    """What f is beside x0 is not where the run began: its decrease was the jump itself."""
    found, goal = [1482, 1661, 2307, 3389, 3522], np.array([0.461, -0.88, 0.821, -0.308, -0.071])

    def fun(x: FloatArray) -> float:
        return float(((x[found] - goal) ** 2).sum() + 8.73 * (x[1482] > 0.0)) + offset

    result = minimised(fun, 5510, 0, batch=16)
    assert not result.success or fun(result.x) - offset < 0.25
    assert "jump" in result.message


@pytest.mark.parametrize("seed", [0, 2])
def test_rounding_is_not_blamed_for_a_jump(seed: int) -> None:
    result = minimised(lambda x: float(((x[:3] - 2.0) ** 2).sum() + 5.0 * (x[0] > 0.0)), 50, seed)
    assert result.status == Status.STUCK
    assert "a jump or a sharp bend of f hides" in result.message


@pytest.mark.parametrize("seed", range(4))
def test_a_run_that_stops_in_a_ripple_goes_on_and_says_so(seed: int) -> None:
    """Each coordinate is in a minimum of its own at x0; that the bowl leads down is seen from afar."""
    fun = bowl(seed, 40)
    result = minimised(lambda x: fun(x) + 0.02 * float((1 - np.cos(200.0 * x)).sum()), 40, seed)
    assert fun(result.x) <= 0.9 * fun(np.zeros(40))
    assert result.status == Status.SPENT or (result.status, "rough" in result.message) == (Status.STUCK, True)


@pytest.mark.parametrize("shape", ["expanded", "cosine", "divergence", "curve"])
@pytest.mark.parametrize("seed", range(5))
def test_what_is_left_of_larger_terms_that_cancel_is_rounded_as_they_are(shape: str, seed: int) -> None:
    """Near zero such values have errors far above their last places, which passed for slopes and kinks."""
    random = np.random.default_rng(seed)
    found, goal = random.choice(300, 5, replace=False), random.normal(size=5)
    share = np.exp(goal) / np.exp(goal).sum()

    def fun(x: FloatArray) -> float:
        y = x[found]
        if shape == "expanded":
            return float(y @ y - 2.0 * (goal @ y) + goal @ goal)
        if shape == "cosine":
            return float(1.0 - (y @ goal + 1.0) / np.sqrt((y @ y + 1.0) * (goal @ goal + 1.0)))
        if shape == "divergence":
            return float(share @ (np.log(share) - y + np.log(np.exp(y).sum())))
        return float((np.exp(y - goal) - (y - goal) - 1.0).sum())

    result = minimised(fun, 300, seed)
    assert (result.status, "kink" in result.message) == (Status.CONVERGED, False), result.message
    assert fun(result.x) < 1e-10 * fun(np.zeros(300))
    assert result.nfev < 350


@pytest.mark.parametrize("seed", range(3))
def test_a_saddle_point_is_no_minimum(seed: int) -> None:
    """At x0 three coordinates have no slope, and f curves down along them."""
    random = np.random.default_rng(seed)
    three = random.choice(200, 3, replace=False)
    fun = bowl(seed, 200)
    result = minimised(lambda x: fun(x) + float((x[three] ** 4 - x[three] ** 2).sum()), 200, seed)
    assert result.success
    assert np.abs(result.x[three]) == pytest.approx(np.full(3, 0.5**0.5), abs=0.3)
    assert result.fun == pytest.approx(-0.75, abs=0.3)


# ---------------------------------------------------------------- named


@pytest.mark.parametrize("seed", range(3))
def test_what_rounding_hides(seed: int) -> None:
    fun = bowl(seed)
    result = minimised(lambda x: fun(x) + 1e13, 300, seed)
    assert fun(result.x) < 0.05 or (result.status, "rounding" in result.message) == (Status.STUCK, True)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "fun",
    [
        lambda x: float(x[0] - 2.0 * x[3] + 7.0),
        lambda x: float(3.0 - 0.1 * (x[:3] ** 2 - x[:3]).sum()),
        lambda x: float(-np.exp(min(float(x[1] + x[2]), 600.0))),
    ],
)
def test_no_lower_bound(fun: Function, seed: int) -> None:
    result = minimised(fun, 20, seed)
    assert (result.status, result.success) == (Status.STUCK, False)
    assert "no lower bound" in result.message
    assert np.isfinite(result.x).all()


@pytest.mark.parametrize("seed", range(4))
def test_a_coarse_function(seed: int) -> None:
    """Its answer is the lowest value that was paid for: it answers the same when asked again."""
    fun = bowl(seed, 30, 2)
    paid = Paid(lambda x: float(np.floor(10.0 * fun(x))))
    result = minimised(paid, 30, seed)
    assert (result.status, "coarse" in result.message) == (Status.STUCK, True)
    assert result.fun == paid.fun(result.x)
    assert result.fun <= min(paid.values) + 0.01 * (paid.values[0] - min(paid.values))


def test_counts_of_something_random_are_noise() -> None:
    random = np.random.default_rng(0)
    fun = bowl(0, 30, 2)
    result = minimised(lambda x: float(random.poisson(1000.0 * (1.0 + fun(x)))), 30, 0, max_queries=400)
    assert "noisy" in result.message
    assert result.fun_error > 0.0


@pytest.mark.parametrize("seed", [4, 6, 7, 9])
def test_kinks_across_coordinates_in_single_precision_are_named(seed: int) -> None:
    random = np.random.default_rng(seed)
    d = int(random.integers(2, 7))
    goal = random.uniform(-1.0, 1.0, d)

    def fun(x: FloatArray) -> float:
        return float(np.float32(5.0 * np.abs(np.diff(x - goal)).sum() + abs((x - goal).sum())))

    result = minimised(fun, d, seed)
    assert (result.status, result.success) == (5, False)
    assert "kinks across" in result.message


@pytest.mark.parametrize("seed", range(3))
def test_a_smooth_function_in_single_precision_has_no_kinks(seed: int) -> None:
    root = np.random.default_rng(seed).normal(size=(5, 5))
    result = minimised(lambda x: float(np.float32(1.0 + np.sum((root @ (x - 0.4)) ** 2))), 5, seed)
    assert result.success
    assert "kink" not in result.message


def test_where_kinks_are_a_success_says_how_finely_they_were_located() -> None:
    result = minimised(lambda x: float(np.abs(np.sin(x - 0.4)).sum()), 3, 0)
    assert result.success
    assert "as finely as its kinks were located" in result.message
    assert "rounding" not in result.message


@pytest.mark.parametrize("seed", range(2))
def test_flat_up_to_the_scales(seed: int) -> None:
    """A well that begins two scales away is not seen, one at half a scale is not called flat at once."""
    paid = Paid(lambda x: 3.0)
    result = minimised(paid, 10, seed)
    assert (result.status, result.success, result.nfev) == (Status.NOTHING_TO_FIND, False, 8)
    assert max(float(np.abs(x).max()) for x in paid.points) >= 1.0


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("share", [0.1, 0.3, 1.0])
def test_noise_as_loud_as_f_is_seen(share: float, seed: int) -> None:
    fun, random = bowl(seed), np.random.default_rng(seed)
    level = share * fun(np.zeros(300))
    result = minimised(lambda x: fun(x) + level * float(random.standard_normal()), 300, seed, max_queries=60)
    assert "noisy" in result.message
    assert 0.1 * level < result.fun_error < 2.0 * level
    assert not result.success


@pytest.mark.parametrize("budget", [200, 2000])
def test_what_looks_like_noise_and_answers_the_same_again_is_rough(budget: int) -> None:
    """Errors that depend on the point alone, as those of a solver do."""
    fun = bowl(0)
    result = minimised(lambda x: fun(x) + 1e-3 * float(np.sin(1e9 * x.sum())), 300, 0, max_queries=budget)
    assert "f is rough, not random" in result.message, result.message
    assert "noisy" not in result.message


@pytest.mark.parametrize("seed", range(3))
def test_loud_noise_at_bounds(seed: int) -> None:
    random = np.random.default_rng(seed)
    fun: Function = lambda x: 1.0 + float(x.sum()) + 0.5 * float(random.standard_normal())  # noqa: E731
    result = minimised(fun, 6, seed, bounds=[(0.0, 1.0)] * 6, max_queries=200)
    assert "noisy" in result.message


# ---------------------------------------------------------------- the answer


@pytest.mark.parametrize("queries", [8, 15, 25, 40])
@pytest.mark.parametrize("seed", range(3))
def test_the_answer_is_the_lowest_value_paid_for(queries: int, seed: int) -> None:
    paid = Paid(bowl(seed))
    result = minimised(paid, 300, seed, max_queries=queries)
    assert result.fun == paid.fun(result.x)
    fallen = paid.values[0] - min(paid.values)
    assert result.fun <= min(paid.values) + 0.01 * fallen
    found = set(result.support.tolist())
    within = [
        v for x, v in zip(paid.points, paid.values, strict=True) if set(np.flatnonzero(x).tolist()) <= found
    ]
    assert result.fun == min(within)


SMOOTH: dict[str, Callable[[FloatArray], float]] = {
    "well": lambda z: -100.0 * float(np.exp(-1.5 * (z @ z))),
    "root": lambda z: float(np.sqrt(1.0 + z @ z)),
    "exponentials": lambda z: float((np.exp(z) + np.exp(-2.0 * z)).sum()),
    "coupled": lambda z: 5.0 + float(z @ z + 3.0 * z.sum() ** 2),
}


@pytest.mark.parametrize("shape", SMOOTH)
@pytest.mark.parametrize("seed", range(3))
def test_what_never_mattered_stays_where_it_was(shape: str, seed: int) -> None:
    """Before the end whole sets are looked at, and one may be lower by a last bit: no reason to go there."""
    random = np.random.default_rng(seed)
    chosen, goal = random.choice(2000, 8, replace=False), random.uniform(-1.0, 1.0, 8)
    result = minimised(lambda x: SMOOTH[shape](x[chosen] - goal), 2000, seed)
    assert result.success
    assert sorted(result.support.tolist()) == sorted(chosen.tolist())


# ---------------------------------------------------------------- tol


@pytest.mark.parametrize("seed", range(3))
def test_tol_ends_a_run_early(seed: int) -> None:
    random = np.random.default_rng(seed)
    slopes = 0.5 ** np.arange(30.0)
    goal = random.permutation(np.concatenate([slopes, np.zeros(270)]))
    fun: Function = lambda x: float(((x - goal) ** 2).sum())  # noqa: E731
    first = fun(np.zeros(300))
    counts = []
    for tol in (1e-2, 1e-4, 1e-8, None):
        result = minimised(fun, 300, seed, tol=tol)
        assert result.success
        assert result.fun <= 20 * (tol or 1e-14) * first
        assert f"more than {tol or SHOWN:.1g} of the decrease so far" in result.message
        counts.append(result.nfev)
    assert counts == sorted(counts)
    assert counts[0] < 0.5 * counts[-1]
    method = gracezo.scipy_method(seed=seed, max_queries=2000)
    assert scipy_minimize(fun, np.zeros(300), tol=1e-4, method=method).nfev == counts[1]


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_steep_coordinates_that_hide_flat_ones_are_named(seed: int) -> None:
    """Pressures, lengths and angles from x0 = 0: beside millimetres rounding hides a slope per pascal."""
    sizes = np.repeat([1e5, 1e-3, 10.0], 300)
    goal = np.zeros(900)
    goal[[42, 150, 305, 591, 700, 898]] = [1.0, -0.6, 0.8, 1.1, -1.0, 0.5]

    def misfit(x: FloatArray) -> float:
        return float(((x / sizes - goal) ** 2).sum())

    result = minimised(misfit, 900, seed)
    assert result.fun > 1.0
    assert result.status == Status.STUCK
    assert "scale=" in result.message
    told = minimised(misfit, 900, seed, scale=sizes)
    assert told.success
    assert told.fun < 1e-9
