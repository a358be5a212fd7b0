"""Moves to the far end of a box: what they promise, when they are made, and that they cost nothing else."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import gracezo
from gracezo.core.asks import Ask, Point, Steps
from gracezo.core.box import Box
from gracezo.core.keys import Key
from gracezo.core.method import Problem
from gracezo.core.places import Place, dense
from gracezo.core.types import FloatArray
from gracezo.methods.auto.ways import Ledger
from gracezo.methods.auto.ways.sparse import Sparse
from gracezo.methods.auto.ways.values import Far, improvement

D = 400


class Margin:
    """A score that saturates: tanh of a sum over all pixels, far from its boundary at x0; counted."""

    def __init__(self, seed: int, level: float = 3.0, steep: float = 0.1) -> None:
        self.level, self.steep = level, steep
        rng = np.random.default_rng([seed, 9])
        self.slopes = rng.standard_normal(D)
        self.x0 = (rng.random(D) < 0.3) * rng.random(D)
        self.points: list[FloatArray] = []

    def __call__(self, x: FloatArray) -> float:
        assert x.min() >= 0.0
        assert x.max() <= 1.0
        self.points.append(x.copy())
        return math.tanh(self.level + self.steep * float(self.slopes @ (x - self.x0)))


@given(st.floats(-5.0, 5.0), st.floats(0.01, 10.0))
def test_what_a_move_promises_is_the_mean_of_what_is_kept(mean: float, deviation: float) -> None:
    change = scipy.stats.norm(mean, deviation)
    kept, _ = scipy.integrate.quad(
        lambda c: -c * change.pdf(c), mean - 12 * deviation, min(0.0, mean + 12 * deviation)
    )
    assert improvement(mean, deviation) == pytest.approx(max(kept, 0.0), abs=1e-7 * deviation)


@pytest.mark.parametrize("seed", range(5))
def test_a_score_that_saturates_is_moved_over_its_boundary(seed: int) -> None:
    f = Margin(seed)
    result = gracezo.minimize(f, f.x0, bounds=[(0.0, 1.0)] * D, target=0.0, max_queries=300, seed=seed)
    assert result.success
    assert result.nfev == len(f.points) <= 75
    assert f(result.x) == result.fun <= 0.0


def test_a_probability_next_to_one_is_left_by_moves_that_slopes_do_not_promise() -> None:
    spent = 0
    for seed in range(10):
        f = Margin(seed, level=6.0, steep=0.2)  # 1 − 1.2e-5, with slopes of 5e-6
        result = gracezo.minimize(f, f.x0, bounds=[(0.0, 1.0)] * D, target=0.0, max_queries=100, seed=seed)
        assert result.success
        spent += result.nfev
    assert spent <= 600


def test_a_probability_in_single_precision_is_left_though_most_of_its_changes_are_rounded_away() -> None:
    solved = 0
    for seed in range(10):
        f = Margin(seed, level=7.0, steep=0.25)  # two or three steps of single precision below one

        def rounded(x: FloatArray, f: Margin = f) -> float:
            return float(np.float32(f(x)))

        bounds = [(0.0, 1.0)] * D
        solved += gracezo.minimize(
            rounded, f.x0, bounds=bounds, target=0.0, max_queries=150, seed=seed
        ).success
    assert solved == 10


def clipped(x: FloatArray) -> float:
    """Return what is short of a demand, beyond a reserve."""
    return -max(0.0, float(x[:25].sum()) - 10.0)


@pytest.mark.parametrize("batch", [1, 3])
def test_a_plateau_of_a_box_is_left_by_halves_of_the_coordinates(batch: int) -> None:
    result = gracezo.minimize(clipped, np.full(50, 0.05), bounds=[(0.0, 1.0)] * 50, batch=batch, seed=1)
    assert result.fun == pytest.approx(-15.0)


@pytest.mark.parametrize(
    ("fun", "status", "message", "queries"),
    [
        (lambda x: 1.0, 4, "all probes left the objective unchanged", 11),
        (lambda x: max(0.0, float(x.sum()) - 12.0), 4, "flat around x0, and rises where many", 11),
        (lambda x: -float(x[3] > 0.9), 5, "flat around x0, and around where it is lower", 17),
    ],
)
def test_what_is_said_of_plateaus_and_what_it_costs(
    fun: object, status: int, message: str, queries: int
) -> None:
    result = gracezo.minimize(fun, np.full(50, 0.05), bounds=[(0.0, 1.0)] * 50, seed=1)  # type: ignore[arg-type]
    assert (result.status, result.nfev) == (status, queries)
    assert message in result.message
    for budget in range(1, 20):
        short = gracezo.minimize(fun, np.full(50, 0.05), bounds=[(0.0, 1.0)] * 50, max_queries=budget, seed=1)  # type: ignore[arg-type]
        assert short.nfev <= budget
        assert short.fun == fun(short.x)  # type: ignore[operator]


def test_points_are_the_same_whatever_the_evaluator_and_batches_are_filled() -> None:
    f, rows = Margin(1), Margin(1)
    bounds = [(0.0, 1.0)] * D
    result = gracezo.minimize(f, f.x0, bounds=bounds, target=0.0, max_queries=300, seed=1, batch=8)
    many = gracezo.minimize(
        lambda points: np.array([rows(x) for x in points]),
        f.x0, bounds=bounds, target=0.0, max_queries=300, seed=1, batch=8, vectorized=True,
    )  # fmt: skip
    assert result.nfev == many.nfev == len(f.points)
    np.testing.assert_array_equal(f.points, rows.points)
    assert result.rounds < result.nfev / 2


def quadratic(x: FloatArray) -> float:
    return float(((x - np.linspace(-0.3, 0.3, 200)) ** 2).sum())


def sparse_bowl(x: FloatArray) -> float:
    return float(((x[[3, 50, 120]] - [0.4, -0.9, 0.7]) ** 2).sum())


@pytest.mark.parametrize("fun", [quadratic, sparse_bowl])
@pytest.mark.parametrize("bounds", [None, [(-1.0, 0.8)] * 200])
def test_where_f_bends_within_the_box_nothing_is_asked_for_it(
    fun: object, bounds: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run() -> list[bytes]:
        asked: list[bytes] = []

        def f(x: FloatArray) -> float:
            asked.append(x.tobytes())
            return fun(x)  # type: ignore[operator, no-any-return]

        gracezo.minimize(f, np.zeros(200), bounds=bounds, max_queries=700, seed=2)
        return asked

    with_it = run()
    monkeypatch.setattr(Far, "offer", lambda self, here: None)
    assert with_it == run()


# ---------------------------------------------------------------- by hand


def told(steps: Steps[Point], values: list[float]) -> tuple[Point, list[FloatArray]]:
    """Answer the queries of a leg with these values; return its end, and the points."""
    asked: list[FloatArray] = []
    try:
        said = next(steps)
        while True:
            assert isinstance(said, Ask)
            asked += [said.point(row) for row in range(len(said))]
            said = steps.send(np.array([values[len(asked) - 1]]))
    except StopIteration as end:
        return end.value, asked


def far(box: Box | None, d: int = 100) -> Far:
    problem = Problem(d, bounds=box)
    return Far(Sparse(problem, Ledger(1)), 1, Key(3).generator())


def test_sets_go_to_the_farther_bounds_and_what_is_lower_is_kept() -> None:
    box = Box.of(-1.0, 3.0, 100)
    way = far(box)
    start = Point(np.where(np.arange(100) % 2, 0.0, 2.0), 5.0)
    end, asked = told(way.leg(start), [6.0, 5.1, 4.5])
    assert len(asked) == 3
    assert end.value == 4.5
    np.testing.assert_array_equal(end.x, asked[-1])
    moved = np.flatnonzero(end.x != start.x)
    assert len(moved) == 10
    changed = [np.flatnonzero(x != start.x) for x in asked]
    assert len(np.unique(np.concatenate(changed))) == 30  # none of them twice
    np.testing.assert_array_equal(end.x[moved], np.where(moved % 2, 3.0, -1.0))


def test_sets_of_very_many_coordinates_are_drawn_without_writing_these_down() -> None:
    d = 200_000
    box = Box.of(-1.0, 3.0, d)
    way = Far(Sparse(Problem(d, bounds=box, places=True), Ledger(1)), 1, Key(3).generator())
    start = Point(Place.at(np.where(np.arange(d) % 2, 0.0, 2.0)).stand_in, 5.0)
    first, asked = told(way.leg(start), [6.0, 4.5])
    end, more = told(way.leg(first), [4.0])
    sets = [
        np.flatnonzero(x != before) for before, x in ((dense(start.x), asked[0]), (dense(start.x), asked[1]))
    ]
    sets.append(np.flatnonzero(more[0] != dense(first.x)))
    assert [len(some) for some in sets] == [math.isqrt(d)] * 3
    assert len(np.unique(np.concatenate(sets))) == 3 * math.isqrt(d)  # none of them twice
    moved = np.concatenate(sets[1:])
    np.testing.assert_array_equal(end.x[moved], np.where(moved % 2, 3.0, -1.0))
    np.testing.assert_array_equal(dense(end.x), more[0])


def test_sets_that_fail_four_times_are_halved_until_none_is_left() -> None:
    way = far(Box.of(-1.0, 3.0, 100))
    start = Point(np.zeros(100), 5.0)
    for sets in (10, 20, 50):  # of ten coordinates, of five, of two
        offer = way.offer(start)
        assert offer is not None
        assert offer.rounds == sets
        end, asked = told(way.leg(start), [5.5, np.nan, 7.0, 6.0])
        assert end is start
        assert len(asked) == 4
    assert way.offer(start) is None


def test_sets_that_have_helped_may_fail_for_longer() -> None:
    way = far(Box.of(-1.0, 3.0, 100))
    at, _ = told(way.leg(Point(np.zeros(100), 5.0)), [4.0])
    end, asked = told(way.leg(at), [9.0] * 5)
    assert end is at
    assert len(asked) == 5
    offer = way.offer(at)
    assert offer is not None
    assert offer.rounds == 20  # sets of five


def test_each_coordinate_is_tried_once_in_sets_of_one_size() -> None:
    way, tried = far(Box.of(-1.0, 3.0, 100)), []
    at = Point(np.zeros(100), 50.0)
    for _ in range(5):  # every other of ten sets is kept
        end, asked = told(way.leg(at), [at.value + 1.0, at.value - 1.0])
        tried += [np.flatnonzero(x != at.x) for x in asked]
        at = end
    assert len(np.unique(np.concatenate(tried))) == 100
    _, asked = told(way.leg(at), [at.value - 1.0])  # the next are of those refused, in sets of five
    assert np.isin(np.flatnonzero(asked[0] != at.x), np.flatnonzero(at.x == 0.0)).all()
    assert (asked[0] != at.x).sum() == 5


def test_a_set_that_leaves_f_as_it_is_is_the_last() -> None:
    way = far(Box.of(-1.0, 3.0, 100))
    start = Point(np.zeros(100), 5.0)
    end, asked = told(way.leg(start), [6.0, 5.0])
    assert end is start
    assert len(asked) == 2
    assert way.offer(start) is None


def test_without_a_far_end_there_is_nothing_to_offer() -> None:
    start = Point(np.zeros(100), 5.0)
    assert far(None).offer(start) is None
    assert far(Box.of(-1.0, np.inf, 100)).offer(start) is None
