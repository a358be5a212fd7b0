"""Every method gives the same x, trace and count on processes here. Clusters: see tests/evaluators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from typing import Any

import loky
import pytest
from tests.conformance.every_method import check_every_method


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
    check_every_method(workers)
