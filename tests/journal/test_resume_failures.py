"""A run that went on after failed evaluations is resumed exactly; one that ended with them asks again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.journal.edits import prefix

import gracezo
from gracezo.core.types import FloatArray
from gracezo.journal.reading import read
from gracezo.testing import Case, Valley, assert_same


class EverySeventh(Valley):
    """Fails at every seventh call, counted from the beginning of the whole run."""

    fingerprint = "every seventh"

    def __init__(self, before: int = 0) -> None:
        super().__init__()
        self.calls = before

    def __call__(self, x: FloatArray) -> float:
        self.calls += 1
        value = super().__call__(x)
        return np.nan if self.calls % 7 == 0 else value


@pytest.mark.parametrize("on_failure", ["retry", "skip"])
@pytest.mark.parametrize("method", ["grace", "fdsa", "gld", "rspg"])
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_prefix_resumes_to_the_same_result(
    tmp_path: Path, method: str, on_failure: str, data: st.DataObject
) -> None:
    arguments = Case(method, max_queries=90).arguments(on_failure=on_failure)
    whole, part, valley = tmp_path / "whole.db", tmp_path / "part.db", EverySeventh()
    if not whole.exists():
        gracezo.minimize(valley, valley.x0, **arguments, journal=whole)
    expected = gracezo.minimize(EverySeventh(), valley.x0, **arguments)
    answers = data.draw(st.integers(0, expected.nfev))
    prefix(whole, part, answers, sent=data.draw(st.booleans()))
    valley = EverySeventh(answers)
    assert_same(gracezo.resume(part, valley), expected, f"{method} from {answers} answers")
    assert len(valley.points) == expected.nfev - answers
    record = read(part)
    assert [query.query for query in record.queries] == list(range(1, expected.nfev + 1))
    assert sum(query.failure is not None for query in record.queries) == expected.nfev // 7
    assert record.in_flight == 0


@pytest.mark.parametrize("on_failure", ["retry", "skip"])
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(budget=st.integers(8, 60), more=st.integers(1, 60))
def test_a_larger_budget_extends(tmp_path: Path, on_failure: str, budget: int, more: int) -> None:
    (tmp_path / "run.db").unlink(missing_ok=True)
    valley = EverySeventh()
    arguments = Case("grace").arguments(on_failure=on_failure)
    first = gracezo.minimize(
        valley, valley.x0, **arguments | {"max_queries": budget}, journal=tmp_path / "run.db"
    )
    expected = gracezo.minimize(EverySeventh(), valley.x0, **arguments | {"max_queries": budget + more})
    result = gracezo.resume(tmp_path / "run.db", valley, max_queries=budget + more)
    assert_same(result, expected, f"from {budget} to {budget + more}")
    assert len(valley.points) == expected.nfev >= first.nfev


@pytest.mark.parametrize("on_failure", [("retry", 2), ("skip", 2)])
def test_the_failure_that_ended_the_run_is_asked_again(tmp_path: Path, on_failure: tuple[str, int]) -> None:
    valley = Valley()
    away = [30, 31, 32]  # calls: one failure more than is borne

    def breaks(x: FloatArray) -> float:
        value = valley(x)
        if len(valley.points) in away:
            raise OSError("the licence server is away")
        return value

    arguments = Case("rs", max_queries=90).arguments(on_failure=on_failure)
    with pytest.raises(gracezo.EvaluationError, match="query 32 failed") as failed:
        gracezo.minimize(breaks, valley.x0, **arguments, journal=tmp_path / "run.db")
    assert failed.value.result.nfev == 32
    result = gracezo.resume(tmp_path / "run.db", breaks)
    assert (result.status, result.reasked, len(valley.points)) == (1, 1, result.nfev + 1)
    assert "2 evaluations failed" in result.message


def test_another_rule_is_another_run(tmp_path: Path) -> None:
    valley = Valley()
    gracezo.minimize(valley, valley.x0, **Case("rs").arguments(), journal=tmp_path / "run.db")
    with pytest.raises(gracezo.JournalError, match="on_failure"):
        gracezo.minimize(
            valley, valley.x0, **Case("rs").arguments(on_failure="skip"), journal=tmp_path / "run.db"
        )
