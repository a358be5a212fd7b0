"""`gracezo minimize`, `screen` and `journal`, as a user meets them."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gracezo
from gracezo.cli import main
from gracezo.testing import Valley, assert_same

MODULE = """
import os, signal
from gracezo.testing import Valley

valley = Valley()
stop_at = {}                       # call: signal

def f(x):
    value = valley(x)
    if len(valley.points) in stop_at:
        signal.raise_signal(stop_at[len(valley.points)])
    return value

def broken(x):
    raise ArithmeticError("no such luck")

number = 7
"""
RUN = "minimize {function} --dim 60 --method fdsa --max-queries 150 --seed 1 --quiet --journal run.db"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder with a module of its own name, so that none is left in memory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    name = "mine" + re.sub(r"\W", "", tmp_path.name)
    (tmp_path / f"{name}.py").write_text(MODULE, encoding="utf-8")
    return tmp_path


@pytest.fixture
def module(folder: Path) -> str:
    return next(folder.glob("mine*.py")).stem


def gracezo_(line: str, **others: str) -> int:
    return main(shlex.split(line.format(**others)))


def expected() -> gracezo.Result:
    return gracezo.minimize(Valley(), Valley().x0, method="fdsa", max_queries=150, seed=1)


def test_a_run(folder: Path, module: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert gracezo_(RUN + " --out best.npy", function=f"{module}:f") == 3
    assert capsys.readouterr().out == f"{expected()!r}\n  wrote    best.npy\n"
    assert np.array_equal(np.load(folder / "best.npy"), expected().x)
    assert_same(
        gracezo.resume(gracezo.Journal("run.db", fingerprint=f"{module}:f"), Valley()), expected(), "x"
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(("how", "kept"), [("drop", 80), ("finish", 122)])
def test_an_interrupt_ends_in_good_order(
    module: str, capsys: pytest.CaptureFixture[str], number: signal.Signals, how: str, kept: int
) -> None:
    """The 80th call is in the second batch of 60; the message says how to go on, and it works."""
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    mine = __import__(module)
    mine.stop_at[80] = number
    assert gracezo_(RUN + " --on-interrupt {how}", function=f"{module}:f", how=how) == 130
    captured = capsys.readouterr()
    assert f"{kept:,} queries" in captured.out
    assert "interrupted" not in captured.out  # it is said once
    said, command = captured.err.splitlines()[-1].split("; go on with: ")
    assert said == "gracezo: interrupted"
    assert command == f"gracezo minimize {module}:f --resume run.db"
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == handlers
    assert gracezo_(command.removeprefix("gracezo ") + " --quiet --out best.npy") == 3
    assert np.array_equal(np.load("best.npy"), expected().x)
    assert len(mine.valley.points) == expected().nfev + (how == "drop")  # the dropped call's value was lost
    assert ("asked again" in capsys.readouterr().out) == (how == "drop")


def test_a_function_that_differs_is_the_same_if_the_user_says_so(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = "def f(x):\n    return float(((x - 1.0) ** 2).sum(){})\n"
    (folder / "edited.py").write_text(body.format(""), encoding="utf-8")
    assert gracezo_("minimize edited:f --dim 3 --method fdsa --max-queries 9 --journal run.db --quiet") == 3
    (folder / "edited.py").write_text(body.format(" * 1.0"), encoding="utf-8")
    del sys.modules["edited"]
    again = "minimize edited:f --resume run.db --max-queries 20 --quiet"
    assert gracezo_(again) == 1
    assert "or --same on the command line" in capsys.readouterr().err
    assert gracezo_(again + " --same") in (0, 3, 4)
    assert gracezo_("journal show run.db") == 0
    assert "the code of f has changed" in capsys.readouterr().out
    assert gracezo_("minimize edited:f --dim 3 --same") == 2
    assert gracezo_("screen edited:f --dim 3 --same") == 2
    assert capsys.readouterr().err.count("--same speaks of the function of a journal") == 2


def test_a_second_interrupt_stops_at_once(folder: Path, module: str) -> None:
    (folder / "twice.py").write_text(
        f"import {module} as mine\nmine.stop_at.update({{80: 2, 90: 2}})\nf = mine.f\n", encoding="utf-8"
    )
    line = RUN.format(function="twice:f") + " --on-interrupt finish"
    out = subprocess.run(
        [sys.executable, "-m", "gracezo", *line.split()],
        env=os.environ | {"PYTHONPATH": str(Path(gracezo.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert out.returncode == -signal.SIGINT
    assert out.stderr == "finishing the running batch; interrupt again to stop at once\n"
    assert gracezo_("journal show run.db") == 0
    assert gracezo_("minimize twice:f --resume run.db --quiet --out best.npy") == 3
    assert np.array_equal(np.load("best.npy"), expected().x)


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("minimize --dim 5", 2, "name one function, as module:name, or one --command"),
        ("minimize nothing --dim 5", 2, "a function is named module:name; given: nothing"),
        ("minimize model.py:f --dim 5", 2, "a module is named without .py: model:f"),
        ("minimize ./sim@{{input}} --dim 5", 2, "given: ./sim@{{input}}; a program goes behind --command"),
        ("minimize {m}:g --dim 5", 2, "{m}:g: AttributeError: module '{m}' has no attribute 'g'"),
        ("minimize no_such:f --dim 5", 2, "no_such:f: ModuleNotFoundError: No module named 'no_such'"),
        ("minimize {m}:number --dim 5", 2, "{m}:number cannot be called; it is of type int"),
        ("minimize {m}:f", 2, "say where: --x0 FILE, or --dim D for zero in D dimensions"),
        ("minimize {m}:f --x0 a.npy --dim 5", 2, "--x0 and --dim both say where to start"),
        (
            "minimize {m}:f --dim 60 --out best.xlsx",
            2,
            "--out must end in .npy, .npz, .csv or .json; given: best.xl",
        ),
        ("minimize {m}:f --dim 60 --out no/best.npy", 2, "--out no/best.npy: there is no folder no"),
        ("screen {m}:f --dim 60 --out best", 2, "--out must end in"),
        (
            "minimize {m}:f --dim 60 --on-failure retry:0",
            2,
            "must be raise, retry or skip, the last two also with a",
        ),
        ("minimize {m}:f --dim 60 --on-failure often", 2, "must be raise, retry or skip"),
        ("minimize {m}:f --dim 60 --format xml", 2, "invalid choice: 'xml' (choose from"),
        ("minimize {m}:f --dim 0", 2, "--dim must be at least 1; given: 0"),
        ("minimize {m}:f --x0 none.npy", 1, "--x0 none.npy: No such file or directory"),
        ("minimize {m}:f --x0 {m}.py", 1, "--x0 {m}.py cannot be read: "),
        ("minimize {m}:f --dim 60 --method grace", 2, "method 'grace' needs sparsity=s"),
        ("minimize {m}:f --dim 60 --method grce", 2, "did you mean 'grace'"),
        ("minimize {m}:f --dim 60 --method fdsa --option eps", 2, "--option is name=value; given: eps"),
        ("minimize {m}:f --dim 60 --method fdsa --option esp=1", 2, "did you mean 'eps'"),
        ("minimize {m}:f --dim 60 --max-queries -3 --sparsity 3", 2, "max_queries must be a whole number"),
        ("minimize {m}:f --dim 60 --max-queries x", 2, "argument --max-queries: invalid int value: 'x'"),
        ("minimize {m}:f --resume run.db --dim 60", 2, "leave out --dim"),
        ("minimize {m}:f --resume run.db", 1, "there is no journal at run.db"),
        ("minimize {m}:f --dim 60 --on-interrupt finish", 2, "add --journal FILE"),
        ("minimize {m}:f --dim 60 --sparsity 3 --journal {m}.py", 1, "{m}.py is not a journal of gracezo"),
        ("minimize {m}:f --dim 60 --sparsity 3 --journal no/run.db", 1, "cannot write the journal no/run.db"),
        (
            "screen {m}:f --dim 60 --points 3",
            2,
            "for points=3, every coordinate must have a lower and an upper",
        ),
        ("screen {m}:f", 2, "without x0, bounds must give a pair (low, high) for each coordinate"),
        ("screen {m}:f --problem none.json", 1, "--problem none.json: No such file or directory"),
        (
            "screen {m}:f --bounds 0 1",
            2,
            "--bounds LOW HIGH is for all coordinates: add --dim D, or --x0 FILE",
        ),
        ("screen {m}:f --bounds {m}.py", 2, "cannot be read: "),
        ("screen {m}:f --bounds {m}.py", 2, "a SALib problem is for --problem"),
        (
            "screen {m}:f --dim 60 --bounds=-1,1",
            2,
            "takes LOW HIGH, two numbers or none, or one file; given: -1,1, and there is no such file",
        ),
        (
            "screen {m}:f --dim 60 --problem a.json --bounds 0 1",
            2,
            "--bounds and --problem both say what the box is",
        ),
        ("journal show run.db", 1, "there is no journal at run.db"),
        ("journal show {m}.py", 1, "{m}.py is not a journal of gracezo"),
        ("journal list run.db", 2, "invalid choice: 'list'"),
        ("journal show run.db --out x.csv", 2, "--table and --out belong to export"),
    ],
)
def test_one_line_says_what_is_wrong(
    module: str, capsys: pytest.CaptureFixture[str], line: str, code: int, said: str
) -> None:
    assert gracezo_(line, m=module) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert said.format(m=module) in captured.err


def test_a_failing_function(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert gracezo_(RUN, function=f"{module}:broken") == 1
    said = capsys.readouterr().err
    assert said == (
        "gracezo: query 1 failed: the function raised ArithmeticError: no such luck; "
        f"go on with: gracezo minimize {module}:broken --resume run.db\n"
    )


@pytest.mark.parametrize("ending", ["npy", "json", "csv", "txt"])
def test_points_in_files(folder: Path, module: str, ending: str, capsys: pytest.CaptureFixture[str]) -> None:
    x0 = np.linspace(0, 1, 60)
    path = folder / f"start.{ending}"
    if ending == "npy":
        np.save(path, x0)
    elif ending == "json":
        path.write_text(str(x0.tolist()), encoding="utf-8")
    else:
        path.write_text((", " if ending == "csv" else "\n").join(map(repr, x0.tolist())), encoding="utf-8")
    assert gracezo_(f"minimize {module}:f --x0 {path} --method fdsa --max-queries 1 --json") == 3
    assert json.loads(capsys.readouterr().out)["f"] == Valley().value(x0)


def test_screen(folder: Path, module: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert gracezo_(f"screen {module}:f --dim 60 --seed 1 --top 3 --out matter.csv") == 0
    lines = capsys.readouterr().out.splitlines()
    found = gracezo.screen(Valley(), Valley().x0, seed=1)
    exact = gracezo.estimate_gradient(Valley(), Valley().x0, method="fdsa")
    order = np.argsort(-np.abs(exact.values), kind="stable")
    assert (
        lines[0]
        == f"Screening: {len(found.indices)} of 60 coordinates found, {found.important.sum()} important"
    )
    assert lines[1].split() == ["coordinate", "mu", "mu_star", "sigma", "mu_star_conf", "share", "important"]
    assert [int(line.split()[0]) for line in lines[2:5]] == order[:3].tolist()
    assert lines[5].startswith(f"{found.queries} queries at 1 point; left outside: ")
    assert lines[6:] == ["wrote matter.csv"]
    with (folder / "matter.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["index"]) for row in rows] == found.indices.tolist()
    assert [float(row["mu"]) for row in rows] == found.mu.tolist()


def test_screen_a_box(folder: Path, module: str, capsys: pytest.CaptureFixture[str]) -> None:
    problem = {"num_vars": 60, "bounds": [[-1, 1]] * 60, "names": [f"p{i}" for i in range(60)]}
    (folder / "salib.json").write_text(json.dumps(problem), encoding="utf-8")
    found = gracezo.screen(Valley(), bounds=problem, seed=1)
    line = f"screen {module}:f --problem salib.json --seed 1 --json --journal screen.db"
    assert gracezo_(line) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["queries"], said["points"]) == (found.queries, found.points)
    assert [row["name"] for row in said["coordinates"]] == [f"p{j}" for j in found.indices]
    assert [row["mu_star"] for row in said["coordinates"]] == found.mu_star.tolist()
    assert gracezo_(f"{line} --max-queries {found.queries}") == 0  # from the journal
    assert gracezo_(f"screen {module}:f --dim 60 --bounds -1 1 --seed 1 --max-queries 7") == 3
    assert "7 queries" in capsys.readouterr().out


def test_journal_show_and_export(folder: Path, module: str, capsys: pytest.CaptureFixture[str]) -> None:
    gracezo_(RUN, function=f"{module}:f")
    capsys.readouterr()
    assert gracezo_("journal show run.db") == 0
    shown = capsys.readouterr().out
    result = expected()
    for part in (f"{module}:f", "fdsa, seed 1", f"{result.nfev} answered", result.message, repr(result.fun)):
        assert part in shown
    assert gracezo_("journal export run.db") == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert [int(row["query"]) for row in rows] == list(range(1, result.nfev + 1))
    assert float(rows[0]["value"]) == result.trace.values[0]
    assert gracezo_("journal export run.db --table steps --out steps.csv") == 0
    with (folder / "steps.csv").open(encoding="utf-8") as file:
        assert [float(row["value"]) for row in csv.DictReader(file)] == result.trace.values.tolist()
    assert gracezo_("journal export run.db --table x --out x.csv") == 0
    with (folder / "x.csv").open(encoding="utf-8") as file:
        last = {int(row["index"]): float(row["x"]) for row in csv.DictReader(file) if row["step"] == "2"}
    assert last == {int(i): float(result.x[i]) for i in result.support}
    assert gracezo_("journal export run.db --out queries.xlsx") == 2


@pytest.mark.parametrize("table", ["queries", "steps", "x"])
def test_parquet_holds_what_csv_holds(folder: Path, module: str, table: str) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    gracezo_(RUN, function=f"{module}:f")
    for ending in ("csv", "parquet"):
        assert gracezo_(f"journal export run.db --table {table} --out table.{ending}") == 0
    read = parquet.read_table(folder / "table.parquet")
    with (folder / "table.csv").open(encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    assert read.column_names == head
    columns = {name: [row[place] for row in rows] for place, name in enumerate(head)}
    assert len(rows) == read.num_rows > 0
    for name, values in read.to_pydict().items():
        assert ["" if value is None else str(value) for value in values] == columns[name]
    types = {field.name: str(field.type) for field in read.schema}
    wanted = {"queries": {"query": "int64", "value": "double"}, "steps": {"step": "int64", "value": "double"}}
    assert wanted.get(table, {"index": "int64", "x": "double"}).items() <= types.items()


def test_parquet_is_named_when_it_is_missing(
    module: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    gracezo_(RUN, function=f"{module}:f")
    capsys.readouterr()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert gracezo_("journal export run.db --out queries.parquet") == 1
    assert "pip install pyarrow" in capsys.readouterr().err


def test_a_program_on_two_workers(capsys: pytest.CaptureFixture[str]) -> None:
    square = "awk -v OFMT=%.15g '{s += ($1 - 1) * ($1 - 1)} END {print s}' {input}"
    program = f'--command "{square}" --format text --workers 2'
    run = "--dim 4 --method fdsa --option step_size=0.1 --quiet --journal run.db --max-queries"
    assert main(shlex.split(f"minimize {program} {run} 6")) == 3
    assert main(shlex.split(f"minimize {program} --resume run.db --quiet --max-queries 11 --out x.npy")) == 3
    assert "11 queries in 5 rounds, 2 steps" in capsys.readouterr().out
    assert np.load("x.npy") == pytest.approx(1 - 0.8**2, abs=1e-3)
    other = program.replace("- 1", "- 2")
    assert main(shlex.split(f"minimize {other} --resume run.db")) == 1
    assert "run.db holds another run: the function is awk" in capsys.readouterr().err
    assert main(shlex.split("minimize --command 'awk 1' --dim 4")) == 2
    assert "--command: template must say {input}" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["minimize", "screen", "journal"])
def test_help_teaches(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0
    assert f"examples:\n  gracezo {command}" in capsys.readouterr().out
