"""The function is the recorded one, as far as can be told; what differs is named; the user may overrule."""

from __future__ import annotations

import functools
import math
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gracezo
from gracezo.cli import main
from gracezo.journal import function
from gracezo.journal.reading import read
from gracezo.testing import assert_same

X0 = np.array([1.0, -2.0, 0.5])


def run(fun: Callable[..., Any], journal: Any, *args: Any, max_queries: int = 9) -> gracezo.Result:
    return gracezo.minimize(fun, X0, args, method="fdsa", max_queries=max_queries, seed=1, journal=journal)


def compiled(source: str) -> Callable[..., Any]:
    """Return the function f of a piece of source, as if a file had been edited and imported anew."""
    namespace: dict[str, Any] = {"__name__": "model", "np": np}
    exec(source, namespace)
    made: Callable[..., Any] = namespace["f"]
    return made


def scaled(x: np.ndarray, factor: float = 1.0, *, offset: float = 0.0) -> float:
    return factor * float(x @ x) + offset


class Model:
    def __init__(self, weights: Any) -> None:
        self.weights = weights

    def __call__(self, x: np.ndarray) -> float:
        return float(self.weights * (x @ x))

    def loss(self, x: np.ndarray) -> float:
        return self(x)


def closing_over(weights: Any) -> Callable[..., Any]:
    return lambda x: float(np.sum(weights * x * x))


OTHERS: dict[str, tuple[Any, Any, str]] = {
    "two lambdas": (lambda x: float(x @ x), lambda x: float(x @ x) + 1, "the code of .*<lambda> has changed"),
    "two partials": (
        functools.partial(scaled, factor=2.0),
        functools.partial(scaled, factor=3.0),
        "argument factor of the partial has changed",
    ),
    "two closures": (
        closing_over(np.array([1.0, 2.0, 3.0])),
        closing_over(np.array([1.0, 2.0, 3.5])),
        "the variable weights has changed",
    ),
    "two objects": (Model(2.0), Model(3.0), "the attribute weights has changed"),
    "two bound methods": (Model(2.0).loss, Model(3.0).loss, "the attribute weights has changed"),
    "an edited body": (
        compiled("def f(x):\n    return float(x @ x)"),
        compiled("def f(x):\n    return float(x @ x) + 1"),
        "the code of f has changed",
    ),
    "an edited constant": (
        compiled("def f(x):\n    return 2.0 * float(x @ x)"),
        compiled("def f(x):\n    return 2.5 * float(x @ x)"),
        "the code of f has changed",
    ),
    "an edited helper": (
        compiled("def g(x):\n    return float(x @ x)\ndef f(x):\n    return g(x)"),
        compiled("def g(x):\n    return float(x @ x) / 2\ndef f(x):\n    return g(x)"),
        "the code of g has changed",
    ),
    "an edited default": (
        compiled("def f(x, a=1.0):\n    return a * float(x @ x)"),
        compiled("def f(x, a=2.0):\n    return a * float(x @ x)"),
        "the default of a has changed",
    ),
}


@pytest.mark.parametrize("case", OTHERS)
def test_another_function_is_told_apart_and_named(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other, said = OTHERS[case]
    path = tmp_path / "run.db"
    expected = run(one, path)
    with pytest.raises(gracezo.JournalError, match=f"holds another run: {said}.*same=True"):
        run(other, path)
    assert_same(run(one, path), expected, "the same function")
    assert_same(run(other, gracezo.Journal(path, same=True)), expected, "the user's word")
    assert read(path).header.get("overridden") is None  # nothing was asked of it
    run(other, gracezo.Journal(path, same=True), max_queries=13)
    overridden = read(path).header["overridden"]
    assert len(overridden) == 1
    assert overridden[0].endswith("has changed")
    assert main(["journal", "show", str(path)]) == 0
    assert f"overruled   {overridden[0]}" in capsys.readouterr().out
    run(other, path, max_queries=17)  # it is the recorded one now


@pytest.mark.parametrize("other", [(3.0,), (2.0, 1.0), ()])
def test_other_args(other: tuple[Any, ...], tmp_path: Path) -> None:
    def three(x: np.ndarray, a: float = 1.0, b: float = 0.0) -> float:
        return a * float(x @ x) + b

    run(three, tmp_path / "run.db", 2.0)
    with pytest.raises(gracezo.JournalError, match=r"args\[[01]\] has changed"):
        run(three, tmp_path / "run.db", *other)
    with pytest.raises(gracezo.JournalError, match=r"args\[0\] has changed"):
        gracezo.resume(tmp_path / "run.db", three)
    assert gracezo.resume(tmp_path / "run.db", three, (2.0,)).nfev == 9


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(x):\n    return float(x @ x)", 'def f(x):\n    "Now documented."\n    return float(x @ x)'),
        (
            "def f(x):\n    return float(x @ x)",
            "# moved\n\ndef f(x):  # commented\n    return float(x @ x)",
        ),
    ],
)
def test_what_changes_nothing_is_no_change(one: str, other: str, tmp_path: Path) -> None:
    expected = run(compiled(one), tmp_path / "run.db")
    assert_same(run(compiled(other), tmp_path / "run.db"), expected, "the same code")


def test_equal_values_are_equal_whatever_their_order_or_place(tmp_path: Path) -> None:
    def settled(options: Any) -> Callable[..., Any]:
        return lambda x: float(x @ x) + len(options)

    made = [{"a": {1, 2, "b"}, "b": [X0, (1, None)]}, {"b": [X0.copy(), (1, None)], "a": {"b", 2, 1}}]
    expected = run(settled(made[0]), tmp_path / "run.db")
    assert_same(run(settled(made[1]), tmp_path / "run.db"), expected, "equal options")


def test_a_function_that_the_run_itself_changes(tmp_path: Path) -> None:
    calls: list[float] = []

    def counts(x: np.ndarray) -> float:
        calls.append(1.0)
        return float(x @ x)

    run(counts, tmp_path / "run.db")
    assert run(counts, tmp_path / "run.db", max_queries=13).nfev == len(calls) > 9
    calls.append(7.0)  # not by the run: it may mean something
    with pytest.raises(gracezo.JournalError, match="the variable calls has changed"):
        run(counts, tmp_path / "run.db", max_queries=17)


def test_what_cannot_be_compared_asks_for_a_name(tmp_path: Path) -> None:
    lock = threading.Lock()

    def locked(x: np.ndarray) -> float:
        with lock:
            return float(x @ x)

    with pytest.raises(TypeError, match=r"the variable lock is or holds a lock.*fingerprint=\.\.\."):
        run(locked, tmp_path / "run.db")
    assert not (tmp_path / "run.db").exists()
    assert run(locked, gracezo.Journal(tmp_path / "run.db", fingerprint="locked")).nfev == 9


def test_values_of_many_kinds_have_digests() -> None:
    holds_itself: list[Any] = [1]
    holds_itself.append(holds_itself)
    values = [
        None, True, 1, 1.0, 1j, "1", b"1", [1], (1,), {1}, {1: 1}, np.ones(1), np.ones(1, np.float32),
        np.array(["1"]), np.array([None, 1], object), Model(1.0), Model(2.0), math.sin, np.sin, np, Path("1"),
        np.random.default_rng(1), np.random.default_rng(2), holds_itself, scaled,
        functools.partial(scaled, factor=1), Model(1.0).loss, range(3), slice(3), 10**400,
    ]  # fmt: skip
    digests = [function._digest(value) for value in values]
    assert len(set(digests)) == len(values)
    assert digests == [function._digest(value) for value in values]


def test_another_python_compiles_otherwise() -> None:
    with function.digested(closing_over(2.0), (7,)) as parts:
        pass
    older = {name: "x" if name.startswith("the code") else part for name, part in parts.items()}
    assert function.changed(older, parts) == [name for name in parts if name.startswith("the code")] != []
    older["Python"] = "3.0"
    assert function.changed(older, parts) == []
    assert function.changed(older | {"args[0]": "x"}, parts) == ["args[0]"]
    assert parts["Python"] == f"{sys.version_info.major}.{sys.version_info.minor}"
