"""What each method of the comparison costs a step, exactly, and that it works."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gracezo
from gracezo.problems import Distance

QUERIES: dict[str, tuple[dict[str, Any], int]] = {  # method: options, queries a step, after one for f(x0)
    "rs": ({}, 2),
    "tpge": ({}, 3),
    "rspg": ({"queries": 13}, 14),
    "zo-signsgd": ({"queries": 13}, 14),
    "zo-adamm": ({}, 2),
    "gld": ({"step_size": 1e-3}, 4),
    "lasso": ({"queries": 13}, 14),
    "sparseszo": ({"queries": 13}, 14),
    "trunczsgd": ({"queries": 13}, 14),
    "zoro": ({"queries": 13}, 14),
    "zo-bcd": ({"queries": 13}, 14),
    "szoht": ({"queries": 50}, 51),
}


def dense(x: np.ndarray) -> float:
    """A function in which every coordinate matters, so that no step is without effect."""
    return float((np.arange(1, len(x) + 1) * (x - 1.0) ** 2).sum() / len(x))


@pytest.mark.parametrize("method", QUERIES)
def test_queries_a_step(method: str) -> None:
    options, cost = QUERIES[method]
    for steps in (1, 7):
        result = gracezo.minimize(
            dense, np.zeros(50), method=method, sparsity=4, max_steps=steps, seed=0, options=options
        )
        assert result.nit == steps
        assert result.nfev == 1 + steps * cost
        assert result.trace.queries.tolist() == [1 + t * cost for t in range(steps + 1)]


@pytest.mark.parametrize("method", QUERIES)
def test_a_gradient_is_bought_whole_and_with_its_step(method: str) -> None:
    options, cost = QUERIES[method]
    if method == "gld":
        cost = 1  # its trials are steps: each is of use alone
    budget = 1 + 3 * QUERIES[method][1] + cost - 1
    result = gracezo.minimize(
        dense, np.zeros(50), method=method, sparsity=4, max_queries=budget, seed=0, options=options
    )
    assert (result.nfev, result.nit) == (1 + 3 * QUERIES[method][1], 3)


@pytest.mark.parametrize("method", [*QUERIES, "ipw", "grace", "fdsa"])
def test_the_defaults_make_progress(method: str) -> None:
    problem = Distance(seed=3, d=500, s=3)
    result = gracezo.minimize(
        problem, problem.x0, method=method, sparsity=3, max_queries=3000, seed=1, copy=False
    )
    assert result.fun < 0.97 * result.trace.values[0]


def test_rspg_follows_its_exact_expectation() -> None:
    """On f = Σ w_i·e_i² the second moments of RSPG follow a linear recursion, since its rows are Gaussian."""
    problem = Distance(seed=1, d=60, s=4)
    assert problem.optimum is not None
    eta, q, steps = 0.02, 5, 20
    h = 2 * problem.weights
    squares = problem.optimum**2
    expected = []
    for _ in range(steps + 1):
        expected.append(0.5 * h @ squares)
        common = eta**2 / q * (h**2 @ squares)
        squares = squares * (1 - 2 * eta * h + eta**2 * (1 + 1 / q) * h**2) + common
    runs = np.array(
        [
            gracezo.minimize(
                problem,
                problem.x0,
                method="rspg",
                max_steps=steps,
                seed=seed,
                options={"step_size": eta, "queries": q},
            ).trace.values
            for seed in range(150)
        ]
    )
    error = runs.std(axis=0, ddof=1) / np.sqrt(len(runs))
    assert (np.abs(runs.mean(axis=0) - expected)[1:] < 4 * error[1:]).all()
    assert error[-1] < 0.03 * expected[-1]


@pytest.mark.parametrize("form", ["plain", "mirror"])
def test_both_forms_of_lasso_make_progress(form: str) -> None:
    problem = Distance(seed=3, d=500, s=3)
    options = {"form": form}
    result = gracezo.minimize(problem, problem.x0, method="lasso", max_queries=2000, seed=1, options=options)
    assert result.fun < 0.8 * result.trace.values[0]


def test_gld_never_goes_up_and_uses_a_part_of_its_last_trials() -> None:
    options = {"step_size": 0.1}
    result = gracezo.minimize(dense, np.zeros(50), method="gld", max_queries=403, seed=0, options=options)
    assert (result.nfev, result.nit) == (403, 101)
    assert (np.diff(result.trace.values) <= 0).all()
    assert result.fun == result.trace.values[-1] < 0.7 * result.trace.values[0]


def test_gld_halves_its_scale() -> None:
    spread: list[float] = []

    def record(x: np.ndarray) -> float:
        spread.append(float(x.std()))
        return float(len(spread))  # never better than x0

    gracezo.minimize(record, np.zeros(4000), method="gld", max_steps=1, seed=0, options={"step_size": 0.8})
    assert spread == pytest.approx([0, 0.8, 0.4, 0.2, 0.1], rel=0.05)


@pytest.mark.parametrize("method", [*QUERIES, "ipw"])
def test_a_constant_ends_the_run(method: str) -> None:
    options, _ = QUERIES.get(method, ({}, 0))
    result = gracezo.minimize(
        lambda x: 1.0, np.zeros(20), method=method, sparsity=3, max_queries=5000, seed=0, options=options
    )
    assert result.status == 4
    assert result.fun == 1.0


@pytest.mark.parametrize("method", ["ipw", "sparseszo", "trunczsgd", "zoro", "zo-bcd", "szoht"])
def test_sparse_methods_ask_for_the_sparsity(method: str) -> None:
    with pytest.raises(ValueError, match="needs sparsity=s"):
        gracezo.minimize(dense, np.zeros(9), method=method, max_queries=9)


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("rs", {"queries": 0}, "option queries must be a whole number of at least 1; given: 0"),
        ("rs", {"step_size": -1.0}, "option step_size must be a positive number"),
        ("tpge", {"queries": 3}, "option queries must be even, two a pair; given: 3"),
        ("lasso", {"queries": 1}, "option queries must be a whole number of at least 2"),
        ("lasso", {"form": "round"}, "option form must be one of 'plain', 'mirror'"),
        ("lasso", {"penalty": 0}, "option penalty must be a positive number"),
        ("lasso", {"differenced": "no"}, "option differenced must be True or False; given: 'no'"),
        ("zo-adamm", {"beta1": 1.0}, "option beta1 must be a number from 0 to below 1; given: 1.0"),
        ("sparseszo", {"mask_period": 0}, "option mask_period must be a whole number"),
        ("zoro", {"tolerance": 0}, "option tolerance must be a positive number"),
        ("zo-bcd", {"blocks": 2.5}, "option blocks must be a whole number"),
        ("gld", {"queries": "4"}, "option queries must be a whole number"),
    ],
)
def test_wrong_options(method: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gracezo.minimize(dense, np.zeros(9), method=method, sparsity=2, max_queries=99, options=options)
