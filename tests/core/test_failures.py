"""What a failed evaluation costs and ends, whoever answers first."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gracezo.core.asks import Ask, Role, SparseRows, Steps
from gracezo.core.errors import EvaluationError, EvaluationFailure
from gracezo.core.failures import OnFailure
from gracezo.core.limits import Limits
from gracezo.core.result import Finish, Status
from gracezo.core.run import Run

X0 = np.zeros(1)


class Scene:
    """An algorithm that asks for numbered points, and a world in which point k fails `plan[k]` times."""

    def __init__(self, sizes: list[int], plan: list[int], role: Role, reserve: int = 0) -> None:
        self.sizes = sizes
        self.plan = plan
        self.role = role
        self.reserve = reserve
        self.seen: list[float] = []
        self.calls: list[int] = []

    def steps(self) -> Steps[Finish]:
        first = 0
        for size in self.sizes:
            numbers = np.arange(first, first + size, dtype=np.float64)
            rows = SparseRows.coordinates(np.zeros(size, np.int64), numbers)
            self.seen += (yield Ask(X0, rows, self.role, self.reserve)).tolist()
            first += size
        return Finish(Status.CONVERGED, "done")

    def answer(self, x: np.ndarray) -> float | EvaluationFailure:
        number = int(x[0])
        self.calls.append(number)
        if self.calls.count(number) <= self.plan[number]:
            return EvaluationFailure(f"point {number}")
        return float(number)

    def drive(self, run: Run, order: random.Random, most: int) -> None:
        """Answer in a shuffled order, up to `most` rows at a time, sometimes asking `next` in between."""
        while (ask := run.next()) is not None:
            rows = order.sample(range(len(ask)), len(ask))
            while rows:
                taken = [rows.pop() for _ in range(min(len(rows), order.randint(1, most)))]
                run.record([(row, self.answer(ask.point(row))) for row in taken])
                if order.random() < 0.3:
                    break


@st.composite
def scenes(draw: st.DrawFn, role: Role, worst: int) -> Scene:
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=6))
    count = sum(sizes)
    plan = draw(st.lists(st.sampled_from([0, 0, 0, *range(1, worst + 1)]), min_size=count, max_size=count))
    return Scene(sizes, plan, role)


@given(scenes(Role.PROBE, 3), st.integers(1, 3), st.randoms(use_true_random=False), st.integers(1, 3))
def test_retry_asks_only_what_failed_and_no_oftener_than_it_may(
    scene: Scene, limit: int, order: random.Random, most: int
) -> None:
    run = Run(scene.steps(), X0, Limits(), seed=0, on_failure=OnFailure("retry", limit))
    if max(scene.plan) <= limit:
        scene.drive(run, order, most)
        assert scene.seen == list(range(len(scene.plan)))
        assert [scene.calls.count(k) for k in range(len(scene.plan))] == [n + 1 for n in scene.plan]
        sums = itertools.accumulate(scene.sizes, initial=0)
        attempts = [max(scene.plan[a:b]) + 1 for a, b in itertools.pairwise(sums)]
        assert run.result().rounds == sum(attempts)
    else:
        with pytest.raises(EvaluationError) as caught:
            scene.drive(run, order, most)
        assert caught.value.result.status == 3
        assert max(scene.calls.count(k) for k in range(len(scene.plan))) == limit + 1
    assert run.nfev == len(scene.calls)


@given(
    scenes(Role.PROBE, 2),
    st.integers(0, 2),
    st.integers(1, 20),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_the_budget_holds_with_retries(
    scene: Scene, reserve: int, budget: int, divisible: bool, order: random.Random
) -> None:
    scene.role, scene.reserve = (Role.STEP if divisible else Role.PROBE), reserve
    run = Run(scene.steps(), X0, Limits(max_queries=budget), seed=0, on_failure=OnFailure("retry", 2))
    scene.drive(run, order, 2)
    assert run.nfev == len(scene.calls) <= budget
    assert not any(math.isnan(value) for value in scene.seen)
    assert run.result().status in (0, 1)


@given(scenes(Role.PROBE, 1), st.integers(1, 4), st.randoms(use_true_random=False), st.integers(1, 3))
def test_skip_gives_nan_and_ends_after_too_many_in_a_row(
    scene: Scene, limit: int, order: random.Random, most: int
) -> None:
    run = Run(scene.steps(), X0, Limits(), seed=0, on_failure=OnFailure("skip", limit))
    longest = max((len(list(group)) for lost, group in itertools.groupby(scene.plan) if lost), default=0)
    if longest > limit:
        with pytest.raises(EvaluationError) as caught:
            scene.drive(run, order, most)
        assert caught.value.result.nfev == len(scene.calls)
        return
    scene.drive(run, order, most)
    assert run.nfev == len(scene.calls) == len(scene.plan)
    assert [math.isnan(value) for value in scene.seen] == [lost > 0 for lost in scene.plan]
    lost = sum(scene.plan)
    verb = "evaluation failed and was" if lost == 1 else "evaluations failed and were"
    assert run.result().message == ("done" if lost == 0 else f"done; {lost} {verb} skipped")


def test_the_row_decides_what_is_in_a_row() -> None:
    scene = Scene([4], [1, 0, 1, 1], Role.PROBE)
    run = Run(scene.steps(), X0, Limits(), seed=0, on_failure=OnFailure("skip", 1))
    run.next()
    lost = EvaluationFailure("no")
    run.record([(3, lost)])
    run.record([(0, lost)])
    run.record([(1, 1.0)])
    with pytest.raises(EvaluationError, match="query 1 failed: no"):  # row 3, which was answered first
        run.record([(2, lost)])


@pytest.mark.parametrize("action", ["raise", "skip"])
def test_a_start_cannot_be_skipped(action: str) -> None:
    scene = Scene([1], [1], Role.START)
    run = Run(scene.steps(), X0, Limits(), seed=0, on_failure=OnFailure(action, 9))
    with pytest.raises(EvaluationError, match="query 1 failed: point 0"):
        scene.drive(run, random.Random(0), 1)


def test_a_skipped_step_is_not_the_best() -> None:
    scene = Scene([3], [1, 0, 0], Role.STEP)
    run = Run(scene.steps(), X0, Limits(), seed=0, on_failure=OnFailure("skip", 9))
    scene.drive(run, random.Random(0), 1)
    assert run.result().fun == 1.0


def test_a_retry_that_cannot_be_paid_ends_the_run_as_spent() -> None:
    scene = Scene([3], [0, 2, 0], Role.STEP)
    run = Run(scene.steps(), X0, Limits(max_queries=4), seed=0, on_failure=OnFailure("retry", 9))
    scene.drive(run, random.Random(0), 1)
    result = run.result()
    assert (result.status, result.nfev, result.fun) == (1, 4, 0.0)
    assert result.message == "all 4 queries are spent; 1 evaluation failed and was asked again"


def test_which_failures_a_replay_may_repeat() -> None:
    scene = Scene([6], [0] * 6, Role.PROBE)
    for rule, borne in [
        (OnFailure(), []),
        (OnFailure("retry", 1), [0, 1, 3, 4, 5]),
        (OnFailure("skip", 2), [0, 1, 3, 4]),
    ]:
        run = Run(scene.steps(), X0, Limits(), seed=0, on_failure=rule)
        run.next()
        assert run.bearable({row: EvaluationFailure() for row in (0, 1, 3, 4, 5)}) == borne
