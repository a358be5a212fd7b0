"""Very many coordinates: what a run keeps in memory, and that neighbours cost no more than others."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.speed.functions import HiddenBowl
from scipy.optimize import Bounds

import gracezo
from gracezo.core.types import FloatArray
from gracezo.problems import Distance, Magnitude
from gracezo.testing import check_objective

D = 10**6


class Frugal:
    """w @ (x − v)², without an array of its own at each call."""

    def __init__(self, hidden: FloatArray, weights: FloatArray | None = None) -> None:
        self.hidden = hidden
        self.weights = np.random.default_rng(0).random(len(hidden)) if weights is None else weights
        self._ways = np.empty(len(hidden))

    def __call__(self, x: FloatArray) -> float:
        np.subtract(x, self.hidden, out=self._ways)
        np.square(self._ways, out=self._ways)
        return float(self.weights @ self._ways)


def hidden(places: Any, d: int = D) -> FloatArray:
    v = np.zeros(d)
    v[places] = np.random.default_rng(1).random(len(places)) + 0.5
    return v


def arrays(run: Any, d: int = D) -> float:
    """Return the most memory that a run has had, in arrays of d doubles."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1] / (8.0 * d)
    finally:
        tracemalloc.stop()


# None is met; all coordinates begin at one; and one cuts what the others want.
BOUNDS = [None, (-5.0, 5.0), (0.0, 5.0), (None, 0.4)]


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("method", ["auto", "grace"])
def test_a_run_keeps_three_arrays_at_most(method: str, bounds: object) -> None:
    places = np.random.default_rng(2).choice(D, 5, replace=False)
    f, x0 = Frugal(hidden(places)), np.zeros(D)
    results = []

    def run() -> None:
        results.append(
            gracezo.minimize(
                f, x0, method=method, bounds=bounds, sparsity=5, seed=1, copy=False, max_queries=60
            )
        )

    assert arrays(run) <= 3.0
    if method == "auto":
        assert set(places) <= set(results[0].support.tolist())


@pytest.mark.parametrize("method", ["auto", "grace"])
def test_bounds_for_each_coordinate_are_kept_once(method: str) -> None:
    places = np.random.default_rng(2).choice(D, 5, replace=False)
    f, x0, rng = Frugal(hidden(places)), np.zeros(D), np.random.default_rng(3)
    low, high = -rng.uniform(2.0, 3.0, D), rng.uniform(2.0, 3.0, D)
    results = []

    def run() -> None:
        results.append(
            gracezo.minimize(
                f,
                x0,
                method=method,
                bounds=Bounds(low, high),
                sparsity=5,
                seed=1,
                copy=False,
                max_queries=60,
            )
        )

    assert arrays(run) <= 3.0 + 2.0  # copies of both
    if method == "auto":
        assert set(places) <= set(results[0].support.tolist())


def fixing(share: float, d: int) -> tuple[Bounds, FloatArray, FloatArray]:
    """Return bounds that fix a share of the coordinates, free ones that matter, and where a minimum is."""
    rng = np.random.default_rng(6)
    fixed = rng.random(d) < share
    places = np.sort(rng.choice(np.flatnonzero(~fixed), 5, replace=False))
    v = hidden(places, d)
    v[rng.choice(np.flatnonzero(fixed), 5, replace=False)] = 3.0  # would matter, if they could move
    return Bounds(np.where(fixed, 0.0, -2.0), np.where(fixed, 0.0, 2.0)), places, v


@pytest.mark.parametrize("share", [1e-4, 0.5])
@pytest.mark.parametrize("method", ["auto", "grace"])
def test_coordinates_that_bounds_fix_take_no_memory(method: str, share: float) -> None:
    bounds, places, v = fixing(share, D)
    f, x0 = Frugal(v), np.zeros(D)
    arguments: dict[str, Any] = {"method": method, "sparsity": 5, "seed": 1, "copy": False, "max_queries": 60}
    results = []

    def run() -> None:
        results.append(gracezo.minimize(f, x0, bounds=bounds, **arguments))

    run()  # what is loaded at first use
    assert arrays(run) <= 3.0 + 2.0 + 0.5  # copies of both bounds; 131,072 candidates, whatever d is
    fixed = bounds.lb == bounds.ub
    assert not results[0].x[fixed].any()
    if method == "auto":
        assert set(places) <= set(results[0].support.tolist())
        assert not fixed[results[0].support].any()


@pytest.mark.parametrize("share", [1e-4, 0.2, 0.999])
def test_auto_converges_where_bounds_fix_some_of_very_many_coordinates(share: float) -> None:
    d = 180_000
    bounds, places, v = fixing(share, d)
    f, x0 = Frugal(v), np.zeros(d)
    left = float(f.weights @ np.where(bounds.lb == bounds.ub, v, 0.0) ** 2)
    result = gracezo.minimize(f, x0, bounds=bounds, seed=2, copy=False, max_queries=400)
    assert result.success
    assert np.sort(result.support).tolist() == places.tolist()
    assert result.fun - left < 1e-9 * f(x0)
    found = gracezo.estimate_gradient(f, x0, bounds=bounds, seed=2)
    assert found.indices.tolist() == places.tolist()


def test_a_fixed_coordinate_of_another_size_blurs_no_look() -> None:
    d = 140_000
    v, x0 = 1.0 + hidden(np.array([3, 100_000]), d), np.ones(d)
    low, high = np.full(d, -2.0), np.full(d, 3.0)
    for point in (v, x0, low, high):
        point[70_000] = 1e9
    f = Frugal(v)
    result = gracezo.minimize(f, x0, bounds=Bounds(low, high), seed=2, copy=False, max_queries=300)
    assert result.success
    assert result.fun < 1e-12 * f(x0)


@pytest.mark.parametrize("bounds", [None, (-50.0, 50.0)])
def test_a_scale_for_each_coordinate_is_kept_twice(bounds: object) -> None:
    places = np.random.default_rng(2).choice(D, 5, replace=False)
    f, x0 = Frugal(hidden(places)), np.zeros(D)
    sizes, results = np.exp(np.random.default_rng(3).standard_normal(D)), []

    def run() -> None:
        results.append(
            gracezo.minimize(f, x0, scale=sizes, bounds=bounds, seed=1, copy=False, max_queries=60)
        )

    # As it was given, and as powers of two; in these, bounds differ from one coordinate to the next.
    assert arrays(run) <= 3.0 + 2.0 + (0.0 if bounds is None else 2.0)
    assert set(places) <= set(results[0].support.tolist())


@pytest.mark.parametrize("bounds", [None, (1.0, 2.0)])
def test_very_many_coordinates_in_units_of_their_own_are_asked_the_same_points(bounds: object) -> None:
    d = 140_000
    sizes = np.exp2(np.arange(d) % 5 - 2.0)
    f = Frugal(hidden(np.array([3, 100_000]), d))
    box = None if bounds is None else Bounds(*(end * sizes for end in (1.0, 2.0)))
    arguments: dict[str, Any] = {"seed": 5, "max_queries": 40, "copy": False}
    one = gracezo.minimize(f, np.ones(d), scale=1.0, bounds=bounds, **arguments)
    own = gracezo.minimize(lambda x: f(x / sizes), sizes.copy(), scale=sizes, bounds=box, **arguments)
    assert np.array_equal(own.x, sizes * one.x)
    assert np.array_equal(own.trace.values, one.trace.values)


def test_known_points_are_kept_once() -> None:
    places = np.random.default_rng(2).choice(D, 5, replace=False)
    f, x0 = Frugal(hidden(places)), np.zeros(D)
    known = np.zeros((2, D))
    known[1, places] = 0.5
    values = [f(x) for x in known]
    results = []

    def run() -> None:
        results.append(gracezo.minimize(f, x0, known=(known, values), seed=1, copy=False, max_queries=60))

    assert arrays(run) <= 3.0 + 2.0  # a copy of both
    assert results[0].trace.values[1] == values[1]  # where the run goes on
    assert results[0].trace.queries.tolist()[:2] == [0, 0]
    assert set(places) == set(results[0].support.tolist())


@pytest.mark.parametrize("scale", [1.0, 3.0])
@pytest.mark.parametrize("sparse", [False, True])
def test_one_scale_for_all_coordinates_takes_no_memory(scale: float, sparse: bool) -> None:
    f: Any = HiddenBowl(D) if sparse else Frugal(hidden(np.array([7, 500_000])))
    start: dict[str, Any] = {"x0": 0.0, "dim": D} if sparse else {"x0": np.zeros(D)}

    def run(**said: Any) -> None:
        gracezo.minimize(f, **start, **said, seed=1, copy=False, max_queries=60)

    run(scale=scale)  # what is loaded at first use
    assert arrays(lambda: run(scale=scale)) <= arrays(run) + 0.01


def test_very_many_coordinates_in_other_units_are_asked_the_same_points() -> None:
    d = 140_000
    f = Frugal(hidden(np.array([3, 100_000]), d))
    one = gracezo.minimize(f, np.ones(d), seed=5, max_queries=60, scale=1.0)
    four = gracezo.minimize(lambda x: f(x / 4.0), np.full(d, 4.0), seed=5, max_queries=60, scale=4.0)
    assert np.array_equal(four.x, 4.0 * one.x)
    assert np.array_equal(four.trace.values, one.trace.values)


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("method", ["auto", "grace"])
def test_a_sparse_start_needs_less_than_one_array(method: str, bounds: object) -> None:
    # A fit of one spike takes 8 MB in any dimension: an array of 10^6 doubles.
    d = 4 * D
    bowl = HiddenBowl(d)
    arguments: dict[str, Any] = {"method": method, "sparsity": 10, "seed": 1, "max_queries": 60}
    arguments["bounds"] = bounds
    gracezo.minimize(bowl, 0.0, dim=200_000, **arguments)  # what is loaded at first use

    assert arrays(lambda: gracezo.minimize(bowl, 0.0, dim=d, **arguments), d) < 0.4


def test_neighbours_cost_no_more_than_coordinates_far_apart() -> None:
    d, asked = 2 * 10**5, {"near": 0, "far": 0}
    for seed in range(6):
        rng = np.random.default_rng(seed)
        weights = rng.random(d)
        for kind in asked:
            places = rng.integers(d - 10) + np.arange(10) if kind == "near" else rng.choice(d, 10, False)
            f = Frugal(hidden(places, d), weights)
            result = gracezo.minimize(
                f, np.zeros(d), seed=seed, target=0.01 * f(np.zeros(d)), copy=False, max_queries=2_000
            )
            assert result.success
            asked[kind] += result.nfev
    assert asked["near"] <= 1.15 * asked["far"]


@pytest.mark.parametrize("bounds", [None, (-2.0, 2.0), (0.0, 2.0), [(-2.0, 2.0)] * 149_999 + [(-3.0, 2.0)]])
def test_auto_converges_on_very_many_coordinates(bounds: object) -> None:
    d = 150_000
    places = np.array([7, 8, 9, 70_000, 149_999])
    f = Frugal(hidden(places, d))
    result = gracezo.minimize(f, np.zeros(d), seed=3, bounds=bounds, copy=False, max_queries=400)
    # Or it goes on below that, as it does in (0, 2), until the budget is spent.
    assert result.success or result.fun < 1e-14 * f(np.zeros(d))
    assert set(places) <= set(result.support.tolist())
    assert result.fun < 1e-9 * f(np.zeros(d))


@pytest.mark.parametrize("scale", [None, 4.0])
@pytest.mark.parametrize("pair", [False, True])
def test_no_point_of_very_many_coordinates_leaves_the_bounds(pair: bool, scale: float | None) -> None:
    d, rng = 140_000, np.random.default_rng(4)
    f = Frugal(hidden(np.array([3, 70_000, 100_000]), d))
    low, high = (np.full(d, end) for end in (0.1, 1.3))
    if not pair:
        low, high = low * rng.uniform(0.5, 1.0, d), high * rng.uniform(1.0, 2.0, d)
    x0 = rng.uniform(low, high)
    x0[: d // 2] = low[: d // 2]  # many begin at a bound
    nearest = [1.0, 1.0]

    def fun(x: FloatArray) -> float:
        nearest[:] = min(nearest[0], float((x - low).min())), min(nearest[1], float((high - x).min()))
        return f(x)

    bounds = (0.1, 1.3) if pair else Bounds(low, high)
    gracezo.minimize(fun, x0, seed=5, bounds=bounds, scale=scale, copy=False, max_queries=80)
    assert nearest[0] == 0.0
    assert nearest[1] >= 0.0
    if pair:
        assert nearest[1] == 0.0  # the bounds are reached


def test_bounds_that_are_not_met_change_nothing_for_very_many_coordinates() -> None:
    d = 140_000
    f = Frugal(hidden(np.array([3, 100_000]), d))
    free = gracezo.estimate_gradient(f, np.zeros(d), seed=5)
    within = gracezo.estimate_gradient(f, np.zeros(d), seed=5, bounds=(-1e3, 1e3))
    assert np.array_equal(free.values, within.values)
    assert free.queries == within.queries


def test_a_plateau_of_very_many_coordinates_is_left_by_moves_to_the_far_end() -> None:
    d = 140_000
    result = gracezo.minimize(
        lambda x: float(np.mean(np.abs(x) < 1.5)), np.zeros(d), seed=2, bounds=(-2, 2), max_queries=60
    )
    # Half of the coordinates at once from the plateau, and then one set of √d after the other.
    assert result.fun < 0.5 - 3 * 374 / d
    assert set(np.abs(result.x).tolist()) <= {0.0, 2.0}


@pytest.mark.parametrize("bounds", [None, (-5.0, 5.0)])
def test_groups_take_their_labels_and_an_order_as_long_as_they_move_as_one(bounds: object) -> None:
    v = np.zeros(D)
    v[500_000:500_040] = 1.0 + 0.1 * np.random.default_rng(1).random(40)
    f, x0, labels = Frugal(v), np.zeros(D), np.arange(D) // 50
    peaks: list[float] = []

    def fun(x: FloatArray) -> float:
        peaks.append(tracemalloc.get_traced_memory()[1] / (8.0 * D))
        tracemalloc.reset_peak()
        return f(x)

    arguments: dict[str, Any] = {"groups": labels, "seed": 1, "copy": False, "bounds": bounds}
    arguments["target"] = 1e-9 * f(x0)
    gracezo.minimize(f, x0, **arguments)  # what is loaded at first use
    results = []
    most = arrays(lambda: results.append(gracezo.minimize(fun, x0, **arguments)))
    assert max(most, *peaks) <= 3.0 + 2.0
    assert peaks[-1] <= 3.0 + 1.0
    assert results[0].success
    assert np.sort(results[0].support[:40]).tolist() == list(range(500_000, 500_040))


@pytest.mark.parametrize("bounds", [None, (-1.0, 1.0)])
def test_who_evaluates_does_not_matter_for_groups_of_very_many_coordinates(bounds: object) -> None:
    d = 140_000
    labels = np.random.default_rng(5).permutation(np.arange(d) % 700)
    v, x0 = np.zeros(d), np.random.default_rng(6).uniform(-0.5, 0.5, d)
    v[(labels == 3) | (labels == 500)] = 0.9
    f = Distance.__call__
    priced = Distance(1, d=d, s=4)
    g = Frugal(v)
    arguments: dict[str, Any] = {"seed": 5, "max_queries": 25, "bounds": bounds, "groups": labels}
    expected = gracezo.minimize(g, x0, **arguments)
    shared = gracezo.minimize(g, x0, copy=False, **arguments)
    rows = gracezo.minimize(lambda points: np.array([g(x) for x in points]), x0, vectorized=True, **arguments)
    sent = gracezo.minimize(g, x0, workers=2, **arguments)
    for result in (shared, rows, sent):
        assert np.array_equal(result.x, expected.x)
        assert np.array_equal(result.trace.values, expected.trace.values)
        assert result.nfev == expected.nfev == 25
    assert expected.fun < g(x0)
    called = gracezo.minimize(lambda x: f(priced, x), x0, **arguments)
    assert np.allclose(gracezo.minimize(priced, x0, **arguments).trace.values, called.trace.values)


HALF = [(1.0, 1.0) if i % 8 == 0 else (0.5, 2.0) for i in range(160_000)]  # and every eighth is fixed


@pytest.mark.parametrize("bounds", [None, (1.0, 2.0), (-1.0, 1.0), HALF])
def test_who_evaluates_does_not_matter_for_very_many_coordinates(bounds: object) -> None:
    d = 160_000
    f = Frugal(hidden(np.array([3, 100_000]), d))
    arguments: dict[str, Any] = {"seed": 5, "max_queries": 40, "bounds": bounds}
    expected = gracezo.minimize(f, np.ones(d), **arguments)
    shared = gracezo.minimize(f, np.ones(d), copy=False, **arguments)
    rows = gracezo.minimize(
        lambda points: np.array([f(x) for x in points]), np.ones(d), vectorized=True, **arguments
    )
    mapped = gracezo.minimize(f, np.ones(d), workers=map, **arguments)
    sent = gracezo.minimize(f, np.ones(d), workers=2, **arguments)
    optimizer = gracezo.Optimizer(np.ones(d), **arguments)
    while len(points := optimizer.ask()):
        optimizer.tell([f(x) for x in points])
    for result in (shared, rows, mapped, sent, optimizer.result):
        assert np.array_equal(result.x, expected.x)
        assert np.array_equal(result.trace.values, expected.trace.values)
        assert result.nfev == expected.nfev


@pytest.mark.parametrize("problem", [Distance, Magnitude])
def test_benchmark_functions_price_changes(problem: type[Distance] | type[Magnitude]) -> None:
    for seed in range(3):
        f = problem(seed, d=300)
        check_objective(f, f.x0, sparse=True, seed=seed)


def test_a_price_that_is_wrong_is_found() -> None:
    class Wrong(Distance):
        def at(self, x: Any) -> Any:
            right = super().at(x)

            class Base:
                def value(self, parts: Any) -> float:
                    return right.value([part for part in parts if not isinstance(part[0], slice)])

            return Base()

    f = Wrong(0, d=50, s=3)
    with pytest.raises(AssertionError, match="a slice displaced"):
        check_objective(f, f.x0)


@pytest.mark.parametrize("bounds", BOUNDS)
def test_prices_of_very_many_coordinates_are_those_of_the_points(bounds: object) -> None:
    d = 140_000
    f = Distance(1, d=d, s=4)
    arguments: dict[str, Any] = {"seed": 1, "max_queries": 40, "bounds": bounds}
    called = gracezo.minimize(f.__call__, np.zeros(d), **arguments)
    priced = gracezo.minimize(f, 0.0, dim=d, **arguments)
    above = int(np.count_nonzero(called.trace.values > 1e-9 * called.trace.values[0]))  # rounding, far above
    assert above >= 4
    assert np.allclose(priced.trace.values[:above], called.trace.values[:above], rtol=1e-6, atol=0.0)
    assert (priced.trace.values[above:] < 1e-9 * called.trace.values[0]).all()
    assert f(priced.x) == pytest.approx(priced.fun, rel=1e-9)


@pytest.mark.parametrize("bounds", [None, (0.0, 0.4)])
def test_a_run_on_very_many_coordinates_goes_on_from_its_journal(tmp_path: Path, bounds: object) -> None:
    d = 140_000
    f, g = Distance(1, d=d, s=4), Frugal(hidden(np.array([3, 100_000]), d))
    for fun, x0, dim in ((g.__call__, np.zeros(d), None), (f, 0.0, d)):
        journal = gracezo.Journal(tmp_path / f"{dim}.db", fingerprint="f")
        whole = gracezo.minimize(fun, np.zeros(d), seed=1, max_queries=40, bounds=bounds)
        gracezo.minimize(fun, x0, dim=dim, seed=1, max_queries=20, bounds=bounds, journal=journal)
        more = gracezo.resume(journal, fun, max_queries=40)
        assert np.array_equal(more.x, whole.x)
        assert more.nfev == whole.nfev
        assert more.reasked == 0
