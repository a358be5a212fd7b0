"""Looks at f, asked: again where they failed, and two in one query."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.auto.rooms import written

from gracezo.core.asks import Ask, Point, Role
from gracezo.core.moves import Few
from gracezo.methods.auto.instrument.look import Change, Request, Stencil, answered, together


def two_looks(
    stencil: Stencil,
) -> tuple[Request, Request, list[Change], list[Change]]:
    """Two looks that predict changes of 3 and -1, up to 0.1 and 0.05."""
    heard: tuple[list[Change], list[Change]] = ([], [])
    one = Request(
        Few(np.array([4, 7]), np.array([1.0, 2.0])), Role.PROBE, heard[0].append, stencil, 1, 3.0, 0.1
    )
    two = Request(Few(np.array([2]), np.array([5.0])), Role.REFRESH, heard[1].append, stencil, 2, -1.0, 0.05)
    return one, two, *heard


def slope_only(stencil: Stencil, change: float) -> Change:
    return Change(change) if stencil is Stencil.FORWARD else Change(change, -change)


def test_a_request_without_an_answer_is_asked_again_a_little_shorter() -> None:
    heard: list[Change] = []
    requests = [Request(Few(np.array([j]), np.array([2.0 + j])), Role.PROBE, heard.append) for j in range(3)]
    steps = answered(Point(np.zeros(3), 1.0), requests)
    first = next(steps)
    assert isinstance(first, Ask)
    assert len(first) == 3
    answer = np.array([1.0 + 2.0, np.nan, 1.0 + 4.0])
    for share in (0.99, 0.99**2):
        again = steps.send(answer)
        assert isinstance(again, Ask)
        assert [again.point(row).tolist() for row in range(len(again))] == [[0.0, share * 3.0, 0.0]]
        answer = np.array([np.nan if share == 0.99 else 1.0 + share * 3.0])
    with pytest.raises(StopIteration) as end:
        steps.send(answer)
    assert [change.odd for change in heard] == pytest.approx([2.0, 3.0, 4.0])
    met = end.value.value
    # The lowest point met is one that was asked, not one whose value was made up from a shorter look.
    assert (met.move.indices.tolist(), met.move.values.tolist(), met.value) == ([0], [2.0], 3.0)


@pytest.mark.parametrize("stencil", [Stencil.FORWARD, Stencil.CENTRAL])
@given(off=st.floats(-0.149, 0.149))
def test_one_query_answers_for_two_when_all_is_as_predicted(stencil: Stencil, off: float) -> None:
    one, two, first, second = two_looks(stencil)
    joint = together(one, two, lambda _: pytest.fail("nothing is left to ask"))
    assert joint is not None
    assert dict(zip(written(joint).indices.tolist(), written(joint).values.tolist(), strict=True)) == {
        4: 1.0,
        7: 2.0,
        2: 5.0,
    }
    assert (joint.stencil, joint.repeats) == (stencil, 2)
    joint.absorb(slope_only(stencil, 2.0 + off))
    assert [change.odd for change in first] == [3.0]
    assert [change.odd for change in second] == [pytest.approx(-1.0 + off)]


@pytest.mark.parametrize("stencil", [Stencil.FORWARD, Stencil.CENTRAL])
@given(first_is=st.floats(-9.0, 9.0), second_is=st.floats(-9.0, 9.0))
def test_what_is_not_as_predicted_is_told_apart_by_one_more_query(
    stencil: Stencil, first_is: float, second_is: float
) -> None:
    one, two, first, second = two_looks(stencil)
    left: list[Request] = []
    joint = together(one, two, left.append)
    assert joint is not None
    joint.absorb(slope_only(stencil, first_is + second_is))
    if abs(first_is + second_is - 2.0) <= 0.15:
        assert not left
        return
    (alone,) = left
    assert (first, second) == ([], [])
    assert (written(alone).indices.tolist(), alone.role, alone.repeats) == ([2], Role.REFRESH, 2)
    alone.absorb(slope_only(stencil, second_is))
    assert [change.odd for change in first] == [pytest.approx(first_is, abs=1e-12)]
    assert [change.odd for change in second] == [second_is]


def test_looks_of_different_kinds_are_not_made_together() -> None:
    for stencil in (
        (Stencil.FORWARD, Stencil.CENTRAL),
        (Stencil.CENTRAL, Stencil.FORWARD),
        (Stencil.CHECKED, Stencil.CHECKED),
    ):
        one, two = two_looks(stencil[0])[0], two_looks(stencil[1])[1]
        assert together(one, two, lambda _: None) is None
