"""The one door for values, and the points that never go out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gracezo
from gracezo.core.asks import Ask, DenseRows, Role, SparseRows
from gracezo.core.errors import EvaluationFailure
from gracezo.core.finite import Finite
from gracezo.core.values import as_outputs, as_rows_of_outputs, as_value, as_values, raised
from gracezo.methods import catalog


class Refuses:
    def __float__(self) -> float:
        raise KeyError("no")

    def __repr__(self) -> str:
        raise ValueError("not even that")


class Says:
    def __float__(self) -> float:
        return 2.5


class Broken(Exception):
    def __str__(self) -> str:
        raise TypeError("no words")


GOOD: list[tuple[Any, float]] = [
    (1, 1.0), (True, 1.0), (np.float32(0.5), 0.5), (np.int8(3), 3.0), (np.array(2.0), 2.0),
    (np.array([2.5]), 2.5), (Decimal("0.25"), 0.25), (Fraction(1, 8), 0.125), (Says(), 2.5),
    (np.array([Decimal(3)]), 3.0),
]  # fmt: skip
BAD: list[Any] = [
    None, "3", b"3", 1j, np.complex64(1), np.array([1j]), 10**400, -(10**5000), [1.0], [[1], [2, 3]], (), {},
    np.zeros(2), np.zeros((1, 1)), np.zeros(0), np.nan, np.inf, Refuses(), Decimal("NaN"), object(),
    np.datetime64(0, "s"),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "value"), GOOD)
def test_numbers_of_any_kind(raw: Any, value: float) -> None:
    assert as_value(raw) == value
    assert type(as_value(raw)) is float


@pytest.mark.parametrize("raw", BAD, ids=lambda raw: type(raw).__name__)
def test_what_is_no_number(raw: Any) -> None:
    told = as_value(raw)
    assert isinstance(told, EvaluationFailure)
    assert "the function must return one finite number; it returned" in str(told)
    assert len(str(told)) < 200


@pytest.mark.parametrize(
    ("raw", "hint"),
    [
        (None, "has it a return?"),
        ((0.5, np.zeros(3)), "return its [0], if that is the value"),
        ([0.5, 1.0], "or see gracezo.least_squares for 2 outputs"),
        (np.zeros(2), "for functions of many outputs there is gracezo.least_squares"),
    ],
)
def test_what_may_be_meant_is_said(raw: Any, hint: str) -> None:
    assert hint in str(as_value(raw))
    assert "gracezo" not in str(as_value("0.5"))


@pytest.mark.parametrize("fun", [lambda x: x["mass"], lambda x: x.mass])
def test_a_function_that_expects_names_is_told_what_it_gets(fun: Any) -> None:
    with pytest.raises((IndexError, AttributeError)) as caught:
        fun(np.zeros(2))
    assert str(raised(caught.value)).endswith("(whatever x0 is, the function gets a NumPy array)")
    assert str(raised(IndexError("list index out of range"))).endswith("out of range")


@pytest.mark.parametrize(
    "raw", [None, 3.0, [1.0], np.zeros((2, 1)), Refuses(), iter([1.0, 2.0]), [[1], [2, 3]]]
)
def test_what_is_no_row_of_values(raw: Any) -> None:
    told = as_values(raw, 2)
    assert len(told) == 2
    assert all(isinstance(one, EvaluationFailure) for one in told)


def test_what_is_masked_is_no_number() -> None:
    masked = np.ma.array([1.0, 2.0], mask=[False, True])
    assert as_value(masked[0]) == 1.0
    for raw in (np.ma.masked, masked[1:], masked[1]):
        assert isinstance(as_value(raw), EvaluationFailure)
    first, second = as_values(masked, 2)
    assert first == 1.0
    assert isinstance(second, EvaluationFailure)
    assert isinstance(as_outputs(masked), EvaluationFailure)
    assert isinstance(as_rows_of_outputs(masked, 2)[1], EvaluationFailure)
    counts = np.ma.array([1, 2], mask=[False, True])  # of whole numbers, which have no NaN
    assert isinstance(as_values(counts, 2)[1], EvaluationFailure)


def test_each_value_of_many_goes_through_the_same_door() -> None:
    told = as_values([1, Decimal(2), None, 10**400], 4)
    assert told[:2] == [1.0, 2.0]
    assert all(isinstance(one, EvaluationFailure) for one in told[2:])


@dataclass(frozen=True)
class Returns:
    """A function that returns something, or raises it."""

    what: Any

    def __call__(self, x: np.ndarray) -> Any:
        if isinstance(self.what, Exception):
            raise self.what
        return self.what


@pytest.fixture(scope="module")
def ways() -> Iterator[dict[str, Callable[[Any], str]]]:
    def by_minimize(**others: Any) -> Callable[[Any], str]:
        def run(what: Any) -> str:
            with pytest.raises(gracezo.EvaluationError) as info:
                gracezo.minimize(Returns(what), [1.0, 2.0], method="fdsa", max_queries=5, **others)
            assert info.value.result.nfev == 1
            return str(info.value)

        return run

    def by_hand(what: Any) -> str:
        optimizer = gracezo.Optimizer([1.0, 2.0], method="fdsa", max_queries=5)
        optimizer.ask()
        with pytest.raises(gracezo.EvaluationError) as info:
            optimizer.tell([what])
        return str(info.value)

    with ThreadPoolExecutor(1) as pool:
        yield {
            "serial": by_minimize(),
            "threads": by_minimize(workers=pool),
            "map": by_minimize(workers=map),
            "by hand": by_hand,
        }


@pytest.mark.parametrize("what", [None, 10**400, [[1], [2, 3]], Refuses(), 1j, math.nan])
def test_the_same_answer_whoever_evaluates(ways: dict[str, Callable[[Any], str]], what: Any) -> None:
    assert len({run(what) for run in ways.values()}) == 1


def test_an_exception_that_cannot_speak() -> None:
    with pytest.raises(gracezo.EvaluationError, match=r"the function raised Broken: \(it cannot say why\)"):
        gracezo.minimize(Returns(Broken()), [1.0], method="fdsa")


# ---------------------------------------------------------------- points

sizes = st.sampled_from([0.0, 1.0, 1e154, 1e308, np.inf, np.nan, -1.7e308])


@given(base=sizes, step=sizes, dense=st.booleans())
def test_points_that_are_not_finite_are_seen(base: float, step: float, dense: bool) -> None:
    x = np.array([0.0, base, 1.0])
    rows = (
        DenseRows(np.array([[0.0, step, 0.0], [0.0, 0.0, 1.0]]))
        if dense
        else SparseRows.coordinates(np.array([1, 2]), np.array([step, 1.0]))
    )
    ask = Ask(x, rows, Role.PROBE)
    with np.errstate(all="ignore"):
        expected = all(np.isfinite(ask.point(row)).all() for row in range(2))
        assert Finite()(ask) == expected


@pytest.mark.parametrize("method", ["auto", "fdsa", "grace", "rs", "gld"])
def test_a_function_without_a_lower_bound(method: str) -> None:
    seen: list[bool] = []

    def falls(x: np.ndarray) -> float:
        seen.append(bool(np.isfinite(x).all()))
        return float(-1e300 * x[0])

    options = {} if method == "auto" else {"step_size": 1e10} if method != "gld" else {}
    with np.errstate(all="ignore"):
        result = gracezo.minimize(
            falls, [1.0, 1.0], method=method, sparsity=1, max_queries=300, seed=0, options=options,
            on_failure="skip",
        )  # fmt: skip
    assert all(seen)
    assert np.isfinite(result.x).all()
    assert result.nfev == len(seen)


def test_an_error_in_a_method_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Fragile:
        def run(self, start: Any, key: Any) -> Any:
            yield Ask.at(start.x + 1.0, Role.STEP)
            raise ZeroDivisionError("a bug")

    monkeypatch.setitem(catalog._FACTORIES, "fragile", lambda problem: Fragile())
    with pytest.raises(gracezo.MethodError, match="failed after 2 queries: ZeroDivisionError: a bug") as info:
        gracezo.minimize(lambda x: float(-x.sum()), [1.0, 1.0], method="fragile")
    assert (info.value.result.nfev, info.value.result.fun, info.value.result.status) == (2, -4.0, 3)


def test_an_error_in_a_callback_ends_the_run_with_its_result() -> None:
    def breaks(intermediate_result: Any) -> None:
        raise KeyError("loss")

    with pytest.raises(gracezo.CallbackError, match="the callback raised KeyError: 'loss'") as info:
        gracezo.minimize(lambda x: float(x @ x), [1.0, 2.0], method="fdsa", max_queries=9, callback=breaks)
    assert isinstance(info.value.__cause__, KeyError)
    assert (info.value.result.nfev, info.value.result.nit, info.value.result.status) == (4, 1, 2)


class Raises(float):
    """A number of a class that does not give itself away."""

    def __float__(self) -> float:
        raise ZeroDivisionError


class Labelled:
    """As a series of pandas: one number, found by its label and not by its place."""

    shape: tuple[int, ...] = (1,)

    def __getitem__(self, key: object) -> float:
        raise KeyError(key)

    def item(self) -> float:
        return 2.5

    def __repr__(self) -> str:
        return "a    2.5\ndtype: float64"


def test_numbers_of_classes_that_are_not_numpys() -> None:
    assert as_value(Raises(2.0)) == 2.0
    assert as_value(Labelled()) == 2.5
    Labelled.shape = (2,)
    failed = as_value(Labelled())
    assert isinstance(failed, EvaluationFailure)
    assert "\n" not in str(failed)
