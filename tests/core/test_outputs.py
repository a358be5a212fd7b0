"""The ledger where a query answers with many numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gracezo.core.asks import Ask, DenseRows, Moved, OutOfQueries, Point, Role, Steps
from gracezo.core.drive import drive
from gracezo.core.errors import EvaluationError, EvaluationFailure
from gracezo.core.failures import OnFailure
from gracezo.core.limits import Limits
from gracezo.core.outputs import Outputs
from gracezo.core.result import Finish, Result, Status
from gracezo.core.run import Run
from gracezo.core.types import FloatArray
from gracezo.core.values import as_outputs
from gracezo.evaluators import choose
from gracezo.evaluators.objective import Objective

D = 4


class Reader:
    """Half of the sum of squares; the result shows the outputs."""

    def cost(self, outputs: FloatArray) -> float:
        return 0.5 * float(outputs @ outputs)

    def fields(self, best: Point) -> dict[str, Any]:
        return {"outputs": best.outputs}


def walk(seen: list[FloatArray]) -> Steps[Finish]:
    """Ask for x0, four probes together and three steps; remember what was answered."""
    x = np.ones(D)
    start = yield Ask.at(x, Role.START)
    seen.append(start)
    yield Moved(Point(x, 0.5 * float(start[0] @ start[0]), outputs=start[0]))
    seen.append((yield Ask(x, DenseRows(0.1 * np.eye(D)), Role.PROBE)))
    try:
        for length in (0.5, 0.25, 0.125):
            answer = yield Ask(x, DenseRows(np.full((1, D), -length)), Role.STEP)
            seen.append(answer)
    except OutOfQueries:
        return Finish(Status.SPENT, "spent")
    return Finish(Status.CONVERGED, "done")


def outputs_of(x: FloatArray) -> FloatArray:
    return np.array([x.sum(), x[0] * x[1], 1.0])


def run_of(
    fun: Callable[..., Any],
    seen: list[FloatArray],
    workers: object = None,
    vectorized: bool = False,
    **how: Any,
) -> Result:
    objective = Objective(fun, (), (D,), many_outputs=True)
    limits = Limits(max_queries=how.pop("max_queries", None))
    run = Run(walk(seen), np.ones(D), limits, 0, outputs=Outputs(Reader()), **how)
    with choose.evaluator(objective, workers, vectorized, copy=True) as evaluate:
        drive(run, evaluate)
    return run.result()


def test_the_algorithm_receives_a_row_of_outputs_for_each_row_of_its_ask() -> None:
    seen: list[FloatArray] = []
    result = run_of(outputs_of, seen)
    assert [answer.shape for answer in seen] == [(1, 3), (4, 3), (1, 3), (1, 3), (1, 3)]
    assert np.array_equal(seen[1], [outputs_of(np.ones(D) + 0.1 * row) for row in np.eye(D)])
    assert result.nfev == 8
    best = np.full(D, 0.5)
    assert np.array_equal(result.x, best)
    assert np.array_equal(result.outputs, outputs_of(best))
    assert result.fun == Reader().cost(outputs_of(best))


@pytest.mark.parametrize("workers", [map, 2])
def test_who_answers_does_not_matter(workers: object) -> None:
    here: list[FloatArray] = []
    there: list[FloatArray] = []
    run_of(outputs_of, here)
    run_of(outputs_of, there, workers)
    assert all(np.array_equal(a, b) for a, b in zip(here, there, strict=True))


def test_many_points_at_once() -> None:
    here: list[FloatArray] = []
    there: list[FloatArray] = []
    run_of(outputs_of, here)
    result = run_of(lambda points: np.array([outputs_of(x) for x in points]), there, vectorized=True)
    assert all(np.array_equal(a, b) for a, b in zip(here, there, strict=True))
    assert result.nfev == 8


def test_a_function_may_use_its_array_again() -> None:
    buffer = np.zeros(3)

    def fun(x: FloatArray) -> FloatArray:
        buffer[:] = outputs_of(x)
        return buffer

    here: list[FloatArray] = []
    there: list[FloatArray] = []
    run_of(outputs_of, here)
    run_of(fun, there)
    assert all(np.array_equal(a, b) for a, b in zip(here, there, strict=True))


@pytest.mark.parametrize("action", ["raise", "retry", "skip"])
def test_another_number_of_outputs_ends_the_run_before_a_further_query(action: str) -> None:
    calls = 0

    def fun(x: FloatArray) -> FloatArray:
        nonlocal calls
        calls += 1
        return np.ones(3 if calls < 4 else 5)

    with pytest.raises(EvaluationError, match="returned 5 outputs, and 3 before") as caught:
        run_of(fun, [], on_failure=OnFailure(action, 9))
    assert (calls, caught.value.query, caught.value.result.nfev) == (4, 4, 4)
    assert caught.value.result.status == Status.FAILED


def test_a_vector_with_a_gap_is_a_failed_query() -> None:
    calls = 0

    def fun(x: FloatArray) -> FloatArray:
        nonlocal calls
        calls += 1
        return np.array([1.0, np.nan, 2.0]) if calls in (3, 6) else outputs_of(x)

    seen: list[FloatArray] = []
    result = run_of(fun, seen, on_failure=OnFailure("skip", 9))
    assert np.isnan(seen[1][1]).all()
    assert np.isnan(seen[2]).all()
    assert not np.isnan(seen[1][[0, 2, 3]]).any()
    assert result.nfev == 8
    assert "2 evaluations failed and were skipped" in result.message
    assert np.array_equal(result.x, np.full(D, 0.75))

    calls = 0
    seen = []
    result = run_of(fun, seen, on_failure=OnFailure("retry", 3))
    assert not any(np.isnan(answer).any() for answer in seen)
    assert result.nfev == calls == 10


@pytest.mark.parametrize("budget", range(1, 9))
def test_the_budget_is_exact(budget: int) -> None:
    calls = 0

    def fun(x: FloatArray) -> FloatArray:
        nonlocal calls
        calls += 1
        return outputs_of(x)

    result = run_of(fun, [], max_queries=budget)
    assert calls == result.nfev <= budget


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "at least one number; it returned an empty vector"),
        ([1.0, 2j], "real numbers; it returned an array of complex128"),
        (np.array([1, "a"], object), r"numbers; it returned an array of shape \(2,\) of object"),
        (["1", "2"], "real numbers; it returned an array of <U1"),
        ([[1.0, 2.0]], r"shape \(1, 2\)"),
        ([[1.0], [2.0, 3.0]], "must return a vector"),
        (None, "must return a vector of real numbers; it returned None"),
        ([1.0, np.inf, np.nan], "2 of its 3 outputs are not, the first of them inf at index 1"),
    ],
)
def test_what_is_no_vector_is_a_failure_that_says_what_it_was(given: object, said: str) -> None:
    outcome = as_outputs(given)
    assert isinstance(outcome, EvaluationFailure)
    with pytest.raises(EvaluationFailure, match=said):
        raise outcome


@pytest.mark.parametrize("given", [2.0, np.float32(2.0), [2], np.array([2.0]), (True, False), range(3)])
def test_numbers_of_any_real_kind_are_outputs(given: Any) -> None:
    outcome = as_outputs(given)
    assert isinstance(outcome, np.ndarray)
    assert outcome.dtype == np.float64
    assert np.array_equal(outcome, np.atleast_1d(np.array(given, np.float64)))
