"""ECnoise, against the paper's worked example, the rules of its authors, and noise that is known."""

from __future__ import annotations

from math import comb, factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gracezo
from gracezo.estimators.noise import Spacing, judge, levels

# Moré & Wild (2011), Table 3.1: cos t + sin t + 10⁻³·U at t = 0, 0.01, …, 0.06, U uniform on [0, 2√3].
# The setting is that of the program which prints the table, `difftable` in the authors' repository
# (github.com/POptUS/CNoise). Its random numbers are those of an old MATLAB, so the figures cannot be had from
# it: f(0), first differences and the six estimates, to three digits, are quoted from memory. The test shows
# that they fit each other and the setting, not that they are printed so. The third difference has a fourth
# digit, so that the second ones fit.
PUBLISHED_START = 1.003
PUBLISHED_DIFFERENCES = [7.54e-3, 9.69e-3, 1.202e-2, 8.67e-3, 8.38e-3, 9.52e-3]
PUBLISHED_LEVELS = [6.65e-3, 8.69e-4, 7.39e-4, 7.34e-4, 7.97e-4, 8.20e-4]


def test_published_example() -> None:
    values = np.cumsum([PUBLISHED_START, *PUBLISHED_DIFFERENCES])
    t = 0.01 * np.arange(7)
    noise = 1e3 * (values - np.cos(t) - np.sin(t))
    assert 0 <= noise.min() < noise.max() <= 2 * 3**0.5
    assert levels(values)[0] == pytest.approx(PUBLISHED_LEVELS, rel=5e-3)
    verdict, level = judge(values)
    assert verdict is Spacing.RIGHT
    assert level == pytest.approx(8.69e-4, rel=5e-3)  # the second differences are past the smooth part


@pytest.mark.parametrize("order", range(1, 7))
def test_the_weights_of_the_orders(order: int) -> None:
    """γ_k = (k!)²/(2k)!; the k-th differences of a spike in the middle are binomial coefficients."""
    spike = np.zeros(2 * order + 1)
    spike[order] = 1.0
    squares = sum(comb(order, k) ** 2 for k in range(order + 1)) / (order + 1)
    gamma = factorial(order) ** 2 / factorial(2 * order)
    assert levels(spike)[0][order - 1] == pytest.approx((gamma * squares) ** 0.5, rel=1e-12)


# The rules of the authors' own program, `ECNoise` in the same repository.
ZIGZAG = [0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0]
RULES = {
    "values that differ in the first digit: too wide": ([10.0, 11.2, 10, 10, 10.1, 10, 10.1], Spacing.WIDE),
    "but not by a tenth of the largest": ([10 + v for v in ZIGZAG], Spacing.RIGHT),
    "half of the seven values equal to the next: too narrow": ([1, 1, 1, 1, 1, 1.001, 1.0], Spacing.NARROW),
    "but not three": ([1, 1, 1, 1, 1.001, 1.0, 1.001], Spacing.RIGHT),
    # Of differences 1, t, −1 the estimates have the squares (2 + t²)/6, (1 + t²)/6, t²/5: the ratio of the
    # first and the third is 4 at t² = 10/91, t = 0.3315.
    "three estimates within a factor 4": ([100, 101, 101.332, 100.332], Spacing.RIGHT),
    "no three estimates within a factor 4: too wide": ([100, 101, 101.331, 100.331], Spacing.WIDE),
    "estimates that agree, with differences of one sign: too wide": ([1, 1.01, 1.02, 1.04], Spacing.WIDE),
}


@pytest.mark.parametrize("rule", RULES)
def test_the_rules_of_the_authors(rule: str) -> None:
    values, verdict = RULES[rule]
    assert judge(np.array(values))[0] is verdict


def test_each_order_estimates_independent_noise_without_bias() -> None:
    random = np.random.default_rng(0)
    squares = [levels(random.standard_normal(7))[0] ** 2 for _ in range(4000)]
    assert np.mean(squares, axis=0) == pytest.approx(np.ones(6), rel=0.07)


@given(st.lists(st.integers(-50, 50), min_size=4, max_size=9), st.floats(0.1, 10))
def test_levels_scale_with_the_values(values: list[int], scale: float) -> None:
    plain, signs = levels(np.array(values, float))
    scaled, same = levels(scale * np.array(values, float))
    assert scaled == pytest.approx(scale * plain, abs=1e-9)
    assert signs == same or not plain.all()


def smooth(x: np.ndarray) -> float:
    return float(3.0 + np.sin(x).sum() + x @ x)


@pytest.mark.parametrize("level", [1e-9, 1e-6, 1e-3, 1e-2])
@pytest.mark.parametrize("kind", ["normal", "uniform"])
def test_random_noise(level: float, kind: str) -> None:
    x = np.linspace(-0.5, 0.5, 1000)
    found = []
    for seed in range(30):
        random = np.random.default_rng(seed)

        def noisy(x: np.ndarray, random: np.random.Generator = random) -> float:
            draw = random.standard_normal() if kind == "normal" else random.uniform(-(3**0.5), 3**0.5)
            return smooth(x) + level * draw

        estimate = gracezo.estimate_noise(noisy, x, seed=seed)
        assert estimate.detected
        assert estimate.queries == 7
        found.append(estimate.level / level)
    assert min(found) > 0.1
    assert max(found) < 3.0
    assert 0.7 < np.median(found) < 1.3


def test_rounding_to_float32() -> None:
    x = np.linspace(-0.5, 0.5, 1000)
    ulp = float(np.spacing(np.float32(smooth(x))))
    for seed in range(10):
        estimate = gracezo.estimate_noise(lambda x: np.float32(smooth(x)), x, seed=seed)
        assert estimate.detected
        assert 0.05 * ulp < estimate.level < 2 * ulp
        assert estimate.queries <= 19


def test_quantised_output() -> None:
    x = np.linspace(-0.5, 0.5, 1000)
    for seed in range(10):
        estimate = gracezo.estimate_noise(lambda x: round(smooth(x), 3), x, seed=seed)
        assert estimate.detected
        assert 0.05e-3 < estimate.level < 2e-3


def test_exact_functions_have_rounding_only() -> None:
    x = np.linspace(-0.5, 0.5, 1000)
    for seed in range(10):
        estimate = gracezo.estimate_noise(smooth, x, seed=seed)
        assert estimate.level < 1e-12 * smooth(x)
        assert not estimate.constant


def test_a_kink_at_the_start_is_no_noise() -> None:
    estimate = gracezo.estimate_noise(lambda x: 1.0 + np.abs(x).sum(), np.zeros(100), seed=0)
    assert estimate.level < 1e-14


def test_a_constant_is_recognised() -> None:
    estimate = gracezo.estimate_noise(lambda x: 3.0, np.ones(7), seed=0)
    assert (estimate.constant, estimate.detected, estimate.level, estimate.queries) == (True, False, 0.0, 19)


def test_every_query_is_counted() -> None:
    count = [0]

    def f(x: np.ndarray) -> float:
        count[0] += 1
        return float(np.floor(x.sum()))

    estimate = gracezo.estimate_noise(f, np.full(5, 0.3), seed=3)
    assert estimate.queries == count[0]
