"""A limit for the points that are laid out at once: kept, and refused before a query is spent."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gracezo
from gracezo.core.asks import Ask, DenseRows, Role
from gracezo.core.types import FloatArray
from gracezo.evaluators import memory
from gracezo.evaluators.mapped import Mapped
from gracezo.evaluators.objective import Objective
from gracezo.evaluators.vectorized import Vectorized
from gracezo.problems import Distance
from gracezo.testing import assert_same

D = 1_000
RUN: dict[str, Any] = {"method": "grace", "sparsity": 10, "max_queries": 600, "seed": 3}


class Many:
    """A function of many points that remembers how many came at once."""

    def __init__(self) -> None:
        self.inner, self.widths = Distance(0, d=D), list[int]()

    def __call__(self, points: FloatArray) -> FloatArray:
        self.widths.append(len(points))
        return self.inner.many(points)


@pytest.mark.parametrize(("said", "rows"), [("8000", 1), ("31.9 kB", 3), ("80KB", 10), ("1GiB", 100)])
def test_a_call_gets_as_many_points_as_fit(monkeypatch: pytest.MonkeyPatch, said: str, rows: int) -> None:
    free, many = Many(), Many()
    expected = gracezo.minimize(free, np.zeros(D), vectorized=True, **RUN)
    monkeypatch.setenv(memory.VARIABLE, said)
    assert_same(gracezo.minimize(many, np.zeros(D), vectorized=True, **RUN), expected, said)
    assert max(many.widths) == min(rows, max(free.widths))
    assert sum(many.widths) == sum(free.widths) == expected.nfev


def test_a_map_gets_as_many_points_as_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    widths: list[int] = []

    def mapping(function: Callable[[Any], Any], points: Iterable[Any]) -> Iterable[Any]:
        here = list(points)
        widths.append(len(here))
        return map(function, here)

    f = Distance(0, d=D)
    expected = gracezo.minimize(f.__call__, np.zeros(D), **RUN)
    monkeypatch.setenv(memory.VARIABLE, "20 kB")
    assert_same(gracezo.minimize(f.__call__, np.zeros(D), workers=mapping, **RUN), expected, "map")
    assert max(widths) == 2


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("kind", ["vectorized", "map"])
def test_no_more_than_the_limit_is_laid_out(kind: str, copy: bool) -> None:
    d, rows, most = 50_000, 40, 4
    ask = Ask(np.zeros(d), DenseRows(np.zeros((rows, d))), Role.PROBE)
    many = Objective(lambda points: points[:, 0], (), (d,))
    one = Objective(lambda x: x[0], (), (d,))
    room = most * 8 * d
    evaluate: Any = Vectorized(many, copy, room) if kind == "vectorized" else Mapped(one, map, room)
    tracemalloc.start()
    try:
        assert sum(len(answers) for answers in evaluate(ask)) == rows
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.1 * room


@pytest.mark.parametrize("keywords", [{}, {"vectorized": True}, {"workers": map}, {"workers": 1}])
def test_a_limit_without_room_for_a_point_is_refused_before_a_query(
    monkeypatch: pytest.MonkeyPatch, keywords: dict[str, Any]
) -> None:
    monkeypatch.setenv(memory.VARIABLE, "7.9 kB")
    many = Many()
    with pytest.raises(ValueError, match=r"'7\.9 kB': not even one point of 1,000 .* takes 8,000 B"):
        gracezo.minimize(many, np.zeros(D), **RUN, **keywords)
    assert not many.widths


def test_workers_share_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(memory.VARIABLE, "30 kB")
    assert memory.limit(D, 3) == 10_000
    with pytest.raises(ValueError, match=r"for each of 4 workers, which takes 32 kB"):
        gracezo.minimize(Distance(0, d=D).__call__, np.zeros(D), workers=4, **RUN)


@pytest.mark.parametrize("said", ["much", "-1", "2 GB of it", "1e", "GB", "0x10"])
def test_what_is_no_amount_is_refused(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.setenv(memory.VARIABLE, said)
    with pytest.raises(ValueError, match="must be an amount of memory, such as 500MB"):
        gracezo.minimize(Distance(0, d=D).__call__, np.zeros(D), **RUN)


def test_who_prices_changes_needs_no_room_for_a_point(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(memory.VARIABLE, "1 kB")
    assert gracezo.minimize(Distance(0, d=D), np.zeros(D), **RUN).nfev > 0


@given(count=st.integers(1, 10**15))
def test_what_is_shown_is_enough(count: int) -> None:
    assert count <= memory.parsed(memory.shown(count).replace(",", "")) <= 1.1 * count + 1
