"""What was asked before is not paid for again."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gracezo.core.asks import Ask, OutOfQueries, Point, Role, SparseRows, Steps
from gracezo.core.box import Box
from gracezo.core.memory import Memory
from gracezo.core.moves import Few, rows_of
from gracezo.core.places import Place, displaced
from gracezo.core.types import FloatArray

START = np.array([0.5, 0.0, 0.0, -1.0])


def value(x: FloatArray) -> float:
    return float(np.sin(x) @ np.arange(1.0, 1.0 + len(x)))


def ask(base: FloatArray, *moves: dict[int, float], role: Role = Role.CONFIRM) -> Ask:
    rows = [Few(np.array(list(move), np.int64), np.array(list(move.values()))) for move in moves]
    return Ask(base, rows_of(rows), role)


def run(
    asks: Sequence[Ask],
    *,
    exact: bool = True,
    bounds: Box | None = None,
    most: float = math.inf,
    start: FloatArray = START,
) -> tuple[list[list[float]], list[bytes]]:
    """Return what was answered to each ask, and the points that were bought."""

    def steps() -> Steps[list[list[float]]]:
        heard: list[list[float]] = []
        for each in asks:
            try:
                heard.append((yield each).tolist())
            except OutOfQueries:
                heard.append([])
        return heard

    bought: list[bytes] = []
    inner = Memory(Point(start, value(np.array(start))), bounds).through(steps(), lambda: exact)
    try:
        said = next(inner)
        while True:
            assert isinstance(said, Ask)
            room = most - len(bought)
            if len(said) > room and not (said.role.divisible and room > 0):
                said = inner.throw(OutOfQueries())
                continue
            points = [said.point(row) for row in range(int(min(len(said), room)))]
            if bounds is not None:
                points = [bounds.clip(x) for x in points]
            bought += [x.tobytes() for x in points]
            said = inner.send(np.array([value(x) for x in points]))
    except StopIteration as end:
        return end.value, bought


def test_a_point_is_bought_once_however_it_is_come_by() -> None:
    there = START + np.array([0.0, 0.25, 0.0, 0.5])
    asks = [
        ask(START, {1: 0.25, 3: 0.5}),
        ask(START, {3: 0.5, 1: 0.25}),
        Ask.at(there, Role.STEP),
        ask(there, {3: -0.5}, {1: -0.25, 3: -0.5}, {1: 1.0}),
        ask(START, {1: 0.25}),
    ]
    heard, bought = run(asks)
    assert heard == [[value(each.point(row)) for row in range(len(each))] for each in asks]
    assert len(bought) == len(set(bought)) == 3
    assert START.tobytes() not in bought  # its value was known


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(-2, 2), st.integers(0, 5)), max_size=30))
def test_what_is_answered_is_always_f(walk: list[tuple[int, int, int]]) -> None:
    base, asks = np.zeros(6), []
    for i, step, j in walk:
        asks.append(ask(base, {i: 0.5 * step}, {j: -0.0}, {j: 0.5}))
        base = asks[-1].point(0)
    heard, _ = run(asks, start=np.zeros(6))
    assert heard == [[value(each.point(row)) for row in range(3)] for each in asks]


@pytest.mark.parametrize("bounds", [None, Box(np.full(9_000, -2.0), np.full(9_000, 2.0))])
def test_long_sets_are_known_from_any_base(bounds: Box | None) -> None:
    rng = np.random.default_rng(0)
    start, order = rng.uniform(-1.0, 1.0, 9_000), rng.permutation(9_000)
    whole = dict.fromkeys(order.tolist(), 0.25)
    half, rest = (dict.fromkeys(part, 0.25) for part in (order[:4_500].tolist(), order[4_500:].tolist()))
    one = {int(order[0]): 0.25}
    asks = [ask(start, whole, half, rest, one)]
    asks.append(ask(asks[0].point(3), dict(list(half.items())[1:])))
    asks.append(ask(asks[0].point(1), rest, {}, dict.fromkeys(half, -0.25)))
    asks.append(ask(asks[0].point(0), dict.fromkeys(rest, -0.25)))
    heard, bought = run(asks, bounds=bounds, start=start)
    near = [
        [value(x if bounds is None else bounds.clip(x)) for x in map(each.point, range(len(each)))]
        for each in asks
    ]
    assert heard == near
    assert len(bought) == 4


def test_what_bounds_make_of_a_point_is_what_was_asked() -> None:
    box = Box(np.full(4, -1.0), np.full(4, 1.0))
    heard, bought = run([ask(START, {0: 0.5}), ask(START, {0: 3.0}), ask(START, {3: -1.0})], bounds=box)
    assert len(bought) == 1
    assert heard[0] == heard[1]
    assert heard[2] == [value(START)]


@pytest.mark.parametrize(("role", "exact"), [(Role.AGAIN, True), (Role.CONFIRM, False)])
def test_what_is_asked_again_on_purpose_or_of_a_noisy_function_is_bought(role: Role, exact: bool) -> None:
    assert len(run([ask(START, {1: 0.25}, role=role)] * 3, exact=exact)[1]) == 3


def test_places_are_told_apart() -> None:
    origin = Place.at(np.zeros(9)).stand_in
    there = displaced(origin, np.array([2, 7]), np.array([1.0, 2.0]))
    few = SparseRows.coordinates(np.array([2, 7]), np.array([1.0, 2.0]))
    back = SparseRows.coordinates(np.array([2, 7]), np.array([-1.0, -2.0]))
    asks = [Ask(origin, few, Role.CONFIRM), Ask(there, back, Role.CONFIRM), Ask.at(origin, Role.STEP)]
    heard, bought = run(asks, start=origin)
    assert heard[1] == heard[0][::-1]
    assert len(bought) == 2


def test_the_budget_is_asked_for_what_is_new_alone() -> None:
    known = ask(START, {1: 0.25})
    heard, bought = run([known, ask(START, {1: 0.25}, {2: 0.5}), known], most=1)
    assert [len(each) for each in heard] == [1, 0, 1]
    step = ask(START, {1: 0.25}, {2: 0.5}, {1: 0.25}, {3: 0.5}, {1: 0.25}, role=Role.STEP)
    heard, bought = run([known, step], most=2)
    assert [len(each) for each in heard] == [1, 3]  # up to the first that could not be had
    assert len(bought) == 2


def test_one_that_failed_may_be_asked_again() -> None:
    def steps() -> Steps[float]:
        values = yield ask(START, {1: 0.25})
        while math.isnan(values[0]):
            values = yield ask(START, {1: 0.25})
        return float(values[0])

    inner = Memory(Point(START, 0.0)).through(steps(), lambda: True)
    next(inner)
    assert isinstance(inner.send(np.array([math.nan])), Ask)
    with pytest.raises(StopIteration, match=r"3\.0"):
        inner.send(np.array([3.0]))


def test_who_turns_in_a_circle_comes_to_the_end_of_the_budget() -> None:
    def circling() -> Steps[None]:
        while True:
            yield ask(START, {1: 0.25}, {2: 0.25})

    inner = Memory(Point(START, 0.0)).through(circling(), lambda: True)
    said = next(inner)
    for _ in range(5):
        assert isinstance(said, Ask)
        said = inner.send(np.zeros(len(said)))
