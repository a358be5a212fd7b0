"""least_squares: the answer, the count and the verdict, on functions of many kinds."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from benchmarks.vectors.functions import exponentials as hidden_exponentials
from tests.vectors import killed
from tests.vectors.outputs import decays

import gracezo
from gracezo.core.result import Status
from gracezo.core.types import FloatArray
from gracezo.vectors.losses import LOSSES, Loss
from gracezo.vectors.region import Region
from gracezo.vectors.surrogate import Surrogate

D = 2000


class Exponentials:
    """r = Σ_j A_ij·exp(B_ij·z_j) − y of a few coordinates z; `stays`: with errors of y. Counts its calls."""

    def __init__(self, s: int = 6, m: int = 20, seed: int = 0, stays: float = 0.0, outliers: int = 0) -> None:
        random = np.random.default_rng(seed)
        self.support = random.choice(D, s, replace=False)
        self.a, self.b = random.normal(size=(m, s)), random.uniform(0.5, 1.5, (m, s))
        self.truth = random.choice([-1.0, 1.0], s) * random.uniform(0.3, 1.0, s)
        self.y = (self.a * np.exp(self.b * self.truth)).sum(axis=1) + stays * random.normal(size=m)
        self.y[:outliers] += 20.0
        self.x0 = np.zeros(D)
        self.calls = 0
        self.points: set[bytes] = set()

    def small(self, z: FloatArray) -> FloatArray:
        """The residuals, told the coordinates."""
        value: FloatArray = (self.a * np.exp(self.b * z)).sum(axis=1) - self.y
        return value

    def __call__(self, x: FloatArray) -> FloatArray:
        self.calls += 1
        self.points.add(x.tobytes())
        return self.small(x[self.support])


def test_a_fit_takes_few_more_queries_than_there_are_parameters() -> None:
    fun = Exponentials()
    result = gracezo.least_squares(fun, fun.x0, seed=0)
    assert result.status == Status.CONVERGED
    assert result.success
    assert np.abs(result.x[fun.support] - fun.truth).max() < 1e-6
    assert result.nfev == fun.calls == len(fun.points) <= 32  # none asked twice
    assert sorted(result.columns) == sorted(fun.support)
    assert sorted(result.support) == sorted(fun.support)
    residuals: FloatArray = np.asarray(result.fun)
    assert (
        result.cost == result.trace.values[-1] == pytest.approx(0.5 * float(residuals @ residuals), rel=1e-12)
    )
    assert np.array_equal(result.fun, fun(result.x))


def test_the_fields_are_those_of_scipy() -> None:
    fun = Exponentials(stays=0.5)
    result = gracezo.least_squares(fun, fun.x0, seed=0)
    told = scipy.optimize.least_squares(fun.small, result.x[fun.support], xtol=1e-14, ftol=1e-14)
    order = [result.columns.tolist().index(i) for i in fun.support]
    assert result.status == Status.CONVERGED
    assert result.cost == pytest.approx(told.cost, rel=1e-7)
    assert np.allclose(result.jac[:, order], told.jac, atol=1e-3)
    assert np.allclose(result.grad, result.jac.T @ result.fun)
    assert result.optimality == np.abs(result.grad).max()
    assert not result.active_mask.any()
    covariance = np.linalg.inv(told.jac.T @ told.jac) * 2.0 * told.cost / (20 - 6)
    assert np.allclose(result.cov[np.ix_(order, order)], covariance, rtol=0.02, atol=1e-4)
    assert np.allclose(result.stderr, np.sqrt(np.diag(result.cov)))
    assert "converged" in repr(result).lower()


@pytest.mark.parametrize("seed", range(4))
def test_rosenbrock(seed: int) -> None:
    calls = 0

    def fun(x: FloatArray) -> FloatArray:
        nonlocal calls
        calls += 1
        return np.array([10.0 * (x[7] - x[3] ** 2), 1.0 - x[3]])

    x0 = np.zeros(D)
    x0[[3, 7]] = -1.2, 1.0
    result = gracezo.least_squares(fun, x0, seed=seed)
    assert np.abs(result.x[[3, 7]] - 1.0).max() < 1e-6
    assert result.nfev == calls <= 20


def test_columns_of_equal_size_are_not_taken_for_the_tail_of_one_of_them() -> None:
    """One of twenty columns lies in the first direction of the answers; the others are no background."""
    chosen = np.random.default_rng(70_005).choice(10_000, 20, replace=False)
    x0 = np.zeros(10_000)
    x0[chosen] = np.repeat([-1.2, 1.0], 10)

    def fun(x: FloatArray) -> FloatArray:
        a, b = x[chosen[:10]], x[chosen[10:]]
        return np.concatenate([10.0 * (b - a**2), 1.0 - a])

    result = gracezo.least_squares(fun, x0, seed=70_005)
    assert result.status == Status.CONVERGED
    assert result.cost < 1e-10
    assert sorted(result.columns) == sorted(chosen)


@pytest.mark.parametrize("loss", LOSSES)
def test_losses_and_bounds_lead_where_scipy_is_led_when_told_the_coordinates(loss: str) -> None:
    fun = Exponentials(s=4, m=20, seed=3, stays=0.2, outliers=2)
    lower, upper = np.full(D, -0.6), np.full(D, 0.6)

    def inside(x: FloatArray) -> FloatArray:
        assert ((x >= lower) & (x <= upper)).all()
        return fun(x)

    result = gracezo.least_squares(
        inside, fun.x0, bounds=(lower, upper), loss=loss, f_scale=0.5, ftol=1e-11, seed=0, max_queries=400
    )
    told = scipy.optimize.least_squares(
        fun.small,
        np.zeros(4),
        bounds=(-0.6, 0.6),
        loss=loss,
        f_scale=0.5,
        xtol=1e-15,
        ftol=1e-15,
        gtol=1e-15,
        max_nfev=2000,
    )
    assert result.status == Status.CONVERGED
    assert result.cost <= told.cost * (1.0 + 1e-8)
    at_bound = np.abs(result.x[result.columns]) == 0.6
    assert np.array_equal(result.active_mask != 0, at_bound)


def test_a_loss_of_ones_own() -> None:
    fun = Exponentials(stays=0.2)
    named = gracezo.least_squares(fun, fun.x0, loss="cauchy", seed=0)
    own = gracezo.least_squares(
        fun, fun.x0, loss=lambda z: np.array([np.log1p(z), 1 / (1 + z), -1 / (1 + z) ** 2]), seed=0
    )
    assert own.cost == pytest.approx(named.cost, rel=1e-6)


def test_columns_that_are_zero_at_the_start_are_found_when_they_begin_to_matter() -> None:
    random = np.random.default_rng(1)
    first, second = random.normal(size=(20, 3)), random.normal(size=(20, 3))
    a, b = [5, 50, 500], [6, 60, 600]
    truth = np.zeros(D)
    truth[a], truth[b] = [0.5, -0.7, 0.9], [0.4, 0.6, -0.5]

    def model(x: FloatArray) -> FloatArray:
        value: FloatArray = first @ x[a] + second @ (x[a] * x[b])
        return value

    y = model(truth)
    result = gracezo.least_squares(lambda x: model(x) - y, np.zeros(D), seed=0)
    assert result.status == Status.CONVERGED
    assert sorted(result.columns.tolist()) == sorted(a + b)
    assert np.abs(result.x - truth).max() < 1e-5
    assert result.nfev <= 30


def test_a_dense_jacobian_is_fitted_in_the_span_of_probes_and_the_message_says_so() -> None:
    matrix = np.random.default_rng(0).normal(size=(6, 400))
    result = gracezo.least_squares(
        lambda x: matrix @ x - 1.0 + 0.1 * np.sin(matrix @ x), np.zeros(400), seed=0, max_queries=100
    )
    assert result.status == Status.CONVERGED
    assert result.nfev <= 25
    assert "moved all parameters" in result.message
    assert len(result.columns) == 0
    assert len(result.support) == 400


def test_a_dense_jacobian_of_outputs_in_single_precision() -> None:
    """As EPANET answers: pressures of 70 in single precision, of which the data are subtracted."""
    random = np.random.default_rng(0)
    matrix = random.normal(size=(6, 400)) * random.exponential(size=400) ** 3

    def fun(x: FloatArray) -> FloatArray:
        pressures = (matrix @ x + 70.0).astype(np.float32)
        return (pressures - np.float32(71.0)).astype(np.float64)

    result = gracezo.least_squares(fun, np.zeros(400), seed=0, max_queries=100)
    assert result.cost <= 1e-8 * result.trace.values[0]
    assert result.nfev <= 40
    assert "moved all parameters" in result.message


@pytest.mark.parametrize("m", [1, 2])
def test_fewer_outputs_than_parameters(m: int) -> None:
    fun = Exponentials(s=4, m=m)
    result = gracezo.least_squares(fun, fun.x0, seed=0)
    assert result.status == Status.CONVERGED
    assert result.cost < 1e-14
    assert set(result.columns) == set(fun.support)
    assert np.isnan(result.stderr).all()


@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_the_unit_of_the_residuals_does_not_matter(unit: float) -> None:
    fun = Exponentials(stays=0.3)
    expected = gracezo.least_squares(fun, fun.x0, seed=0)
    result = gracezo.least_squares(lambda x: unit * fun(x), fun.x0, seed=0)
    assert result.status == Status.CONVERGED
    assert result.cost == pytest.approx(unit**2 * expected.cost, rel=1e-7)


def test_noise_is_noticed_and_the_answer_measured_again() -> None:
    random = np.random.default_rng(0)
    fun = Exponentials(m=40)
    result = gracezo.least_squares(
        lambda x: fun(x) + 1e-4 * random.normal(size=40), fun.x0, seed=0, max_queries=300
    )
    assert result.status == Status.CONVERGED
    assert "noisy" in result.message
    assert result.fun_error > 0.0
    assert np.abs(result.x[fun.support] - fun.truth).max() < 0.01
    assert result.nfev == fun.calls


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("m", "s"), [(2, 5), (4, 1), (20, 4)])
def test_noise_of_one_percent_ends_in_a_success_that_is_one(m: int, s: int, seed: int) -> None:
    """Also where fewer outputs than parameters leave no columns to be named."""
    random = np.random.default_rng(seed)
    a, where = random.normal(size=(m, s)), random.choice(300, s, replace=False)
    data = (a * np.exp(random.uniform(-0.8, 0.8, s))).sum(axis=1)

    def exact(x: FloatArray) -> FloatArray:
        return np.asarray((a * np.exp(x[where])).sum(axis=1) - data)

    noise = 1e-2 * float(np.sqrt(np.mean(exact(np.zeros(300)) ** 2)))
    result = gracezo.least_squares(
        lambda x: exact(x) + noise * random.normal(size=m), np.zeros(300), seed=seed, max_queries=400
    )
    assert result.success
    assert 0.5 * np.sum(exact(result.x) ** 2) < 20.0 * 0.5 * m * noise**2


@pytest.mark.parametrize("seed", range(6))
def test_what_noise_of_a_tenth_hides_is_not_called_dense(seed: int) -> None:
    fun = hidden_exponentials(900 + seed, 4, 20, D)
    random = np.random.default_rng(seed)
    noise = 0.1 * float(np.std(fun.small(fun.z0)))
    result = gracezo.least_squares(
        lambda x: fun(x) + noise * random.normal(size=20), fun.x0, seed=seed, max_queries=400
    )
    assert result.nfev == fun.calls
    assert "noise" in result.message
    assert ("noise or few digits hide which parameters matter" in result.message) == (
        result.success and len(result.columns) == 0
    )
    if result.success:
        least = 0.5 * 20 * noise**2
        assert 0.5 * float(np.sum(fun.small(result.x[fun.support]) ** 2)) <= 2.0 * least


@pytest.mark.parametrize("seed", range(5))
def test_outputs_of_very_different_noise_are_all_fitted(seed: int) -> None:
    """The best known ones tell the columns apart; the sum of squares goes by the others."""
    random = np.random.default_rng(seed)
    fun = Exponentials(m=30, seed=seed)
    noise = 10.0 ** random.uniform(-8.0, -1.0, 30)
    result = gracezo.least_squares(
        lambda x: fun(x) + noise * random.normal(size=30), fun.x0, seed=seed, max_queries=400
    )
    assert result.status == Status.CONVERGED
    assert 0.5 * np.sum(fun(result.x) ** 2) < 3.0 * np.sum(noise**2)


def printed(numbers: FloatArray) -> FloatArray:
    return np.array([float(f"{one:.4g}") for one in numbers])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "rounded",
    [printed, lambda v: np.round(v, 3), lambda v: np.round(100.0 * v) * 0.37, lambda v: np.float32(1e3 + v)],
)
def test_models_of_few_digits_less_data_of_all(
    rounded: Callable[[FloatArray], FloatArray], seed: int
) -> None:
    """The residuals have the digits of the data besides; what they change by has few."""
    fun = Exponentials(m=25, seed=seed)
    data = fun.y + np.random.default_rng(seed).uniform(-1e-3, 1e-3, 25)

    def residuals(x: FloatArray) -> FloatArray:
        return np.asarray(rounded(fun(x) + fun.y) - rounded(fun.y) + fun.y - data, np.float64)

    result = gracezo.least_squares(residuals, fun.x0, seed=seed, max_queries=400)
    assert result.status == Status.CONVERGED
    assert "few digits" in result.message
    assert set(result.columns.tolist()) <= set(fun.support.tolist())
    assert np.abs(result.x[fun.support] - fun.truth).max() < 0.1


@pytest.mark.parametrize("weight", [1.0, 0.37])
@pytest.mark.parametrize("seed", range(12))
def test_models_of_few_digits_that_are_zero_at_the_start(seed: int, weight: float) -> None:
    """There their digits are as many as those of an exact function, and near by nothing changes later."""
    random = np.random.default_rng(seed)
    support, slopes = random.choice(D, 2, replace=False), random.normal(size=(4, 2))
    bends, truth = random.uniform(0.5, 1.5, (4, 2)), random.uniform(0.3, 1.0, 2)

    def small(z: FloatArray) -> FloatArray:
        return np.array([float(f"{one:.6g}") for one in slopes @ z + bends @ z**2])

    data = small(truth) + 0.3 * random.normal(size=4)
    result = gracezo.least_squares(lambda x: weight * (small(x[support]) - data), np.zeros(D), seed=seed)
    least = scipy.optimize.least_squares(
        lambda z: slopes @ z + bends @ z**2 - data, result.x[support], xtol=1e-15, ftol=1e-15, gtol=1e-15
    )
    assert result.cost <= weight**2 * least.cost * (1.0 + 1e-4) or not result.success


@pytest.mark.parametrize("seed", range(5))
def test_columns_a_million_times_smaller_than_another_join(seed: int) -> None:
    """What bends, of the largest, hides them from the first look at the rest: it is looked at anew."""
    random = np.random.default_rng(seed)
    slopes, sizes = random.normal(size=(20, 4)), 10.0 ** np.array([6.0, -6.0, 0.0, 3.0])
    support = random.choice(D, 4, replace=False)
    x0 = np.zeros(D)
    x0[support] = sizes * random.uniform(0.5, 2.0, 4)
    truth = x0[support] * np.exp(0.3 * random.normal(size=4))

    def model(z: FloatArray) -> FloatArray:
        return np.asarray(slopes @ (z / sizes) + 0.1 * (slopes @ (z / sizes)) ** 2)

    result = gracezo.least_squares(lambda x: model(x[support]) - model(truth), x0, seed=seed)
    assert result.status == Status.CONVERGED
    assert set(result.columns.tolist()) == set(support.tolist())
    assert np.allclose(result.x[support], truth, rtol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_one_noisy_output_among_exact_ones_stops_nothing(seed: int) -> None:
    random = np.random.default_rng(seed)
    fun = Exponentials(m=30, seed=seed)
    noise = np.where(np.arange(30) == 3, 1e-2, 0.0)
    result = gracezo.least_squares(
        lambda x: fun(x) + noise * random.normal(size=30), fun.x0, seed=seed, max_queries=400
    )
    assert result.status == Status.CONVERGED
    assert np.abs(result.x[fun.support] - fun.truth).max() < 0.02


@pytest.mark.parametrize("seed", range(6))
def test_tables_that_have_a_knot_at_the_start(seed: int) -> None:
    """Kinks of all outputs at x0: the slopes are taken beside it, and it is said truly where that ends."""
    random = np.random.default_rng(seed)
    knots, heights = np.linspace(-3.0, 3.0, 13), random.normal(size=13).cumsum()
    slopes, truth = 0.4 * random.normal(size=(30, 4)), 0.4 * random.normal(size=4)
    support = random.choice(D, 4, replace=False)

    def small(z: FloatArray) -> FloatArray:
        return np.asarray(np.interp(slopes @ z, knots, heights) - np.interp(slopes @ truth, knots, heights))

    result = gracezo.least_squares(lambda x: small(x[support]), np.zeros(D), seed=seed, max_queries=400)
    assert result.status == Status.CONVERGED
    assert set(result.columns.tolist()) <= set(support.tolist())
    from_here = scipy.optimize.least_squares(small, result.x[support], xtol=1e-14, ftol=1e-14, gtol=1e-14)
    assert result.cost <= from_here.cost * (1.0 + 1e-5) + 1e-12


def test_a_residual_that_is_zero_or_flat() -> None:
    zero = gracezo.least_squares(lambda x: x[:3], np.zeros(D), seed=0)
    assert (zero.status, zero.nfev, zero.cost) == (Status.CONVERGED, 1, 0.0)
    flat = gracezo.least_squares(lambda x: np.ones(3), np.zeros(D), seed=0)
    assert (flat.status, flat.nfev) == (Status.NOTHING_TO_FIND, 7)
    assert "no output changes" in flat.message


def test_what_is_said_of_a_start_without_slopes_is_true() -> None:
    bent = gracezo.least_squares(lambda x: x[[3, 77, 500]] ** 2 - 0.5, np.zeros(D), seed=0)
    assert bent.status == Status.NOTHING_TO_FIND
    assert "outputs bend, but none has a slope at x0" in bent.message
    small = gracezo.least_squares(lambda x: 1e-200 * (x[:3] + 1.0), np.zeros(D), seed=0)
    assert (small.status, small.nfev) == (Status.NOTHING_TO_FIND, 1)
    assert "too small for a number" in small.message


def test_an_output_that_is_noise_is_not_followed_and_the_message_says_so() -> None:
    fun, random = Exponentials(m=20), np.random.default_rng(3)

    def spoilt(x: FloatArray) -> FloatArray:
        outputs = fun(x)
        outputs[4] += 0.01 * random.normal()
        return outputs

    result = gracezo.least_squares(spoilt, fun.x0, seed=0, max_queries=200)
    assert set(result.columns) == set(fun.support)
    assert np.abs(result.x[fun.support] - fun.truth).max() < 0.05
    assert "1 of the outputs show no slopes but noise" in result.message


def test_a_background_of_small_slopes_is_left_alone_and_the_message_says_so() -> None:
    fun, small = Exponentials(), np.random.default_rng(5).normal(size=(20, D))
    result = gracezo.least_squares(lambda x: fun(x) + 1e-4 * (small @ x), fun.x0, seed=0, max_queries=200)
    assert set(result.columns) == set(fun.support)
    assert result.cost < 1e-5 * result.trace.values[0]
    assert "slopes too small to be named, on all other parameters, were left alone" in result.message
    assert "left alone" not in gracezo.least_squares(fun, fun.x0, seed=0).message


@pytest.mark.parametrize("far", [1e-4, 1.0, 1e4])
def test_parameters_of_other_sizes_than_were_expected(far: float) -> None:
    fun = Exponentials()
    result = gracezo.least_squares(lambda x: fun(x / far), fun.x0, seed=0)
    assert result.status == Status.CONVERGED
    assert np.abs(result.x[fun.support] / far - fun.truth).max() < 1e-5
    assert result.nfev == fun.calls <= 45


def test_a_first_step_stays_within_reach_of_the_scales() -> None:
    """A residual of 1e8 asks for a step of 1e8, where this function has no value."""
    fun, farthest = Exponentials(), []

    def high(x: FloatArray) -> FloatArray:
        farthest.append(np.abs(x).max())
        return fun(x) + 1e8

    gracezo.least_squares(high, fun.x0, seed=0, max_queries=14)
    assert 1.0 < max(farthest[:14]) <= 110.0


def test_coordinates_that_are_suspected_are_measured_and_others_join() -> None:
    fun = Exponentials(m=3)
    result = gracezo.least_squares(fun, fun.x0, support=[*fun.support[:3], 5, 6], seed=0)
    assert result.status == Status.CONVERGED
    assert set(result.columns) == set(fun.support)
    all_of_them = Exponentials(m=3)
    told = gracezo.least_squares(all_of_them, fun.x0, support=fun.support, seed=0)
    plain = Exponentials(m=3)
    gracezo.least_squares(plain, fun.x0, seed=0)
    assert told.status == Status.CONVERGED
    assert told.nfev == all_of_them.calls < plain.calls


def test_points_that_are_paid_for_are_not_paid_for_again() -> None:
    fun = Exponentials()
    random = np.random.default_rng(0)
    points = np.zeros((8, D))
    points[1:, fun.support] = fun.truth + 0.1 * random.normal(size=(7, 6))
    rows = np.array([fun(x) for x in points])
    fun.calls = 0
    result = gracezo.least_squares(fun, fun.x0, known=(points, rows), seed=0)
    calls, fun.calls = fun.calls, 0
    plain = gracezo.least_squares(fun, fun.x0, seed=0)
    assert result.status == Status.CONVERGED
    assert result.nfev == calls < plain.nfev - 1
    with pytest.raises(ValueError, match="a row of outputs for each point"):
        gracezo.least_squares(fun, fun.x0, known=(points, rows[:, 0]))
    with pytest.raises(ValueError, match="one value a point"):
        gracezo.minimize(lambda x: x.sum(), fun.x0, known=(points, rows))


def test_a_budget_that_ends_the_search_is_not_spent_without_a_step() -> None:
    matrix = np.random.default_rng(0).normal(size=(60, 400))
    result = gracezo.least_squares(lambda x: matrix @ x - 1.0, np.zeros(400), seed=0, max_queries=40)
    assert (result.nfev, result.status) == (40, Status.SPENT)
    assert result.cost < 0.7 * result.trace.values[0]
    assert "before it was known which parameters matter, the fit moved all of them" in result.message


@pytest.mark.parametrize("shape", [lambda r: r[:, None], list, tuple, np.float32, np.ma.array])
def test_kinds_of_vectors(shape: Callable[[FloatArray], Any]) -> None:
    fun = Exponentials()
    assert gracezo.least_squares(lambda x: shape(fun(x)), fun.x0, seed=0).cost < 1e-10


@pytest.mark.parametrize("budget", [1, 2, 3, 5, 9, 12, 17, 20])
def test_the_budget_is_never_exceeded(budget: int) -> None:
    fun = Exponentials()
    result = gracezo.least_squares(fun, fun.x0, seed=0, max_queries=budget)
    assert result.nfev == fun.calls <= budget
    assert result.status == Status.SPENT


def test_target_steps_and_callback() -> None:
    fun = Exponentials()
    costs: list[float] = []
    result = gracezo.least_squares(
        fun,
        fun.x0,
        seed=0,
        target=1e-2,
        callback=lambda intermediate_result: costs.append(intermediate_result.fun),
    )
    assert result.status == Status.CONVERGED
    assert result.cost <= 1e-2
    assert "target" in result.message
    assert len(costs) == result.nit
    steps = gracezo.least_squares(fun, fun.x0, seed=0, max_steps=2)
    assert (steps.nit, steps.status) == (2, Status.SPENT)


# ---------------------------------------------------------------- whoever answers


def same(result: Any, expected: Any) -> None:
    assert np.array_equal(result.x, expected.x)
    assert np.array_equal(result.fun, expected.fun)
    assert np.array_equal(result.trace.values, expected.trace.values)
    assert (result.nfev, result.nit, result.status) == (expected.nfev, expected.nit, expected.status)


def ways() -> dict[str, Callable[[Path], Any]]:
    common: dict[str, Any] = {"seed": 3, "batch": 4}
    x0 = np.zeros(300)

    def by_threads(folder: Path) -> Any:
        with ThreadPoolExecutor(3) as pool:
            return gracezo.least_squares(decays, x0, workers=pool, **common)

    def by_rows(folder: Path) -> Any:
        rows = lambda points: np.array([decays(x) for x in points])  # noqa: E731
        return gracezo.least_squares(rows, x0, vectorized=True, **common)

    def by_hand(folder: Path) -> Any:
        optimizer = gracezo.Optimizer(x0, method="least_squares", **common)
        while len(points := optimizer.ask(limit=3)):
            optimizer.tell([decays(x) for x in points])
        return optimizer.result

    def by_pieces(folder: Path) -> Any:
        journal = gracezo.Journal(folder / "run.db", fingerprint="decays")
        calls = 0

        def stops(x: FloatArray) -> FloatArray:
            nonlocal calls
            calls += 1
            if calls % 7 == 0:
                raise KeyboardInterrupt
            return decays(x)

        result = gracezo.least_squares(stops, x0, journal=journal, **common)
        while result.status == Status.STOPPED:
            result = gracezo.resume(journal, stops)
        return result

    return {
        "shared buffer": lambda folder: gracezo.least_squares(decays, x0, copy=False, **common),
        "map": lambda folder: gracezo.least_squares(decays, x0, workers=map, **common),
        "processes": lambda folder: gracezo.least_squares(decays, x0, workers=2, **common),
        "threads": by_threads,
        "rows": by_rows,
        "by hand": by_hand,
        "pieces": by_pieces,
    }


@pytest.mark.parametrize("way", ways())
def test_who_answers_does_not_matter(way: str, tmp_path: Path) -> None:
    expected = gracezo.least_squares(decays, np.zeros(300), seed=3, batch=4)
    assert expected.status == Status.CONVERGED
    result = ways()[way](tmp_path)
    same(result, expected)
    assert result.cost == expected.cost


def test_a_journal_gives_a_finished_fit_back_and_asks_nothing(tmp_path: Path) -> None:
    fun = Exponentials()
    first = gracezo.least_squares(fun, fun.x0, seed=0, journal=tmp_path / "fit.db")
    asked = fun.calls
    again = gracezo.least_squares(fun, fun.x0, seed=0, journal=tmp_path / "fit.db")
    assert fun.calls == asked
    same(again, first)
    assert np.array_equal(again.jac, first.jac)


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_fit_that_is_killed_three_times_goes_on(tmp_path: Path) -> None:
    expected = gracezo.least_squares(decays, np.zeros(300), seed=3, batch=4)
    for last in (1, 6, 14):
        words = [sys.executable, "-m", "tests.vectors.killed", str(tmp_path), str(last)]
        dead = subprocess.run(words, cwd=Path(__file__).parents[2], check=False, capture_output=True)
        assert dead.returncode == -signal.SIGKILL, dead.stderr
    result = killed.fit(tmp_path)
    same(result, expected)
    assert np.array_equal(result.jac, expected.jac)
    paid_twice = killed.Counted(tmp_path).calls - result.nfev
    assert 3 <= paid_twice == result.reasked  # what was in flight when it died


@pytest.mark.parametrize("action", ["retry", "skip"])
def test_failures(action: str) -> None:
    fun = Exponentials()

    def shaky(x: FloatArray) -> FloatArray:
        outputs = fun(x)
        if fun.calls % 6 == 5:
            outputs[2] = np.nan
        return outputs

    result = gracezo.least_squares(shaky, fun.x0, seed=0, on_failure=action)
    assert result.status == Status.CONVERGED
    assert np.abs(result.x[fun.support] - fun.truth).max() < 1e-5
    assert result.nfev == fun.calls


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"loss": "hubr"}, "unknown loss 'hubr'; did you mean 'huber'"),
        ({"f_scale": 0.0}, "f_scale must be a positive number"),
        ({"ftol": -1.0}, "ftol must be a positive number"),
        ({"scale": [1.0, 2.0]}, "scale must be one number"),
        ({"f0": [[1.0]]}, "f0 must be the finite outputs"),
        ({"bounds": (1.0, 2.0)}, "x0 must lie within the bounds"),
    ],
)
def test_wrong_words_cost_no_query(wrong: dict[str, Any], said: str) -> None:
    fun = Exponentials()
    with pytest.raises(ValueError, match=said):
        gracezo.least_squares(fun, fun.x0, **wrong)
    assert fun.calls == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"x_scale": "jac"}, "takes no x_scale: give scale="),
        ({"max_nfev": 10}, "takes no max_nfev: give max_queries="),
        ({"jac": "3-point"}, "takes no jac: the columns"),
        ({"method": "lm"}, "takes no method"),
        ({"verbose": 2}, "takes no verbose: give progress=True"),
        ({"kwargs": {}}, r"takes no kwargs: give args="),
    ],
)
def test_arguments_of_scipy_are_answered_with_those_of_ours(given: dict[str, Any], said: str) -> None:
    fun = Exponentials()
    with pytest.raises(TypeError, match=said):
        gracezo.least_squares(fun, fun.x0, **given)
    with pytest.raises(TypeError, match="the third argument is args"):
        gracezo.least_squares(fun, fun.x0, "2-point")  # type: ignore[arg-type]
    assert fun.calls == 0


def test_bounds_of_two_coordinates_must_be_unambiguous() -> None:
    with pytest.raises(ValueError, match="could be"):
        gracezo.least_squares(lambda x: x - 1.0, [0.0, 0.0], bounds=([0, 0], [1, 1]))


def test_minimize_sends_to_the_entry_point() -> None:
    with pytest.raises(ValueError, match=r"call gracezo\.least_squares"):
        gracezo.minimize(lambda x: x, [0.0], method="least_squares")
    assert "least_squares" not in gracezo.methods()


# ---------------------------------------------------------------- the parts


def test_the_slopes_of_the_surrogate_are_those_of_its_values() -> None:
    random = np.random.default_rng(0)
    curved = random.normal(size=(3, 4, 4))

    def r(z: FloatArray) -> FloatArray:
        value: FloatArray = np.einsum("kij,i,j->k", curved, z, z) + z[:3] + np.sin(z[1:])
        return value

    def slopes(z: FloatArray) -> FloatArray:
        return np.array([(r(z + 1e-6 * e) - r(z - 1e-6 * e)) / 2e-6 for e in np.eye(4)]).T

    model = Surrogate(np.zeros(4), r(np.zeros(4)), slopes(np.zeros(4)))
    for _ in range(5):
        z = random.normal(size=4)
        model.add(z, r(z))
    model = model.moved(z, r(z), slopes(z))
    model.fit()
    assert np.allclose(model.at(np.zeros(4)), r(np.zeros(4)), atol=1e-4)
    assert np.allclose(model.slopes(np.zeros(4)), slopes(np.zeros(4)), atol=1e-3)
    assert np.allclose(model.slopes(z), model.jacobian, atol=1e-6)  # it errs by 1e-7
    at = random.normal(size=4)
    numeric = np.array([(model.at(at + 1e-6 * e) - model.at(at - 1e-6 * e)) / 2e-6 for e in np.eye(4)]).T
    assert np.allclose(model.slopes(at), numeric, rtol=1e-3, atol=1e-3)


def test_the_surrogate_knows_which_columns_it_does_not_know() -> None:
    """Only the first coordinate has moved, and only it bends: the column of it alone is to be measured."""
    slopes = np.random.default_rng(1).normal(size=(20, 5))

    def r(z: FloatArray) -> FloatArray:
        return np.asarray(slopes @ z + slopes[:, 0] * z[0] ** 2 + slopes[:, 1] * np.exp(z[0]))

    def jacobian(z: FloatArray) -> FloatArray:
        first = slopes[:, 0] * (1.0 + 2.0 * z[0]) + slopes[:, 1] * np.exp(z[0])
        return np.column_stack([first, slopes[:, 1:]])

    way = [np.array([place, 0.0, 0.0, 0.0, 0.0]) for place in (0.0, -0.4, -1.0, -1.6)]
    model = Surrogate(way[0], r(way[0]), jacobian(way[0]))
    assert np.isinf(model.slope_variances(way[1])).all()  # nothing is known yet
    model.add(way[1], r(way[1]))
    model.fit()
    model = model.moved(way[1], r(way[1]), jacobian(way[1]))
    model.add(way[2], r(way[2]))
    model.fit()
    variances = model.slope_variances(way[2])
    assert variances[0] > 0.0
    predicted = model.slopes(way[2])
    predicted[:, 0] = jacobian(way[2])[:, 0]
    model = model.moved(way[2], r(way[2]), predicted, variances=np.append(0.0, variances[1:]))
    assert model.former[-1].which.tolist() == [0, 1, 2, 3, 4]
    model.fit()
    again = model.moved(way[3], r(way[3]), jacobian(way[3]))
    assert again.former[-1].which.tolist() == [0]  # what was predicted is no data
    assert np.allclose(model.slopes(way[2])[:, 1:], slopes[:, 1:], atol=0.05)


def test_the_surrogate_goes_straight_where_its_bends_mislead() -> None:
    def r(z: FloatArray) -> FloatArray:
        return np.asarray(1.0 + np.minimum(z**2, 1.0) + 0.1 * z)  # a kink

    model = Surrogate(np.zeros(2), np.ones(2), 0.1 * np.eye(2))
    model.add(np.ones(2), r(np.ones(2)))
    model.fit()
    model.judge(np.zeros(2), 0.5 * np.ones(2), r(0.5 * np.ones(2)) - 1.0)
    assert model.bent
    model.judge(
        np.zeros(2), 3.0 * np.ones(2), r(3.0 * np.ones(2))
    )  # 9.3 by the parabola, 0.3 by the line, is 1.3
    assert not model.bent
    assert np.allclose(model.at(2.0 * np.ones(2)), 1.2)


def test_a_residual_that_stays_does_not_ask_for_all_columns_again_and_again() -> None:
    """One of twelve parameters bends, and goes far; measured as a whole each time that took up to 170."""
    total = 0
    for seed in range(6):
        random = np.random.default_rng(seed)
        slopes, bend, data = random.normal(size=(40, 12)), random.normal(size=40), random.normal(size=40)
        support = random.choice(1000, 12, replace=False)

        def fun(
            x: FloatArray,
            slopes: FloatArray = slopes,
            bend: FloatArray = bend,
            data: FloatArray = data,
            support: Any = support,
        ) -> FloatArray:
            z = x[support]
            curved = slopes[:, 0] * np.exp(1.5 * z[0]) + bend * np.exp(0.7 * z[0])
            return np.asarray(slopes[:, 1:] @ z[1:] + curved - data)

        result = gracezo.least_squares(fun, np.zeros(1000), seed=seed)
        assert result.status == Status.CONVERGED
        told = scipy.optimize.least_squares(
            fun, result.x, xtol=1e-15, ftol=1e-15, gtol=1e-15, tr_solver="lsmr", max_nfev=3
        )
        assert result.cost <= told.cost * (1.0 + 1e-7)
        total += result.nfev
    assert total <= 450  # 541 with all columns each time


def test_a_good_step_far_to_one_side_allows_none_to_the_other() -> None:
    """Down to a plateau each step may be ten times as long; back up there is no value."""
    highest = 0.0

    def plateau(x: FloatArray) -> FloatArray:
        nonlocal highest
        highest = max(highest, float(x[7]))
        return np.array(
            [np.exp(0.5 * x[7]) + 1.0, 2.0 * np.exp(x[7]) - 0.5, 0.3 * np.exp(0.7 * x[7]) + x[3] - 0.2]
        )

    result = gracezo.least_squares(plateau, np.zeros(50), seed=0, max_queries=300)
    assert result.status == Status.CONVERGED
    assert highest < 20.0


@pytest.mark.parametrize("unit", [1e-9, 1e-6, 1.0, 1e12])
def test_what_slopes_promise_within_bounds_does_not_depend_on_the_unit(unit: float) -> None:
    """The tolerances of what solves for it are absolute: it stopped short where residuals are small."""
    random = np.random.default_rng(221)
    slopes, outputs = random.normal(size=(6, 4)), random.normal(size=6)
    limits = np.array([-1e-3, 0.0, -0.2, -np.inf]), np.array([0.5, 1e-2, 0.2, 0.0])
    region = Region(Loss(), limits, np.ones(4))
    model = Surrogate(np.zeros(4), unit * outputs, unit * slopes)
    told = scipy.optimize.lsq_linear(slopes, -outputs, limits, method="bvls")
    promised = 0.5 * (outputs @ outputs) - told.cost
    assert region.newton(model, np.zeros(4)).predicted == pytest.approx(unit**2 * promised, rel=1e-9)


def test_a_minimum_before_a_plateau_is_not_passed_over() -> None:
    """Its cost is lower than that of the plateau by less than a millionth, and there no slope is left."""
    fun = hidden_exponentials(800_013, 10, 30, stays=True)
    result = gracezo.least_squares(fun, fun.x0, seed=800_013, max_queries=400)
    told = scipy.optimize.least_squares(fun.small, result.x[fun.support], xtol=1e-15, ftol=1e-15, gtol=1e-15)
    assert result.status == Status.CONVERGED
    assert result.cost <= told.cost * (1.0 + 1e-7)
    assert np.abs(result.x).max() < 30.0


@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_those_of_scipy(name: str) -> None:
    from scipy.optimize._lsq.least_squares import construct_loss_function  # noqa: PLC0415

    r = np.random.default_rng(0).normal(size=30) * 3.0
    loss = Loss(name, 0.7)
    theirs = construct_loss_function(30, name, 0.7)
    if theirs is None:  # linear
        assert loss.cost(r) == pytest.approx(0.5 * float(r @ r))
        return
    rho = theirs(r)
    assert loss.cost(r) == pytest.approx(0.5 * float(rho[0].sum()))
    assert np.allclose(loss.weights(r), rho[1])
