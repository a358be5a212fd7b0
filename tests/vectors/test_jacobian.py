"""estimate_jacobian: columns and counts, on functions of many kinds."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from benchmarks.vectors.functions import linear
from scipy import stats
from scipy.optimize import Bounds

import gracezo
from gracezo.core.types import FloatArray

D = 4000


class Hidden:
    """r = b + J z + H z² of a few coordinates z; counts its calls."""

    def __init__(self, s: int = 6, m: int = 8, seed: int = 0, d: int = D) -> None:
        random = np.random.default_rng(seed)
        self.support = np.sort(random.choice(d, s, replace=False))
        self.jacobian = random.normal(size=(m, s)) * random.uniform(0.3, 1.0, s)
        self.bend = random.uniform(-1.0, 1.0, (m, s))
        self.base = random.normal(size=m)
        self.x0 = np.zeros(d)
        self.random = random
        self.calls = 0

    def __call__(self, x: FloatArray) -> FloatArray:
        self.calls += 1
        z = x.ravel()[self.support]
        value: FloatArray = self.base + self.jacobian @ z + self.bend @ z**2
        return value


def check(found: gracezo.JacobianEstimate, hidden: Hidden, accuracy: float = 1e-5) -> None:
    assert np.array_equal(np.sort(found.columns), hidden.support)
    assert found.queries == hidden.calls
    assert found.complete
    assert found.regime == "few columns"
    dense = found.tocsc()[:, hidden.support].toarray()
    assert np.abs(dense - hidden.jacobian).max() < accuracy


@pytest.mark.parametrize(
    ("s", "m", "queries"), [(1, 2, 5), (6, 6, 10), (6, 30, 10), (12, 5, 24), (10, 2, 34)]
)
def test_columns_are_found_with_hardly_more_queries_than_there_are(s: int, m: int, queries: int) -> None:
    hidden = Hidden(s, m)
    found = gracezo.estimate_jacobian(hidden, hidden.x0, seed=0)
    check(found, hidden)
    assert found.queries <= queries


def test_many_more_columns_than_outputs_are_all_found() -> None:
    hidden = Hidden(60, 20)
    found = gracezo.estimate_jacobian(hidden, hidden.x0, seed=0)
    check(found, hidden, 1e-3)
    assert found.queries <= 90


def test_a_hundred_columns_of_five_outputs_are_not_called_dense() -> None:
    """No set decodes before it is a twentieth of the space: how small is learned from the first that does."""
    hidden = Hidden(100, 5, d=10_000)
    found = gracezo.estimate_jacobian(hidden, hidden.x0, seed=0)
    check(found, hidden, 1e-3)
    assert found.queries <= 190


def test_units_of_outputs_do_not_matter() -> None:
    plain, other = Hidden(), Hidden()
    units = 10.0 ** np.linspace(-8, 8, 8)
    first = gracezo.estimate_jacobian(plain, plain.x0, seed=3)
    second = gracezo.estimate_jacobian(lambda x: units * other(x), plain.x0, seed=3)
    assert np.array_equal(first.columns, second.columns)
    assert first.queries == second.queries
    assert np.allclose(second.values, units[:, None] * first.values, rtol=1e-6, atol=0.0)


def test_an_offset_hides_nothing() -> None:
    for offset in (1e6, 1e8, 1e10):
        hidden = Hidden()
        found = gracezo.estimate_jacobian(lambda x, h=hidden, o=offset: h(x) + o, hidden.x0, seed=0)
        check(found, hidden, 0.1)


@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_outputs_without_squares_are_not_called_flat(unit: float) -> None:
    found = gracezo.estimate_jacobian(lambda x: unit * x[:4] + unit, np.zeros(D), seed=0)
    assert (len(found.columns), found.queries, found.complete) == (0, 1, False)
    assert "change their unit" in found.message


@pytest.mark.parametrize("length", [1e-6, 1e-3, 1e3, 1e6])
def test_scales_of_coordinates(length: float) -> None:
    hidden = Hidden()
    found = gracezo.estimate_jacobian(lambda x: hidden(x / length), hidden.x0, scale=length, seed=0)
    assert np.array_equal(np.sort(found.columns), hidden.support)
    assert np.abs(found.tocsc()[:, hidden.support].toarray() * length - hidden.jacobian).max() < 1e-5


def test_large_coordinates_are_displaced_by_what_can_be_seen() -> None:
    hidden = Hidden()
    found = gracezo.estimate_jacobian(lambda x: hidden((x - 1e6) / 1e6), np.full(D, 1e6), seed=0)
    assert np.array_equal(np.sort(found.columns), hidden.support)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda r, _: r.astype(np.float32),
        lambda r, _: np.round(r, 6),
        lambda r, random: r + 1e-8 * random.normal(size=r.shape),
        lambda r, random: r + 1e-4 * random.normal(size=r.shape),
        lambda r, random: r * (1.0 + 1e-5 * random.normal(size=r.shape)),
    ],
    ids=["single precision", "six decimals", "noise 1e-8", "noise 1e-4", "relative noise"],
)
def test_noise_and_few_digits_are_told_from_curvature(spoil: Callable[..., FloatArray]) -> None:
    hidden = Hidden(m=20)
    found = gracezo.estimate_jacobian(lambda x: spoil(hidden(x), hidden.random), hidden.x0, seed=1)
    check(found, hidden, 0.2)
    assert found.queries <= 22


@pytest.mark.parametrize(("s", "m", "noise"), [(5, 12, 1e-3), (10, 12, 1e-3), (5, 12, 1e-2), (10, 5, 1e-6)])
def test_noise_makes_no_columns(s: int, m: int, noise: float) -> None:
    """What cannot be told from noise is left out, and sets so small that all of them could be columns too."""
    found = 0
    for seed in range(5):
        hidden = Hidden(s, m, seed)
        estimate = gracezo.estimate_jacobian(
            lambda x, h=hidden: h(x) + noise * h.random.normal(size=m), hidden.x0, seed=seed
        )
        assert set(estimate.columns) <= set(hidden.support)
        assert estimate.complete or "noise" in estimate.message
        found += len(estimate.columns)
    assert found > 0


@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("noise", [1e-6, 1e-4, 1e-3])
def test_noise_hides_nothing_that_is_much_larger(noise: float, told: bool) -> None:
    queries = 0
    for seed in range(8):
        hidden = Hidden(6, 8, seed)
        found = gracezo.estimate_jacobian(
            lambda x, h=hidden: h(x) + noise * h.random.normal(size=8),
            hidden.x0,
            seed=seed,
            noise=noise if told else None,
        )
        assert np.array_equal(np.sort(found.columns), hidden.support)
        queries += found.queries
    assert queries <= 8 * (22 if told else 25)


@pytest.mark.parametrize("seed", range(6))
def test_outputs_of_very_different_noise(seed: int) -> None:
    """None is taken for the measure of another, and what parts have answered does not add up."""
    hidden = Hidden(8, 6, seed, d=300)
    noise = 10.0 ** hidden.random.uniform(-8, -2, 6)
    found = gracezo.estimate_jacobian(
        lambda x: hidden(x) + noise * hidden.random.normal(size=6), hidden.x0, seed=seed
    )
    assert set(found.columns) <= set(hidden.support)
    assert np.array_equal(np.sort(found.columns), hidden.support) or not found.complete


def test_residuals_that_are_zero_where_coordinates_are_rounded() -> None:
    """Rounding of a residual of 0 is nothing, but x + εw is rounded, and so is what was subtracted."""
    for seed in range(10):
        random = np.random.default_rng(seed)
        support, jacobian = random.choice(300, 4, replace=False), random.normal(size=(6, 4))
        x0, level = random.uniform(-2.0, 2.0, 300), 100.0 * random.normal(size=6)

        def residuals(x: FloatArray) -> FloatArray:
            at = level + jacobian @ (x - x0)[support]  # noqa: B023
            return np.asarray((at - level) * [1.0, 0.3, 0.7, 1.0, 3.0, 2.0], np.float64)  # noqa: B023

        found = gracezo.estimate_jacobian(residuals, x0, seed=seed)
        assert set(found.columns) == set(support), seed
        assert found.complete
        assert found.queries <= 12


def test_an_output_without_slope_does_not_hide_another() -> None:
    """Of Σ x² nothing can be told at 0; Σ x is linear, and all of its coordinates matter."""
    found = gracezo.estimate_jacobian(lambda x: np.array([x.sum(), (x**2).sum()]), np.zeros(D), seed=0)
    assert not found.complete
    assert found.regime == "dense"


@pytest.mark.parametrize("step", [1e-2, 0.1])
def test_outputs_that_are_steps_are_not_called_flat(step: float) -> None:
    hidden = Hidden()
    found = gracezo.estimate_jacobian(lambda x: step * np.floor(hidden(x) / step), hidden.x0, seed=0)
    assert set(found.columns) <= set(hidden.support)
    assert len(found.columns) or not found.complete


@pytest.mark.parametrize("seed", range(8))
def test_integers_are_not_taken_for_a_bend_without_slope(seed: int) -> None:
    """Near by, a staircase stands still; what bends would have been seen there."""
    hidden = Hidden(seed=seed)
    found = gracezo.estimate_jacobian(
        lambda x: np.round(1000.0 * hidden(x)).astype(int), hidden.x0, seed=seed
    )
    assert np.array_equal(np.sort(found.columns), hidden.support)


@pytest.mark.parametrize("seed", range(8))
def test_columns_that_are_confounded_in_a_small_set_are_not_dropped(seed: int) -> None:
    """With hardly more probes than coordinates, columns may be uncertain one by one and large together."""
    hidden = Hidden(s=20, m=5, seed=seed, d=50)
    found = gracezo.estimate_jacobian(
        lambda x: np.array([float(f"{one:.6g}") for one in hidden(x)]), hidden.x0, seed=seed
    )
    assert np.array_equal(np.sort(found.columns), hidden.support)


@pytest.mark.parametrize("batch", [1, 8])
@pytest.mark.parametrize("digits", [3, 5, 7, 12, 17])
def test_no_point_of_an_exact_function_is_asked_twice(digits: int, batch: int) -> None:
    hidden, asked = Hidden(m=12), set()

    def rounded(x: FloatArray) -> list[float]:
        assert x.tobytes() not in asked
        asked.add(x.tobytes())
        return [float(f"{one:.{digits}g}") for one in hidden(x)]

    found = gracezo.estimate_jacobian(rounded, hidden.x0, batch=batch, seed=3)
    assert len(asked) == found.queries


def test_the_errors_of_a_dense_jacobian_are_about_what_it_errs_by() -> None:
    matrix = np.random.default_rng(0).normal(size=(6, 300))
    found = gracezo.estimate_jacobian(lambda x: np.exp(matrix @ x), np.zeros(300), seed=0, max_queries=330)
    off = np.abs(found.tocsc().toarray() - matrix)
    assert found.regime == "dense"
    assert off.max() < 1e-6
    assert np.median(found.errors) < 1e-6
    assert (off <= 5.0 * found.errors).mean() > 0.95


def test_errors_are_those_of_student() -> None:
    """Within t(0.975) standard errors lie 95 % of the values."""
    inside = total = 0
    for seed in range(20):
        hidden = Hidden(5, 20, seed)
        found = gracezo.estimate_jacobian(
            lambda x, h=hidden: h(x) + 1e-5 * h.random.normal(size=20), hidden.x0, seed=seed
        )
        assert np.array_equal(np.sort(found.columns), hidden.support)
        true = hidden.jacobian[:, np.searchsorted(hidden.support, found.columns)]
        inside += int((np.abs(found.values - true) < stats.t.ppf(0.975, found.freedom) * found.errors).sum())
        total += true.size
    assert 0.92 < inside / total < 0.98


def test_within_bounds_no_query_leaves_them() -> None:
    hidden = Hidden()
    lower, upper = np.zeros(D), np.full(D, 1.0)
    lower[::3], upper[1::3] = -np.inf, 1e-3
    upper[5::7] = np.maximum(lower[5::7], 0.0)  # fixed

    def fun(x: FloatArray) -> FloatArray:
        assert ((x >= lower) & (x <= upper)).all()
        return hidden(x)

    free = hidden.support[lower[hidden.support] < upper[hidden.support]]
    found = gracezo.estimate_jacobian(fun, hidden.x0, bounds=Bounds(lower, upper), seed=0)
    assert np.array_equal(np.sort(found.columns), free)
    assert found.queries == hidden.calls


def test_probes_go_out_together() -> None:
    hidden = Hidden(10, 30)
    found = gracezo.estimate_jacobian(hidden, hidden.x0, batch=8, seed=0)
    check(found, hidden)
    assert found.rounds <= 3
    assert found.queries <= 17


def test_parallel_columns_are_found_one_by_one() -> None:
    """All outputs are multiples of one: the rank is 1, and sets of one column each are left to decode."""
    hidden = Hidden()
    direction = np.arange(1.0, 9.0)

    def fun(x: FloatArray) -> FloatArray:
        hidden.calls += 1
        value: FloatArray = direction * (x[hidden.support] @ np.arange(1.0, 7.0))
        return value

    found = gracezo.estimate_jacobian(fun, hidden.x0, seed=0)
    assert np.array_equal(np.sort(found.columns), hidden.support)
    assert found.queries == hidden.calls <= 40


@pytest.mark.parametrize("seed", range(5))
def test_an_output_of_one_column_does_not_speak_for_one_of_many(seed: int) -> None:
    """The first output is that of 17 columns, the other, known better, that of one of them alone."""
    calls = 0

    def field(x: FloatArray) -> list[float]:
        nonlocal calls
        calls += 1
        return [x[4:8, 4:8].sum() + 3.0 * x[0, 19], x[4, 4]]

    found = gracezo.estimate_jacobian(field, np.full((20, 20), 0.5), bounds=[(0.0, 1.0)] * 400, seed=seed)
    places = np.zeros((20, 20))
    places[4:8, 4:8] = 1.0
    places[0, 19] = 3.0
    truth = np.stack([places.ravel(), np.zeros(400)])
    truth[1, 4 * 20 + 4] = 1.0
    assert found.complete
    assert np.abs(found.tocsc().toarray() - truth).max() < 1e-5
    assert found.queries == calls < 100


@pytest.mark.parametrize(
    ("m", "s", "least", "most"), [(2, 10, 1e-3, 40), (3, 40, 1e-3, 95), (30, 20, 1e-4, 27)]
)
def test_columns_much_smaller_than_others_are_no_background(m: int, s: int, least: float, most: int) -> None:
    for seed in range(3):
        random = np.random.default_rng(seed + 100)
        slopes = random.normal(size=(m, s)) * np.geomspace(1.0, least, s)
        support = random.choice(D, s, replace=False)
        found = gracezo.estimate_jacobian(
            lambda x, slopes=slopes, support=support: 1.0 + slopes @ x[support], np.zeros(D), seed=seed
        )
        assert np.array_equal(np.sort(found.columns), np.sort(support))
        assert found.complete
        assert found.queries <= most


def test_a_background_is_shown_by_one_query_and_named() -> None:
    hidden = Hidden(5, 20)
    rest = 1e-4 * hidden.random.normal(size=(20, D))
    found = gracezo.estimate_jacobian(lambda x: hidden(x) + rest @ x, hidden.x0, seed=0)
    assert np.array_equal(np.sort(found.columns), np.sort(hidden.support))
    assert "a background of slopes too small to be named" in found.message
    assert 0.5e-4 < found.background < 2e-4
    assert found.queries <= 16


@pytest.mark.parametrize(("m", "tail", "most"), [(30, 3e-3, 90), (5, 1e-3, 90)])
def test_columns_that_stand_out_of_slopes_on_all_others_are_found(m: int, tail: float, most: int) -> None:
    """What single coordinates answer says how large these are, and how many probes tell columns from them."""
    columns, queries = 0, 0
    for seed in range(8000, 8006):
        hidden, fun, _ = linear(seed, 10, m, tail=tail)
        found = gracezo.estimate_jacobian(fun, hidden.x0, seed=seed)
        assert found.queries == hidden.calls
        assert set(found.columns) <= set(hidden.support)
        columns, queries = columns + len(found.columns), queries + found.queries
    assert columns >= 54
    assert queries <= 6 * most


def test_a_jacobian_of_slopes_alone_is_dense_though_some_are_larger() -> None:
    for seed in range(4):
        slopes = np.random.default_rng(seed).normal(size=(10, 4000))
        found = gracezo.estimate_jacobian(
            lambda x, slopes=slopes: slopes @ x + 1.0, np.zeros(4000), seed=seed
        )
        assert found.regime == "dense"
        assert len(found.columns) == 0
        assert found.queries == 29


def test_constant_outputs_do_not_hide_that_there_is_a_background() -> None:
    """Their answers are zero: a median over all outputs took small slopes on all coordinates for columns."""
    for seed in range(4):
        hidden, tail = Hidden(4, 8, seed, 2000), 1e-5 * np.random.default_rng(seed).normal(size=(8, 2000))

        def fun(x: FloatArray) -> FloatArray:
            return np.concatenate([hidden(x) + tail @ x, np.ones(22)])  # noqa: B023

        found = gracezo.estimate_jacobian(fun, hidden.x0, seed=seed)
        assert np.array_equal(np.sort(found.columns), hidden.support)
        assert found.complete
        assert found.background == pytest.approx(1e-5, rel=1.0)
        assert found.queries == hidden.calls <= 16


def test_with_much_noise_no_jacobian_is_called_complete_that_is_not() -> None:
    """Ten columns, noise of a hundredth: many are missed, and that is seen by what the found ones leave."""
    missed = false = 0
    for seed in range(12):
        m = (2, 3, 5, 10)[seed % 4]
        hidden = Hidden(10, m, seed)
        found = gracezo.estimate_jacobian(
            lambda x, h=hidden: h(x) + 1e-2 * h.random.normal(size=len(h(x))), hidden.x0, seed=seed
        )
        fewer = not set(hidden.support) <= set(found.columns)
        missed += fewer
        false += fewer and found.complete
    assert missed > 5
    assert false <= 1


@pytest.mark.parametrize("seed", [4, 6])
def test_no_point_is_asked_twice(seed: int) -> None:
    """Single coordinates that were asked whether all matter come up again where sets are split so far."""
    hidden = Hidden(40, 10, seed)
    asked = []

    def single(x: FloatArray) -> FloatArray:
        asked.append(x.tobytes())
        return (50.0 + hidden(x)).astype(np.float32).astype(np.float64)

    gracezo.estimate_jacobian(single, hidden.x0, seed=0, max_queries=60)
    assert len(set(asked)) == len(asked)


def test_kinks_at_the_point_are_named() -> None:
    slopes = np.random.default_rng(0).normal(size=(20, 5))
    found = gracezo.estimate_jacobian(lambda x: np.abs(slopes @ x[10:15]), np.zeros(500), seed=0)
    assert not found.complete
    assert "kinks" in found.message


def test_one_output_goes_the_way_of_the_gradient() -> None:
    def fun(x: FloatArray) -> float:
        return float(3.0 * x[123] - x[77] + x[123] ** 2)

    found = gracezo.estimate_jacobian(fun, np.zeros(D), seed=5)
    gradient = gracezo.estimate_gradient(fun, np.zeros(D), seed=5)
    assert found.columns.tolist() == [123, 77]
    assert found.queries <= gradient.queries + 3
    assert np.abs(found.values - [[3.0, -1.0]]).max() < 1e-5
    assert found.shape == (1, D)


@pytest.mark.parametrize("digits", [lambda v: float(np.float32(v)), lambda v: float(f"{v:.6g}")])
@pytest.mark.parametrize("d", [1, 3, 8, 40])
def test_of_one_output_with_few_digits_no_rounding_is_a_column(
    d: int, digits: Callable[[float], float]
) -> None:
    """Where each slope is measured alone, those that are zero come out as what rounding makes of them."""
    x0 = np.random.default_rng(d).normal(size=d)

    def fun(x: FloatArray) -> list[float]:
        return [digits(2.2 - 1.3 * (x[0] - x0[0]))]

    assert gracezo.estimate_jacobian(fun, x0, seed=0).columns.tolist() == [0]
    fit = gracezo.least_squares(fun, x0, seed=0)
    assert fit.columns.tolist() == [0]
    assert fit.success
    assert fit.cost < 1e-9


def test_a_dense_jacobian_is_noticed_and_measured_only_if_the_queries_are_given() -> None:
    matrix = np.random.default_rng(0).normal(size=(6, 300))
    found = gracezo.estimate_jacobian(lambda x: matrix @ x, np.zeros(300), seed=0)
    assert found.regime == "dense"
    assert not found.complete
    assert found.queries <= 25
    found = gracezo.estimate_jacobian(lambda x: matrix @ x, np.zeros(300), seed=0, max_queries=330)
    assert found.regime == "dense"
    assert found.complete
    assert np.abs(found.tocsc().toarray() - matrix).max() < 1e-5
    assert found.queries <= 325


@pytest.mark.parametrize("d", [1, 2, 3, 7])
@pytest.mark.parametrize("m", [1, 2, 9])
def test_few_coordinates_that_all_matter(d: int, m: int) -> None:
    matrix = np.random.default_rng(d + m).normal(size=(m, d))
    found = gracezo.estimate_jacobian(lambda x: matrix @ x, np.ones(d), seed=0)
    assert np.abs(found.tocsc().toarray() - matrix).max() < 1e-5
    assert found.complete


@pytest.mark.parametrize("value", [0.0, 3.7])
def test_a_function_that_is_flat(value: float) -> None:
    found = gracezo.estimate_jacobian(lambda x: np.full(4, value), np.zeros(D), seed=0)
    assert len(found.columns) == 0
    assert found.complete
    assert found.queries == 7  # it was looked for at three distances


def test_noise_that_hides_everything_is_not_called_complete() -> None:
    hidden = Hidden()
    found = gracezo.estimate_jacobian(
        lambda x: hidden(x) + 0.1 * hidden.random.normal(size=8), hidden.x0, seed=0
    )
    assert not found.complete
    assert "noise" in found.message


@pytest.mark.parametrize("budget", [1, 2, 3, 5, 8, 9, 10, 20])
def test_the_budget_is_never_exceeded(budget: int) -> None:
    hidden = Hidden()
    found = gracezo.estimate_jacobian(hidden, hidden.x0, max_queries=budget, seed=0)
    assert found.queries == hidden.calls <= budget
    assert found.complete == (budget >= 10)


@pytest.mark.parametrize("workers", [None, map, 2])
def test_who_answers_does_not_matter(workers: object) -> None:
    hidden = Hidden()
    expected = gracezo.estimate_jacobian(hidden, hidden.x0, seed=4, batch=3)
    found = gracezo.estimate_jacobian(hidden, hidden.x0, seed=4, batch=3, workers=workers)
    assert np.array_equal(found.columns, expected.columns)
    assert np.array_equal(found.values, expected.values)
    assert found.queries == expected.queries


def test_on_threads_and_by_rows() -> None:
    hidden = Hidden()
    expected = gracezo.estimate_jacobian(hidden, hidden.x0, seed=4, batch=3)
    with ThreadPoolExecutor(3) as pool:
        threads = gracezo.estimate_jacobian(hidden, hidden.x0, seed=4, batch=3, workers=pool)
    rows = gracezo.estimate_jacobian(
        lambda points: np.array([hidden(x) for x in points]), hidden.x0, seed=4, batch=3, vectorized=True
    )
    assert np.array_equal(threads.values, expected.values)
    assert np.array_equal(rows.values, expected.values)


@pytest.mark.parametrize("action", ["skip", "retry"])
def test_failures(action: str) -> None:
    hidden = Hidden()

    def fun(x: FloatArray) -> FloatArray:
        outputs = hidden(x)
        if hidden.calls % 4 == 0:
            outputs[3] = np.nan
        return outputs

    found = gracezo.estimate_jacobian(fun, hidden.x0, on_failure=action, seed=0)
    check(found, hidden)


def test_outputs_that_are_known_are_not_asked() -> None:
    hidden = Hidden()
    expected = gracezo.estimate_jacobian(hidden, hidden.x0, seed=0)
    found = gracezo.estimate_jacobian(hidden, hidden.x0, f0=hidden(hidden.x0), seed=0)
    assert found.queries == expected.queries - 1
    assert np.array_equal(found.values, expected.values)


def test_a_point_of_any_shape_with_names() -> None:
    hidden = Hidden(d=60)
    found = gracezo.estimate_jacobian(hidden, np.zeros((6, 10)), seed=0)
    assert np.array_equal(np.sort(found.columns), hidden.support)
    assert found.names is not None
    assert found.names[found.columns[0]].startswith("(")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"scale": [1.0, 2.0]}, "scale must be one number, or one for each coordinate"),
        ({"scale": -1.0}, "scale must be positive"),
        ({"tol": 2.0}, "tol must be between 0 and 1"),
        ({"noise": [[1.0]]}, "noise must be one standard deviation"),
        ({"noise": -1.0}, "noise must be one standard deviation"),
        ({"f0": []}, "f0 must be the finite outputs"),
        ({"f0": [1j]}, "f0 must be the finite outputs"),
        ({"batch": 0}, "batch must be a whole number"),
        ({"max_queries": 0}, "max_queries must be a whole number"),
    ],
)
def test_wrong_words_cost_no_query(wrong: dict[str, Any], said: str) -> None:
    hidden = Hidden()
    with pytest.raises(ValueError, match=said):
        gracezo.estimate_jacobian(hidden, hidden.x0, **wrong)
    assert hidden.calls == 0


def test_a_changed_number_of_outputs_ends_it() -> None:
    hidden = Hidden()
    with pytest.raises(gracezo.EvaluationError, match="returned 8 outputs, and 5 before"):
        gracezo.estimate_jacobian(hidden, hidden.x0, f0=np.ones(5))
    assert hidden.calls == 1


def test_memory_is_that_of_a_few_blocks() -> None:
    d = 10**6
    hidden = Hidden(10, 30, d=d)
    x = np.zeros(d)
    tracemalloc.start()
    try:
        found = gracezo.estimate_jacobian(hidden, x, copy=False, seed=0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    check(found, hidden)
    assert found.queries <= 15
    assert peak < 200e6
