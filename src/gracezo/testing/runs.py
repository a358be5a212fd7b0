"""One run, by whoever answers: all of these must give the same, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy.optimize

import gracezo
from gracezo.core.result import Result, Status
from gracezo.core.types import FloatArray
from gracezo.methods import catalog
from gracezo.testing.functions import Valley

WIDE = 3.0
"""Half the width of a box for methods that need one."""


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
            bounds = scipy.optimize.Bounds(-WIDE, WIDE)
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
