"""What was paid for can be taken along, when another version of the library goes on than that which began."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gracezo
from gracezo.cli import main
from gracezo.core.method import Method, Problem
from gracezo.journal.reading import read
from gracezo.methods import catalog
from gracezo.methods.auto.method import auto
from gracezo.methods.fdsa import fdsa
from gracezo.testing import Valley

X0 = np.zeros(60)


def first_version(problem: Problem) -> Method:
    """A method as it was."""
    return fdsa(problem, step_size=0.2)


def second_version(problem: Problem) -> Method:
    """The same method, that asks something else now."""
    return fdsa(problem, step_size=0.2, eps=1e-5)


@pytest.fixture
def unfinished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Valley]:
    """A run of 150 queries of the first version that was interrupted; then comes the second."""
    valley, path = Valley(), tmp_path / "run.db"

    def stops(x: np.ndarray) -> float:
        if len(valley.points) == 150:
            raise KeyboardInterrupt
        return valley(x)

    monkeypatch.setitem(catalog._FACTORIES, "mine", first_version)
    gracezo.minimize(
        stops, X0, method="mine", max_queries=400, journal=gracezo.Journal(path, fingerprint="f")
    )
    monkeypatch.setitem(catalog._FACTORIES, "mine", second_version)
    monkeypatch.setattr(gracezo, "__version__", "0.2.0")
    return path, Valley()


def test_the_way_that_the_error_names(unfinished: tuple[Path, Valley], tmp_path: Path) -> None:
    path, valley = unfinished
    journal = gracezo.Journal(path, fingerprint="f")
    with pytest.raises(
        gracezo.JournalError, match=r"diverges.*written by gracezo 0\.1\.0, this is 0\.2\.0"
    ) as told:
        gracezo.resume(journal, valley)
    assert valley.points == []
    (way,) = re.findall(r"known=(\S+)$", str(told.value))
    known = eval(way, {"gracezo": __import__("gracezo.journal.reading")})
    points, values = known
    assert [Valley().value(x) for x in points] == values.tolist()
    assert len(values) == len(read(path).steps) == 3  # x0 and two steps
    result = gracezo.minimize(valley, X0, known=known, max_queries=100, seed=1, journal=tmp_path / "new.db")
    assert not set(valley.points) & {x.tobytes() for x in points}  # nothing is paid for twice
    assert result.nfev == len(valley.points)
    assert result.fun < min(values)


def test_by_the_command_line(unfinished: tuple[Path, Valley], tmp_path: Path, monkeypatch: Any) -> None:
    path, valley = unfinished
    out = tmp_path / "known.npz"
    assert main(["journal", "export", str(path), "--table", "known", "--out", str(out)]) == 0
    with np.load(out) as known:
        arrays = [known[name] for name in known.files]
    result = gracezo.minimize(valley, X0, known=tuple(arrays), max_queries=60, seed=1)
    assert result.fun < min(arrays[1])
    assert result.nfev == len(valley.points)


def test_a_finished_run_is_returned_whatever_has_become_of_its_method(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"parameter {place}" for place in range(60)]
    monkeypatch.setitem(catalog._FACTORIES, "mine", auto)
    journal = gracezo.Journal(tmp_path / "run.db", fingerprint="f")
    ended = gracezo.minimize(Valley(), X0, method="mine", names=names, max_queries=40, journal=journal)
    monkeypatch.delitem(catalog._FACTORIES, "mine")
    monkeypatch.setattr(gracezo, "__version__", "7.0.0")
    valley = Valley()
    result = gracezo.resume(journal, valley)
    assert valley.points == []
    assert np.array_equal(result.x, ended.x)
    assert (result.nfev, result.fun, result.status) == (ended.nfev, ended.fun, ended.status)
    assert str(result).splitlines()[1:] == str(ended).splitlines()[1:]  # names too
    with pytest.raises(gracezo.JournalError, match=r"cannot be resumed: .*mine"):
        gracezo.resume(journal, valley, max_queries=80)


@pytest.mark.parametrize("method", ["fdsa", "grace", "auto"])
def test_the_points_of_all_queries(method: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    valley, path = Valley(), tmp_path / "run.db"
    gracezo.minimize(valley, X0, method=method, sparsity=3, max_queries=150, seed=1, journal=path)
    out = tmp_path / "points.npz"
    assert main(["journal", "export", str(path), "--table", "points", "--out", str(out)]) == 0
    assert capsys.readouterr().err == ""
    found = np.load(out)
    assert [x.tobytes() for x in found["X"]] == list(valley.points)
    assert found["F"].tolist() == [query.value for query in read(path).queries]
    assert found["query"].tolist() == list(range(1, len(valley.points) + 1))


def test_the_points_until_the_method_asks_for_others(
    unfinished: tuple[Path, Valley], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, _ = unfinished
    out = tmp_path / "points.npz"
    assert main(["journal", "export", str(path), "--table", "points", "--out", str(out)]) == 0
    assert "the points of 1 of 150 values are known" in capsys.readouterr().err
    assert np.load(out)["X"].tolist() == [X0.tolist()]
    assert main(["journal", "export", str(path), "--table", "points"]) == 2
