"""Spreading an ask over a pool, with a pool that answers in any order and loses what it likes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gracezo.core.asks import Ask, DenseRows, Role
from gracezo.core.errors import EvaluationFailure, Lost, WorkersLost
from gracezo.evaluators.objective import Objective
from gracezo.evaluators.serial import Serial
from gracezo.evaluators.spread import Delivery, Dropped, Loss, Part, Spread
from gracezo.evaluators.worker import work

SUM = Serial(Objective(lambda x: float(x.sum()), (), (1,)))


class FakePool:
    """Works when asked for results; `data` decides on whose and on what becomes of them."""

    task_seconds = 1e9  # so that parts are as large as the shares allow, once a time is known

    def __init__(self, data: st.DataObject, size: int, window: int) -> None:
        self.data, self.size, self.window = data, size, window
        self.under_way: list[Part] = []
        self.sent: list[Part] = []
        self.lost: Counter[int] = Counter()
        self.late: list[Part] = []
        self.slow = False

    def send(self, part: Part) -> None:
        assert len(self.under_way) < self.window
        self.sent.append(part)
        self.under_way.append(part)

    def receive(self, patience: float) -> Sequence[Delivery]:
        deliveries: list[Delivery] = []
        for _ in range(self.data.draw(st.integers(1, len(self.under_way)))):
            part = self.under_way.pop(self.data.draw(st.integers(0, len(self.under_way) - 1)))
            if self.overdue_next(part):
                continue
            if self.data.draw(st.integers(0, 3)) == 0:
                begun = self.data.draw(st.integers(1, part.stop - part.start))
                self.lost.update(range(part.start, part.start + begun))
                deliveries.append((part, Loss("bad luck", begun, certain=self.data.draw(st.booleans()))))
            else:
                deliveries.append((part, work(SUM, part.ask.base, part.offsets)))
        return deliveries

    def overdue_next(self, part: Part) -> bool:
        if not self.slow or self.data.draw(st.integers(0, 5)):
            return False
        self.late.append(part)
        return True

    def overdue(self, seconds: float) -> Sequence[Part]:
        late, self.late = self.late, []
        return late

    def drop(self) -> Dropped:
        dropped = Dropped(sum(map(len, self.under_way)), len(self.under_way))
        self.under_way.clear()
        return dropped


def ask_of(rows: int) -> Ask:
    return Ask(np.zeros(1), DenseRows(np.arange(float(rows))[:, None]), Role.PROBE)


@given(data=st.data(), rows=st.integers(1, 40), size=st.integers(1, 5), spare=st.integers(0, 5))
def test_every_row_is_answered_once(data: st.DataObject, rows: int, size: int, spare: int) -> None:
    pool = FakePool(data, size, size + spare)
    pool.slow = data.draw(st.booleans())
    spread = Spread(pool, whole_shares=data.draw(st.booleans()), timeout=7.0 if pool.slow else None)
    answers = [answer for known in spread(ask_of(rows)) for answer in known]
    assert sorted(row for row, _ in answers) == list(range(rows))
    for row, outcome in answers:
        if isinstance(outcome, Lost):
            assert pool.lost[row] == 1
            assert str(outcome) == "bad luck"
        elif isinstance(outcome, EvaluationFailure):
            assert pool.slow
            assert str(outcome) == "the evaluation took longer than 7 seconds, its time-out"
        else:
            assert outcome == row
    assert max((part.stop - part.start for part in pool.sent), default=0) <= -(-rows // size)


def test_what_was_lost_with_others_is_asked_one_by_one() -> None:
    class Breaks(FakePool):
        """All that is under way is lost together, twice."""

        most: list[int]

        def receive(self, patience: float) -> Sequence[Delivery]:
            self.most.append(len(self.under_way))
            parts, self.under_way = self.under_way, []
            if len(self.most) > 2:
                return [(part, work(SUM, part.ask.base, part.offsets)) for part in parts]
            return [(part, Loss("broken", certain=len(parts) == 1)) for part in parts]

    pool = Breaks(None, 3, 3)  # type: ignore[arg-type]  # nothing is drawn
    pool.most = []
    spread = Spread(pool)
    assert [type(outcome) for known in spread(ask_of(3)) for _, outcome in known] == [Lost] * 3
    assert sum(isinstance(outcome, Lost) for known in spread(ask_of(3)) for _, outcome in known) == 1
    list(spread(ask_of(1)))  # still with care: it was lost when it was alone
    list(spread(ask_of(3)))
    assert pool.most == [3, 1, 1, 1, 1, 3]


class Mortal(FakePool):
    """Rows of some values end their worker; in a pool, all that is under way is lost with it."""

    def __init__(self, data: st.DataObject, size: int, deadly: set[float], pool: bool) -> None:
        super().__init__(data, size, 2 * size)
        self.deadly, self.pool = deadly, pool

    def receive(self, patience: float) -> Sequence[Delivery]:
        part = self.under_way.pop(self.data.draw(st.integers(0, len(self.under_way) - 1)))
        points = [float(part.ask.point(row)[0]) for row in range(part.start, part.stop)]
        done = next((place for place, x in enumerate(points) if x in self.deadly), None)
        if done is None:
            return [(part, work(SUM, part.ask.base, part.offsets))]
        if not self.pool:
            return [(part, Loss("dead", done + 1, done))]
        lost, self.under_way = [part, *self.under_way], []
        return [(one, Loss("broken", certain=len(lost) == 1)) for one in lost]


@given(
    data=st.data(),
    rows=st.integers(1, 30),
    size=st.integers(1, 4),
    deadly=st.sets(st.integers(0, 29).map(float), max_size=3),
    pool=st.booleans(),
)
def test_only_who_ended_a_worker_is_blamed_and_others_are_lost_once_for_each(
    data: st.DataObject, rows: int, size: int, deadly: set[float], pool: bool
) -> None:
    spread = Spread(Mortal(data, size, deadly, pool))
    list(spread(ask_of(1)))  # from here on the time of a row is known, and parts are large
    spread._singly = spread._careful = False
    ask, blamed, beside = ask_of(rows), Counter[float](), Counter[float]()
    for _ in range(3 * len(deadly) + 2):
        again = []
        for row, outcome in [answer for known in spread(ask) for answer in known]:
            if isinstance(outcome, Lost):
                x = float(ask.point(row)[0])
                (blamed if outcome.blamed else beside)[x] += 1
                if blamed[x] < 3:
                    again.append(row)
        if not again:
            break
        ask = ask.take(np.array(again))
    assert not again
    assert blamed == {x: 3 for x in deadly if x < rows}
    assert max(beside.values(), default=0) <= 1


def test_a_worker_that_never_begins_is_not_waited_for_for_ever() -> None:
    class Stillborn(FakePool):
        def receive(self, patience: float) -> Sequence[Delivery]:
            return [(self.under_way.pop(), Loss("no memory", begun=0))]

    answers = [answer for known in Spread(Stillborn(None, 1, 1))(ask_of(2)) for answer in known]  # type: ignore[arg-type]
    assert [(row, str(outcome)) for row, outcome in answers] == [(0, "no memory"), (1, "no memory")]


@given(data=st.data(), rows=st.integers(1, 20))
def test_what_is_under_way_is_dropped_when_the_run_ends(data: st.DataObject, rows: int) -> None:
    pool = FakePool(data, 2, 4)
    spread = Spread(pool)
    answering = spread(ask_of(rows))
    next(answering)
    left = sum(map(len, pool.under_way))
    answering.close()
    assert not pool.under_way
    assert spread.unfinished == left


class LeavingPool(FakePool):
    """Takes three parts and then no more, but still delivers these."""

    def send(self, part: Part) -> None:
        if len(self.sent) == 3:
            raise WorkersLost("gone home")
        super().send(part)

    def receive(self, patience: float) -> Sequence[Delivery]:
        return [(part, work(SUM, part.ask.base, part.offsets)) for part in [self.under_way.pop()]]


@given(st.data())
def test_what_was_evaluated_is_handed_over_before_the_error(data: st.DataObject) -> None:
    answering = Spread(LeavingPool(data, 10, 10))(ask_of(20))
    answers = dict(answer for _ in range(3) for answer in next(answering))
    assert answers == {0: 0.0, 1: 1.0, 2: 2.0}
    with pytest.raises(WorkersLost, match="gone home"):
        next(answering)


def test_cheap_rows_travel_together_and_expensive_ones_alone() -> None:
    class Recording(LeavingPool):
        def send(self, part: Part) -> None:
            FakePool.send(self, part)

    def sizes(task_seconds: float) -> list[int]:
        pool = Recording(None, 3, 6)  # type: ignore[arg-type]  # nothing is drawn
        pool.task_seconds = task_seconds
        spread = Spread(pool)
        list(spread(ask_of(1)))  # from here on the time of a row is known
        list(spread(ask_of(10)))
        return [part.stop - part.start for part in pool.sent[1:]]

    assert sizes(1e9) == [4, 4, 2]
    assert sizes(0.0) == [1] * 10
