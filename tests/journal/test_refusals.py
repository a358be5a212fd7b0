"""What is not the recorded run is refused, in one line that says why, before any query."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.journal.edits import edit, reseal

import gracezo
from gracezo.journal.identity import fingerprint
from gracezo.testing import Case, Valley, assert_same


def f(x: np.ndarray) -> float:
    return float((x**2).sum())


def g(x: np.ndarray) -> float:
    raise AssertionError("a refused run asks nothing")


SAME: dict[str, Any] = {"method": "grace", "sparsity": 2, "max_queries": 40, "seed": 3, "f0": 7.0}
X0 = np.linspace(0.0, 1.0, 20)


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    gracezo.minimize(f, X0, **SAME, journal=tmp_path / "run.db", options={"eps": 1e-5})
    return tmp_path / "run.db"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"method": "fdsa"}, "method is grace there and fdsa here"),
        ({"sparsity": 3}, "sparsity is 2 there and 3 here"),
        ({"seed": 4}, "seed is 3 there and 4 here"),
        ({"f0": None}, "f0 is 7.0 there and None here"),
        ({"options": {"eps": 1e-6}}, "option eps is 1e-05 there and 1e-06 here"),
        ({"options": {"eps": f}}, "option eps is 1e-05 there and the function .*test_refusals:f here"),
        ({"x0": X0 + (np.arange(20) > 17)}, "x0 differs at 2 of 20 coordinates, the first at index 18"),
        ({"x0": X0.reshape(4, 5)}, r"the shape of x0 is \(20,\) there and \(4, 5\) here"),
        ({"max_queries": 3}, "max_queries must be at least"),
    ],
)
def test_another_run(journal: Path, change: dict[str, Any], said: str) -> None:
    before = journal.read_bytes()
    arguments = SAME | {"options": {"eps": 1e-5}} | change
    with pytest.raises(ValueError, match=said) as refused:
        gracezo.minimize(f, arguments.pop("x0", X0), **arguments, journal=journal)
    assert "\n" not in str(refused.value)
    assert journal.read_bytes() == before
    assert gracezo.resume(journal, f).nfev > 0


def test_another_function(journal: Path) -> None:
    with pytest.raises(gracezo.JournalError, match=r"the function is .*:f there and .*:g here"):
        gracezo.resume(journal, g)
    with pytest.raises(gracezo.JournalError, match="there and mine here"):
        gracezo.resume(gracezo.Journal(journal, fingerprint="mine"), f)
    gracezo.resume(journal, partial(f))
    gracezo.resume(gracezo.Journal(journal, fingerprint=fingerprint(f)), g)  # finished: nothing is asked


def test_fingerprints() -> None:
    assert fingerprint(Valley()) == "gracezo.testing:Valley"
    assert fingerprint(Valley().many) == "gracezo.testing.functions:Valley.many"
    assert fingerprint(len) == "builtins:len"
    versioned = partial(f)
    versioned.fingerprint = "f, data of May"  # type: ignore[attr-defined]
    assert fingerprint(versioned) == "f, data of May"


def test_a_function_among_the_options_comes_from_the_user(tmp_path: Path) -> None:
    def shrinking(step: int) -> float:
        return 1e-3 / step

    arguments = SAME | {"options": {"eps": shrinking}, "journal": tmp_path / "run.db"}
    expected = gracezo.minimize(f, X0, **arguments)
    with pytest.raises(gracezo.JournalError, match="cannot give back option eps, a function: call minimize"):
        gracezo.resume(tmp_path / "run.db", f, max_queries=1000)
    assert_same(gracezo.resume(tmp_path / "run.db", f), expected, "it had ended")
    assert_same(gracezo.minimize(f, X0, **arguments), expected, "by minimize")


def test_what_a_journal_cannot_hold(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"options.*'schedule'.*cannot be written"):
        gracezo.minimize(f, X0, **SAME, journal=tmp_path / "run.db", options={"schedule": {4, 3}})
    assert not (tmp_path / "run.db").exists()


def test_a_replay_that_diverges(journal: Path) -> None:
    """A recorded value that is not f's leads elsewhere: the next ask after it is another one."""
    edit(journal, "UPDATE answers SET value = value + 1 WHERE ask = 2")
    with pytest.raises(gracezo.JournalError, match=r"entry \d+, of answers, is not as it was written"):
        gracezo.resume(journal, f)
    reseal(journal)
    with pytest.raises(
        gracezo.JournalError, match=r"the replay of .*run.db diverges: what the method asks at query \d+"
    ):
        gracezo.resume(journal, f, max_queries=50)


def test_another_version_is_no_reason(journal: Path) -> None:
    expected = gracezo.minimize(f, X0, **SAME, options={"eps": 1e-5})
    edit(journal, """UPDATE header SET value = '"99.0"' WHERE name = 'library'""")
    reseal(journal)
    assert_same(gracezo.resume(journal, f), expected, "another version")


def test_a_smaller_budget_than_the_record_was_made_with(tmp_path: Path) -> None:
    """Between the queries made and the budget: the run would have gone another way."""
    valley = Valley()
    journal = gracezo.Journal(tmp_path / "run.db", fingerprint="valley")

    def stops(x: np.ndarray) -> float:
        if len(valley.points) == 70:
            raise KeyboardInterrupt
        return valley(x)

    arguments = Case("grace").arguments(max_queries=None, max_steps=9)
    expected = gracezo.minimize(Valley(), valley.x0, **arguments)
    assert gracezo.minimize(stops, valley.x0, **arguments, journal=journal).nfev == 71
    with pytest.raises(ValueError, match=r"max_queries=71 is too small for .*another way after query 6\d$"):
        gracezo.resume(journal, valley, max_queries=71)
    assert_same(gracezo.resume(journal, valley), expected, "unharmed")
    assert len(valley.points) == expected.nfev


@pytest.mark.parametrize(
    ("arguments", "error"),
    [({"durable": "always"}, ValueError), ({"fingerprint": 7}, TypeError), ({"path": 7}, TypeError)],
)
def test_wrong_words(arguments: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match="given: "):
        gracezo.Journal(**{"path": "run.db"} | arguments)
