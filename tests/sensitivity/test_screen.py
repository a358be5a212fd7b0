"""Which coordinates matter: what `screen` finds, what it costs, and what it says of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds

import gracezo
from gracezo.core.types import FloatArray

D = 300
BOX = [(0.0, 1.0)] * D


class Counted:
    """A function that knows how often it was called, and where."""

    def __init__(self, fun: Any) -> None:
        self.fun = fun
        self.points: list[FloatArray] = []

    def __call__(self, x: FloatArray) -> Any:
        self.points.append(x.copy())
        return self.fun(x)


def friedman(x: FloatArray) -> float:
    return float(
        10.0 * np.sin(np.pi * x[30] * x[50]) + 20.0 * (x[70] - 0.5) ** 2 + 10.0 * x[200] + 5.0 * x[299]
    )


def test_over_the_box_it_finds_what_matters_and_counts_what_it_asked() -> None:
    f = Counted(friedman)
    found = gracezo.screen(f, bounds=BOX, seed=3)
    assert found.queries == len(f.points) <= 80
    assert sorted(found.indices.tolist()) == [30, 50, 70, 200, 299]
    assert found.important.all()
    assert found.complete
    points = np.array(f.points)
    assert ((points >= 0.0) & (points <= 1.0)).all()
    assert len(np.unique(points, axis=0)) == len(points)  # nothing is asked twice
    place = {int(j): n for n, j in enumerate(found.indices)}
    for j, slope in ((200, 10.0), (299, 5.0)):  # linear: the same at all points
        assert found.mu[place[j]] == pytest.approx(slope, rel=1e-5)
        assert found.mu_star[place[j]] == pytest.approx(slope, rel=1e-5)
        assert found.sigma[place[j]] == pytest.approx(0.0, abs=1e-3)
    assert found.sigma[place[70]] > 1.0
    assert abs(found.mu[place[70]]) < found.mu_star[place[70]]
    assert np.all(np.diff(found.mu_star) <= 0.0)
    assert found.share.sum() + found.residual == pytest.approx(1.0)


@pytest.mark.parametrize("seed", [0, 18, 38])
def test_a_coordinate_that_was_taken_for_the_wrong_one_is_not_looked_at_in_the_same_way_again(
    seed: int,
) -> None:
    f = Counted(friedman)
    found = gracezo.screen(f, bounds=BOX, seed=seed)
    assert len(np.unique(np.array(f.points), axis=0)) == len(f.points) == found.queries
    assert sorted(found.indices.tolist()) == [30, 50, 70, 200, 299]


def test_the_effects_are_the_derivatives_at_the_points_over_the_width() -> None:
    f = Counted(lambda x: float(np.exp(x[3]) + x[7] ** 3))
    found = gracezo.screen(f, bounds=Bounds(np.full(20, -2.0), np.full(20, 3.0)), points=4, seed=1)
    starts = [x for x in f.points if np.all((x + 2.0) % 1 != 0)]
    assert found.points == 4
    by_hand: dict[int, Any] = {3: np.exp, 7: lambda x: 3.0 * x**2}
    for place, j in enumerate(found.indices.tolist()):
        seen = np.sort(found.effects[:, 0, place])
        values = np.array([5.0 * by_hand[j](x[j]) for x in starts])
        near = np.abs(values[:, None] - seen).min(axis=0)
        assert np.all(near <= 1e-4 * np.abs(seen) + 1e-6)
        assert found.mu[place] == pytest.approx(seen.mean())
        assert found.sigma[place] == pytest.approx(seen.std(ddof=1))


def test_at_one_point_without_bounds_an_effect_is_per_unit_of_scale() -> None:
    x0 = np.full((4, 5), 2.0)
    scale = np.full((4, 5), 0.5)
    found = gracezo.screen(lambda x: float(3.0 * x[1, 2] ** 2 - x[3, 4]), x0, scale=scale, seed=0)
    assert found.points == 1
    assert found.indices.tolist() == [7, 19]
    assert found.mu == pytest.approx([6.0, -0.5], rel=1e-6)
    assert np.isnan(found.sigma).all()
    assert [found.names[int(j)] for j in found.indices] == ["(1, 2)", "(3, 4)"]


def test_many_outputs_have_a_row_each() -> None:
    def f(x: FloatArray) -> FloatArray:
        return np.array([1e6 * x[3] + 1e6 * x[40], 1e-3 * x[40] ** 2, 7.0])

    counted = Counted(f)
    found = gracezo.screen(counted, bounds=BOX, seed=5)
    assert found.queries == len(counted.points) <= 40
    assert found.indices.tolist() == [40, 3]
    assert found.mu_star.shape == found.important.shape == (3, 2)
    assert found.mu_star[0] == pytest.approx([1e6, 1e6], rel=1e-4)
    assert found.overall[0] > found.overall[1]
    assert found.important[0].all()
    assert found.important[1].tolist() == [True, False]
    assert not found.important[2].any()
    assert found.to_df().columns.tolist() == ["overall", "important"]
    assert found.to_df(1).columns[:4].tolist() == ["mu", "mu_star", "sigma", "mu_star_conf"]


def test_the_rounding_of_a_large_output_makes_nothing_important() -> None:
    """The columns of a Jacobian may fit the few answers better than these are."""

    def f(x: FloatArray) -> FloatArray:
        return np.array([x[0], 1e6 * x[1], x[2] * x[3]])

    box = [(0.0, 1.0), (-10.0, 10.0), (0.0, 2.0), (5.0, 6.0)]
    for seed in range(5):
        found = gracezo.screen(f, bounds=box, seed=seed)
        assert [found.indices[row].tolist() for row in found.important[:2]] == [[0], [1]]
        assert sorted(found.indices[found.important[2]].tolist()) == [2, 3]


def test_a_salib_problem_is_taken_as_bounds() -> None:
    problem = {"num_vars": 3, "names": ["width", "mass", "drag"], "bounds": [[0, 2], [1, 3], [-1, 1]]}
    found = gracezo.screen(lambda x: float(x[1] + 10 * x[2]), bounds=problem, seed=0)
    table = found.to_df()
    assert table.index.tolist() == ["drag", "mass"]
    assert table["mu_star"].tolist() == pytest.approx([20.0, 2.0])
    assert table.columns[:4].tolist() == ["mu", "mu_star", "sigma", "mu_star_conf"]


@pytest.mark.parametrize("budget", [1, 2, 5, 9, 14, 30])
def test_the_budget_is_held_and_what_is_known_by_then_is_the_answer(budget: int) -> None:
    f = Counted(friedman)
    found = gracezo.screen(f, bounds=BOX, seed=3, max_queries=budget)
    assert found.queries == len(f.points) <= budget
    assert not found.complete
    assert "spent" in found.message
    assert set(found.indices.tolist()) <= {30, 50, 70, 200, 299}
    assert budget < 30 or len(found.indices) >= 4


def test_a_look_at_one_point_that_the_budget_ends_is_not_called_complete() -> None:
    whole = gracezo.screen(friedman, bounds=BOX, points=1, seed=3)
    assert whole.complete
    found = gracezo.screen(friedman, bounds=BOX, points=1, seed=3, max_queries=whole.queries - 1)
    assert not found.complete
    assert "spent" in found.message
    again = gracezo.screen(friedman, bounds=BOX, points=1, seed=3, max_queries=whole.queries)
    assert again.complete


def test_what_was_measured_counts_where_the_budget_ends_among_plain_differences() -> None:
    rng = np.random.default_rng(5)
    slopes = rng.normal(size=D)
    told = []
    for budget in (D // 2, D - 20):
        found = gracezo.screen(lambda x: float(slopes @ x), bounds=BOX, points=1, seed=3, max_queries=budget)
        assert found.queries == budget
        assert not found.complete
        assert found.mu == pytest.approx(slopes[found.indices], abs=1e-6)
        left = np.delete(slopes, found.indices)
        assert found.residual == pytest.approx(left @ left / (slopes @ slopes), abs=0.15)
        told.append(len(found.indices))
    assert told[1] - told[0] > 0.9 * (D - 20 - D // 2)  # nearly each query tells a coordinate more


def test_what_is_found_late_is_measured_at_the_earlier_points() -> None:
    def f(x: FloatArray) -> float:  # the second matters in one half of the first only
        return float(x[5] + max(x[5] - 0.5, 0.0) * x[250])

    x0 = np.full(D, 0.3)
    found = gracezo.screen(f, x0, bounds=BOX, points=6, seed=2)
    assert sorted(found.indices.tolist()) == [5, 250]
    assert np.isfinite(found.effects).all()
    late = found.effects[:, 0, found.indices.tolist().index(250)]
    assert late[0] == pytest.approx(0.0, abs=1e-6)


def test_points_that_are_given_are_those_that_are_looked_at() -> None:
    f = Counted(lambda x: float(x[0] ** 2 + 3.0 * x[1]))
    rows = np.array([[0.5, 0.5, 0.5], [0.2, 0.2, 0.2], [0.9, 0.1, 0.3]])
    found = gracezo.screen(f, points=rows, seed=0)
    asked = {tuple(x) for x in np.array(f.points)}
    assert all(tuple(row) in asked for row in rows)
    assert found.points == 3
    assert found.mu_star == pytest.approx([3.0, np.mean(2.0 * rows[:, 0])], rel=1e-5)


@pytest.mark.parametrize("outputs", [1, 3])
def test_a_further_point_costs_one_query_for_each_coordinate_known_and_two(outputs: int) -> None:
    """Its value, a difference each, and one over the rest, which tells that there is nothing more."""
    matrix = np.arange(1.0, 1.0 + 4 * outputs).reshape(outputs, 4)

    def f(x: FloatArray) -> FloatArray:
        return np.asarray(matrix @ x[[3, 40, 77, 250]])

    costs = [gracezo.screen(f, bounds=BOX, seed=1, points=count).queries for count in (1, 2, 3, 4)]
    assert np.diff(costs).tolist() == [6 + 1, 6, 6]  # over the box, one query in the end moves the rest far


@pytest.mark.parametrize("told", [True, False])
def test_noise_hides_little_over_a_box_and_makes_nothing_up(told: bool) -> None:
    slopes = np.zeros(200)
    slopes[[7, 77, 177]] = 1.0, -0.7, 0.5
    found_all = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        noise = 0.005

        def f(x: FloatArray, rng: Any = rng, noise: float = noise) -> float:
            return float(slopes @ x + noise * rng.standard_normal())

        found = gracezo.screen(f, bounds=[(0.0, 1.0)] * 200, noise=noise if told else None, seed=seed)
        claimed = found.indices[found.important].tolist()
        assert set(claimed) <= {7, 77, 177}
        found_all += len(claimed) == 3
    assert found_all >= 3


def test_a_generator_is_drawn_from_once() -> None:
    one, two = (gracezo.screen(friedman, bounds=BOX, rng=np.random.default_rng(5), points=2) for _ in "ab")
    assert one.seed == two.seed
    assert np.array_equal(one.effects, two.effects)
    assert np.array_equal(gracezo.screen(friedman, bounds=BOX, seed=one.seed, points=2).effects, one.effects)


@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("budget", [1, 4, 8])
def test_where_the_queries_end_before_anything_is_found_nothing_is_said_of_the_rest(
    outputs: int, budget: int
) -> None:
    def f(x: FloatArray) -> FloatArray:
        return np.arange(1.0, 1.0 + outputs) * (x[:20] @ np.arange(1.0, 21.0))

    found = gracezo.screen(f, bounds=[(0.0, 1.0)] * 300, seed=0, max_queries=budget)
    assert len(found.indices) == 0
    assert np.isnan(found.residual)
    assert not found.complete


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_outputs_that_cannot_be_squared_are_not_called_flat(size: float) -> None:
    found = gracezo.screen(lambda x: size * (1.0 + x[3]), bounds=[(0.0, 1.0)] * 50, seed=0)
    assert found.queries == 1
    assert not found.complete
    assert "scale them" in found.message
    assert " to " not in found.message  # of one output
    assert "scale them" in repr(found)
    same = gracezo.screen(lambda x: size**0.5 * (1.0 + x[3]), bounds=[(0.0, 1.0)] * 50, seed=0)
    assert same.indices.tolist() == [3]
    assert same.mu[0] == pytest.approx(size**0.5)


def test_flat_is_said_to_be_flat() -> None:
    found = gracezo.screen(lambda x: 1.0, bounds=BOX, points=1, seed=0)
    assert len(found.indices) == 0
    assert "Nothing found" in repr(found)
    assert "Nothing found" in found._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "without x0, bounds must give a pair"),
        ({"bounds": [(0, None), (0, 1)]}, r"every coordinate must have a lower and an upper bound; 1 of 2"),
        ({"x0": [0.5, 2.0], "bounds": [(0, 1)] * 2}, "x0 must lie within the bounds"),
        ({"x0": [0.5, 0.5], "points": 3}, "for points=3, every coordinate must have"),
        ({"bounds": [(0, 1)] * 2, "points": 0}, "points must be a whole number of at least 1"),
        ({"bounds": [(0, 1)] * 2, "points": [[0.5, 0.5], [0.5, 1.5]]}, "point 1 must lie within the bounds"),
        (
            {"bounds": [(0, 1)] * 2, "points": [[0.5, 0.5, 0.5]]},
            r"points must be of shape \(k, 2\); given: \(1, 3\)",
        ),
        ({"bounds": [(0, 1)] * 2, "names": ["a"]}, "names must be one for each of the 2"),
        ({"bounds": [(0, 1)] * 2, "groups": ["a"]}, "groups must cover all of the 2 coordinates"),
        ({"bounds": [(0, 1)] * 2, "groups": ["a", None]}, "1 of 2 have no label"),
        ({"bounds": [(0, 1)] * 2, "tol": 2.0}, "tol must be between 0 and 1"),
        ({"bounds": {"num_vars": 2, "bounds": [[0, 1]]}}, "must have 2 pairs"),
        ({"bounds": {"num_vars": 2, "bounds": [[0, 1], [0, 1, 2]]}}, "must have 2 pairs .* given: no pairs"),
        ({"bounds": {"num_vars": "2", "bounds": [[0, 1]] * 2}}, "num_vars='2' must have 2 pairs"),
        ({"bounds": {"num_vars": 2, "bounds": [[0, 1]] * 2, "dists": ["unif"]}}, "must have as many dists"),
        ({"bounds": {"num_vars": 2, "bounds": [[0, 1]] * 2, "dists": 3}}, "as many dists, or none; given: 3"),
        ({"bounds": {"num_vars": 2, "bounds": [[0, 1]] * 2, "names": "ab"}}, "as many names.* given: 'ab'"),
        (
            {"bounds": [(-1e308, 1e308), (0, 1)]},
            "without x0, every coordinate must have a lower and an upper",
        ),
        ({"bounds": {"num_vars": 2, "bounds": [[0, 1]] * 2, "names": ["a"]}}, "must have as many names"),
        ({"bounds": [(0, 1)] * 2, "f0": 1.0}, "f0 is what the function returns at x0"),
        ({"bounds": Bounds(0, 1)}, "without x0, bounds must give a pair .* for each coordinate"),
        ({"bounds": [(0, 1)] * 2, "interactions": "yes"}, "interactions must be True or False"),
        (
            {"bounds": {"num_vars": 2, "bounds": [[0, 1]] * 2, "dists": ["unif", "norm"]}},
            "only uniform distributions can be screened.*'norm' for variable 1",
        ),
    ],
)
def test_wrong_input_is_said_before_a_query(arguments: dict[str, Any], said: str) -> None:
    f = Counted(lambda x: 0.0)
    with pytest.raises((ValueError, TypeError), match=said):
        gracezo.screen(f, **arguments)
    assert f.points == []


def test_a_journal_goes_on_where_it_stopped(tmp_path: Path) -> None:
    whole = Counted(friedman)
    expected = gracezo.screen(
        whole, bounds=BOX, seed=3, journal=gracezo.Journal(tmp_path / "a.db", fingerprint="f")
    )
    path = gracezo.Journal(tmp_path / "b.db", fingerprint="f")
    first = Counted(friedman)
    gracezo.screen(first, bounds=BOX, seed=3, journal=path, max_queries=20)
    second = Counted(friedman)
    found = gracezo.screen(second, bounds=BOX, seed=3, journal=path)
    assert len(first.points) + len(second.points) == len(whole.points) == expected.queries == found.queries
    assert np.array_equal(found.indices, expected.indices)
    assert np.array_equal(found.effects, expected.effects)
    third = Counted(friedman)
    again = gracezo.screen(third, bounds=BOX, seed=3, journal=path)
    assert third.points == []
    assert np.array_equal(again.mu_star, expected.mu_star)
    assert again.queries == expected.queries


@pytest.mark.parametrize("outputs", [1, 4])
def test_every_way_of_evaluating_gives_the_same(outputs: int) -> None:
    matrix = np.arange(1.0, 1.0 + outputs)[:, None] * np.array([1.0, -2.0, 0.5])

    def one(x: FloatArray) -> Any:
        values = matrix @ np.sin(x[[3, 40, 77]])
        return values if outputs > 1 else float(values[0])

    def many(x: FloatArray) -> FloatArray:
        return np.array([one(row) for row in x])

    box = [(0.0, 1.0)] * 100
    serial = gracezo.screen(one, bounds=box, seed=1, batch=4)
    vectorized = gracezo.screen(many, bounds=box, seed=1, batch=4, vectorized=True)
    assert sorted(serial.indices.tolist()) == [3, 40, 77]
    assert np.array_equal(serial.effects, vectorized.effects)
    assert (serial.queries, serial.rounds) == (vectorized.queries, vectorized.rounds)
    assert serial.rounds < serial.queries


def test_workers_give_the_same() -> None:
    box = [(0.0, 1.0)] * 6
    here = gracezo.screen(np.linalg.norm, bounds=box, seed=1, batch=4, points=2)
    there = gracezo.screen(np.linalg.norm, bounds=box, seed=1, batch=4, points=2, workers=2)
    assert np.array_equal(here.effects, there.effects)
    assert (here.queries, here.rounds) == (there.queries, there.rounds)


@pytest.mark.parametrize("d", [1, 2, 40, 150, 400])
def test_it_is_little_dearer_than_plain_differences_where_all_matters(d: int) -> None:
    slopes = np.random.default_rng(d).normal(size=d)
    found = gracezo.screen(
        lambda x: float(np.sin(slopes * x).sum()), bounds=[(0.0, 1.0)] * d, points=3, seed=0
    )
    assert len(found.indices) == d or found.residual < 1e-3
    assert found.queries <= 1.1 * 3 * (d + 1) + 9


def test_a_failed_evaluation_is_left_out_where_that_is_wanted() -> None:
    calls = 0

    def f(x: FloatArray) -> float:
        nonlocal calls
        calls += 1
        if calls % 9 == 5:
            raise RuntimeError("no")
        return friedman(x)

    found = gracezo.screen(f, bounds=BOX, seed=3, on_failure="skip", max_queries=300)
    assert found.queries == calls
    assert {200, 30} <= set(found.indices.tolist())
