"""The profile of the field: its functions are what they claim, its methods are counted, and it runs."""

from __future__ import annotations

import csv
import json
import math
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.queries import find_floors
from benchmarks.queries.functions import SUITE
from benchmarks.queries.functions.regression import LASSO_500, lasso_data
from benchmarks.queries.meter import LEVELS, Meter, RunOver, Task
from benchmarks.queries.problem import TARGETS, Problem, effective_sparsity
from benchmarks.queries.rivals import METHODS
from benchmarks.queries.rivals.method import Method
from benchmarks.queries.run import main
from benchmarks.queries.store import Job, Record, load_all
from benchmarks.queries.summary import Summary
from benchmarks.queries.tables import ratios_table
from scipy.optimize import approx_fprime

from gracezo.core.types import FloatArray

SMALL = [name for name in SUITE if "-100k-" not in name and "-1m-" not in name]
RUNNABLE = [name for name in METHODS if name not in ("auto", "nevergrad")]  # auto has tests of its own


def bowl(d: int = 20, s: int = 2) -> Problem:
    goal = np.zeros(d)
    goal[:s] = 1.0
    return Problem(
        "a bowl",
        lambda x: float(((x - goal) ** 2).sum()),
        lambda x: 2 * (x - goal),
        np.zeros(d),
        s,
        0.0,
        goal,
    )


# ---------------------------------------------------------------- the suite


def test_there_are_enough_functions_of_every_kind() -> None:
    assert len(SUITE) >= 15
    assert {entry.family for entry in SUITE.values()} >= {
        "paper", "attack", "quadratics", "rosenbrock", "power law", "chains", "regression", "kinks", "dense",
        "scaled", "opening", "rough",
    }  # fmt: skip


@pytest.mark.parametrize("name", SUITE)
def test_a_function_has_a_finite_floor_below_its_start(name: str) -> None:
    problem = SUITE[name].make()
    assert np.isfinite(problem.floor)
    assert problem.f(problem.x0) > problem.floor
    assert 1 <= problem.s <= problem.d
    if problem.optimum is not None:
        assert problem.f(problem.optimum) == pytest.approx(problem.floor, abs=1e-12)


@pytest.mark.parametrize("name", SMALL)
def test_gradients_agree_with_differences_away_from_kinks(name: str) -> None:
    problem = SUITE[name].make()
    rng = np.random.default_rng(5)
    # Kinks lie where a coordinate is 0; magnitudes here keep all of them at some distance.
    x = problem.x0 + rng.uniform(0.01, 0.02, problem.d) * rng.choice([-1.0, 1.0], problem.d)
    gradient = problem.gradient(x)
    places = np.argsort(-np.abs(gradient))[:: max(1, problem.d // 12)][:12]

    def on_places(y: FloatArray) -> float:
        point = x.copy()
        point[places] = y
        return problem.f(point)

    forward, backward = (approx_fprime(x[places], on_places, h) for h in (1e-6, -1e-6))
    measured = (forward + backward) / 2
    scale = np.abs(gradient).max()
    assert np.allclose(measured, gradient[places], rtol=1e-4, atol=1e-6 * scale + 1e-8 * abs(problem.f(x)))


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("lasso-500", find_floors.lasso_floor),
        ("logistic-500", find_floors.smooth_floor),
        ("attack-random-60", lambda problem: find_floors.attack_floor(problem, 2)),
    ],
)
def test_a_kept_floor_is_found_again(name: str, rule: object) -> None:
    problem = SUITE[name].make()
    assert callable(rule)
    gap = problem.f(problem.x0) - problem.floor
    assert rule(problem) == pytest.approx(problem.floor, abs=1e-9 * gap)


def test_the_floor_of_lasso_is_that_of_an_independent_solver() -> None:
    lasso = pytest.importorskip("sklearn.linear_model").Lasso
    features, answers, strength = lasso_data(*LASSO_500)
    model = lasso(alpha=strength, fit_intercept=False, tol=1e-10, max_iter=100_000)
    problem = SUITE["lasso-500"].make()
    assert problem.f(model.fit(features, answers).coef_) == pytest.approx(problem.floor, rel=1e-9)


def test_stages_move_their_support() -> None:
    problem = SUITE["stages-10k-5x4"].make()
    assert problem.optimum is not None
    first = np.flatnonzero(problem.gradient(problem.x0))
    assert len(first) == 4
    half = problem.x0.copy()
    half[first] = problem.optimum[first]
    second = np.flatnonzero(problem.gradient(half))
    assert len(second) == 4
    assert not set(first) & set(second)


def test_effective_sparsity_counts_what_holds_the_mass() -> None:
    assert effective_sparsity(np.array([0.0, 10.0, 0.1])) == 1
    assert effective_sparsity(np.ones(1000)) == 990


# ---------------------------------------------------------------- the meter


def test_every_call_counts_and_the_one_after_the_last_is_not_made() -> None:
    seen: list[float] = []

    def f(x: FloatArray) -> float:
        seen.append(x[0])
        return float(x[0])

    meter = Meter(replace(bowl(), f=f), 3)
    for place in (1.0, 2.0, 3.0):
        assert meter(np.full(20, place)) == place
    with pytest.raises(RunOver):
        meter(np.full(20, 4.0))
    assert seen == [1.0, 2.0, 3.0]
    assert meter.queries == 3


def test_levels_are_reached_at_the_query_that_reached_them() -> None:
    problem = bowl(d=1, s=1)
    meter = Meter(problem, 100)
    for share in (1.0, 0.5, 0.6, 0.1, 0.009):
        meter(np.array([1.0 - math.sqrt(share) * (1 - 1e-12)]))
    reached = dict(zip(LEVELS.round(6).tolist(), meter.reached, strict=False))
    assert reached[1.0] == 1
    assert reached[round(10**-0.3, 6)] == 2
    assert reached[0.1] == 4
    assert reached[0.01] == 5
    assert meter.queries == 5


def test_reaching_the_strictest_target_ends_the_run() -> None:
    problem = bowl()
    assert problem.optimum is not None
    meter = Meter(problem, 100)
    meter(problem.x0)
    with pytest.raises(RunOver):
        meter(problem.optimum)
    assert meter.queries == 2
    assert len(meter.reached) == len(LEVELS)


# ---------------------------------------------------------------- the methods


def run_on(problem: Problem, method: Method, setting: str, budget: int) -> tuple[Meter, int]:
    """Run a method; return the meter and the calls that an independent counter saw."""
    calls = 0

    def counted(x: FloatArray) -> float:
        nonlocal calls
        calls += 1
        if calls == 1:
            assert np.array_equal(x, problem.x0), "the first query is f(x0)"
        return problem.f(x)

    meter = Meter(replace(problem, f=counted), budget)
    with suppress(RunOver):
        method.solve(meter, Task(problem.x0, problem.s, budget, 1), **method.settings[setting])
    return meter, calls


@pytest.mark.parametrize("name", RUNNABLE)
@pytest.mark.parametrize("budget", [7, 300])
def test_a_method_never_exceeds_its_budget(name: str, budget: int) -> None:
    if name == "sep-cma-es":
        pytest.importorskip("cma")
    method = METHODS[name]
    meter, calls = run_on(bowl(d=50), method, next(iter(method.settings)), budget)
    assert calls == meter.queries <= budget


@pytest.mark.parametrize("name", [name for name in RUNNABLE if name != "grace"])
def test_a_rival_solves_a_bowl(name: str) -> None:
    if name == "sep-cma-es":
        pytest.importorskip("cma")
    meter, _ = run_on(bowl(), METHODS[name], "default", 20_000)
    assert len(meter.reached) == len(LEVELS)


def test_coordinate_descent_solves_a_separable_quadratic_in_one_sweep() -> None:
    problem = bowl(d=30, s=3)
    meter, _ = run_on(problem, METHODS["coordinates"], "default", 10_000)
    # 27 coordinates cost two queries each, those off their place a doubling search of at most ten.
    assert meter.queries <= 1 + 2 * 27 + 10 * 3


def test_support_lbfgs_pays_for_one_gradient_and_then_for_its_support_only() -> None:
    meter, _ = run_on(bowl(d=200, s=2), METHODS["support-lbfgs"], "default", 10_000)
    assert 201 < meter.queries <= 201 + 20


@pytest.mark.parametrize(
    ("d", "budget", "expected"),
    [(100, 1_000, 100), (10, 300, 300), (1_000, 1_000, 50), (1_000, 20, 20), (5_001, 1_000, 0)],
)
def test_machine_time_limits_the_queries_of_a_method(d: int, budget: int, expected: int) -> None:
    slow = replace(METHODS["coordinates"], work=1e4, least=50, largest_d=5_000)
    assert slow.affordable(d, budget) == expected


# ---------------------------------------------------------------- the report


def record(problem: str, method: str, setting: str, reached: list[int]) -> Record:
    return Record(Job(problem, method, setting), 10, 2, 100, 0.0, 100, reached, 0.5, 0.1, 0.05, "budget")


def test_the_summary_takes_the_best_setting_for_each_target() -> None:
    to_tenth, to_hundredth = 21, 41  # levels up to and with 0.1 and 0.01
    fast = [*range(1, to_tenth), 30]
    thorough = [*range(1, to_tenth), *[50] * (to_hundredth - to_tenth), 60]
    summary = Summary(
        [
            record("leader-1k", "grace", "step=1,eps=1e-06", fast),
            record("leader-1k", "grace", "step=0.5,eps=1e-06", thorough),
        ]
    )
    (row,), (method,) = summary.rows, summary.methods
    assert summary.queries(row, method, TARGETS[0]) == 30
    assert summary.queries(row, method, TARGETS[1]) == 60
    assert summary.queries(row, method, TARGETS[2]) == math.inf
    assert summary.share(method, TARGETS[0], np.array([29.0, 30.0]), per_sweep=False).tolist() == [0.0, 1.0]
    assert summary.share(method, TARGETS[0], np.array([2.7, 2.8]), per_sweep=True).tolist() == [0.0, 1.0]


def test_ratios_are_medians_over_what_both_solve() -> None:
    to_tenth = 21
    summary = Summary(
        [
            record(problem, method, "default", [queries] * to_tenth)
            for problem, method, queries in [
                ("leader-1k", "auto", 10), ("leader-1k", "coordinates", 20), ("leader-1k", "lbfgs", 50),
                ("lasso-500", "auto", 10), ("lasso-500", "coordinates", 40),
                ("lasso-3k", "lbfgs", 1),
            ]
        ]
    )  # fmt: skip
    first, second = ratios_table(summary, summary.methods[0]).splitlines()[2:4]
    assert first == "| 0.1 | 3.0 (2) | 3.0 (2) | 5.0 (1) |"
    assert second == "| 0.01 | – | – | – |"


def test_a_tiny_profile_end_to_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--quick", "--functions", "distance-1k-s1", "rastrigin-50", "--methods", "coordinates", "lbfgs"]
    words += ["--runs", str(tmp_path / "runs"), "--results", str(tmp_path / "results")]
    main(words)
    assert len(capsys.readouterr().out.splitlines()) == 3  # 1000 queries are too few for lbfgs at d = 1000
    assert len(list(load_all(tmp_path / "runs"))) == 3
    with (tmp_path / "results" / "targets.csv").open() as stream:
        rows = {(row["problem"], row["target"]): row for row in csv.DictReader(stream)}
    assert len(rows) == 2 * len(TARGETS)
    assert 0 < int(rows["distance-1k-s1", "1e-8"]["coordinates"]) <= 1000
    assert rows["distance-1k-s1", "0.1"]["lbfgs"] == ""
    for picture in ("profile-queries", "profile-sweeps", "targets-0.01"):
        for ending in (".png", ".svg"):
            assert (tmp_path / "results" / (picture + ending)).stat().st_size > 1000
    machine = json.loads((tmp_path / "results" / "machine.json").read_text())
    assert (machine["seed"], machine["runs"], machine["numpy"]) == (1, 3, np.__version__)

    kept = next((tmp_path / "runs").glob("*/*.json"))
    kept.write_text(json.dumps({**json.loads(kept.read_text()), "budget": 1}))
    main(words)
    (line,) = capsys.readouterr().out.splitlines()  # a run under other conditions is made anew, no other is
    assert kept.parent.name in line


def test_a_report_keeps_what_it_said_of_methods_whose_runs_are_gone(tmp_path: Path) -> None:
    runs, results = tmp_path / "runs", tmp_path / "results"
    words = ["--quick", "--functions", "distance-1k-s1", "rastrigin-50", "--runs", str(runs)]
    words += ["--results", str(results), "--methods", "coordinates"]
    main([*words, "lbfgs"])
    written = {name: (results / name).read_text() for name in ("targets.csv", "targets.md", "profile.csv")}
    for file in runs.glob("*/lbfgs@*.json"):
        file.unlink()
    main(words)
    assert {name: (results / name).read_text() for name in written} == written
    machine = json.loads((results / "machine.json").read_text())
    assert (machine["runs"], machine["rivals"]["runs"]) == (2, 3)


def test_an_unknown_function_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no function matches nowhere"):
        main(["--functions", "nowhere", "--runs", str(tmp_path)])
