"""Asks, gather, reserving, keys."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gracezo.core.asks import Ask, Decided, DenseRows, Moved, OutOfQueries, Point, Role, SparseRows, Steps
from gracezo.core.gather import gather
from gracezo.core.keys import Key, draw_seed
from gracezo.core.steps import reserving, translated
from gracezo.core.types import FloatArray

BASE = np.arange(5.0)


@given(st.lists(st.lists(st.dictionaries(st.integers(0, 4), st.floats(-9, 9)), max_size=3), min_size=1))
def test_stacked_rows_are_the_rows(parts: list[list[dict[int, float]]]) -> None:
    def packed(rows: list[dict[int, float]]) -> SparseRows:
        lengths = [len(row) for row in rows]
        indices = np.array([i for row in rows for i in row], dtype=np.int64)
        values = np.array([v for row in rows for v in row.values()])
        return SparseRows(np.cumsum([0, *lengths]), indices, values)

    stacked = SparseRows.stack([packed(rows) for rows in parts])
    flat = [row for rows in parts for row in rows]
    assert len(stacked) == len(flat)
    for number, row in enumerate(flat):
        expected = BASE.copy()
        for i, v in row.items():
            expected[i] += v
        assert np.array_equal(Ask(BASE, stacked, Role.PROBE).point(number), expected)
        assert np.array_equal(Ask(BASE, stacked, Role.PROBE).head(number + 1).point(number), expected)


def test_dense_rows() -> None:
    ask = Ask(BASE, DenseRows(np.eye(5, dtype=np.float32), 0.5), Role.PROBE)
    assert len(ask) == 5
    assert ask.point(2).tolist() == [0.0, 1.0, 2.5, 3.0, 4.0]
    assert len(ask.head(2)) == 2


def search(rounds: int, label: str) -> Steps[str]:
    total = 0.0
    for number in range(rounds):
        answer = yield Ask(BASE, SparseRows.single(np.array([number]), np.ones(1)), Role.PROBE, reserve=1)
        total += answer[0]
    return f"{label}{total:g}"


def test_what_is_said_and_heard_is_translated() -> None:
    def steps() -> Steps[list[float]]:
        heard = [float((yield Ask(BASE, SparseRows.single(np.array([0]), np.ones(1)), Role.PROBE))[0])]
        yield Moved(Point(BASE, 5.0))
        yield Decided("nothing is asked")
        try:
            yield Ask(BASE, SparseRows.single(np.array([1]), np.ones(1)), Role.PROBE)
        except OutOfQueries:
            heard.append(-1.0)
        return heard

    def asked(ask: Ask) -> Ask:
        return Ask(ask.base + 1.0, ask.offsets, ask.role)

    def heard(ask: Ask, values: FloatArray) -> FloatArray:
        assert ask.base is BASE  # as it was made, not as it was asked
        return 10.0 * values

    run = translated(steps(), asked, heard, lambda moved: Moved(Point(moved.to.x, -moved.to.value)))
    first = next(run)
    assert isinstance(first, Ask)
    assert first.point(0).tolist() == [2.0, 2.0, 3.0, 4.0, 5.0]
    moved = run.send(np.array([3.0]))
    assert isinstance(moved, Moved)
    assert moved.to.value == -5.0
    assert isinstance(run.send(np.zeros(0)), Decided)
    assert isinstance(run.send(np.zeros(0)), Ask)
    with pytest.raises(StopIteration) as end:
        run.throw(OutOfQueries())
    assert end.value.value == [30.0, -1.0]


def test_gather_is_one_batch_a_round() -> None:
    both = gather(search(1, "a"), search(3, "b"), search(0, "c"), search(2, "d"))
    said = next(both)
    for size in (3, 2, 1):
        assert isinstance(said, Ask)
        assert len(said) == said.reserve == size
        answer = np.arange(1.0, size + 1)
        if size > 1:
            said = both.send(answer)
    with pytest.raises(StopIteration) as end:
        both.send(answer)
    assert end.value.value == ["a1", "b4", "c0", "d5"]


def test_gather_refuses_different_bases() -> None:
    def elsewhere() -> Steps[str]:
        yield Ask(BASE.copy(), SparseRows.single(np.array([0]), np.ones(1)), Role.PROBE)
        return ""

    with pytest.raises(ValueError, match="one base"):
        next(gather(search(1, "a"), elsewhere()))


def test_reserving_adds_and_passes_the_end_of_the_budget_on() -> None:
    def careful() -> Steps[str]:
        try:
            yield Ask.at(BASE, Role.PROBE)
        except OutOfQueries:
            return "poor"
        return "rich"

    steps = reserving(careful(), 2)
    said = next(steps)
    assert isinstance(said, Ask)
    assert said.reserve == 2
    with pytest.raises(StopIteration) as end:
        steps.throw(OutOfQueries())
    assert end.value.value == "poor"


def test_keys_name_streams() -> None:
    draws = {Key(1).child(*path).generator().random() for path in [(), (0,), (1,), (0, 0), (0, 1), (1, 0)]}
    assert len(draws) == 6
    assert Key(1).child(2).child(3) == Key(1).child(2, 3)
    assert draw_seed() != draw_seed()
