"""What every method must keep, a check each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

import gracezo
from gracezo.core.errors import EvaluationError
from gracezo.core.types import FloatArray
from gracezo.methods import catalog
from gracezo.testing.functions import Failing, Noisy, Valley, Walled
from gracezo.testing.runs import WAYS, WIDE, Case, assert_same, by_hand, by_serial


def check_ways(case: Case) -> None:
    """Who answers does not matter."""
    expected = by_serial(case, Valley())
    for name, run in WAYS.items():
        assert_same(run(case, Valley()), expected, f"{case.method} ({name})")


def check_count(case: Case) -> None:
    """`nfev` is the number of calls, the budget is never exceeded, and no point is asked twice."""
    for budget in (1, 2, 3, 7, 20, 64, case.max_queries):
        valley = Valley()
        result = by_serial(case, valley, max_queries=budget)
        asked = len(valley.points)
        assert result.nfev == asked, f"{case.method}: nfev is {result.nfev} after {asked} calls"
        assert asked <= budget, f"{case.method}: {asked} calls with a budget of {budget}"
        assert len(set(valley.points)) == asked, f"{case.method}: a point was asked twice"


def check_answer(case: Case) -> None:
    """The answer is the best iterate, with its own value, and the trace begins with x0."""
    valley = Valley()
    result = by_serial(case, valley)
    assert result.fun == valley.value(result.x), f"{case.method}: fun is not f(x)"
    assert result.fun <= result.trace.values.min(), f"{case.method}: an iterate is better than the answer"
    assert result.trace.values[0] == valley.value(valley.x0), f"{case.method}: the trace begins elsewhere"
    assert result.trace.queries[0] == 1, f"{case.method}: the trace begins late"
    assert len(result.trace.values) == result.nit + 1, f"{case.method}: nit and trace disagree"
    assert result.x.tobytes() in valley.points, f"{case.method}: the answer was never evaluated"


def check_repeats(case: Case) -> None:
    """The same seed gives the same run; f(x0) given is f(x0) not asked."""
    expected = by_serial(case, Valley())
    assert_same(by_serial(case, Valley()), expected, f"{case.method} (again)")
    valley = Valley()
    budget = case.max_queries - 1
    given = by_serial(case, valley, f0=valley.value(valley.x0), max_queries=budget)
    assert np.array_equal(given.x, expected.x), f"{case.method}: f0 changes the run"
    assert given.nfev == expected.nfev - 1, f"{case.method}: f0 saves {expected.nfev - given.nfev} queries"


def check_overwriting(case: Case) -> None:
    """A function that writes into its argument cannot corrupt the run."""
    expected = by_serial(case, Valley())
    valley = Valley()

    def overwriting(x: FloatArray) -> float:
        value = valley(x)
        x[:] = np.nan
        return value

    assert_same(
        gracezo.minimize(overwriting, valley.x0, **case.arguments()),
        expected,
        f"{case.method} (overwrites x)",
    )


def check_failure(case: Case) -> None:
    """A failed evaluation stops the run with its number, and loses nothing."""
    whole = by_serial(case, Valley()).nfev
    for query in {1, 2, whole // 2, whole}:
        valley = Valley()

        def breaks(x: FloatArray, valley: Valley = valley, query: int = query) -> float:
            value = valley(x)
            return value if len(valley.points) < query else np.nan

        try:
            gracezo.minimize(breaks, valley.x0, **case.arguments())
        except EvaluationError as error:
            assert error.query == query, f"{case.method}: query {error.query} blamed instead of {query}"
            assert error.result.nfev == query, f"{case.method}: a failure changes the count"
            assert error.result.status == 3, f"{case.method}: status {error.result.status} after a failure"
            if query > 1:
                assert error.result.fun <= valley.value(valley.x0), f"{case.method}: the best is lost"
        else:
            raise AssertionError(f"{case.method}: NaN at query {query} went unnoticed")


def check_skip(case: Case) -> None:
    """Where failed evaluations are skipped, all other promises hold, whoever answers."""
    case = replace(case, on_failure="skip")
    valley = Failing()
    expected = by_serial(case, valley)
    asked = len(valley.points)
    assert expected.nfev == asked, f"{case.method}: nfev is {expected.nfev} after {asked} calls"
    assert asked <= case.max_queries, f"{case.method}: {asked} calls with a budget of {case.max_queries}"
    assert expected.fun == Failing()(expected.x), f"{case.method}: fun is not f(x)"
    assert np.isfinite(expected.trace.values).all(), f"{case.method}: moved to a point that has no value"
    assert "skipped" in expected.message, f"{case.method}: the message does not speak of the failures"
    for way in ("rows", "by hand", "pieces"):
        assert_same(WAYS[way](case, Failing()), expected, f"{case.method} ({way}, skipping)")


def check_retry(case: Case) -> None:
    """Where failed evaluations are retried, the run is that without failures, and pays for them."""
    expected = by_serial(case, Valley())
    for name, run in {"serial": by_serial, "by hand": by_hand}.items():
        valley = Noisy()
        spared = replace(case, on_failure="retry", max_queries=case.max_queries + len(valley.fails_at))
        result = run(spared, valley)
        what = f"{case.method} ({name}, retrying)"
        assert np.array_equal(result.x, expected.x), f"{what}: x differs"
        assert np.array_equal(result.trace.values, expected.trace.values), f"{what}: trace.values differ"
        cost = result.nfev - expected.nfev
        assert cost == len(valley.fails_at), f"{what}: {len(valley.fails_at)} failures cost {cost} queries"
        assert result.nfev == len(valley.points), f"{what}: nfev is not the number of calls"


def check_bounds(case: Case) -> None:
    """Where there are bounds, no point lies outside of them, whoever answers; or the method refuses them."""
    lowest = -WIDE if "bounds" in catalog.needs(case.method) else -np.inf
    valley = Walled(lowest)
    case = replace(case, bounds=valley.bounds)
    if "bounds" not in getattr(catalog.factory(case.method), "uses", ()):
        try:
            by_serial(case, valley)
        except ValueError as error:
            assert "cannot hold bounds" in str(error), f"{case.method}: bounds are refused with {error}"
            assert not valley.points, f"{case.method}: bounds are refused after the first query"
            return
        raise AssertionError(f"{case.method}: bounds are neither held nor refused")
    expected = by_serial(case, valley)
    assert valley.outside == 0, f"{case.method}: {valley.outside} points lie outside the bounds"
    assert expected.nfev == len(valley.points), f"{case.method}: nfev is not the number of calls"
    assert expected.x.tobytes() in valley.points, f"{case.method}: the answer was never evaluated"
    assert expected.fun < valley.value(valley.x0), f"{case.method}: no progress within bounds"
    for name, run in WAYS.items():
        valley = Walled(lowest)
        assert_same(run(case, valley), expected, f"{case.method} ({name}, within bounds)")
        assert valley.outside == 0, f"{case.method} ({name}): {valley.outside} points outside the bounds"


CHECKS: dict[str, Callable[[Case], None]] = {
    "ways": check_ways,
    "count": check_count,
    "answer": check_answer,
    "repeats": check_repeats,
    "overwriting": check_overwriting,
    "failure": check_failure,
    "skip": check_skip,
    "retry": check_retry,
    "bounds": check_bounds,
}


def check_method(method: str, options: Mapping[str, Any] | None = None, sparsity: int | None = 3) -> None:
    """Check that a method keeps everything that a method must keep.

    Parameters
    ----------
    method
        A registered name.
    options
        Options to check it under.
    sparsity
        What to tell it of the sparsity.

    Examples
    --------
    >>> import gracezo.testing
    >>> gracezo.testing.check_method("fdsa")
    """
    case = Case(method, options or {}, sparsity)
    for check in CHECKS.values():
        check(case)
