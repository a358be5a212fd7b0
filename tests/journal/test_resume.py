"""A stopped run goes on as if it had never been stopped; what is recorded is never asked again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.journal.edits import prefix

import gracezo
from gracezo.conduct import conduct
from gracezo.core.asks import Ask, Moved, OutOfQueries, Point, Role, SparseRows, Steps
from gracezo.core.drive import Evaluator
from gracezo.core.keys import Key
from gracezo.core.limits import Limits
from gracezo.core.method import Problem
from gracezo.core.result import Finish, Result
from gracezo.core.types import FloatArray
from gracezo.journal.identity import Identity
from gracezo.journal.reading import read
from gracezo.journal.session import Session
from gracezo.setup import Setup
from gracezo.testing import Case, Valley, assert_same

METHODS = list(gracezo.methods())


class Thrifty:
    """Asks for less when the budget does not reach: its path depends on the budget at the end."""

    def run(self, start: Point, key: Key) -> Steps[Finish]:
        random = key.generator()
        at = start
        while True:
            rows = SparseRows.coordinates(np.arange(6), random.standard_normal(6) * 0.1)
            try:
                probes = Ask(at.x, rows, Role.PROBE, reserve=4)
                values = yield probes
            except OutOfQueries:
                rows = SparseRows.coordinates(np.arange(2), np.array([1e-3, 1e-3]))
                probes = Ask(at.x, rows, Role.PROBE)
                values = yield probes
            best = int(np.argmin(values))
            rows = SparseRows.coordinates(np.full(4, best), np.array([0.0, 0.1, 0.2, 0.3]))
            trials = Ask(probes.point(best), rows, Role.STEP)
            values = yield trials
            at = Point(trials.point(int(np.argmin(values))), float(values.min()))
            yield Moved(at)


@pytest.fixture(scope="module", autouse=True)
def _thrifty() -> None:
    def thrifty(problem: Problem) -> Thrifty:
        """Asks for less when little is left."""
        return Thrifty()

    gracezo.register("thrifty", thrifty)


@pytest.mark.parametrize("method", [*METHODS, "thrifty"])
@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_prefix_resumes_to_the_same_result(tmp_path: Path, method: str, data: st.DataObject) -> None:
    case, valley = Case(method, max_queries=90), Valley()
    whole = tmp_path / f"{method}.db"
    if not whole.exists():
        gracezo.minimize(valley, valley.x0, **case.arguments(journal=whole))
    expected = gracezo.minimize(Valley(), valley.x0, **case.arguments())
    answers = data.draw(st.integers(0, expected.nfev))
    part = tmp_path / "part.db"
    prefix(whole, part, answers, sent=data.draw(st.booleans()))
    valley = Valley()
    result = gracezo.resume(part, valley)
    assert_same(result, expected, f"{method} from {answers} answers")
    assert len(valley.points) == expected.nfev - answers
    assert result.reasked in (0, 1)


@pytest.mark.parametrize("method", [*METHODS, "thrifty"])
@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(budget=st.integers(1, 60), more=st.integers(1, 60))
def test_a_larger_budget_extends(tmp_path: Path, method: str, budget: int, more: int) -> None:
    (tmp_path / "run.db").unlink(missing_ok=True)
    case = Case(method)
    valley = Valley()
    first = gracezo.minimize(
        valley, valley.x0, **case.arguments(journal=tmp_path / "run.db", max_queries=budget)
    )
    expected = gracezo.minimize(Valley(), valley.x0, **case.arguments(max_queries=budget + more))
    asked = list(valley.points)
    result = gracezo.resume(tmp_path / "run.db", valley, max_queries=budget + more)
    assert_same(result, expected, f"{method} from {budget} to {budget + more}")
    assert result.reasked == 0
    numbers = [query.query for query in read(tmp_path / "run.db").queries]
    assert numbers == list(range(1, expected.nfev + 1))
    if method != "thrifty":
        assert len(valley.points) == expected.nfev
    again = len(valley.points)
    assert_same(gracezo.resume(tmp_path / "run.db", valley), expected, f"{method}, finished")
    assert len(valley.points) == again
    assert first.nfev == len(asked)


def run(valley: Callable[[FloatArray], float], journal: Path | gracezo.Journal, **others: Any) -> Result:
    return gracezo.minimize(valley, np.zeros(60), **Case("grace").arguments(journal=journal) | others)


def test_the_same_call_goes_on(tmp_path: Path) -> None:
    valley = Valley()
    expected = run(valley, tmp_path / "run.db")
    assert_same(run(valley, tmp_path / "run.db"), expected, "again")
    assert_same(run(valley, tmp_path / "run.db", seed=None), expected, "the recorded seed")
    assert len(valley.points) == expected.nfev


def test_a_drawn_seed_is_recorded(tmp_path: Path) -> None:
    expected = run(Valley(), tmp_path / "run.db", seed=None)
    assert_same(gracezo.resume(tmp_path / "run.db", Valley()), expected, "resumed")


def test_answers_in_any_order(tmp_path: Path) -> None:
    """What a pool would do: the last row first, and a crash in between."""
    valley = Valley()
    setup = Setup.checked(valley.x0, method="fdsa", limits=Limits(max_queries=130), seed=1)
    expected = gracezo.minimize(Valley(), valley.x0, method="fdsa", max_queries=130, seed=1)

    def backwards(stop_at: int) -> Evaluator:
        def evaluate(ask: Ask):  # type: ignore[no-untyped-def]  # a generator
            for row in reversed(range(len(ask))):
                if len(valley.points) == stop_at:
                    raise KeyboardInterrupt
                yield [(row, valley(ask.point(row)))]

        return evaluate

    reasked = []
    for stop_at in (30, 70, 1000):
        with Session(gracezo.Journal(tmp_path / "run.db")) as session:
            session.begin(Identity.of("valley", setup.ground.x0, setup.arguments), 1, setup.ground.limits)
            result = conduct(setup, backwards(stop_at), None, False, session)
            reasked.append(result.reasked)
    assert_same(result, expected, "backwards")
    assert len(valley.points) == expected.nfev
    assert reasked == [0, 60 - 29, 31 + 60 - 8]  # all that was missing may have been in flight


def test_callbacks_fire_once_and_time_counts_when_live(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    valley = Valley()
    steps: list[int] = []

    def slow(x: FloatArray) -> float:
        now[0] += 1.0
        return valley(x)

    slow.fingerprint = "slow"  # type: ignore[attr-defined]

    def seen(intermediate: Any) -> None:
        steps.append(intermediate.nit)

    expected = gracezo.minimize(Valley(), valley.x0, **Case("grace").arguments(max_queries=100))
    first = run(slow, tmp_path / "run.db", callback=seen, max_seconds=30, max_queries=100)
    assert (first.nfev, first.status, first.message) == (30, 1, "30 seconds have passed")
    assert_same(run(slow, tmp_path / "run.db", max_seconds=30, max_queries=100), first, "finished by time")
    assert_same(gracezo.resume(tmp_path / "run.db", slow, callback=seen), first, "finished by time")
    assert len(valley.points) == 30
    second = gracezo.resume(tmp_path / "run.db", slow, callback=seen, max_seconds=25)
    assert second.nfev == 55
    last = gracezo.resume(tmp_path / "run.db", slow, callback=seen, max_seconds=1000)
    assert_same(last, expected, "the last piece")
    assert len(valley.points) == expected.nfev
    assert steps == list(range(1, expected.nit + 1))
    assert last.reasked == 0


def test_a_failed_query_is_asked_again(tmp_path: Path) -> None:
    valley = Valley()

    def breaks(x: FloatArray) -> float:
        if len(valley.points) == 40 and not healed:
            raise OSError("the licence server is away")
        return valley(x)

    healed: list[bool] = []
    with pytest.raises(gracezo.EvaluationError) as failed:
        run(breaks, gracezo.Journal(tmp_path / "run.db", fingerprint="breaks"))
    assert failed.value.query == 41
    healed.append(True)
    result = gracezo.resume(gracezo.Journal(tmp_path / "run.db", fingerprint="breaks"), breaks)
    assert_same(result, run(Valley(), tmp_path / "other.db"), "healed")
    assert (result.reasked, len(valley.points)) == (1, result.nfev)


def test_pause_ends_at_a_batch(tmp_path: Path) -> None:
    journal = gracezo.Journal(tmp_path / "run.db", fingerprint="valley")
    valley = Valley()

    def pausing(x: FloatArray) -> float:
        if len(valley.points) == 20:
            journal.pause()
        return valley(x)

    expected = gracezo.minimize(Valley(), valley.x0, method="fdsa", max_queries=130)
    first = gracezo.minimize(pausing, valley.x0, method="fdsa", max_queries=130, journal=journal)
    assert (first.nfev, first.status) == (61, 2)
    result = gracezo.resume(journal, valley)
    assert (result.nfev, result.reasked, result.status) == (expected.nfev, 0, 1)
    assert np.array_equal(result.x, expected.x)
