from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.experiments.builders import record

from gracezo.experiments.runs import Job, Record
from gracezo.experiments.trial import SHORT, step_size

SIZES = (0.5, 0.2, 0.1, 0.05)


def search(
    value: Callable[[float, int], float], budget: int = 1000, thorough: bool = True
) -> tuple[float, list[tuple[float, int]]]:
    """Run the search against made-up results and return the size and the trials made, in order."""
    made: dict[str, Record] = {}
    order: list[tuple[float, int]] = []

    def trial(size: float, queries: int) -> Job:
        return Job("distance", "rs", 100, {"step_size": size}, max_queries=queries)

    while True:
        found = step_size(trial, SIZES, budget, lambda job: made.get(job.name), thorough=thorough)
        if not isinstance(found, list):
            return found, order
        assert found, "a search that wants nothing must have an answer"
        for job in found:
            assert job.name not in made, "a finished trial is not asked for again"
            assert job.max_queries is not None
            size = job.options["step_size"]
            order.append((size, job.max_queries))
            made[job.name] = record(job, [1.0, value(size, job.max_queries)])


def test_the_best_short_look_is_confirmed_against_its_neighbours() -> None:
    size, order = search(lambda size, queries: abs(size - 0.2))
    assert size == 0.2
    assert order == [*((s, 1000 // SHORT) for s in SIZES), (0.2, 1000), (0.1, 1000), (0.5, 1000)]


def test_longer_runs_may_want_larger_steps() -> None:
    size, order = search(lambda size, queries: abs(size - (0.1 if queries < 1000 else 0.5)))
    assert size == 0.5
    assert order[len(SIZES) :] == [(0.1, 1000), (0.05, 1000), (0.2, 1000), (0.5, 1000)]


def test_longer_runs_may_want_smaller_steps() -> None:
    size, order = search(lambda size, queries: abs(size - (0.5 if queries < 1000 else 0.1)))
    assert size == 0.1
    assert order[len(SIZES) :] == [(0.5, 1000), (0.2, 1000), (0.1, 1000), (0.05, 1000)]


def test_the_smallest_size_ends_the_search() -> None:
    assert search(lambda size, queries: size)[0] == 0.05


@pytest.mark.parametrize("constant", [1.0, 0.5])
def test_a_tie_takes_the_largest(constant: float) -> None:
    assert search(lambda size, queries: constant)[0] == 0.5


def test_a_quick_search_is_the_short_look_alone() -> None:
    size, order = search(lambda size, queries: abs(size - 0.2), thorough=False)
    assert size == 0.2
    assert len(order) == len(SIZES)
