"""ECnoise, against a table by hand, its definition in rational numbers, its authors' rules, known noise."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb, factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gracezo
from gracezo.core.types import FloatArray
from gracezo.estimators.noise import Spacing, judge, levels

# A difference table worked out by hand: values on a slope, with noise of a few units.
#
#   f     1000   1012   1019   1029   1046   1056   1069       k   γ_k     mean of squares    σ_k²
#   Δ         12     7     10     17     10     13             1   1/2        851/6         851/12
#   Δ²           −5     3      7     −7     3                  2   1/6        141/5           4.7
#   Δ³               8     4    −14     10                     3   1/20        94             4.7
#   Δ⁴                 −4   −18     24                         4   1/70       916/3         458/105
#   Δ⁵                   −14    42                             5   1/252       980           35/9
#   Δ⁶                       56                                6   1/924      3136          112/33
TABLE = np.array([1000, 1012, 1019, 1029, 1046, 1056, 1069])
SQUARES = [851 / 12, 4.7, 4.7, 458 / 105, 35 / 9, 112 / 33]


def test_a_table_by_hand() -> None:
    estimates, both_signs = levels(TABLE.astype(float))
    assert estimates**2 == pytest.approx(SQUARES, rel=1e-14)
    assert both_signs == [False, True, True, True, True, False]
    # The slope shows in the first differences, which are of one sign; the second ones are past it. In tenths,
    # which no binary number is: whole numbers would be taken for values that are rounded.
    verdict, level = judge(TABLE / 10)
    assert verdict is Spacing.RIGHT
    assert level == pytest.approx(4.7**0.5 / 10, rel=1e-9)


@given(st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=9))
def test_estimates_are_their_definition(values: list[int]) -> None:
    """In rational numbers, each difference by its binomial sum."""
    estimates, both_signs = levels(np.array(values, float))
    for k in range(1, len(values)):
        differences = [
            sum((-1) ** (k - j) * comb(k, j) * values[i + j] for j in range(k + 1))
            for i in range(len(values) - k)
        ]
        gamma = Fraction(factorial(k) ** 2, factorial(2 * k))
        square = gamma * Fraction(sum(d * d for d in differences), len(differences))
        assert estimates[k - 1] ** 2 == pytest.approx(float(square), rel=1e-12)
        assert both_signs[k - 1] is (min(differences) < 0 < max(differences))


@given(
    st.lists(st.integers(-9, 9), min_size=7, max_size=7), st.lists(st.integers(-9, 9), min_size=1, max_size=4)
)
def test_a_polynomial_leaves_the_higher_orders_alone(noise: list[int], coefficients: list[int]) -> None:
    smooth_part = np.polynomial.Polynomial(coefficients)(np.arange(7.0))
    degree = len(coefficients) - 1
    bare, shifted = levels(np.array(noise, float))[0], levels(smooth_part + noise)[0]
    assert shifted[degree:] == pytest.approx(bare[degree:], rel=1e-12)


@pytest.mark.parametrize("order", range(1, 7))
def test_the_weights_of_the_orders(order: int) -> None:
    """γ_k = (k!)²/(2k)!; the k-th differences of a spike in the middle are binomial coefficients."""
    spike = np.zeros(2 * order + 1)
    spike[order] = 1.0
    squares = sum(comb(order, k) ** 2 for k in range(order + 1)) / (order + 1)
    gamma = factorial(order) ** 2 / factorial(2 * order)
    assert levels(spike)[0][order - 1] == pytest.approx((gamma * squares) ** 0.5, rel=1e-12)


# The rules of the authors' own program, m/ECNoise.m of github.com/POptUS/CNoise (commit 59de6fab): a range of
# a tenth of the largest value, nf/2 equal neighbours, a factor of 4 between three estimates, and both signs.
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


@pytest.mark.parametrize("seed", range(5))
def test_noise_above_the_rounding_of_float32(seed: int) -> None:
    """Single precision ends in zeros, whatever else is in it."""
    random = np.random.default_rng(seed)

    def f(x: FloatArray) -> float:
        return float(np.float32(3.0 + x @ x + 1e-3 * random.standard_normal()))

    estimate = gracezo.estimate_noise(f, np.ones(9), seed=seed)
    assert 0.3e-3 < estimate.level < 3e-3


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


@pytest.mark.parametrize("share", [0.03, 0.1, 0.3, 1.0])
def test_noise_as_loud_as_f(share: float) -> None:
    ratios = []
    for seed in range(20):
        random = np.random.default_rng(seed)
        noisy = lambda x, random=random: 5.0 + x[0] ** 2 + 5.0 * share * random.standard_normal()  # noqa: E731
        estimate = gracezo.estimate_noise(noisy, np.zeros(50), seed=seed)
        assert estimate.detected
        ratios.append(estimate.level / (5.0 * share))
    assert 0.5 < np.median(ratios) < 1.5
    assert min(ratios) > 0.1


@pytest.mark.parametrize(
    "smooth",
    [
        lambda x: 5.0 + x.sum() if x.any() else 1.0,  # a jump where it begins
        lambda x: float(np.exp(1e3 * x.sum())),
        lambda x: 1e14 * float(((x - 1e-7) ** 2).sum()),
        lambda x: 1.0 + float(np.abs(x - 1e-8).sum()),
    ],
)
def test_what_changes_by_more_than_a_tenth_need_not_be_noise(smooth: Callable[[FloatArray], float]) -> None:
    estimate = gracezo.estimate_noise(smooth, np.zeros(20), seed=0)
    assert estimate.level < 1e-13


def _walled(x: FloatArray, low: float, high: float) -> float:
    assert ((x >= low) & (x <= high)).all()
    return float(np.float32(1.0 + x @ x))


@pytest.mark.parametrize("workers", [None, 2])
def test_bounds_arguments_and_workers(workers: int | None) -> None:
    x = np.array([0.0, 1.0, 0.5])
    estimate = gracezo.estimate_noise(
        _walled, x, (0.0, 1.0), bounds=[(0.0, 1.0)] * 3, workers=workers, seed=0
    )
    assert estimate.detected
    assert 1e-9 < estimate.level < 1e-6
    with pytest.raises(ValueError, match="fix every coordinate"):
        gracezo.estimate_noise(_walled, x, (0.0, 1.0), bounds=[(v, v) for v in x])
