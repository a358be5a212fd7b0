"""Asks in parts: the same answers, and nothing bought that the budget does not reach for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gracezo.core.asks import Ask, OutOfQueries, Role, SparseRows, Steps
from gracezo.core.steps import in_batches
from gracezo.core.types import FloatArray


def asking(count: int, role: Role) -> Steps[FloatArray | None]:
    try:
        return (
            yield Ask(np.zeros(9), SparseRows.coordinates(np.arange(count), np.arange(1.0, count + 1)), role)
        )
    except OutOfQueries:
        return None


@given(st.integers(1, 9), st.integers(1, 9))
def test_the_parts_give_what_the_whole_would_have(count: int, most: int) -> None:
    steps = in_batches(asking(count, Role.PROBE), most)
    said = next(steps)
    for start in range(0, count, most):
        assert isinstance(said, Ask)
        assert len(said) == min(most, count - start)
        assert said.reserve == count - start - len(said)
        answer = np.array([said.point(row).sum() for row in range(len(said))])
        if said.reserve:
            said = steps.send(answer)
    with pytest.raises(StopIteration) as end:
        steps.send(answer)
    assert end.value.value.tolist() == list(range(1, count + 1))


def test_parts_of_use_by_themselves_are_bought_one_by_one() -> None:
    steps = in_batches(asking(3, Role.AGAIN), 1)
    first = next(steps)
    assert isinstance(first, Ask)
    assert first.reserve == 0
    steps.send(np.array([5.0]))
    with pytest.raises(StopIteration) as end:
        steps.throw(OutOfQueries())
    assert end.value.value.tolist() == [5.0]


@pytest.mark.parametrize("role", [Role.PROBE, Role.AGAIN])
def test_an_ask_that_is_refused_at_once_is_refused_as_a_whole(role: Role) -> None:
    steps = in_batches(asking(3, role), 2)
    next(steps)
    with pytest.raises(StopIteration) as end:
        steps.throw(OutOfQueries())
    assert end.value.value is None
