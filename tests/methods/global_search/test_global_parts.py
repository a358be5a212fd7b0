"""The parts of `global`: an evolution fed by hand, a search in turns, and who gets the turns."""

from __future__ import annotations

import random
from collections.abc import Callable

import cma
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gracezo.core.asks import Ask, Moved, OutOfQueries, Point, Role, Steps
from gracezo.core.box import Box
from gracezo.core.keys import Key
from gracezo.core.method import Problem
from gracezo.core.result import Finish, Status
from gracezo.core.types import FloatArray
from gracezo.methods.auto.method import auto
from gracezo.methods.global_.evolution import evolve, population
from gracezo.methods.global_.search import Search
from gracezo.methods.global_.shares import Shares
from gracezo.methods.global_.zoom import zoom

GOAL = np.array([0.3, 0.9, 0.55])
BOX = Box.of(np.array([-2.0, 0.0, 0.0]), np.array([2.0, 1.0, 10.0]), 3)


def bowl(x: FloatArray) -> float:
    return float((((x - BOX.lower) / (BOX.upper - BOX.lower) - GOAL) ** 2).sum())


def fed(
    steps: Steps[Finish], f: Callable[[FloatArray], float], budget: int = 10**6
) -> tuple[list[FloatArray], list[Point], Finish]:
    """Run an algorithm by hand; return the points asked, the iterates, and its end."""
    points: list[FloatArray] = []
    told: list[Point] = []
    try:
        said = next(steps)
        while True:
            if not isinstance(said, Ask):
                if isinstance(said, Moved):
                    told.append(said.to)
                said = steps.send(np.zeros(0))
                continue
            new = [said.point(row) for row in range(len(said))]
            if len(points) + len(new) > budget:
                said = steps.throw(OutOfQueries())
                continue
            points += new
            said = steps.send(np.array([f(x) for x in new]))
    except StopIteration as end:
        return points, told, end.value


# ---------------------------------------------------------------- evolution


def evolution(seed: int = 1, size: int = 7) -> Steps[Finish]:
    return evolve(BOX, np.full(3, 0.5), size, Role.STEP, Key(seed))


def test_an_evolution_comes_to_the_minimum_of_a_bowl_and_stays_in_the_box() -> None:
    points, told, finish = fed(evolution(), bowl)
    assert finish.status is Status.CONVERGED
    assert len(points) == 7 * len(told)
    assert all(BOX.inside(x) for x in points)
    assert min(map(bowl, points)) < 1e-3
    for generation, iterate in enumerate(told):
        values = sorted(bowl(x) for x in points[7 * generation : 7 * generation + 7])
        assert iterate.value == values[3] == bowl(iterate.x)  # the middle one


def test_it_is_pycma_on_the_unit_cube_with_our_draws() -> None:
    """The same points as pycma alone, given the same normal numbers."""
    rng = Key(5).generator()
    options = {"bounds": [0, 1], "popsize": 7, "verbose": -9, "randn": lambda *n: rng.standard_normal(n)}
    other = cma.CMAEvolutionStrategy(np.full(3, 0.5), 0.3, options | {"seed": np.nan})
    expected = []
    for _ in range(4):
        shares = other.ask()
        expected += [BOX.lower + (BOX.upper - BOX.lower) * share for share in shares]
        other.tell(shares, [bowl(x) for x in expected[-7:]])
    points, _, _ = fed(evolution(5), bowl)
    np.testing.assert_array_equal(points[:28], expected)


def test_nothing_global_is_seeded_or_drawn_from() -> None:
    before = repr(np.random.get_state(legacy=False)), random.getstate()  # noqa: NPY002
    first = fed(evolution(), bowl)[0]
    assert before == (repr(np.random.get_state(legacy=False)), random.getstate())  # noqa: NPY002
    np.random.rand(5)  # noqa: NPY002
    random.random()
    np.testing.assert_array_equal(first, fed(evolution(), bowl)[0])


def test_failed_evaluations_rank_last() -> None:
    def patchy(x: FloatArray) -> float:
        return np.nan if x[2] > 7.0 else bowl(x)

    points, _, finish = fed(evolution(), patchy)
    assert finish.status is Status.CONVERGED
    assert min(map(bowl, points)) < 1e-3
    assert len(fed(evolution(), lambda x: np.nan)[0]) == 7  # a generation that fails is the last


@pytest.mark.parametrize(("n", "size"), [(1, 4), (2, 6), (4, 8), (10, 10), (100, 17)])
def test_the_population_is_that_of_the_tutorial(n: int, size: int) -> None:
    assert population(n) == size


# ---------------------------------------------------------------- a zoom


def rippled(x: FloatArray) -> float:
    """Return a function of twenty minima along each coordinate."""
    away = (x - BOX.lower) / (BOX.upper - BOX.lower) - GOAL
    return float((away**2).sum() + 0.05 * (1.0 - np.cos(40.0 * np.pi * away)).sum())


@pytest.mark.parametrize("size", [3, 8])
def test_a_zoom_finds_the_lowest_of_many_minima_and_stays_in_the_box(size: int) -> None:
    found = []
    for seed in range(10):
        start = BOX.lower + Key(seed).generator().random(3) * (BOX.upper - BOX.lower)
        points, told, finish = fed(zoom(BOX, Point(start, rippled(start)), size, 0.0, Key(seed)), rippled)
        assert finish.status is Status.CONVERGED
        assert len(points) == 10 * 3 * size  # windows from 1 to 1/512, each coordinate in each of them
        assert all(BOX.inside(x) for x in points)
        values = [rippled(start), *(point.value for point in told)]
        assert values == sorted(values, reverse=True)
        assert told[-1].value == rippled(told[-1].x) == min(map(rippled, points))
        found.append(told[-1].value < 0.05)  # the second lowest is above
    assert sum(found) >= 6


def test_one_coordinate_moves_at_a_time_and_windows_shrink() -> None:
    start = Point(np.array([0.0, 0.5, 5.0]), bowl(np.array([0.0, 0.5, 5.0])))
    points, _, _ = fed(zoom(BOX, start, 3, 0.0, Key(2)), lambda x: 9.0)  # nothing is lower: it stays
    moved = np.array([(x - start.x) / (BOX.upper - BOX.lower) for x in points])
    assert ((moved != 0.0).sum(axis=1) == 1).all()
    for number in range(10):
        window = moved[9 * number : 9 * number + 9]
        assert np.abs(window).max() <= 0.5**number
        assert (np.abs(window).max(axis=0) > 0.5 ** (number + 1) / 3).all()


def test_a_zoom_leaves_out_what_fails_and_what_noise_explains() -> None:
    start = Point(np.zeros(3), 1.0)
    points, told, _ = fed(zoom(BOX, start, 3, 0.0, Key(4)), lambda x: np.nan)
    assert (len(points), told) == (90, [])
    rng = Key(3).generator()
    _, told, _ = fed(zoom(BOX, start, 3, 0.5, Key(4)), lambda x: 1.0 + 0.1 * rng.standard_normal())
    assert told == []


# ---------------------------------------------------------------- a search in turns


@given(st.lists(st.integers(1, 30), min_size=1, max_size=12))
def test_a_search_in_turns_asks_what_it_would_ask_at_once(turns: list[int]) -> None:
    start = Point(np.zeros(3), bowl(np.zeros(3)))

    def descent() -> Steps[Finish]:
        return auto(Problem(3, bounds=BOX)).run(start, Key(2))

    expected = fed(descent(), bowl)[0]
    asked: list[FloatArray] = []
    search = Search(descent(), start)
    for turn in turns:
        before = search.queries
        points, _, _ = fed(_ending(search.go_on(turn)), bowl)
        asked += points
        assert search.queries == len(asked)
        assert len(points) >= turn or search.finish is not None or search.queries == before
        if search.finish is not None:
            break
    np.testing.assert_array_equal(asked, expected[: len(asked)])
    assert search.value <= min(bowl(start.x), search.value)
    assert search.best is not None
    assert bowl(search.best.x) == search.value


def _ending(steps: Steps[None]) -> Steps[Finish]:
    yield from steps
    return Finish(Status.SPENT, "")


def test_a_search_knows_how_it_falls() -> None:
    def falling() -> Steps[Finish]:
        for value in (8.0, 4.0, 2.0, 1.0):
            yield Ask.at(np.zeros(1), Role.PROBE)
            yield Moved(Point(np.zeros(1), value))
        return Finish(Status.CONVERGED, "")

    search = Search(falling(), Point(np.zeros(1), 16.0))
    assert not search.moved
    fed(_ending(search.go_on(2)), lambda x: 0.0)
    assert (search.queries, search.value, search.falling, search.promise) == (2, 4.0, 4.0, 0.0)
    fed(_ending(search.go_on(9)), lambda x: 0.0)
    assert search.finish is not None
    assert (search.queries, search.value, search.falling) == (4, 1.0, 3.0)
    assert not search.refused


def test_a_search_that_cannot_be_paid_for_is_refused() -> None:
    start = Point(np.zeros(3), bowl(np.zeros(3)))
    search = Search(evolution())
    fed(_ending(search.go_on(100)), bowl, budget=5)
    assert search.refused
    descent = Search(auto(Problem(3, bounds=BOX)).run(start, Key(2)), start)
    fed(_ending(descent.go_on(100)), bowl, budget=9)
    assert descent.refused


# ---------------------------------------------------------------- shares


def test_without_wins_all_parts_have_the_same_share() -> None:
    shares, turns = Shares("abc"), []
    for _ in range(30):
        turns.append(shares.next_of("abc"))
        shares.note(turns[-1], won=False)
    assert [turns.count(part) for part in "abc"] == [10, 10, 10]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=40))
@example([("a", False), ("c", False), *[("b", True)] * 3, *[("b", False)] * 6])  # 4/11 is more than 1/3
def test_the_part_that_is_most_likely_to_win_goes_on(history: list[tuple[str, bool]]) -> None:
    shares = Shares("abc")
    for part, won in history:
        shares.note(part, won)

    def chance(part: str) -> float:
        wins = [won for other, won in history if other == part]
        return (sum(wins) + 1) / (len(wins) + 2)

    assert chance(shares.next_of("abc")) == max(map(chance, "abc"))
    assert shares.next_of("b") == "b"
    shares.forget("b")
    history = [(part, won) for part, won in history if part != "b"]
    assert chance(shares.next_of("abc")) == max(map(chance, "abc"))
