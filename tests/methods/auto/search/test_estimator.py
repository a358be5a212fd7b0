"""One gradient: what is found, what is said of the rest, and what it costs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import gracezo
from gracezo.core.result import GradientEstimate
from gracezo.core.types import FloatArray
from gracezo.methods.auto import constants
from gracezo.problems import Distance


def estimate(
    gradient: FloatArray, seed: int, *, bends: float = 0.0, tol: float | None = None, batch: int = 1
) -> GradientEstimate:
    """Estimate the gradient of f(x) = 1 + g·x + ½·Σ h·x², at zero."""
    curvatures = bends * np.random.default_rng([seed, 1]).uniform(0.5, 1.5, len(gradient))
    return gracezo.estimate_gradient(
        lambda x: float(1.0 + gradient @ x + 0.5 * curvatures @ (x * x)),
        np.zeros(len(gradient)),
        seed=seed,
        tol=tol,
        batch=batch,
    )


def tail(seed: int, tau: float, d: int = 1000, s: int = 5) -> tuple[FloatArray, list[int]]:
    """Return a few large derivatives above a background of N(0, τ²)."""
    rng = np.random.default_rng(seed)
    gradient = tau * rng.normal(size=d)
    places = rng.choice(d, s, replace=False)
    gradient[places] += rng.uniform(0.5, 2.0, s) * rng.choice([-1.0, 1.0], s)
    return gradient, sorted(places.tolist())


def outside(gradient: FloatArray, found: GradientEstimate) -> tuple[float, float]:
    """Return the true share of the squared norm outside, and the root mean square of a derivative there."""
    left = np.delete(gradient, found.indices)
    level = float(np.linalg.norm(left)) / max(len(left), 1) ** 0.5
    return float(left @ left) / float(gradient @ gradient), level


@pytest.mark.parametrize(("tau", "most"), [(1e-4, 30), (1e-3, 36), (1e-2, 60)])
def test_large_derivatives_above_a_background_are_named_and_the_rest_is_told(tau: float, most: int) -> None:
    shares, levels, queries, misses = [], [], [], []
    for seed in range(8):
        gradient, places = tail(seed, tau)
        found = estimate(gradient, seed, bends=float(seed % 2))
        assert set(places) <= set(found.indices.tolist())
        assert len(found.indices) <= 6  # the largest of the background may be one of them
        share, level = outside(gradient, found)
        shares.append(found.residual / share)
        levels.append(found.background / level)
        queries.append(found.queries)
        misses += (np.abs(found.values - gradient[found.indices]) / found.errors).tolist()
    assert np.mean(queries) <= most
    assert 0.5 < np.median(levels) < 1.5
    assert max(levels) < 3.0
    assert min(levels) > 0.3
    assert 0.4 < np.median(shares) < 2.5
    assert np.mean(np.array(misses) > 2.0) <= 0.15


def test_what_hides_above_a_background_is_told_by_fresh_weights() -> None:
    """In these K of all coordinates shows no more than background, though two cancel in a sum."""
    for seed in (0, 20, 22, 54, 61, 76, 89):
        gradient, places = tail(seed, 1e-2)
        assert set(places) <= set(estimate(gradient, seed, bends=float(seed % 2)).indices.tolist())


def test_tol_goes_on_until_the_share_is_reached() -> None:
    gradient, places = tail(0, 5e-3)
    loose, strict = estimate(gradient, 0, tol=0.5), estimate(gradient, 0, tol=1e-4)
    left, _ = outside(gradient, loose)
    assert left <= 0.5
    assert len(loose.indices) <= 5
    assert set(places) <= set(strict.indices.tolist())
    assert outside(gradient, strict)[0] <= 1e-4 if len(strict.indices) < 1000 else strict.residual == 0.0
    assert strict.queries > loose.queries
    assert strict.queries <= 1.1 * 1000 + 5


@pytest.mark.parametrize("tol", [0.3, 0.03])
def test_what_tol_asks_for_is_found(tol: float) -> None:
    """Five spikes of falling size: no more is bought than the share takes, and no less."""
    gradient = np.zeros(2000)
    gradient[[3, 500, 900, 1500, 1999]] = [10.0, -4.0, 1.5, -0.6, 0.2]
    found = estimate(gradient, 1, tol=tol)
    everything = estimate(gradient, 1)
    assert everything.indices.tolist() == [3, 500, 900, 1500, 1999]
    assert outside(gradient, found)[0] <= tol
    assert found.residual <= tol
    assert found.queries <= everything.queries + 4


@pytest.mark.parametrize("tol", [0.0, 1.0, -0.1, 2.0, float("nan")])
def test_a_tol_that_is_no_share_is_refused_before_a_query(tol: float) -> None:
    with pytest.raises(ValueError, match="tol"):
        gracezo.estimate_gradient(lambda x: pytest.fail("asked"), np.zeros(3), tol=tol)


def test_a_method_without_use_for_tol_says_so() -> None:
    with pytest.raises(ValueError, match="tol"):
        gracezo.estimate_gradient(lambda x: pytest.fail("asked"), np.zeros(3), method="fdsa", tol=0.1)


@pytest.mark.parametrize("d", [50, 300, 1000])
@pytest.mark.parametrize("bends", [0.0, 1.0])
def test_a_dense_gradient_costs_a_tenth_more_than_plain_differences(d: int, bends: float) -> None:
    gradient = np.random.default_rng(d).normal(size=d)
    found = estimate(gradient, 2, bends=bends)
    assert found.queries <= 1.1 * d + 10
    assert found.indices.tolist() == list(range(d))
    assert found.residual == found.background == 0.0
    assert found.values == pytest.approx(gradient, abs=1e-3)
    off = np.abs(found.values - gradient) / found.errors
    assert np.mean(off > 4.0) <= 0.02


@pytest.mark.parametrize("d", [1, 2, 3, 7])
def test_few_coordinates(d: int) -> None:
    gradient = np.linspace(1.0, 2.0, d)
    found = estimate(gradient, 0)
    assert found.toarray() == pytest.approx(gradient, rel=1e-4)
    assert found.queries <= 1.1 * d + 10


def test_a_power_law_is_measured_to_the_end() -> None:
    """A group of which all was found has nothing left to be measured."""
    rng = np.random.default_rng(2)
    gradient = rng.permutation(np.arange(1, 301) ** -1.5) * rng.choice([-1.0, 1.0], 300)
    for seed in range(4):
        found = estimate(gradient, seed, tol=1e-6)
        assert found.queries <= 1.2 * 300  # fresh weights, after a tenth was lost, cost the cuts made so far
        assert float(np.median(np.abs(found.toarray() - gradient))) < 1e-6


def test_what_was_found_is_not_to_be_measured_again() -> None:
    """Ten of 400: the search pays by far, though what it has asked comes to a tenth of all coordinates."""
    spent = []
    for seed in range(1, 6):
        rng = np.random.default_rng(seed)
        gradient = np.zeros(400)
        gradient[rng.choice(400, 10, replace=False)] = rng.uniform(0.2, 2.0, 10) * rng.choice([-1.0, 1.0], 10)
        found = estimate(gradient, seed)
        assert found.indices.tolist() == np.flatnonzero(gradient).tolist()
        assert found.confirmed.all()
        spent.append(found.queries)
    assert max(spent) <= 55


def test_what_cancels_in_one_sum_shows_in_the_other() -> None:
    """Two coordinates that cancel under the weights of U are found all the same."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        asked: list[FloatArray] = []

        def first(x: FloatArray, asked: list[FloatArray] = asked) -> float:
            asked.append(x.copy())
            return 1.0 + float(x[0])

        gracezo.estimate_gradient(first, np.zeros(500), f0=1.0, seed=seed, max_queries=3)
        weights = asked[0]  # the order's, times ε
        one, two, large = rng.choice(500, 3, replace=False).tolist()
        gradient = np.zeros(500)
        gradient[[one, two, large]] = 0.5, -0.5 * weights[one] / weights[two], 2.0
        found = estimate(gradient, seed)
        assert found.indices.tolist() == sorted([one, two, large])


@pytest.mark.parametrize("batch", [2, 8, 32])
def test_batches_find_the_same(batch: int) -> None:
    gradient, places = tail(3, 1e-4)
    found = estimate(gradient, 3, batch=batch)
    assert found.indices.tolist() == places


def test_queries_are_what_they_were() -> None:
    """Exact counts: of what a search costs nothing changes unnoticed."""
    spent = [
        gracezo.estimate_gradient(problem, problem.x0, seed=1).queries
        for problem in (Distance(seed, d, s) for seed, d, s in COUNTED)
    ]
    assert spent == COUNTS


COUNTED = [(1, 1000, 1), (2, 1000, 3), (3, 10_000, 10), (4, 300, 5), (5, 10_000, 30)]
COUNTS = [6, 15, 42, 19, 108]


def test_a_coordinate_that_was_not_the_one_is_measured_with_the_rest() -> None:
    """It has left its group, and nothing may be claimed of it: an error of zero would be such a claim."""
    rng = np.random.default_rng(3)
    rng.choice(253, 10, replace=False), rng.normal(size=10)
    rng.choice(30, 3, replace=False), rng.normal(size=3)
    gradient = np.arange(1, 301.0) ** -1.5 * rng.choice([-1, 1], 300)
    rng.shuffle(gradient)
    found = estimate(gradient, 3, bends=1.0)
    assert len(found.indices) == 300
    assert np.all(found.errors > 0.0)
    assert np.all(np.abs(found.values - gradient) <= 4.0 * found.errors)


@pytest.mark.parametrize("seed", range(6))
def test_coordinates_of_a_rippled_function_are_no_kinks(seed: int) -> None:
    """A look far away lands in another ripple, and says nothing of the slope here."""
    rng = np.random.default_rng([seed, 7])
    places, goal, x = rng.choice(300, 4, replace=False), rng.uniform(0.2, 0.8, 4), rng.random(300)

    def ackley(x: FloatArray) -> float:
        u = 65.5 * (x[places] - goal)
        bowl = -20.0 * np.exp(-0.2 * np.sqrt((u**2).mean()))
        return float(bowl - np.exp(np.cos(2.0 * np.pi * u).mean()) + 20.0 + np.e)

    found = gracezo.estimate_gradient(ackley, x, bounds=[(0.0, 1.0)] * 300, seed=seed)
    assert found.indices.tolist() == sorted(places.tolist())
    assert found.queries <= 80
    for coordinate, value in zip(found.indices, found.values, strict=True):
        step = np.zeros(300)
        step[coordinate] = 1e-7
        assert value == pytest.approx((ackley(x + step) - ackley(x - step)) / 2e-7, rel=1e-3)


def test_no_slope_is_claimed_that_another_measurement_contradicts() -> None:
    """Power laws, and equal slopes that are many; curvatures of both signs, or over four orders; cubic terms.

    A look far away took what another spike had added to a sum for curvature; what is by subtraction was wrong
    by what the first one found was blurred; and curvatures that cancel in the mean were in no error.
    """
    shares: list[float] = []
    for seed in range(70, 100):
        rng = np.random.default_rng([seed, 16])
        d = int(rng.integers(40, 200))
        signs = rng.choice([-1.0, 1.0], d)
        slopes = signs * (1.0 + rng.permutation(d)) ** -rng.uniform(1.0, 2.5)
        if seed % 2:
            slopes = signs * (rng.random(d) < rng.choice([0.1, 0.4]))
        bends = rng.uniform(-1.0, 1.0, d) if seed % 4 < 2 else 10.0 ** rng.uniform(-2.0, 2.0, d)
        cubes, level = rng.uniform(-0.5, 0.5, d), float(np.abs(slopes).sum())

        def fun(
            x: FloatArray,
            g: FloatArray = slopes,
            h: FloatArray = bends,
            c: FloatArray = cubes,
            b: float = level,
        ) -> float:
            return float(b + g @ x + 0.5 * h @ x**2 + c @ x**3)

        found = gracezo.estimate_gradient(fun, np.zeros(d), seed=seed)
        misses = np.abs(found.values - slopes[found.indices])
        assert np.all(misses <= 4.0 * found.errors + 1e-4)
        assert found.queries <= 1.1 * d + 10
        shares += (misses / found.errors).tolist()
    assert np.mean(np.array(shares) <= 2.0) >= 0.95
    assert np.mean(np.array(shares) <= 4.0) >= 0.99


def test_errors_hold_where_one_coordinate_alone_bends() -> None:
    """The first that are met do not bend, so that nothing tells which of all coordinates does."""
    shares = []
    for seed in range(10):
        found = gracezo.estimate_gradient(
            lambda x: float(3.0 * x[7] + x[40] ** 2 + 2.0 * x[500] * x[7]), np.full(1000, 0.5), seed=seed
        )
        assert found.indices.tolist() == [7, 40, 500]
        misses = np.abs(found.values - np.array([4.0, 1.0, 1.0]))
        assert misses.max() < 1e-5
        shares += (misses / found.errors).tolist()
    # What links two coordinates is in no error: it is told by none that is asked alone.
    assert max(shares) < 10.0
    assert np.mean(np.array(shares) <= 2.0) >= 0.85


@pytest.mark.parametrize("tol", [None, 1e-2, 1e-4])
@pytest.mark.parametrize("decay", [0.0, 1.2, 2.0])
def test_no_gradient_costs_more_than_a_tenth_above_plain_differences(tol: float | None, decay: float) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        slopes = (1.0 + rng.permutation(300)) ** -decay * rng.choice([-1.0, 1.0], 300)

        def fun(x: FloatArray, slopes: FloatArray = slopes) -> float:
            return float(slopes @ x + 0.5 * (x @ x) + 1.0)

        estimate = gracezo.estimate_gradient(fun, np.zeros(300), seed=seed, tol=tol)
        assert estimate.queries <= 1.1 * 300 + 10


def steps(fun: Callable[[FloatArray], float], size: float) -> Callable[[FloatArray], float]:
    """Return a function that is known to whole steps only."""
    return lambda x: float(np.floor(fun(x) / size) * size)


def drawn(rng: np.random.Generator, d: int) -> dict[str, Callable[[FloatArray], float]]:
    """Return functions of all kinds."""
    dense, sparse, c = rng.normal(size=d), np.zeros(d), rng.normal(size=d)
    sparse[rng.choice(d, min(d, 4), replace=False)] = 1.0
    power = rng.permutation(np.arange(1.0, d + 1.0) ** -rng.uniform(0.3, 2.5))
    bends, level = rng.choice([0.0, 1.0]) * rng.random(d), 10.0 ** rng.uniform(-4, 0)
    smooth: dict[str, Callable[[FloatArray], float]] = {
        name: lambda x, slopes=slopes: float(10.0 + slopes @ x + 0.5 * bends @ (x * x))  # type: ignore[misc]
        for name, slopes in {
            "dense": dense,
            "sparse": sparse,
            "power": power,
            "tail": sparse + level * dense,
        }.items()
    }
    return smooth | {
        "kinks": lambda x: float(np.abs(x - c).sum()),
        "exponential": lambda x: float(np.exp(0.1 * dense @ x)),
        "jump": lambda x: float(dense @ x + (x[0] > 0.0)),
        "offset": lambda x: 1e8 + smooth["dense"](x),
        "coarse dense": steps(smooth["dense"], level),
        "coarse sparse": steps(smooth["sparse"], level),
        "coarse in one": lambda x: float(x[0] > 1e-3),
        "single precision": lambda x: float(np.float32(smooth["dense"](x))),
        "count": lambda x: float(np.sum(x > c)),
        "weighted count": lambda x: float(np.sum(np.abs(dense) * (x > c))),
    }


@pytest.mark.parametrize("seed", range(12))
def test_no_function_costs_more_than_a_tenth_above_plain_differences(seed: int) -> None:
    """Coarse ones, whose first look may take 13, no more than three above that; and claims are true."""
    rng = np.random.default_rng([seed, 11])
    d = int(rng.choice([1, 2, 5, 10, 20, 30, 50, 100, 300]))
    x0 = rng.choice([0.0, 1.0]) * rng.normal(size=d)
    for name, fun in drawn(rng, d).items():
        tol = None if rng.random() < 0.7 else 10.0 ** -int(rng.integers(1, 5))
        found = gracezo.estimate_gradient(fun, x0, seed=seed, tol=tol)
        coarse = any(word in name for word in ("coarse", "count", "single"))
        assert found.queries <= 1.1 * d + 10 + 3 * (coarse and d <= 20), (name, d)
        assert np.all(found.errors > 0.0), (name, d)


@pytest.mark.parametrize("size", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("d", [100, 1000])
def test_a_step_right_at_the_point_is_no_jump(size: float, d: int) -> None:
    """floor(f) where f is a whole number: f changes right here, and not beside."""
    gradient, _ = tail(1, 0.0, d)
    found = gracezo.estimate_gradient(
        steps(lambda x: float(10.0 + gradient @ x + 0.5 * (x @ x)), size), np.zeros(d), seed=1
    )
    off = np.abs(found.values - gradient[found.indices])
    assert np.count_nonzero(off > 2.0 * found.errors) <= 0.05 * len(off)


@pytest.mark.parametrize("d", [3, 30])
def test_a_noisy_search_ends_by_what_looks_at_each_coordinate_would_take(d: int) -> None:
    """As careful as its most careful one, repeated a hundred times at most; the first look comes first."""
    for seed in range(3):
        noise = np.random.default_rng(seed)
        slopes = noise.normal(size=d)

        def fun(x: FloatArray, slopes: FloatArray = slopes, noise: np.random.Generator = noise) -> float:
            return float(1.0 + slopes @ x + 0.5 * (x @ x) + noise.normal())

        found = gracezo.estimate_gradient(fun, np.zeros(d), seed=seed)
        assert found.queries <= 40 + 2 * constants.UNSEEN**-2 * (1.1 * d + 10)


def test_a_tolerance_is_met_on_a_power_law_for_few_queries() -> None:
    shares = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        slopes = (1.0 + rng.permutation(20_000)) ** -1.5 * rng.choice([-1.0, 1.0], 20_000)

        def fun(x: FloatArray, slopes: FloatArray = slopes) -> float:
            return float(slopes @ x + 0.5 * (x @ x) + 1.0)

        estimate = gracezo.estimate_gradient(fun, np.zeros(20_000), seed=seed, tol=1e-2)
        outside = np.delete(slopes, estimate.indices)
        shares.append(float(outside @ outside / (slopes @ slopes)))
        assert estimate.queries <= 400
        assert estimate.residual <= 1e-2
    assert np.median(shares) <= 2e-2


@pytest.mark.parametrize(("d", "s", "most"), [(50, 3, 16), (1000, 50, 190), (3000, 100, 380)])
def test_a_sparse_gradient_is_searched_to_the_end_though_no_query_is_left_for_plain_differences(
    d: int, s: int, most: int
) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        slopes, curvatures = np.zeros(d), rng.uniform(0.5, 2.0, d)
        slopes[rng.choice(d, s, replace=False)] = rng.choice([-1.0, 1.0], s) * rng.uniform(0.5, 1.0, s)

        def f(x: FloatArray, g: FloatArray = slopes, c: FloatArray = curvatures) -> float:
            return float(g @ x + 0.5 * (c * x) @ x)

        found = gracezo.estimate_gradient(f, np.zeros(d), seed=seed)
        assert found.queries <= most
        assert set(found.indices.tolist()) == set(np.flatnonzero(slopes).tolist())


def test_where_all_has_to_be_measured_the_likeliest_come_first_and_no_second_search_is_begun() -> None:
    """Five slopes above a background that holds most of the squares: whoever stops early has them."""
    found, spent = 0, []
    for seed in range(5):
        gradient, places = tail(seed, 0.1)
        early = gracezo.estimate_gradient(
            lambda x, g=gradient: float(g @ x), np.zeros(1000), seed=seed, max_queries=500
        )
        largest = early.indices[np.argsort(-np.abs(early.values))][:5]
        found += len(set(largest.tolist()) & set(places))
        whole = estimate(gradient, seed)
        assert len(whole.indices) == 1000
        assert np.allclose(whole.values, gradient[whole.indices], atol=1e-6)
        spent.append(whole.queries)
    assert found >= 23
    assert max(spent) <= 1060
