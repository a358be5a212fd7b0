"""Spreading an ask over a crew, with a crew that answers in any order and loses what it likes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gracezo.core.asks import Ask, DenseRows, Role
from gracezo.core.errors import EvaluationFailure, WorkersLost
from gracezo.evaluators.objective import Objective
from gracezo.evaluators.serial import Serial
from gracezo.evaluators.spread import MOST_LOSSES, Delivery, Loss, Part, Spread
from gracezo.evaluators.worker import work

SUM = Serial(Objective(lambda x: float(x.sum()), (), (1,)))


class FakeCrew:
    """Works when asked for results; `data` decides on whose and on what becomes of them."""

    task_seconds = 1e9  # so that parts are as large as the shares allow, once a time is known

    def __init__(self, data: st.DataObject, size: int, window: int) -> None:
        self.data, self.size, self.window = data, size, window
        self.under_way: list[Part] = []
        self.sent: list[Part] = []
        self.lost: Counter[int] = Counter()

    def send(self, part: Part) -> None:
        assert len(self.under_way) < self.window
        self.sent.append(part)
        self.under_way.append(part)

    def receive(self) -> Sequence[Delivery]:
        deliveries: list[Delivery] = []
        for _ in range(self.data.draw(st.integers(1, len(self.under_way)))):
            part = self.under_way.pop(self.data.draw(st.integers(0, len(self.under_way) - 1)))
            if self.data.draw(st.integers(0, 3)) == 0:
                self.lost.update(range(part.start, part.stop))
                deliveries.append((part, Loss("bad luck")))
            else:
                deliveries.append((part, work(SUM, part.ask.base, part.offsets)))
        return deliveries

    def drop(self) -> None:
        self.under_way.clear()


def ask_of(rows: int) -> Ask:
    return Ask(np.zeros(1), DenseRows(np.arange(float(rows))[:, None]), Role.PROBE)


@given(data=st.data(), rows=st.integers(1, 40), size=st.integers(1, 5), spare=st.integers(0, 5))
def test_every_row_is_answered_once(data: st.DataObject, rows: int, size: int, spare: int) -> None:
    crew = FakeCrew(data, size, size + spare)
    spread = Spread(crew, whole_shares=data.draw(st.booleans()))
    answers = [answer for known in spread(ask_of(rows)) for answer in known]
    assert sorted(row for row, _ in answers) == list(range(rows))
    for row, outcome in answers:
        if isinstance(outcome, EvaluationFailure):
            assert crew.lost[row] >= MOST_LOSSES
            assert "bad luck" in str(outcome)
        else:
            assert outcome == row
    assert max((part.stop - part.start for part in crew.sent), default=0) <= -(-rows // size)


@given(data=st.data(), rows=st.integers(1, 20))
def test_what_is_under_way_is_dropped_when_the_run_ends(data: st.DataObject, rows: int) -> None:
    crew = FakeCrew(data, 2, 4)
    answering = Spread(crew)(ask_of(rows))
    next(answering)
    answering.close()
    assert not crew.under_way


class LeavingCrew(FakeCrew):
    """Takes three parts and then no more, but still delivers these."""

    def send(self, part: Part) -> None:
        if len(self.sent) == 3:
            raise WorkersLost("gone home")
        super().send(part)

    def receive(self) -> Sequence[Delivery]:
        return [(part, work(SUM, part.ask.base, part.offsets)) for part in [self.under_way.pop()]]


@given(st.data())
def test_what_was_evaluated_is_handed_over_before_the_error(data: st.DataObject) -> None:
    answering = Spread(LeavingCrew(data, 10, 10))(ask_of(20))
    answers = dict(answer for _ in range(3) for answer in next(answering))
    assert answers == {0: 0.0, 1: 1.0, 2: 2.0}
    with pytest.raises(WorkersLost, match="gone home"):
        next(answering)


def test_cheap_rows_travel_together_and_expensive_ones_alone() -> None:
    class Recording(LeavingCrew):
        def send(self, part: Part) -> None:
            FakeCrew.send(self, part)

    def sizes(task_seconds: float) -> list[int]:
        crew = Recording(None, 3, 6)  # type: ignore[arg-type]  # nothing is drawn
        crew.task_seconds = task_seconds
        spread = Spread(crew)
        list(spread(ask_of(1)))  # from here on the time of a row is known
        list(spread(ask_of(10)))
        return [part.stop - part.start for part in crew.sent[1:]]

    assert sizes(1e9) == [4, 4, 2]
    assert sizes(0.0) == [1] * 10
