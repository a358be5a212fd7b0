"""The functions beside the profile are what they claim, and their tables come out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import nullcontext
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest
from benchmarks.others.functions import FAMILIES
from benchmarks.others.run import COMPARED, Run, budget, main, table
from benchmarks.queries.problem import Problem
from scipy.optimize import approx_fprime

SEED = 101
FOUND = {
    "hidden-log-sum-exp", "poisson", "logistic", "huber", "network", "lasso", "group-lasso",
    "total-variation",
}  # fmt: skip
"""The families whose optimum is not known in closed form."""


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Keep to one thread if possible: for matrices as small as these, several wait for each other only."""
    limited = (
        import_module("threadpoolctl").threadpool_limits(1) if find_spec("threadpoolctl") else nullcontext()
    )
    with limited:
        yield


@pytest.fixture(scope="module", params=FAMILIES)
def made(request: pytest.FixtureRequest) -> tuple[str, Problem]:
    name: str = request.param
    return name, FAMILIES[name](SEED)


def test_a_seed_gives_one_function_and_another_gives_another(made: tuple[str, Problem]) -> None:
    name, problem = made
    again, other = FAMILIES[name](SEED), FAMILIES[name](SEED + 1)
    assert np.array_equal(again.x0, problem.x0)
    assert again.floor == problem.floor
    x = problem.x0 + np.random.default_rng(3).normal(size=problem.d)
    assert again.f(x) == problem.f(x)
    assert other.f(x) != problem.f(x) or not np.array_equal(other.x0, problem.x0)


def test_the_floor_is_below_the_start_and_at_the_optimum(made: tuple[str, Problem]) -> None:
    name, problem = made
    above = problem.f(problem.x0) - problem.floor
    assert 0.0 < above < math.inf
    assert 1 <= problem.s <= problem.d
    assert problem.optimum is not None
    assert problem.f(problem.optimum) == pytest.approx(problem.floor, abs=1e-9 * above)
    assert name in FOUND or problem.floor == 0.0


def test_nothing_near_the_optimum_is_below_the_floor(made: tuple[str, Problem]) -> None:
    _, problem = made
    assert problem.optimum is not None
    above = problem.f(problem.x0) - problem.floor
    rng = np.random.default_rng(4)
    for reach in np.logspace(-8, 0, 20):
        value = problem.f(problem.optimum + reach * rng.normal(size=problem.d))
        assert value >= problem.floor - 1e-9 * above


@pytest.mark.parametrize("name", ["poisson", "logistic", "huber", "network"])
def test_gradients_are_exact_and_vanish_at_the_optimum(name: str) -> None:
    problem = FAMILIES[name](SEED)
    assert problem.optimum is not None
    x = problem.x0 + 0.1 * np.random.default_rng(5).normal(size=problem.d)
    gradient = problem.gradient(x)
    forward, backward = (approx_fprime(x, problem.f, h) for h in (1e-6, -1e-6))
    scale = float(np.abs(gradient).max())
    assert np.allclose((forward + backward) / 2, gradient, rtol=1e-4, atol=1e-5 * scale)
    assert np.abs(problem.gradient(problem.optimum)).max() < 1e-6 * scale


@pytest.mark.parametrize(("d", "expected"), [(60, 8_000), (1_000, 20_020), (3_000, 30_000)])
def test_the_budget_has_bounds(d: int, expected: int) -> None:
    assert budget(d) == expected


def test_the_fewest_queries_of_those_that_solve_the_most_are_bold() -> None:
    needed = {
        "auto": (100.0, 1300.0),
        "support-lbfgs": (50.0, math.inf),
        "lbfgs": (math.inf, math.inf),
        "coordinates": (900.0, 900.0),
    }
    runs = [
        Run("zakharov", SEED + i, method, 60, {"0.01": queries}, 0.0, "budget")
        for method, both in needed.items()
        for i, queries in enumerate(both)
    ]
    assert table(runs, "0.01").splitlines()[2] == "| `zakharov` | 60 | **700** | 50 (1 of 2) | – | 900 |"


def test_a_tiny_run_prints_a_table_for_each_target(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--instances", "1", "--jobs", "1", "--only", "zakharov"])
    said = capsys.readouterr()
    lines = said.out.splitlines()
    heads = [place for place, line in enumerate(lines) if line.startswith("Queries to")]
    assert [lines[place].split()[2] for place in heads] == ["0.01", "1e-4"]
    for place in heads:
        blank, head, rule, row, end = lines[place + 1 : place + 6]
        assert (blank, end) == ("", "")
        assert head.count("|") == rule.count("|") == row.count("|") == len(COMPARED) + 3
        assert row.startswith("| `zakharov` | 60 | ")
        assert row.count("**") == 2
    assert len(said.err.splitlines()) == len(COMPARED)


def test_an_unknown_family_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--only", "nowhere"])
    assert "nowhere" in capsys.readouterr().err
