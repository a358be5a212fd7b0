"""The ledger: counting, budgets, best point, stopping. Algorithms here are fed values."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gracezo
from gracezo.core.asks import Ask, Moved, OutOfQueries, Point, Role, SparseRows, Steps
from gracezo.core.drive import drive
from gracezo.core.errors import EvaluationError, EvaluationFailure
from gracezo.core.limits import Limits
from gracezo.core.result import Finish, Status
from gracezo.core.run import Answer, Run
from gracezo.core.types import FloatArray

X0 = np.zeros(4)


def rows(count: int) -> SparseRows:
    return SparseRows.coordinates(np.arange(count) % 4, np.arange(1.0, count + 1))


def asking(sizes: list[int], role: Role, reserve: int = 0) -> Steps[Finish]:
    for size in sizes:
        yield Ask(X0, rows(size), role, reserve)
    return Finish(Status.CONVERGED, "done")


def answers(run: Run, values: Iterator[float] | None = None) -> int:
    """Answer a run with 1.0 (or given values) until it is over; return how many rows were answered."""
    answered = 0
    while (ask := run.next()) is not None:
        answered += len(ask)
        run.record([(row, 1.0 if values is None else next(values)) for row in range(len(ask))])
    return answered


@given(
    st.lists(st.integers(1, 9), max_size=12),
    st.integers(1, 40),
    st.integers(0, 3),
    st.sampled_from(list(Role)),
)
def test_budget_is_exact(sizes: list[int], budget: int, reserve: int, role: Role) -> None:
    run = Run(asking(sizes, role, reserve), X0, Limits(max_queries=budget), seed=0)
    assert answers(run) == run.nfev <= budget
    bought = 0
    for size in sizes:
        if bought + size + reserve <= budget:
            bought += size
        else:
            bought += min(size, budget - bought) if role.divisible else 0
            break
    assert run.nfev == bought or role.divisible


def test_part_of_a_pair_is_not_bought() -> None:
    run = Run(asking([1, 1], Role.PROBE, reserve=1), X0, Limits(max_queries=2), seed=0)
    assert answers(run) == 1
    assert run.finish == Finish(
        Status.SPENT, "1 of 2 queries are spent; what comes next takes 2 together, more than the 1 left"
    )


def test_part_of_the_trial_steps_is_bought() -> None:
    run = Run(asking([5, 5, 5], Role.STEP), X0, Limits(max_queries=7), seed=0)
    assert answers(run) == 7
    assert run.finish == Finish(Status.SPENT, "all 7 queries are spent")


def test_what_is_spent_is_said_by_the_ledger_before_what_the_algorithm_adds() -> None:
    def remarking() -> Steps[Finish]:
        try:
            yield Ask(X0, rows(4), Role.PROBE)
            yield Ask(X0, rows(4), Role.PROBE, 1)
        except OutOfQueries:
            yield Ask(X0, rows(1), Role.STEP)
        return Finish(Status.SPENT).adding("", "f is noisy")

    run = Run(remarking(), X0, Limits(max_queries=8), seed=0)
    assert answers(run) == 5
    told = "5 of 8 queries are spent; what comes next takes 5 together, more than the 3 left; f is noisy"
    assert run.finish == Finish(Status.SPENT, told)


def test_one_query_or_step_is_not_all_of_them() -> None:
    run = Run(asking([1, 1], Role.PROBE), X0, Limits(max_queries=1), seed=0)
    answers(run)
    assert run.finish == Finish(Status.SPENT, "the one query is spent")
    assert Limits(max_steps=1).made == "the one step is made"
    assert Limits(max_steps=2000).made == "all 2,000 steps are made"


def test_out_of_queries_lets_the_algorithm_ask_for_less() -> None:
    def modest() -> Steps[Finish]:
        try:
            yield Ask(X0, rows(5), Role.PROBE)
        except OutOfQueries:
            values = yield Ask(X0, rows(2), Role.PROBE)
        return Finish(Status.CONVERGED, f"got {len(values)}")

    run = Run(modest(), X0, Limits(max_queries=3), seed=0)
    assert answers(run) == 2
    assert run.finish == Finish(Status.CONVERGED, "got 2")


def test_answers_may_arrive_in_any_order() -> None:
    seen: list[np.ndarray] = []

    def listening() -> Steps[Finish]:
        seen.append((yield Ask(X0, rows(3), Role.PROBE)))
        return Finish(Status.CONVERGED, "done")

    run = Run(listening(), X0, Limits(), seed=0)
    run.next()
    run.record([(2, 30.0)])
    rest = run.next()
    assert rest is not None
    assert [rest.point(row).max() for row in range(len(rest))] == [1.0, 2.0]
    assert not seen
    run.record([(1, 20.0), (0, 10.0)])
    assert run.next() is None
    assert seen[0].tolist() == [10.0, 20.0, 30.0]


@pytest.mark.parametrize(("role", "best"), [(Role.STEP, 2.0), (Role.START, 2.0), (Role.PROBE, math.nan)])
def test_a_probe_is_not_an_answer(role: Role, best: float) -> None:
    run = Run(asking([3], role), X0, Limits(), seed=0)
    answers(run, iter([5.0, 2.0, 3.0]))
    result = run.result()
    assert result.fun == best or math.isnan(result.fun) == math.isnan(best)
    if role.may_answer:
        assert result.x.tolist() == [0.0, 2.0, 0.0, 0.0]
        assert result.support.tolist() == [1]


def test_only_the_last_of_the_best_points_is_written_down(monkeypatch: pytest.MonkeyPatch) -> None:
    written, point = list[int](), Ask.point

    def noted(ask: Ask, row: int) -> FloatArray:
        written.append(row)
        return point(ask, row)

    monkeypatch.setattr(Ask, "point", noted)
    run = Run(asking([1, 1, 1], Role.STEP), X0, Limits(), seed=0)
    answers(run, iter([3.0, 2.0, 1.0]))
    assert (run.result().fun, run.result().x.tolist()) == (1.0, [1.0, 0.0, 0.0, 0.0])
    assert len(written) == 1


@given(st.lists(st.integers(-3, 3), min_size=4, max_size=40))
def test_the_support_is_in_the_order_of_the_changes_and_ties_in_that_of_the_indices(x: list[int]) -> None:
    def steps() -> Steps[Finish]:
        yield Ask.at(np.array(x, float), Role.STEP)
        return Finish(Status.CONVERGED, "done")

    run = Run(steps(), np.zeros(len(x)), Limits(), seed=0)
    answers(run)
    changed = [index for index, value in enumerate(x) if value]
    assert run.result().support.tolist() == sorted(changed, key=lambda index: (-abs(x[index]), index))


def test_stop_in_the_middle_of_a_batch_keeps_what_is_answered() -> None:
    run = Run(asking([3], Role.STEP), X0, Limits(), seed=0)
    run.next()
    run.record([(1, 7.0)])
    run.stop(Status.STOPPED, "enough")
    assert (run.result().fun, run.result().nfev, run.result().status) == (7.0, 1, 2)
    assert run.next() is None


def test_a_failure_keeps_what_came_with_it() -> None:
    run = Run(asking([3], Role.STEP), X0, Limits(), seed=0)
    run.next()
    with pytest.raises(EvaluationError, match="query 2 failed: no") as caught:
        run.record([(0, 4.0), (1, EvaluationFailure("no")), (2, 3.0)])
    assert (caught.value.query, caught.value.result.nfev, caught.value.result.fun) == (2, 3, 3.0)
    assert caught.value.result.status == 3


def moving(values: list[float]) -> Steps[Finish]:
    yield Moved(Point(X0, 9.0))
    for value in values:
        (got,) = yield Ask(X0, rows(1), Role.STEP)
        yield Moved(Point(X0 + value, float(got)))
    return Finish(Status.CONVERGED, "done")


def test_steps_are_counted() -> None:
    run = Run(moving([1.0] * 5), X0, Limits(max_steps=3), seed=0)
    assert answers(run) == 3
    assert run.result().nit == 3
    assert run.result().message == "all 3 steps are made"
    assert run.result().trace.queries.tolist() == [0, 1, 2, 3]


def test_target_stops_at_once_and_is_an_iterate() -> None:
    run = Run(moving([1.0] * 5), X0, Limits(target=2.0), seed=0)
    assert answers(run, iter([5.0, 2.0])) == 2
    result = run.result()
    assert (result.status, result.success, result.fun) == (0, True, 2.0)
    assert result.trace.values.tolist() == [9.0, 5.0, 2.0]


def test_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("gracezo.core.run.time.monotonic", lambda: now[0])
    run = Run(asking([4, 4], Role.STEP), X0, Limits(max_seconds=10), seed=0)

    def slow(ask: Ask) -> Generator[list[Answer], None, None]:
        for row in range(len(ask)):
            now[0] += 3.0
            yield [(row, float(-row))]

    drive(run, slow)
    assert (run.nfev, run.result().fun, run.result().message) == (4, -3.0, "10 seconds have passed")


def test_interrupt_returns_the_best_so_far() -> None:
    def interrupted(ask: Ask) -> Generator[list[Answer], None, None]:
        yield [(0, 5.0)]
        raise KeyboardInterrupt

    run = Run(asking([3], Role.STEP), X0, Limits(), seed=0)
    drive(run, interrupted)
    assert (run.result().status, run.result().fun, run.nfev) == (2, 5.0, 1)


def test_a_method_thinks_with_the_usual_arithmetic_whatever_the_user_has_set() -> None:
    def fun(x: np.ndarray) -> float:
        return float(((x - 1.0) ** 2).sum())

    expected = gracezo.minimize(fun, np.zeros(4), max_queries=60, seed=0)
    with np.errstate(all="raise"):  # an underflow of ours is no concern of anybody's
        result = gracezo.minimize(fun, np.zeros(4), max_queries=60, seed=0)
    assert np.array_equal(result.x, expected.x)
    assert result.nfev == expected.nfev


def test_what_overflows_in_an_algorithm_is_its_own_and_what_it_says_of_that_ends_with_it() -> None:
    def loud() -> Steps[Finish]:
        with np.errstate(over="raise"):  # over several asks, until the run ends in the middle of it
            while True:
                values = yield Ask(X0, rows(1), Role.PROBE)
                with np.errstate(over="ignore"):
                    np.exp(np.full(1, 1e9)) * values

    before = np.geterr()
    run = Run(loud(), X0, Limits(), seed=0)
    for _ in range(3):
        assert run.next() is not None
        assert np.geterr() == before
        run.record([(0, 1.0)])
    run.stop(Status.STOPPED, "enough")
    assert (run.nfev, np.geterr()) == (3, before)
