"""Somebody removes, replaces, damages or locks the file while a run writes it: nothing paid for is lost."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gracezo
from gracezo.testing import Valley

ARGUMENTS: dict[str, Any] = {"method": "fdsa", "max_queries": 150, "seed": 1}


class Meddles(Valley):
    """The valley, with something that happens at its 41st call."""

    fingerprint = "the valley"

    def __init__(self, what: Callable[[], object]) -> None:
        super().__init__()
        self.what = what

    def __call__(self, x: np.ndarray) -> float:
        if len(self.points) == 40:
            self.what()
        return super().__call__(x)


@pytest.mark.parametrize(
    "how", ["folder removed", "file removed", "file renamed", "folder renamed", "replaced"]
)
def test_a_journal_that_is_not_in_its_place_any_more(how: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    path = folder / "run.db"

    def meddle() -> None:
        match how:
            case "folder removed":
                shutil.rmtree(folder)
            case "file removed":
                path.unlink()
            case "file renamed":
                path.rename(folder / "other.db")
            case "folder renamed":
                folder.rename(tmp_path / "other")
            case _:
                path.rename(folder / "other.db")
                path.write_bytes(b"")

    valley = Meddles(meddle)
    with pytest.raises(
        gracezo.JournalWriteError, match="removed or replaced while the run went on"
    ) as raised:
        gracezo.minimize(valley, valley.x0, **ARGUMENTS, journal=path)
    assert raised.value.result is not None
    assert raised.value.result.nfev == len(valley.points) < 123  # it ends where it would write next


def test_a_journal_that_is_damaged_meanwhile_gives_the_result_of_the_run(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    valley = Meddles(lambda: path.write_bytes(b"nonsense" * 1000))
    with pytest.raises(gracezo.JournalError, match="damaged") as raised:
        gracezo.minimize(valley, valley.x0, **ARGUMENTS, journal=path)
    whole = gracezo.minimize(Valley(), valley.x0, **ARGUMENTS)
    assert raised.value.result is not None
    assert raised.value.result.nfev == len(valley.points) == whole.nfev
    assert np.array_equal(raised.value.result.x, whole.x)


def test_a_value_that_cannot_be_written_was_paid_for(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with closing(sqlite3.connect(":memory:")) as nobody:
        locks = [nobody]

        def lock() -> None:
            locks.append(sqlite3.connect(path, isolation_level=None))
            locks[-1].execute("BEGIN IMMEDIATE")

        valley = Meddles(lock)
        with pytest.raises(gracezo.JournalWriteError, match="locked") as raised:
            gracezo.minimize(valley, valley.x0, **ARGUMENTS, journal=path)
        locks[-1].close()
    assert raised.value.result is not None
    assert raised.value.result.nfev == len(valley.points) == 41
    again = gracezo.minimize(valley, valley.x0, **ARGUMENTS, journal=path)
    assert (again.reasked, len(valley.points)) == (1, again.nfev + 1)
