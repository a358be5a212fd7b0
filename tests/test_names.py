"""Names of coordinates: where they come from, and who speaks of them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gracezo
from gracezo.cli import main
from gracezo.core.names import Names
from gracezo.core.types import FloatArray
from gracezo.journal.reading import read

WORDS = ["mass", "width", "drag", "angle"]


def bowl(x: FloatArray) -> float:
    return float((x.ravel()[1] - 2.0) ** 2 + 3.0 * x.ravel()[3])


def gradient(x0: Any, **others: Any) -> gracezo.GradientEstimate:
    return gracezo.estimate_gradient(bowl, x0, method="fdsa", **others)


def names(found: gracezo.GradientEstimate) -> list[str]:
    assert found.names is not None
    return list(found.names)


@pytest.mark.parametrize("given", [WORDS, tuple(WORDS), np.array(WORDS), dict.fromkeys(WORDS), iter(WORDS)])
def test_a_sequence_of_any_kind(given: Any) -> None:
    assert names(gradient(np.zeros(4), names=given)) == WORDS


def test_the_index_of_a_series() -> None:
    pandas = pytest.importorskip("pandas")
    x0 = pandas.Series(np.zeros(4), index=WORDS)
    assert names(gradient(x0)) == WORDS
    assert names(gradient(x0, names=list("abcd"))) == list("abcd")  # what is said goes before
    assert gradient(pandas.Series(np.zeros(4))).names.given is None  # type: ignore[union-attr]
    dates = pandas.Series(np.zeros(2), index=pandas.MultiIndex.from_tuples([("a", 1), ("b", 2)]))
    found = gracezo.estimate_gradient(lambda x: float(x[0]), dates, method="fdsa")
    assert names(found) == ["('a', 1)", "('b', 2)"]
    result = gracezo.minimize(bowl, x0, method="fdsa", max_queries=9)
    assert isinstance(result.x, np.ndarray)
    with pytest.raises(
        ValueError, match=r"names \(the index of x0\) must differ; 'mass' is given to the coo"
    ):
        gradient(pandas.Series(np.zeros(4), index=["mass", "a", "b", "mass"]))


def test_places_in_a_shape() -> None:
    found = gradient(np.zeros((2, 2)))
    assert names(found) == ["(0, 0)", "(0, 1)", "(1, 0)", "(1, 1)"]
    assert names(gradient(np.zeros((2, 2)), names=[["a", "b"], ["c", "d"]])) == list("abcd")
    assert names(gradient(np.zeros((2, 2)), names=list("abcd"))) == list("abcd")
    assert Names((3, 4, 5))[59] == str((2, 3, 4))
    assert Names(())[0] == "0"
    with pytest.raises(IndexError):
        Names((2, 2))[4]


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        (["a", "b"], ValueError, "names must be one for each of the 4 coordinates; given: 2"),
        (["a", "b", "c", "a"], ValueError, "names must differ; 'a' is given to the coordinates 0 and 3"),
        ("abcd", TypeError, "names must be in order, one name a coordinate; given: 'abcd'"),
        (set("abcd"), TypeError, "names must be in order, one name a coordinate"),
        (7, TypeError, "names must be in order, one name a coordinate; given: 7"),
    ],
)
def test_what_is_wrong_is_said_before_any_query(given: Any, error: type[Exception], said: str) -> None:
    calls: list[object] = []
    for entry in (gracezo.minimize, gracezo.estimate_gradient):
        with pytest.raises(error, match=said):
            entry(calls.append, np.zeros(4), method="fdsa", names=given)
    with pytest.raises(error, match=said):
        gracezo.Optimizer(np.zeros(4), names=given)
    assert not calls


def test_errors_speak_of_names() -> None:
    with pytest.raises(
        ValueError, match=r"1 of its 4 coordinates are not, the first of them nan at \[drag\]"
    ):
        gradient([0, 0, np.nan, 0], names=WORDS)
    with pytest.raises(ValueError, match=r"at \[1, 0\]"):
        gradient([[0, 0], [np.inf, 0]])
    with pytest.raises(ValueError, match=r"x0 must lie within .* \[angle\] \(low 1, given 0, high 2\)"):
        gradient(np.zeros(4), names=WORDS, bounds=[(None, None)] * 3 + [(1, 2)])


def test_results_have_them_however_they_are_made(tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"method": "fdsa", "max_queries": 11, "names": WORDS, "seed": 1}
    result = gracezo.minimize(bowl, np.zeros(4), journal=tmp_path / "run.db", **arguments)
    optimizer = gracezo.Optimizer(np.zeros(4), **arguments)
    while len(points := optimizer.ask()):
        optimizer.tell([bowl(x) for x in points])
    resumed = gracezo.resume(tmp_path / "run.db", bowl, max_queries=21)
    for each in (result, optimizer.result, resumed):
        assert list(each.names) == WORDS
        assert each.names.of(each.support) == ["angle", "width"]
        indices, values = each.change
        assert np.array_equal(indices, each.support)
        assert np.array_equal(values, each.x[indices])
    assert list(read(tmp_path / "run.db").names) == WORDS
    again = gracezo.minimize(
        bowl,
        np.zeros(4),
        journal=tmp_path / "run.db",
        **arguments | {"names": list("abcd"), "max_queries": 21},
    )
    assert list(again.names) == list(read(tmp_path / "run.db").names) == list("abcd")


def test_names_do_not_change_the_run() -> None:
    plain = gracezo.minimize(bowl, np.zeros(4), max_queries=40, seed=3)
    named = gracezo.minimize(bowl, np.zeros(4), max_queries=40, seed=3, names=WORDS)
    assert (plain.nfev, plain.fun) == (named.nfev, named.fun)
    assert np.array_equal(plain.x, named.x)


@pytest.mark.parametrize("ending", ["txt", "json"])
def test_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], ending: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(f"names.{ending}").write_text(
        json.dumps(WORDS) if ending == "json" else "\n".join(WORDS) + "\n", encoding="utf-8"
    )
    common = [f"{__name__}:bowl", "--dim", "4", "--method", "fdsa", "--names", f"names.{ending}"]
    screened = [word for word in common if word not in ("--method", "fdsa")]
    assert main(["screen", *screened, "--out", "matter.csv"]) == 0
    assert capsys.readouterr().out.splitlines()[2].split()[0] == "width"
    with Path("matter.csv").open(encoding="utf-8") as file:
        assert [row["name"] for row in csv.DictReader(file)][:2] == ["width", "angle"]
    assert main(["minimize", *common, "--max-queries", "6", "--journal", "run.db"]) in (0, 3)
    assert "width  2  " in capsys.readouterr().out
    assert main(["journal", "export", "run.db", "--table", "x"]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert {(row["index"], row["name"]) for row in rows} == {("1", "width"), ("3", "angle")}
    assert main(["screen", *screened[:-1], "none.txt"]) == 1
    assert "--names none.txt: No such file" in capsys.readouterr().err


def test_a_jacobian_speaks_of_names() -> None:
    names = [f"gain {place}" for place in range(50)]
    found = gracezo.estimate_jacobian(
        lambda x: np.array([2 * x[3], x[7] - x[3], 3 * x[7]]), np.zeros(50), names=names, seed=0
    )
    head, *_, first, second = str(found).splitlines()
    assert head == "Jacobian: 2 of 50 columns found, of 3 outputs"
    norms = [line.split()[:3] for line in (first, second)]
    assert sorted(norms) == [["gain", "3", "2.23607"], ["gain", "7", "3.16228"]]
    assert len(str(found).splitlines()) <= 15
    none = gracezo.estimate_jacobian(lambda x: x, np.zeros(50), max_queries=1)
    assert "0 of 50 columns found, of 50 outputs; not all that matter" in str(none).splitlines()[0]
