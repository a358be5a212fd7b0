"""Candidates and convergence: the theory functions against independent oracles."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from gracezo import theory

units = st.floats(0.01, 0.99)


# Candidates


@given(kappa=st.floats(1.01, 3), s=st.integers(1, 50))
def test_compressible_rho_is_kept_by_the_slowest_decay(kappa: float, s: int) -> None:
    tail = float(np.sum(np.arange(s + 1, 20_000, dtype=float) ** (-2 * kappa)))
    assert 1 - tail >= theory.compressible_rho(kappa, s) - 1e-12


@given(rho=st.floats(0.05, 0.99), share=units, delta=units)
def test_beta_makes_the_number_of_groups_least(rho: float, share: float, delta: float) -> None:
    alpha = rho * share

    def groups(beta: float) -> float:
        return math.log(rho / ((rho - alpha - (1 - rho) * beta) * delta)) / beta

    most = min(1.0, (rho - alpha) / (1 - rho))
    best = minimize_scalar(
        groups, bounds=(1e-9 * most, most * (1 - 1e-9)), method="bounded", options={"xatol": 1e-12}
    )
    found = theory.hyperparameters(10**6, 1, rho, alpha, delta)
    assert groups(found.beta) <= best.fun * (1 + 1e-6)


def test_hyperparameters_by_hand_for_exact_sparsity() -> None:
    found = theory.hyperparameters(10**7, 3, rho=1.0, alpha=0.9, delta=0.05, nu=0.4)
    c2 = theory.c2(*theory.SearchParameters())
    assert found.beta == 1.0
    assert found.gamma == pytest.approx(0.6 / c2**2)
    assert found.n == math.floor(0.6 / c2**2 * 10**7 / 3)
    assert math.ceil(10**7 / found.n) == found.K
    missed = 1 - math.exp(-0.6 / c2**2) * 0.2  # by one repeat
    assert missed**found.m <= 0.1 * 0.05 < missed ** (found.m - 1)
    assert found.candidates == found.m * found.K
    assert not found.everything


def test_hyperparameters_say_when_every_coordinate_is_a_candidate() -> None:
    found = theory.hyperparameters(10_000, 10, rho=0.9, alpha=0.5, delta=0.1)
    assert found.everything
    assert (found.n, found.K, found.m, found.candidates) == (1, 10_000, 1, 10_000)
    begin = int(found.note.split("d = ")[1].split(" for")[0].replace(",", ""))
    assert theory.hyperparameters(begin - 1, 10, 0.9, 0.5, 0.1).everything
    assert not theory.hyperparameters(begin, 10, 0.9, 0.5, 0.1).everything


# Convergence


def squared_gradients(alpha: float, eta: float, steps: int, random: np.random.Generator) -> np.ndarray:
    """Return ‖∇f(x_t)‖² of f = ‖x‖² (L_1 = 2, gap 1) when a step sees each entry with probability α."""
    x = np.full(20, 20**-0.5)
    squares = np.empty(steps)
    for t in range(steps):
        gradient = 2 * x
        squares[t] = gradient @ gradient
        x = x - eta * gradient * (random.random(20) < alpha)
    return squares


def test_bounds_hold_in_simulation() -> None:
    random = np.random.default_rng(3)
    alpha, beta, steps, runs = 0.3, 0.2, 30, 200
    eta = alpha / 2
    least = np.minimum.accumulate([squared_gradients(alpha, eta, steps, random) for _ in range(runs)], axis=1)
    for T in range(1, steps + 1):
        assert least[:, T - 1].mean() <= theory.convergence_bound(2.0, alpha, 1.0, 1e-9, T)
    bounds = [theory.high_probability_bound(2.0, 1.0, eta, beta, 1.0, 1e-9, T) for T in range(1, steps + 1)]
    assert np.mean((least <= bounds).all(axis=1)) >= 1 - beta


def test_bounds_by_hand() -> None:
    assert theory.convergence_bound(2.0, 0.5, 3.0, 0.25, 7) == pytest.approx((2 * 2 / 0.25 * 3 + 0.25) / 7)
    # L1·eta = 1/2: numerator 1 + 2·½/(½·β) = 1 + 2/β, denominator eta·(1 − ¼)
    expected = ((1 + 2 / 0.1) / (0.25 * 0.75) * 3.0 + 0.25) / 7
    assert theory.high_probability_bound(2.0, 0.8, 0.25, 0.1, 3.0, 0.25, 7) == pytest.approx(expected)


lipschitz = st.floats(1e-3, 1e3)
T_MANY = 4000


@given(
    d=st.integers(1, 10**6), rho=st.floats(0.1, 1), share=units, L0=lipschitz, L1=lipschitz, Delta=lipschitz
)
def test_convergence_epsilon_spends_delta_over_the_whole_run(
    d: int, rho: float, share: float, L0: float, L1: float, Delta: float
) -> None:
    """Add up Eq. (opt-sum) over the steps, term by term."""
    alpha = rho * share
    found = theory.convergence_epsilon(d, 1, rho, alpha, L0, L1, Delta)
    eps = found.eps / np.arange(1.0, T_MANY) ** 2
    eta, g = alpha / L1, found.guarantee
    error = g.norm_error * eps
    inner = g.lambda_3 * eps + g.lambda_4 * eps**2
    spent = 2 * L1 / alpha**2 * np.sum(eta * inner + L1 * eta**2 / 2 * (2 * L0 * error + error**2))
    assert found.step_size == eta
    assert (1 - 1e-3) * Delta <= spent <= Delta * (1 + 1e-9)


@given(
    d=st.integers(1, 10**6),
    rho=st.floats(0.1, 1),
    share=units,
    beta=units,
    L0=lipschitz,
    L1=lipschitz,
    Delta=lipschitz,
)
def test_high_probability_epsilon_solves_its_equation_and_covers_the_strict_one(
    d: int, rho: float, share: float, beta: float, L0: float, L1: float, Delta: float
) -> None:
    eta = share * rho / L1
    found = theory.high_probability_epsilon(d, 1, rho, eta, beta, L0, L1, Delta)
    eps, mu_5, mu_6 = Fraction(found.eps), Fraction(found.linear), Fraction(found.quadratic)
    assert float(mu_5 * eps + mu_6 * eps**2) == pytest.approx(Delta, rel=1e-12)

    # The proof's chain without its simplifications: Markov's inequality, then the descent inequality.
    alpha, g = L1 * eta, found.guarantee
    steps = found.eps / np.arange(1.0, T_MANY) ** 2
    error = g.norm_error * steps
    norm = np.sum(L1 * eta**2 / 2 * (2 * L0 * error + error**2))
    inner = np.sum(g.lambda_3 * steps + g.lambda_4 * steps**2)
    expected_sum = 2 * L1 / alpha**2 * (eta * inner + norm)
    markov = ((1 - alpha) * expected_sum + inner + L0 * np.sum(error)) / beta - L0 * np.sum(error)
    assert (norm + eta * markov) / (eta - L1 * eta**2 / 2) <= Delta


def test_epsilon_survives_where_the_textbook_root_cancels() -> None:
    found = theory.convergence_epsilon(10, 1, 1.0, 0.5, 1e6, 1.0, 1e-12)
    textbook = (-found.linear + math.sqrt(found.linear**2 + 4 * found.quadratic * 1e-12)) / (
        2 * found.quadratic
    )
    assert textbook == 0.0
    assert found.eps == pytest.approx(1e-12 / found.linear, rel=1e-9)


def test_guarantee_by_hand() -> None:
    found = theory.gradient_guarantee(10, 2, rho=0.9, alpha=0.6, L0=3.0, L1=2.0, alpha_prime=0.8)
    assert found.settings.everything  # so √(C·s) = √10, and δ = 1 − 0.6/0.8
    assert found.norm_error == pytest.approx(math.sqrt(10))
    assert found.lambda_3 == pytest.approx(0.75 * theory.lambda_2(10, 3.0, 2.0) + 3 * math.sqrt(10))
    assert found.lambda_4 == pytest.approx(0.75 * theory.lambda_1(10, 10, 2.0) ** 2)


def test_epsilon_schedule_counts_from_one() -> None:
    schedule = theory.convergence_epsilon(10, 1, 1.0, 0.5, 1.0, 1.0, 1.0).schedule
    assert schedule(1) == schedule.first
    assert schedule(3) == schedule.first / 9
    with pytest.raises(ValueError, match="t must be a whole number of at least 1; given: 0"):
        schedule(0)
