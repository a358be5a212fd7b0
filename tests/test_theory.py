"""The theory functions against independent oracles: brute force, exact enumeration, simulation."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from itertools import islice, pairwise, permutations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

import gracezo
from gracezo import theory

PAPER = theory.SearchParameters()
DIMENSIONS = [10**2, 10**3, 10**4, 10**5, 10**6, 10**7, 10**8]
WORST_CASE = {
    1: [11, 15, 15, 17, 19, 19, 19],
    2: [16, 19, 22, 22, 28, 28, 28],
    3: [26, 26, 36, 36, 46, 46, 46],
    4: [25, 31, 43, 43, 55, 55, 55],
    5: [33, 41, 57, 57, 73, 73, 73],
}
units = st.floats(0.01, 0.99)


# Queries


@pytest.mark.parametrize(
    ("d", "s", "gamma", "n"), [(90, 1, 0.7, 63), (10, 3, 2.1, 7), (5, 1, 3.0, 5), (7, 5, 0.7, 0)]
)
def test_group_size_is_decimal_and_at_most_d(d: int, s: int, gamma: float, n: int) -> None:
    assert theory.group_size(d, s, gamma) == n


@given(d=st.integers(1, 10**9), tenths=st.integers(1, 30), data=st.data())
def test_group_size_is_the_largest_that_gamma_allows(d: int, tenths: int, data: st.DataObject) -> None:
    s = data.draw(st.integers(1, d))
    n = theory.group_size(d, s, tenths / 10)
    assert n == d or 10 * n * s <= tenths * d < 10 * (n + 1) * s


@given(first=st.integers(2, 10**6))
def test_practical_schedule_is_the_exact_floor_of_the_power(first: int) -> None:
    divisions = list(islice(theory.practical_schedule(first), 6))
    assert divisions[0] == first
    for before, after in pairwise(divisions):
        assert after**2 <= before**3 < (after + 1) ** 2


@pytest.mark.parametrize(("s", "row"), WORST_CASE.items())
def test_worst_case_is_the_papers_table(s: int, row: list[int]) -> None:
    assert [theory.worst_case_queries(d, s) for d in DIMENSIONS] == row


@pytest.mark.parametrize(("d", "s", "queries"), [(10, 10, 11), (10, 4, 11), (10, 3, 11), (11, 3, 13)])
def test_worst_case_without_rounds_is_fdsa_on_full_groups(d: int, s: int, queries: int) -> None:
    assert theory.worst_case_queries(d, s) == queries


@given(n=st.integers(1, 300), s=st.integers(1, 6), first=st.integers(2, 30), seed=st.integers(0, 10**6))
@settings(max_examples=50)
def test_no_run_exceeds_the_worst_case_on_full_groups(n: int, s: int, first: int, seed: int) -> None:
    gradient = np.random.default_rng(seed).normal(size=n * s)  # not sparse: searches end anywhere
    calls = Counter[str]()

    def linear(x: np.ndarray) -> float:
        calls["f"] += 1
        return float(gradient @ x)

    options = {"gamma": 1.0, "first_division": first}
    gracezo.estimate_gradient(linear, np.zeros(n * s), method="grace", sparsity=s, seed=seed, options=options)
    assert calls["f"] <= theory.worst_case_queries(n * s, s, 1.0, first)


def test_the_worst_case_is_reached() -> None:
    gradient = np.zeros(700)
    gradient[3] = 1.0
    found = gracezo.estimate_gradient(
        lambda x: gradient @ x,
        np.zeros(700),
        method="grace",
        sparsity=1,
        seed=1,
        options={"first_division": 10, "gamma": 1.0},
    )
    assert found.queries == theory.worst_case_queries(700, 1, 1.0, 10)


@given(d=st.integers(1, 3000), bits=st.integers(1, 60), data=st.data())
def test_counting_bound_is_the_fewest_answers_that_separate_all_supports(
    d: int, bits: int, data: st.DataObject
) -> None:
    s = data.draw(st.integers(1, d))
    queries = theory.counting_bound(d, s, bits)
    supports = math.comb(d, s)
    assert 2 ** (bits * queries) >= supports
    assert queries == 0 or 2 ** (bits * (queries - 1)) < supports


def test_counting_bound_is_exact_at_a_power_of_two() -> None:
    assert theory.counting_bound(2**53, 1) == 1
    assert theory.counting_bound(2**53 + 1, 1) == 2


@pytest.mark.parametrize("s", [1001, 5000, 10**6, 5 * 10**7, 10**8 - 1001])
def test_counting_bound_of_a_hundred_million(s: int) -> None:
    d = 10**8
    log_binomial = float(gammaln(d + 1) - gammaln(s + 1) - gammaln(d - s + 1))  # good to about 1e-6
    low, high = (math.ceil((log_binomial + error) / math.log(2) / 53) for error in (-1e-5, 1e-5))
    assert low <= theory.counting_bound(d, s) <= high


@pytest.mark.parametrize("bits", [1, 53])
def test_counting_bound_is_the_same_on_both_sides_of_exact_arithmetic(bits: int) -> None:
    for s in (1001, 1500):
        assert theory.counting_bound(4000, s, bits) == math.ceil(math.log2(math.comb(4000, s)) / bits)


@pytest.mark.parametrize(("d", "s", "n"), [(6, 2, 3), (7, 3, 2), (7, 2, 3), (6, 1, 4), (6, 6, 1), (6, 4, 4)])
def test_isolation_probability_by_enumeration_of_all_permutations(d: int, s: int, n: int) -> None:
    """Lemma A.7: the s are coordinates 0..s−1, of which 0 shall be alone."""
    orders = list(permutations(range(d)))
    alone = sum(all(order[i] // n != order[0] // n for i in range(1, s)) for order in orders)
    assert theory.isolation_probability(d, s, n) == pytest.approx(alone / len(orders), rel=1e-12)


@given(d=st.integers(1, 10**8), gamma=st.floats(0.01, 0.99), data=st.data())
def test_isolation_probability_is_at_least_what_gamma_buys(d: int, gamma: float, data: st.DataObject) -> None:
    s = data.draw(st.integers(1, max(1, int(gamma * d))))
    n = theory.group_size(d, s, gamma)
    assume(n >= 1)
    assert math.exp(-gamma) * (1 - 1e-9) <= theory.isolation_probability(d, s, n) <= 1


# Constants of one search


def c1_term(log_inverse_delta: np.ndarray, D: np.ndarray) -> np.ndarray:
    base = np.log(3) + log_inverse_delta
    first = (np.log((4 * D + 1) / (2 * D)) + log_inverse_delta) / base
    second = (np.log(8 * D + 2) + log_inverse_delta) / base
    term: np.ndarray = 2 * np.sqrt(first) + np.sqrt(second) / D - 1 / D**2
    return term


def test_c1_is_the_supremum() -> None:
    logs = np.concatenate([np.linspace(1e-9, 3, 3001), np.geomspace(3, 700, 300)])
    divisions = np.concatenate([np.linspace(2, 6, 201), np.geomspace(6, 1e9, 200)])
    values = c1_term(logs[:, None], divisions[None, :])
    assert values.max() <= theory.c1() < values.max() + 1e-7
    assert theory.c1() == pytest.approx(2.28955, abs=5e-6)


def test_c2_is_the_papers_but_for_its_rounding_of_c1() -> None:
    assert theory.c2(*PAPER) == pytest.approx(134.85, abs=0.005)
    rounded_up = (2.29 * 18 + 1 / 18) * math.sqrt(2 * math.log(3 / (0.08 * 0.36 * 0.5)))
    assert rounded_up == pytest.approx(134.88, abs=0.005)
    assert theory.IPW_CONSTANT / theory.c2(*PAPER) == pytest.approx(4300, rel=0.002)


@given(delta=units, phi=st.floats(0.01, 0.9), theta=units)
def test_round_risks_add_up_to_delta(delta: float, phi: float, theta: float) -> None:
    risks = [theory.round_risk(r, delta, phi, theta) for r in range(1, 300)]
    assert math.fsum(part for risk in risks for part in risk) == pytest.approx(delta, rel=1e-9)
    assert risks[2].delta_1 / (risks[2].delta_1 + risks[2].delta_2) == pytest.approx(theta)
    assert risks[2].delta_1 / risks[1].delta_1 == pytest.approx(phi)


def test_conditions_of_the_papers_choice_hold_and_are_tight() -> None:
    assert theory.conditions(*PAPER).hold
    assert not theory.conditions(PAPER.D - 1, *PAPER[1:]).hold


def test_conditions_by_hand() -> None:
    # delta_{1,1} = 0.0144, delta_{2,1} = 0.009216, delta_{1,2} = 0.1656
    x = 18 * 0.1656 * math.log(3 / 0.0144) / math.log(3 / 0.009216)
    found = theory.conditions(18, 0.5, 0.64, 0.08)
    assert found.x == pytest.approx(x)
    assert pytest.approx((18 - 1 / (math.sqrt(x) - 1)) * 0.64**2 * x / 18) == found.A
    assert pytest.approx(1 / (0.92 * 0.36 * 0.64**2 * 0.5)) == found.C3


def test_conditions_do_not_call_a_meaningless_a_good() -> None:
    found = theory.conditions(2, 0.999, 0.5, 0.001)  # x is just below 1, where the formula for A explodes
    assert 0.8 < found.x < 1
    assert math.isnan(found.A)
    assert not found.third


@given(D=st.integers(2, 5000), delta=units, phi=units, theta=units)
def test_schedule_grows_as_the_lemma_says(D: int, delta: float, phi: float, theta: float) -> None:
    found = theory.conditions(D, delta, phi, theta)
    if not found.hold:
        with pytest.raises(ValueError, match="no growing schedule"):
            theory.schedule(D, delta, phi, theta)
        return
    divisions = list(islice(theory.schedule(D, delta, phi, theta), 10))
    assert divisions == sorted(divisions)
    for r, division in enumerate(divisions, start=1):
        bound = math.log(found.C3) + 1.5 ** (r - 1) * math.log(found.A)
        assert math.log(division) >= bound - 1e-9


def test_schedule_by_hand() -> None:
    divisions = [18]
    for r in range(1, 8):
        d1, d2, next_d1 = 0.0144 * 0.64 ** (r - 1), 0.1656 * 0.64 ** (r - 1), 0.0144 * 0.64**r
        divisions.append(
            math.floor(divisions[-1] ** 1.5 * math.sqrt(d2 * math.log(3 / d1) / math.log(3 / next_d1)))
        )
    assert list(islice(theory.schedule(*PAPER), 8)) == divisions


@pytest.mark.parametrize("strength", [1.0, 0.02])
def test_shrink_threshold_in_simulation(strength: float) -> None:
    """On a linear f, a round keeps j with probability 1 − δ_1 at the threshold, and not far below it."""
    random = np.random.default_rng(5)
    size, D, delta_1, delta_2, trials = 60, 10, 0.2, 0.25, 2000
    rest = random.normal(size=size - 1)
    threshold = theory.shrink_threshold(D, delta_1, float(np.linalg.norm(rest)))
    gradient = np.concatenate([[threshold * strength], rest])
    found = quiet = 0
    for _ in range(trials):
        labels = 1 + random.permutation(size) // -(-size // D)
        signs = random.choice([-1.0, 1.0], size=size)
        found += round((signs * labels) @ gradient / (signs @ gradient)) == labels[0]
        kept = gradient[(labels == labels[0]) & (np.arange(size) > 0)]
        quiet += np.linalg.norm(kept) <= np.linalg.norm(rest) / math.sqrt(D * delta_2)
    assert (found / trials >= 1 - delta_1) == (strength == 1.0)
    assert quiet / trials >= 1 - delta_2


def test_curvature_terms() -> None:
    assert theory.lambda_1(7, 10, 3.0) == 3.0 * 110.5 * 7
    assert theory.lambda_2(10, 2.0, 3.0) == 2 * 2.0 * 3.0 * 110.5 * 10
    flat = theory.shrink_threshold(20, 0.1, 0.5)
    curved = theory.shrink_threshold(20, 0.1, 0.5, size=7, d=10, L1=3.0, eps=1e-3)
    assert curved - flat == pytest.approx(3.0 * 110.5 * 7 * 1e-3)


# The table of methods, errors, documentation


def test_method_bounds_are_seven_lines() -> None:
    assert Counter(row.kind for row in theory.METHOD_BOUNDS) == {"full": 5, "sparse": 2}
    assert len({str(row).index("O(") for row in theory.METHOD_BOUNDS}) == 1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: theory.group_size(10, 11), "s must be a whole number from 1 to 10; given: 11"),
        (lambda: theory.group_size(True, 1), "d must be a whole number of at least 1; given: True"),
        (lambda: theory.group_size(10, 1, 0.0), "gamma must be a positive finite number; given: 0.0"),
        (
            lambda: theory.practical_schedule(1),
            "first_division must be a whole number of at least 2; given: 1",
        ),
        (lambda: theory.worst_case_queries(10, 9, first_division=1), "first_division must be"),
        (lambda: theory.counting_bound(10, 1, 0), "bits must be a whole number of at least 1; given: 0"),
        (lambda: theory.isolation_probability(10, 1, 11), "n must be a whole number from 1 to 10; given: 11"),
        (lambda: theory.c2(1, 0.5, 0.5, 0.5), "D must be a whole number of at least 2; given: 1"),
        (lambda: theory.c2(2, 0.5, 1.0, 0.5), "phi must be a number above 0 and below 1; given: 1.0"),
        (lambda: theory.schedule(2, 0.5, 0.64, 0.08), "the first and second and third condition"),
        (lambda: theory.round_risk(0, 0.5, 0.5, 0.5), "r must be a whole number of at least 1; given: 0"),
        (
            lambda: theory.shrink_threshold(2, 0.5, -1.0),
            "rest must be a finite number of at least 0; given: -1.0",
        ),
        (lambda: theory.lambda_1(11, 10, 1.0), "n must be a whole number from 1 to 10; given: 11"),
        (lambda: theory.compressible_rho(1.0, 3), "kappa must be a number above 1 and below inf; given: 1.0"),
        (
            lambda: theory.hyperparameters(9, 1, 1.1, 0.5, 0.1),
            "rho must be a number above 0 and at most 1; given: 1.1",
        ),
        (
            lambda: theory.hyperparameters(9, 1, 0.5, 0.5, 0.1),
            r"alpha must be .* below 0.5 \(rho\); given: 0.5",
        ),
        (
            lambda: theory.convergence_bound(math.nan, 1, 1, 1, 1),
            "L1 must be a positive finite number; given: nan",
        ),
        (
            lambda: theory.high_probability_bound(2, 1, 0.5, 0.1, 1, 1, 1),
            r"eta must be .* 0.5 \(rho/L1\); given: 0.5",
        ),
        (lambda: theory.gradient_guarantee(9, 1, 1, 0.5, 1, 1, alpha_prime=0.4), "alpha_prime must be"),
        (lambda: theory.EpsilonSchedule(0.0), "first must be a positive finite number; given: 0.0"),
    ],
)
def test_wrong_input_is_named(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()
