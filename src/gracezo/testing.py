"""The conformance suite: what every method must keep, ours or yours.

After `gracezo.register("mine", factory)`, run ``check_method("mine")``: it
raises an AssertionError that says what is not kept. The suite evaluates a
small function only and takes about a second. `check_objective` does the same
for an objective that prices changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from tempfile import TemporaryDirectory
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt
import scipy.optimize
import scipy.sparse

import gracezo
from gracezo.core.errors import EvaluationError
from gracezo.core.result import Result, Status
from gracezo.core.shuffle import Piece
from gracezo.core.types import FloatArray
from gracezo.evaluators.priced import ALIKE, Prices
from gracezo.methods import catalog

_WIDE = 3.0  # half the width of a box for methods that need one


class Valley:
    """A small function with a sparse gradient that stays finite wherever a method may run to.

    f(x) = Σ w_i·log(1 + (x_i − goal_i)²); `points` remembers what was asked.
    """

    def __init__(self, d: int = 60, s: int = 3, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        self.weights = 0.5 + random.random(d)
        self.goal = np.zeros(d)
        self.goal[random.choice(d, s, replace=False)] = 1.0 + random.random(s)
        self.x0 = np.zeros(d)
        self.s = s
        self.points: list[bytes] = []

    @property
    def fingerprint(self) -> str:
        """What a journal knows it by: not by the points that were asked."""
        return f"{__name__}:{type(self).__name__}"

    def value(self, x: FloatArray) -> float:
        """Return f without remembering."""
        return float((self.weights * np.log1p((x.ravel() - self.goal) ** 2)).sum())

    def __call__(self, x: FloatArray) -> float:
        """Return f and remember the point."""
        self.points.append(x.tobytes())
        return self.value(x)

    def many(self, points: FloatArray) -> FloatArray:
        """Return f at each row, exactly as one by one."""
        return np.array([self(x) for x in points])


class Walled(Valley):
    """A valley in a box that cuts its minimum off, begins at x0 and fixes every seventh coordinate."""

    def __init__(self, lowest: float = -np.inf) -> None:
        super().__init__()
        self.lower = np.where(np.arange(60) % 2, 0.0, lowest)
        self.upper = np.where(np.arange(60) % 7, 0.7, 0.0)
        self.lower[::7] = 0.0
        self.bounds = scipy.optimize.Bounds(self.lower, self.upper)
        self.outside = 0

    def __call__(self, x: FloatArray) -> float:
        """Return f, remember the point and whether it was outside."""
        self.outside += not (np.all(x >= self.lower) and np.all(x <= self.upper))
        return super().__call__(x)


class Patchy(Valley):
    """A valley in which about one point in seven has no value, and x0 has one."""

    def __call__(self, x: FloatArray) -> float:
        """Return f, or NaN, and remember the point."""
        value = super().__call__(x)
        return np.nan if x.any() and crc32(x.tobytes()) % 7 == 0 else value


class Shaky(Valley):
    """A valley that fails at a few calls and answers when asked again."""

    fails_at = (1, 2, 5, 11, 12, 30)

    def __call__(self, x: FloatArray) -> float:
        """Return f, or NaN, and remember the point."""
        value = super().__call__(x)
        return np.nan if len(self.points) in self.fails_at else value


@dataclass(frozen=True)
class Case:
    """A method with the settings to check it under."""

    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    sparsity: int | None = 3
    max_queries: int = 150
    seed: int = 1
    on_failure: str | tuple[str, int] = "raise"
    bounds: object = None

    def arguments(self, **others: Any) -> dict[str, Any]:
        """Return the keywords for `minimize`; bounds, if the method needs them."""
        bounds = self.bounds
        if bounds is None and "bounds" in catalog.needs(self.method):
            bounds = scipy.optimize.Bounds(-_WIDE, _WIDE)
        return {
            "method": self.method,
            "sparsity": self.sparsity,
            "options": self.options,
            "max_queries": self.max_queries,
            "seed": self.seed,
            "on_failure": self.on_failure,
            "bounds": bounds,
        } | others


def by_serial(case: Case, valley: Valley, **others: Any) -> Result:
    """Run on the reference evaluator."""
    return gracezo.minimize(valley, valley.x0, **case.arguments(**others))


def by_shared_buffer(case: Case, valley: Valley) -> Result:
    """Run without a copy for each call."""
    return gracezo.minimize(valley, valley.x0, **case.arguments(copy=False))


def by_rows(case: Case, valley: Valley) -> Result:
    """Run with a function that takes many points at once."""
    return gracezo.minimize(valley.many, valley.x0, **case.arguments(vectorized=True))


def by_hand(case: Case, valley: Valley) -> Result:
    """Run by ask and tell, three points at a time."""
    optimizer = gracezo.Optimizer(valley.x0, **case.arguments())
    while len(points := optimizer.ask(limit=3)):
        optimizer.tell([valley(x) for x in points])
    return optimizer.result


def by_scipy(case: Case, valley: Valley) -> Result:
    """Run inside `scipy.optimize.minimize`."""
    keywords = case.arguments()
    method = gracezo.scipy_method(keywords.pop("method"), **keywords)
    result: Result = scipy.optimize.minimize(valley, valley.x0, method=method)
    return result


def by_pieces(case: Case, valley: Valley) -> Result:
    """Run with a journal, interrupted after every 40 calls and resumed."""
    with TemporaryDirectory() as folder:
        journal = gracezo.Journal(f"{folder}/run.db", fingerprint="the valley")
        result = gracezo.minimize(_Stops(valley), valley.x0, **case.arguments(journal=journal))
        while result.status == Status.STOPPED:
            result = gracezo.resume(journal, _Stops(valley))
    return result


@dataclass
class _Stops:
    """Interrupts the run instead of the 41st call."""

    valley: Valley
    calls: int = 0

    def __call__(self, x: FloatArray) -> float:
        self.calls += 1
        if self.calls > 40:
            raise KeyboardInterrupt
        return self.valley(x)


def by_threads(case: Case, valley: Valley) -> Result:
    """Run on a pool of threads, which answer in any order."""
    with ThreadPoolExecutor(3) as pool:
        return gracezo.minimize(valley, valley.x0, **case.arguments(workers=pool))


def by_map(case: Case, valley: Valley) -> Result:
    """Run by a map-like callable."""
    return gracezo.minimize(valley, valley.x0, **case.arguments(workers=map))


# Who answers must not matter: every way below gives the result of `by_serial`, bit for bit.
WAYS: dict[str, Callable[[Case, Valley], Result]] = {
    "shared buffer": by_shared_buffer,
    "rows": by_rows,
    "threads": by_threads,
    "map": by_map,
    "by hand": by_hand,
    "scipy": by_scipy,
    "pieces": by_pieces,
}


def assert_same(result: Result, expected: Result, what: str) -> None:
    """Assert that two runs are the same, bit for bit."""
    assert np.array_equal(result.x, expected.x), f"{what}: x differs"
    assert np.array_equal(result.trace.queries, expected.trace.queries), f"{what}: trace.queries differ"
    assert np.array_equal(result.trace.values, expected.trace.values), f"{what}: trace.values differ"
    assert np.array_equal(result.support, expected.support), f"{what}: support differs"
    assert result.message.startswith(expected.message), f"{what}: message is {result.message!r}"
    for name in ("fun", "nfev", "nit", "rounds", "status", "seed"):
        assert result[name] == expected[name], f"{what}: {name} is {result[name]}, not {expected[name]}"


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


def check_vandal(case: Case) -> None:
    """A function that writes into its argument cannot corrupt the run."""
    expected = by_serial(case, Valley())
    valley = Valley()

    def vandal(x: FloatArray) -> float:
        value = valley(x)
        x[:] = np.nan
        return value

    assert_same(gracezo.minimize(vandal, valley.x0, **case.arguments()), expected, f"{case.method} (vandal)")


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
    valley = Patchy()
    expected = by_serial(case, valley)
    asked = len(valley.points)
    assert expected.nfev == asked, f"{case.method}: nfev is {expected.nfev} after {asked} calls"
    assert asked <= case.max_queries, f"{case.method}: {asked} calls with a budget of {case.max_queries}"
    assert expected.fun == Patchy()(expected.x), f"{case.method}: fun is not f(x)"
    assert np.isfinite(expected.trace.values).all(), f"{case.method}: moved to a point that has no value"
    assert "skipped" in expected.message, f"{case.method}: the message does not speak of the failures"
    for way in ("rows", "by hand", "pieces"):
        assert_same(WAYS[way](case, Patchy()), expected, f"{case.method} ({way}, skipping)")


def check_retry(case: Case) -> None:
    """Where failed evaluations are retried, the run is that without failures, and pays for them."""
    expected = by_serial(case, Valley())
    for name, run in {"serial": by_serial, "by hand": by_hand}.items():
        valley = Shaky()
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
    lowest = -_WIDE if "bounds" in catalog.needs(case.method) else -np.inf
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
    "vandal": check_vandal,
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


def check_objective(fun: Prices, x0: npt.ArrayLike, *, sparse: bool = False, seed: int = 0) -> None:
    """Check that an objective which prices changes, by `at` and `value`, agrees with its own calls.

    Parameters
    ----------
    fun
        An object with `__call__` and `at`.
    x0
        A point to check it around.
    sparse
        Whether `at` is to take sparse vectors, too.
    seed
        Of the displacements.

    Raises
    ------
    AssertionError
        Where prices and calls differ, up to rounding; the message says at which displacement.

    Examples
    --------
    >>> import gracezo.testing
    >>> from gracezo.problems import Distance
    >>> f = Distance(seed=0, d=100, s=3)
    >>> gracezo.testing.check_objective(f, f.x0, sparse=True)
    """
    random = np.random.default_rng(seed)
    start = np.array(x0, dtype=np.float64)
    size = start.size
    for moved in (0.0, 1.0):  # a base like x0, and another one
        base = start + moved * random.standard_normal(start.shape) * (random.random(start.shape) < 0.3)
        given = [base.copy()] + [scipy.sparse.coo_array(base.ravel())] * sparse
        for x in given:
            kept = fun.at(x)
            for what, parts in _displacements(random, size).items():
                there = base.copy()
                for indices, values in parts:
                    there.reshape(-1)[indices] += values
                expected = float(fun(there))
                for again in ("", ", asked again"):
                    price = float(kept.value(iter(parts)))
                    told = f"at(x).value(parts) is {price!r} with {what}{again}; fun says {expected!r}"
                    assert math.isclose(price, expected, rel_tol=ALIKE, abs_tol=1e-12), told
        assert np.array_equal(given[0], base), "at(x) or value(parts) has written into x"


def _displacements(random: np.random.Generator, size: int) -> dict[str, list[Piece]]:
    """Return kinds of displacements as an engine asks for: parts that have no coordinate in common."""
    order = random.permutation(size)
    values = random.standard_normal(size)
    few, half = min(3, size), size // 2
    zeros = np.where(random.random(size) < 0.5, 0.0, values)
    return {
        "no displacement": [],
        "a few coordinates displaced": [(order[:few], values[:few])],
        "all coordinates displaced in two parts": [
            (order[:half], values[:half]),
            (order[half:], values[half:]),
        ],
        "a slice displaced, some of it by zero": [(slice(0, half), zeros[:half])],
        "a slice and indices displaced": [
            (slice(0, half), 1e-6 * zeros[:half]),
            (np.arange(half, size), 1e-6 * values[half:]),
        ],
    }
