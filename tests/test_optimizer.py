"""Ask and tell: the run of `minimize`, in any order and any pieces, with a journal and clear errors."""

from __future__ import annotations

import copy
import gc
import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gracezo
from gracezo.testing import Case, Valley, assert_same

METHODS = ["auto", "grace", "fdsa", "gld", "zoro"]


def loop(
    optimizer: gracezo.Optimizer, valley: Valley, dice: random.Random, most: int = 10**9
) -> dict[int, np.ndarray]:
    """Ask and tell at random, several asks in flight, until the run is over or so many were evaluated."""
    flying: dict[int, np.ndarray] = {}
    while True:
        if dice.random() < 0.6 or not flying:
            points = optimizer.ask(dice.choice([None, 1, 2, 5]))
            assert len(points) == len(optimizer.ids)
            flying |= dict(zip(optimizer.ids.tolist(), points, strict=True))
            if not flying:
                return flying
        if flying and dice.random() < 0.7:
            ids = dice.sample(sorted(flying), dice.randint(1, len(flying)))
            if len(valley.points) + len(ids) > most:
                return flying
            optimizer.tell([valley(flying.pop(one)) for one in ids], ids=ids)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("batch", [1, 7])
@settings(max_examples=5)
@given(seed=st.integers(0, 10**6))
def test_in_any_order_and_any_pieces(method: str, batch: int, seed: int) -> None:
    case, valley = Case(method, max_queries=90), Valley()
    expected = gracezo.minimize(Valley(), valley.x0, **case.arguments(batch=batch))
    optimizer = gracezo.Optimizer(valley.x0, **case.arguments(batch=batch))
    loop(optimizer, valley, random.Random(seed))
    assert_same(optimizer.result, expected, f"{method} by hand")
    assert len(valley.points) == expected.nfev


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6))
def test_a_loop_that_died_goes_on(tmp_path: Path, method: str, seed: int) -> None:
    dice, path = random.Random(seed), tmp_path / "run.db"
    path.unlink(missing_ok=True)
    case, valley = Case(method, max_queries=90), Valley()
    expected = gracezo.minimize(Valley(), valley.x0, **case.arguments())
    lost = 0
    for _ in range(4):
        optimizer = gracezo.Optimizer(valley.x0, **case.arguments(journal=path))
        lost += len(loop(optimizer, valley, dice, len(valley.points) + dice.randint(1, 25)))
        del optimizer  # as when the process ends: the points in flight are lost
        gc.collect()
    optimizer = gracezo.Optimizer(valley.x0, **case.arguments(journal=path))
    loop(optimizer, valley, dice)
    assert_same(optimizer.result, expected, f"{method} in pieces")
    assert len(valley.points) == expected.nfev
    assert optimizer.result.reasked == lost  # they were handed out twice
    again = gracezo.Optimizer(valley.x0, **case.arguments(journal=path))
    assert len(again.ask()) == 0
    assert_same(again.result, expected, "finished")
    assert "had ended before" in again.result.message


def test_a_journal_is_of_one_kind_and_has_one_writer(tmp_path: Path) -> None:
    valley = Valley()
    arguments = Case("fdsa").arguments(journal=tmp_path / "run.db")
    optimizer = gracezo.Optimizer(valley.x0, **arguments)
    optimizer.ask()
    with pytest.raises(gracezo.JournalError, match="by another run of this process"):
        gracezo.Optimizer(valley.x0, **arguments)
    del optimizer
    gc.collect()
    with pytest.raises(gracezo.JournalError, match="the function is by ask and tell there"):
        gracezo.minimize(valley, valley.x0, **arguments)
    with pytest.raises(gracezo.JournalError, match="seed is 1 there and 2 here"):
        gracezo.Optimizer(valley.x0, **arguments | {"seed": 2})
    assert gracezo.Optimizer(valley.x0, **arguments).ask().shape == (1, 60)


def test_what_was_handed_out_is_not_handed_out_again() -> None:
    optimizer = gracezo.Optimizer(np.zeros((2, 3)), method="fdsa", max_queries=20)
    assert optimizer.ask().shape == (1, 2, 3)
    assert optimizer.ids.tolist() == [1]
    assert optimizer.ask().shape == (0, 2, 3)  # it is in flight
    assert optimizer.ids.tolist() == []
    optimizer.tell([1.0], ids=[1])
    assert len(optimizer.ask(4)) == 4
    assert len(optimizer.ask()) == 2
    assert optimizer.ids.tolist() == [6, 7]
    optimizer.tell([3.0, 4.0])
    optimizer.tell([0.5], ids=[4])
    assert optimizer.result.nfev == 4


def asked() -> gracezo.Optimizer:
    optimizer = gracezo.Optimizer([0.0, 0.0, 0.0], method="fdsa", f0=1.0, max_queries=20)
    optimizer.ask()
    optimizer.tell([1.0], ids=[2])
    return optimizer


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ((None,), TypeError, "takes a sequence of values, one a point; given: None"),
        ((1.0, [1]), TypeError, "takes a sequence of values"),
        (("12", [1, 3]), TypeError, "takes numbers, one a point"),
        ((np.zeros((2, 2)), [1, 3]), TypeError, "takes numbers, one a point"),
        (([1.0], [1, 3]), ValueError, "one value a point: 2 were asked, 1 given"),
        (([1.0], [7]), ValueError, "id 7 was never asked"),
        (([1.0], [2]), ValueError, "id 2 has been told already"),
        (([1.0, 1.0], [1, 1]), ValueError, "ids must be distinct; 1 is there more than once"),
        (([1.0], ["a"]), TypeError, "ids must be those of points that were asked"),
        (([1.0, 2.0, 3.0],), ValueError, "id 2 has been told already"),
    ],
)
def test_clear_errors_that_change_nothing(arguments: Any, error: type[Exception], says: str) -> None:
    optimizer = asked()
    with pytest.raises(error, match=says):
        optimizer.tell(*arguments)
    assert optimizer.result.nfev == 1
    optimizer.tell([1.0, 1.0], ids=[3, 1])
    assert optimizer.result.nfev == 3


@pytest.mark.parametrize("failed", [np.nan, None, ValueError("no licence"), "text"])
def test_failures_are_told_as_such(failed: Any) -> None:
    with pytest.raises(gracezo.EvaluationError) as info:
        asked().tell([failed], ids=[3])
    assert info.value.query == 2
    if isinstance(failed, Exception):
        assert "the function raised ValueError: no licence" in str(info.value)
        assert info.value.__cause__ is failed
    optimizer = gracezo.Optimizer([0.0, 0.0], method="fdsa", f0=1.0, max_queries=20, on_failure="skip")
    optimizer.ask()
    optimizer.tell([failed, 1.0])
    assert optimizer.result.nfev == 2
    optimizer.ask()
    assert "skipped" in optimizer.result.message


def test_values_that_come_too_late_are_ignored() -> None:
    optimizer = asked()
    with pytest.raises(gracezo.EvaluationError):
        optimizer.tell([np.nan], ids=[1])
    optimizer.tell([1.0], ids=[3])
    assert (optimizer.result.nfev, optimizer.result.status) == (2, 3)
    assert len(optimizer.ask()) == 0


def test_tell_follows_ask() -> None:
    with pytest.raises(RuntimeError, match=r"tell\(\) follows ask\(\)"):
        gracezo.Optimizer([1.0], method="fdsa").tell([1.0])


def test_pickling_is_refused_with_the_way_out() -> None:
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=r"cannot be pickled.*journal='run\.db'"):
            attempt(asked())


@pytest.mark.parametrize("ids", [[2.7], [2.0], ["2"], [float("inf")], [float("nan")], [None], 2])
def test_an_id_is_a_whole_number(ids: Any) -> None:
    optimizer = gracezo.Optimizer(np.zeros(3), method="fdsa", max_queries=20, seed=0)
    optimizer.tell([1.0] * len(optimizer.ask()))
    optimizer.ask()
    with pytest.raises(TypeError, match="ids must be those of points that were asked"):
        optimizer.tell([1.0], ids)
    with pytest.raises(TypeError, match="takes numbers, one a point"):
        optimizer.tell({2: 1.0, 3: 2.0, 4: 3.0})  # type: ignore[arg-type]


@pytest.mark.parametrize("limit", [0, -1, True, 1.5, "x", float("nan")])
def test_a_limit_is_a_whole_number(limit: Any) -> None:
    with pytest.raises(ValueError, match="limit must be a whole number of at least 1"):
        gracezo.Optimizer(np.zeros(3), method="fdsa").ask(limit)
