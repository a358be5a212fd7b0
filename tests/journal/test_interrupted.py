"""An interrupt while a journal is opened, begun or closed: the next run finds it as it should be."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

import gracezo
from gracezo.journal.file import JournalFile
from gracezo.journal.reading import read
from gracezo.journal.session import Session
from gracezo.journal.store import Store
from gracezo.testing import Valley, assert_same

ARGUMENTS: dict[str, Any] = {"method": "fdsa", "max_queries": 150, "seed": 1}


def interrupting(function: Any, *, before: bool = False) -> Any:
    """Return the function with Ctrl-C when it has returned, or when it is about to be called."""

    def interrupted(*given: Any, **others: Any) -> Any:
        if before:
            signal.raise_signal(signal.SIGINT)
        returned = function(*given, **others)
        signal.raise_signal(signal.SIGINT)
        return returned

    return interrupted


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (Store, "writing"),
        (JournalFile, "create"),
        (JournalFile, "begin_log"),
        (Session, "begin"),
        (Session, "_close"),
    ],
)
def test_the_next_run_goes_on(owner: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    valley, path = Valley(), tmp_path / "run.db"
    with monkeypatch.context() as patch:
        changed = interrupting(getattr(owner, name))
        patch.setattr(owner, name, staticmethod(changed) if name == "writing" else changed)
        try:
            gracezo.minimize(valley, valley.x0, **ARGUMENTS, journal=path)
        except KeyboardInterrupt as error:
            error.__traceback__ = None
    result = gracezo.minimize(valley, valley.x0, **ARGUMENTS, journal=path)
    assert result.nfev == len(valley.points)
    whole = Valley()
    assert_same(result, gracezo.minimize(whole, whole.x0, **ARGUMENTS), "after an interrupt")


def test_an_interrupt_before_the_header_leaves_no_damaged_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(Exception):
        pass

    def put(store: Store, **header: Any) -> None:
        raise Broken

    valley, path = Valley(), tmp_path / "run.db"
    with monkeypatch.context() as patch:
        patch.setattr(Store, "put", put)
        with pytest.raises(Broken):
            gracezo.minimize(valley, valley.x0, **ARGUMENTS, journal=path)
    assert gracezo.minimize(valley, valley.x0, **ARGUMENTS, journal=path).nfev == len(valley.points)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_that_the_function_forks_leaves_the_journal_alone(tmp_path: Path) -> None:
    path = tmp_path / "run.db"

    class Forks(Valley):
        fingerprint = "the valley"

        def __call__(self, x: Any) -> float:
            if len(self.points) == 20 and os.fork() == 0:
                raise SystemExit  # through all that is open
            return super().__call__(x)

    parent, valley = os.getpid(), Forks()
    try:
        result = gracezo.minimize(valley, valley.x0, **ARGUMENTS, journal=path)
    except SystemExit:
        os._exit(os.getpid() == parent)
    assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
    assert result.nfev == len(valley.points) == len(read(path).queries)
