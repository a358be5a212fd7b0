"""The ways down of `auto`: plain differences and the sweep by themselves, and which one a run takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

import gracezo
from gracezo.core.asks import Ask, OutOfQueries, Point, Role, SparseRows, Steps
from gracezo.core.box import Box, ClipToBox
from gracezo.core.method import Problem
from gracezo.core.types import FloatArray
from gracezo.core.walls import Walls
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import Request
from gracezo.methods.auto.ways import Ledger, Record
from gracezo.methods.auto.ways.agenda import Agenda
from gracezo.methods.auto.ways.gradients import Dense, Nonsmooth
from gracezo.methods.auto.ways.sparse import Sparse
from gracezo.methods.auto.ways.values import Coordinates
from gracezo.methods.auto.ways.working import WorkingSets
from gracezo.methods.kinks import uphill
from gracezo.problems import Attack
from gracezo.testing import assert_same

Objective = Callable[[FloatArray], float]
R = TypeVar("R")


def followed(steps: Steps[R], f: Objective, box: Box | None = None) -> tuple[R, list[Ask]]:
    """Answer all that is asked, behind a fence where there is a box; return the end, and the asks."""
    asks: list[Ask] = []
    try:
        said = next(steps)
        while True:
            assert isinstance(said, Ask)
            asks.append(said if box is None else ClipToBox(box)(said))
            said = steps.send(np.array([f(x) for x in points(asks[-1:])]))
    except StopIteration as end:
        return end.value, asks


def points(asks: list[Ask]) -> list[FloatArray]:
    return [ask.point(row) for ask in asks for row in range(len(ask))]


def places(asks: list[Ask]) -> list[float]:
    return [float(x[0]) for x in points(asks)]


def moves(ask: Ask) -> SparseRows:
    assert isinstance(ask.offsets, SparseRows)
    return ask.offsets


def at(f: Objective, *x: float) -> Point:
    return Point(np.array(x), f(np.array(x)))


def bowl(centre: FloatArray | float, power: float = 2.0, ripples: FloatArray | float = 0.0) -> Objective:
    return lambda x: float((np.abs(x - centre) ** power + ripples * np.abs(np.sin(40.0 * x))).sum())


def sweep(n: int, box: Box | None = None, noise: float = 0.0) -> Coordinates:
    return Coordinates(Walls(box), np.arange(n), np.zeros(n), noise, np.random.default_rng(0))


@pytest.mark.parametrize(("centre", "queries"), [(1.1, 6), (-1.1, 7), (0.04, 3), (0.0, 2)])
def test_a_parabola_is_solved_by_its_vertex(centre: float, queries: int) -> None:
    """The sides are tried at an eighth; doublings end at 2, before the vertex."""
    way, f = sweep(1), bowl(centre)
    point, asks = followed(way.leg(start := at(f, 0.0)), f)
    assert len(asks) == queries
    assert point.x[0] == pytest.approx(centre, abs=1e-12)
    assert (point is start) == (centre == 0.0)
    length = max(abs(centre), 1.0 / 32.0)  # of its last move, or a quarter of what was tried
    assert places(followed(way.leg(point), f)[1]) == pytest.approx([centre + length, centre - length])


@pytest.mark.parametrize(("f", "left"), [(bowl(0.7, 1), 0.01), (bowl(0.7), 1e-25), (bowl(0.9, 2, 10), 0.5)])
def test_it_goes_down_and_never_up(f: Objective, left: float) -> None:
    way, point = sweep(20), at(f, *np.random.default_rng(1).normal(size=20))
    values = [point.value]
    for _ in range(100):
        point, asks = followed(way.leg(point), f)
        values += [f(ask.base) for ask in asks] + [point.value]
    assert values == sorted(values, reverse=True)
    assert values[-1] <= left * values[0]


@given(seed=st.integers(0, 10**6), n=st.integers(1, 40), legs=st.integers(1, 30), power=st.floats(0.5, 3.0))
def test_the_answer_is_the_least_of_all_that_was_asked(seed: int, n: int, legs: int, power: float) -> None:
    rng = np.random.default_rng(seed)
    f = bowl(rng.normal(size=n) * 10 ** rng.uniform(-3, 3), power, ripples=rng.random(n))
    way, point = sweep(n), at(f, *rng.normal(size=n))
    values = [point.value]
    for _ in range(legs):
        point, asks = followed(way.leg(point), f)
        values += [f(x) for x in points(asks)]
    assert point.value == f(point.x) == min(values)


def test_a_coordinate_ends_on_its_bound() -> None:
    f, box = bowl(np.array([-3.0, 0.4, 9.0]), 1.0), Box(np.array([-0.7, -2, -2]), np.array([1, 2, 2.5]))
    way, point, asked = sweep(3, box), at(f, 0.0, 0.0, 0.0), list[Ask]()
    for leg in range(6):
        point, asks = followed(way.leg(point), f, box)
        asked += asks
        if leg == 2:  # all have been swept
            assert (point.x[0], point.x[2]) == (-0.7, 2.5)
            # 0.1, then −0.1 to −0.4 and −0.7; 0.1 to 0.8 and the vertex; 0.1 to 1.6 and 2.5.
            assert Counter(int(moves(ask).indices[0]) for ask in asked) == {0: 5, 1: 5, 2: 6}
        elif leg > 2 and moves(asks[0]).indices[0] != 1:  # at its bound: tried to the other side alone
            assert len(asks) == 1
    assert box.inside(np.array(points(asked))).all()


def test_a_bound_is_met_from_anywhere() -> None:
    rng, f = np.random.default_rng(0), bowl(-9.0)
    for _ in range(200):
        low, start = -float(rng.random()), at(f, float(rng.random()), 0.0)
        box = Box.of(low, 1.0, 2)
        way = Coordinates(Walls(box), np.arange(1), start.x - [0.0, 2.0], 0.0, rng)
        point, asks = followed(way.leg(start), f, box)  # how far another has moved is how far to try: two
        assert places(asks) == [1.0, low]
        assert point.x[0] == low


@pytest.mark.parametrize("n", [32, 320])
def test_those_that_moved_come_first_for_as_long_as_that_pays(n: int) -> None:
    """What all bring per query goes down with their number, what three that are far away bring does not."""
    centre = np.zeros(n)
    centre[[3, 11, 20]] = 1000.3, 700.1, -900.7
    way, f, asked = sweep(n), bowl(centre, 1.0), list[int]()
    point = at(f, *np.zeros(n))
    for _ in range(18):
        point, asks = followed(way.leg(point), f)
        asked += [int(moves(ask).indices[0]) for ask in asks]
    order = [i for i, _ in groupby(asked)]
    assert sorted(order[:n]) == list(range(n))
    assert {asked.count(i) for i in set(order[:n]) - set(order[n:])} == {2}  # a kink: both sides, no vertex
    assert sorted(order[n : n + 3]) == [3, 11, 20]
    assert (set(order[n : n + 6]) == {3, 11, 20}) == (n == 320)


def test_what_cannot_move_is_not_asked() -> None:
    start = at(bowl(0.0), *np.ones(40))
    assert followed(sweep(40, Box.of(1.0, 1.0, 40)).leg(start), bowl(0.0)) == (start, [])


def test_a_failed_evaluation_is_infinitely_bad_and_none_is_the_end() -> None:
    def f(x: FloatArray) -> float:
        return np.nan if x[0] > 0.5 else float(abs(x[0] - 1.0))

    point, asks = followed(sweep(1).leg(at(f, 0.0)), f)
    assert places(asks) == pytest.approx([0.125, 0.25, 0.5, 1.0])  # no parabola goes through infinity
    assert (point.x[0], point.value) == (0.5, 0.5)
    assert len(followed(sweep(1).leg(at(f, 0.45)), f)[1]) == 2
    steps = sweep(1).leg(at(f, 0.0))
    next(steps)
    with pytest.raises(OutOfQueries):
        steps.send(np.zeros(0))


@pytest.mark.parametrize(("noise", "role"), [(0.0, Role.STEP), (1e-3, Role.TRIAL)])
def test_the_lowest_of_noisy_values_is_no_answer(noise: float, role: Role) -> None:
    f = bowl(1.0)
    point, asks = followed(sweep(4, noise=noise).leg(at(f, *np.zeros(4))), f)
    assert ({ask.role for ask in asks}, point.error) == ({role}, noise)
    way, differences = dense(4)
    differences.values.hear(noise)
    point, asks = followed(way.leg(at(f, *np.zeros(4))), f)
    assert ([ask.role for ask in asks[:2]], point.error) == ([Role.REFRESH, role], noise)


def dense(n: int, box: Box | None = None) -> tuple[Dense, Differences]:
    ledger = Ledger(1)
    sparse = Sparse(Problem(n, bounds=box), ledger)
    working = WorkingSets(sparse, ledger, np.zeros(n), np.random.default_rng(0))
    return Dense(sparse, ledger, working), sparse.differences


@pytest.mark.parametrize(("square", "tried"), [(1.0, 1), (2.0, 2), (0.25, 2)])
def test_a_gradient_costs_a_query_a_coordinate(square: float, tried: int) -> None:
    """Nothing being known, f is taken to fall to zero over a distance of one."""
    centre = np.random.default_rng(0).normal(size=50)
    way, f = dense(50)[0], bowl(centre := centre * np.sqrt(square / (centre @ centre)))
    point, asks = followed(way.leg(at(f, *np.zeros(50))), f)
    # Eight of them on both sides, to see whether they stand on kinks; the others ahead; the step.
    assert [len(ask) for ask in asks] == [16, 42] + [1] * tried
    assert [(ask.role, ask.reserve) for ask in asks[:2]] == [(Role.REFRESH, 43), (Role.REFRESH, 1)]
    assert len({x.tobytes() for x in points(asks)}) == 58 + tried
    assert (moves(asks[1]).values > 0.0).all()
    assert point.value == f(point.x) < 0.3 * square
    _, asks = followed(way.leg(point), f)
    assert np.array_equal(moves(asks[0]).values > 0.0, centre > 0.0)  # the side that led downhill


def test_the_spread_tells_how_many_hold_the_gradient() -> None:
    one, normal = np.where(np.arange(1000) == 70, 1.0, 1e-3), np.random.default_rng(0).normal(size=1000)
    for slopes, low, high in ((one, 0.001, 0.001), (normal, 0.4, 0.6), (np.ones(1000), 0.9, 0.901)):
        way, f = dense(1000)[0], bowl(slopes)
        followed(way.leg(at(f, *np.zeros(1000))), f)
        assert low <= way.spread <= high


def test_promises_are_redeemed_or_not() -> None:
    f = bowl(0.9, 4.0)
    way, point = dense(20)[0], at(f, *np.random.default_rng(0).normal(size=20))
    for _ in range(3):
        assert way.realised == 1.0
        point, _ = followed(way.leg(point), f)
    assert 0.5 <= way.realised <= 3.0
    way._steps[:] = [(1.0, 0.1)] * 3
    assert way.realised == pytest.approx(0.1)
    next(way.leg(Point(point.x, point.value)))  # somewhere else: what was before does not count
    assert way.realised == 1.0


def test_where_no_step_led_down_nothing_is_asked_again() -> None:
    f = bowl(0.0, 1.0)
    way, point = dense(16)[0], at(f, *np.zeros(16))
    end, asks = followed(way.leg(point), f)
    assert (end is point, len(points(asks))) == (True, 21)
    end, asks = followed(way.leg(point), f)
    assert (end is point, asks) == (True, [])


@pytest.mark.parametrize(("share", "pairs"), [(1.0, 1), (0.5, 0)])
def test_a_point_reached_in_another_way_teaches_nothing(share: float, pairs: int) -> None:
    way, f = dense(6)[0], bowl(np.arange(1.0, 7.0), 4.0)
    point, _ = followed(way.leg(at(f, *np.zeros(6))), f)
    followed(way.leg(point if share == 1.0 else at(f, *(share * point.x))), f)
    assert way._model._count == pairs


def test_nothing_leaves_the_box() -> None:
    f, box, asked = bowl(centre := np.linspace(-2.0, 2.0, 9)), Box.of(-0.9, 1.3, 9), list[Ask]()
    way, point = dense(9, box)[0], at(f, *np.full(9, 1.3))
    for _ in range(6):
        point, asks = followed(way.leg(point), f, box)
        asked += asks
        assert f(point.x) == point.value
    assert box.inside(np.array(points(asked))).all()
    assert point.x == pytest.approx(box.clip(centre), abs=1e-6)
    assert [(point.x == wall).sum() for wall in (-0.9, 1.3)] == [3, 2]


def test_where_no_step_leads_down_the_point_is_the_same() -> None:
    f = bowl(0.0, 1.0)
    point, asks = followed(dense(16)[0].leg(start := at(f, *np.zeros(16))), f)
    assert point is start
    assert len({x.tobytes() for x in points(asks)}) == 21


def test_no_step_is_tried_twice() -> None:
    f = bowl(0.0, 1.0)
    assert len(points(followed(dense(16)[0].leg(at(f, *np.zeros(16))), f)[1])) == 21


@pytest.mark.parametrize("guess", [2.0, 45.0, 1000.0])
def test_a_rotated_quadratic_takes_less_than_with_scipy(guess: float) -> None:
    """Its curvatures are 2 to 200, 45 in the mean."""
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.normal(size=(30, 30)))[0]
    hessian, centre, values = (axes * np.logspace(0, 2, 30)) @ axes.T, rng.normal(size=30), list[float]()

    def f(x: FloatArray) -> float:
        values.append(float((x - centre) @ hessian @ (x - centre)))
        return values[-1]

    way, differences = dense(30)
    differences.curvatures.meet(guess)
    point = at(f, *np.zeros(30))
    while point.value > 1e-8 * values[0]:
        point, _ = followed(way.leg(point), f)
    ours, goal = len(values), 1e-8 * values[0]
    values.clear()
    scipy.optimize.minimize(f, np.zeros(30), method="L-BFGS-B", options={"ftol": 1e-15, "maxfun": 10**5})
    assert ours < 1 + int(np.argmax(np.array(values) <= goal))


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    legs = Counter[str]()
    for way in (Sparse, Dense, Coordinates, Nonsmooth):

        def leg(self: Any, *given: Any, name: str = way.__name__, real: Any = way.leg) -> Any:
            legs[name] += 1
            return real(self, *given)

        monkeypatch.setattr(way, "leg", leg)
    return legs


DATA = np.random.default_rng(0).normal(size=(300, 100))
KINKED = bowl(np.random.default_rng(1).normal(size=100), 1.0)


def logistic(x: FloatArray) -> float:
    return float(np.logaddexp(0.0, -DATA @ x - 0.5).mean())


def run(f: Objective, asked: list[bytes], **others: Any) -> gracezo.Result:
    def counted(x: FloatArray) -> float:
        asked.append(x.tobytes())
        return f(x)

    return gracezo.minimize(counted, np.zeros(100), **{"seed": 0} | others)


def test_a_record_tells_what_its_last_legs_have_brought() -> None:
    record, told = Record(), list[tuple[bool, float, float]]()
    assert (record.rate(10), len(record)) == (0.0, 0)
    for leg in ((20, 9.0, 5.0), (5, 5.0, 4.5), (0, 4.5, 4.5)):
        record.note(*leg)
        told.append((not record.idle, record.rate(5), record.rate(25)))
    assert told == [(True, 0.2, 0.2), (True, 0.1, 0.18), (False, 0.1, 0.18)]


def test_a_dense_gradient_goes_through_plain_differences(begun: Counter[str]) -> None:
    message = run(logistic, [], max_queries=1000).message
    assert message.endswith("not sparse: 100 of 100 coordinates went through finite differences")
    assert begun["Dense"] > 1


@pytest.mark.parametrize("seed", range(3))
def test_a_dense_gradient_is_known_as_such_long_before_it_is_measured(seed: int) -> None:
    """L-BFGS with plain differences could not step before the thousandth query."""
    centre, when = np.random.default_rng(seed).normal(size=1000), list[int]()

    def f(x: FloatArray) -> float:
        when.append(int(np.count_nonzero(x)))
        z = x - centre
        return float(0.5 * (z + 0.5 * np.sin(np.roll(z, 1) + np.roll(z, -1))) @ z + 0.5 * z @ z)

    result = gracezo.minimize(f, np.zeros(1000), seed=seed, max_queries=1300)
    assert when.index(1000, 4) <= 1250  # the first step along all coordinates; the first look comes before
    assert result.fun < 0.5 * f(np.zeros(1000))


@pytest.mark.parametrize("seed", range(3))
def test_where_most_stand_on_kinks_no_gradient_is_measured(seed: int, begun: Counter[str]) -> None:
    centre = np.zeros(100)
    centre[[3, 30, 77]] = 1.0, -2.0, 0.7
    result = run(bowl(centre, 1.0), [], seed=seed, max_queries=600)
    assert result.fun < 1e-4
    assert begun["Dense"] <= 1


def test_kinks_that_do_not_couple_coordinates_are_not_asked_for_a_way_across_again_and_again(
    begun: Counter[str],
) -> None:
    """Each look whether they do takes 24 queries; eight runs made 39 of them."""
    fun = Attack()
    for seed in range(8):
        gracezo.minimize(fun, fun.x0, seed=seed, max_queries=1000)
    assert 8 <= begun["Nonsmooth"] <= 28


def test_dense_kinks_are_swept(begun: Counter[str]) -> None:
    """Which way is tried when is a matter of chance: four of five seeds come through."""
    target = 0.01 * KINKED(np.zeros(100))
    assert sum(run(KINKED, [], seed=seed, target=target, max_queries=1740).success for seed in range(5)) >= 4
    assert begun["Coordinates"] >= 5


@pytest.mark.parametrize("seed", range(3))
def test_a_sparse_function_is_searched_to_the_end(seed: int, begun: Counter[str]) -> None:
    rng = np.random.default_rng(seed)
    weights, centre = rng.random(2000), np.zeros(2000)
    centre[rng.choice(2000, 5, replace=False)] = rng.random(5)
    result = gracezo.minimize(lambda x: float(weights @ (x - centre) ** 2), np.zeros(2000), seed=seed)
    assert (result.success, set(begun), result.nfev <= 80) == (True, {"Sparse"}, True)


@pytest.mark.parametrize("budget", [101, 120, 199])
def test_a_budget_too_small_for_a_gradient_is_searched_with(budget: int, begun: Counter[str]) -> None:
    asked = list[bytes]()
    assert run(logistic, asked, max_queries=budget).nfev == len(asked) == budget
    assert begun["Dense"] == (2 if budget == 199 else 1)  # that with which it ends measures nothing


@pytest.mark.parametrize("batch", [1, 4])
def test_a_run_of_all_ways_repeats(batch: int, begun: Counter[str]) -> None:
    first, again = list[bytes](), list[bytes]()
    expected = run(KINKED, first, max_queries=2400, batch=batch)
    assert min(begun["Sparse"], begun["Dense"], begun["Coordinates"]) > 0
    assert_same(run(KINKED, again, max_queries=2400, batch=batch), expected, "again")
    assert first == again


@pytest.mark.parametrize("stop", [60, 130, 500, 899])
def test_a_run_of_all_ways_resumes(stop: int, tmp_path: Path) -> None:
    calls: list[FloatArray] = []

    def breaks(x: FloatArray) -> float:
        calls.append(x)
        if len(calls) == stop:
            raise OSError
        return KINKED(x)

    with pytest.raises(gracezo.EvaluationError):
        gracezo.minimize(breaks, np.zeros(100), seed=0, max_queries=900, journal=tmp_path / "run.db")
    result = gracezo.resume(tmp_path / "run.db", breaks)
    assert_same(result, run(KINKED, [], max_queries=900), f"from {stop}")
    assert (result.nfev, len(calls)) == (900, 901)  # the one that failed is asked again


@pytest.mark.parametrize("level", [1e-5, 0.01, 0.1])
def test_noise_is_left_to_the_search(level: float, begun: Counter[str]) -> None:
    rng, f = np.random.default_rng(10), bowl(DATA[0])
    noise = level * f(np.zeros(100))
    told = noise if level == 0.1 else None  # so much may be taken for f itself
    result = run(lambda x: f(x) + noise * float(rng.normal()), [], max_queries=1000, noise=told)
    assert "noisy" in result.message
    assert (set(begun), result.nfev > 200) == ({"Sparse"}, True)


@pytest.mark.parametrize("side", [-1.0, 0.0, 1.0])
def test_uphill_costs_two_queries_a_coordinate(side: float) -> None:
    f = bowl(side * np.eye(9)[4], 1.0)
    stands, asks = followed(uphill(at(f, *np.zeros(9)), np.array([1, 4, 8]), np.full(3, 1e-3), 1e-15), f)
    assert (stands, [(len(ask), ask.role) for ask in asks]) == (side == 0.0, [(6, Role.CONFIRM)])


@pytest.mark.parametrize(("off", "stands"), [(0.0, True), (0.3, False)])
def test_a_rise_to_both_sides_of_a_wide_place_may_hide_a_kink(off: float, stands: bool) -> None:
    """f is lower between by as much as it has risen to both sides, at the most."""

    def f(x: FloatArray) -> float:
        return float(np.abs(x - off).sum())

    lengths = np.full(2, 1e-3 if stands else 1.0)
    told, _ = followed(uphill(at(f, 0.0, 0.0), np.arange(2), lengths, 1e-15, most=0.01), f)
    assert told == stands


@pytest.mark.parametrize(("n", "batch"), [(3, 1), (4, 4)])
def test_each_point_of_a_run_among_kinks_has_the_value_of_f_there(n: int, batch: int) -> None:
    def valley(x: FloatArray) -> float:
        return float(5.0 * np.abs(np.diff(x)).sum() + abs(x.sum() - n))

    def check(intermediate_result: Any) -> None:
        assert intermediate_result.fun == valley(intermediate_result.x)

    gracezo.minimize(valley, np.zeros(n), seed=0, max_queries=1200, batch=batch, callback=check)


@pytest.mark.parametrize("budget", [300, 301, 310])
def test_a_sweep_leaves_the_queries_that_judge_the_answer(budget: int) -> None:
    seeds: set[int] = set()
    centre = np.random.default_rng(1).normal(size=100)

    def drawn(x: FloatArray, *, seed: int) -> float:
        seeds.add(seed)
        return float(np.abs(x - centre - 0.01 * np.random.default_rng(seed).normal(size=100)).sum())

    result = gracezo.minimize(drawn, np.zeros(100), seed=0, max_queries=budget)
    assert (result.nfev, len(seeds)) == (budget, 9)
    assert "8 others have judged" in result.message


def test_failed_evaluations_do_not_end_a_run_among_kinks() -> None:
    for seed in range(6):
        rng = np.random.default_rng(seed)

        def valley(x: FloatArray, rng: np.random.Generator = rng) -> float:
            if np.any(x) and rng.random() < 0.1:
                return np.nan
            return float(5.0 * np.abs(np.diff(x)).sum() + abs(x.sum() - 3.0))

        result = gracezo.minimize(valley, np.zeros(3), seed=seed, max_queries=900, on_failure=("skip", 100))
        assert np.isfinite(result.x).all()
        assert result.fun < 1e-2 or not result.success


def test_what_bounds_have_cut_is_not_asked_again() -> None:
    asked: Counter[bytes] = Counter()

    def valley(x: FloatArray) -> float:
        asked[x.tobytes()] += 1
        return float(5.0 * np.abs(np.diff(x)).sum() + abs(x.sum() - 3.0))

    result = gracezo.minimize(valley, np.zeros(3), seed=0, bounds=[(-0.5, 0.5)] * 3, max_queries=2000)
    assert result.fun == 1.5
    assert max(asked.values()) == 1


def test_a_search_among_kinks_is_not_left_for_a_sweep_that_takes_more(begun: Counter[str]) -> None:
    """A sweep takes two queries a coordinate, and brought a fifth of what the search did."""
    fun = Attack()
    gracezo.minimize(fun, fun.x0, seed=0, max_queries=2_700)
    assert set(begun) == {"Sparse", "Nonsmooth"}


@pytest.mark.parametrize("seed", range(2))
def test_a_search_at_the_same_point_looks_for_other_sizes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At another point slopes are as large; at this one those of that size have been found.

    Small ones beside them passed for background, so that many more seemed to matter than do.
    """
    kinds: Counter[str] = Counter()
    restart = Agenda._repartitioned

    def noted(self: Agenda, at: Point, fallen: float) -> list[Request] | None:
        sizes, same = self.parts.search.belief.sizes, self._partitions.here
        before = sizes.typical
        following = restart(self, at, fallen)
        assert sizes.typical == (0.0 if same else before)
        kinds[f"{'same' if same else 'other'} point, {'some' if before else 'none'} met"] += 1
        return following

    monkeypatch.setattr(Agenda, "_repartitioned", noted)
    fun = Attack()
    gracezo.minimize(fun, fun.x0, seed=seed, max_queries=1_500)
    assert min(kinds["same point, some met"], kinds["other point, some met"]) > 0
