"""Every method gives the same x, trace and count on workers in other processes, whoever runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from typing import Any

import loky
import pytest

import gracezo
from gracezo.testing import Case, Valley, assert_same, by_serial


def two_processes() -> Iterator[int]:
    yield 2


def process_pool() -> Iterator[Executor]:
    with ProcessPoolExecutor(2) as pool:
        yield pool


def loky_pool() -> Iterator[Executor]:
    with loky.ProcessPoolExecutor(2) as pool:
        yield pool


EVALUATORS: dict[str, Callable[[], Iterator[Any]]] = {
    "two processes": two_processes,
    "process pool": process_pool,
    "loky": loky_pool,
}


@pytest.fixture(scope="module", params=EVALUATORS)
def workers(request: pytest.FixtureRequest) -> Iterator[Any]:
    yield from EVALUATORS[request.param]()


def test_every_method(workers: Any) -> None:
    for method in gracezo.methods():
        case = Case(method)
        expected = by_serial(case, Valley())
        assert_same(by_serial(case, Valley(), workers=workers), expected, method)
