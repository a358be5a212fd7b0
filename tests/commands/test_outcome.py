"""What scripts rely on: exit codes, JSON, files by their ending, completion."""

from __future__ import annotations

import csv
import json
import re
import shlex
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gracezo
from gracezo.cli import COMMANDS, main
from gracezo.core.result import Status
from gracezo.testing import Valley

MODULE = """
import signal
from gracezo.testing import Valley
valley = Valley()
calls = []

def f(x):
    return valley(x)

def flat(x):
    return 7.0

def stopped(x):
    calls.append(1)
    if len(calls) == 9:
        signal.raise_signal(signal.SIGINT)
    return valley(x)

def breaks(x):
    calls.append(1)
    if len(calls) == 70:
        raise ArithmeticError("no such luck")
    return valley(x)

def shaky(x):
    calls.append(1)
    if len(calls) in (10, 71):
        raise ArithmeticError("no such luck")
    return valley(x)
"""
KEYS = {
    "status": int,
    "success": bool,
    "message": str,
    "f": float,
    "f_error": float,
    "f_start": float,
    "queries": int,
    "reasked": int,
    "rounds": int,
    "steps": int,
    "seed": int,
    "dimension": int,
    "changed": list,
    "trace": dict,
    "error": (str, type(None)),
    "out": (str, type(None)),
}


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    name = "mine" + re.sub(r"\W", "", tmp_path.name)
    (tmp_path / f"{name}.py").write_text(MODULE, encoding="utf-8")
    return name


def minimize(module: str, function: str, more: str = "") -> int:
    line = f"minimize {module}:{function} --dim 60 --method fdsa --max-queries 150 --seed 1 --quiet"
    return main(shlex.split(f"{line} {more}"))


@pytest.mark.parametrize(
    ("function", "more", "code", "status"),
    [
        ("f", "--target 1e9", 0, Status.CONVERGED),
        ("f", "", 3, Status.SPENT),
        ("f", "--max-steps 1", 3, Status.SPENT),
        ("flat", "", 4, Status.NOTHING_TO_FIND),
        ("breaks", "", 1, Status.FAILED),
        ("stopped", "", 130, Status.STOPPED),
        ("shaky", "--on-failure retry:5", 3, Status.SPENT),
        ("shaky", "--on-failure skip", 3, Status.SPENT),
    ],
)
def test_exit_codes_and_json(
    module: str, function: str, more: str, code: int, status: Status, capsys: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(signal.SIGINT)
    assert minimize(module, function, f"{more} --json") == code
    assert signal.getsignal(signal.SIGINT) is before
    captured = capsys.readouterr()
    said = json.loads(captured.out)
    assert captured.out.count("\n") == 1
    assert said.keys() == KEYS.keys()
    for key, kind in KEYS.items():
        assert isinstance(said[key], kind), key  # type: ignore[arg-type]
    assert said["status"] == status
    assert said["queries"] >= 1
    assert (said["error"] is not None) == (status in (Status.FAILED, Status.STOPPED))


def test_json_says_what_the_library_says(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    minimize(module, "f", "--json")
    said = json.loads(capsys.readouterr().out)
    result = gracezo.minimize(Valley(), Valley().x0, method="fdsa", max_queries=150, seed=1)
    assert said["f"] == result.fun
    assert (said["queries"], said["steps"], said["rounds"]) == (result.nfev, result.nit, result.rounds)
    assert said["trace"] == {"queries": result.trace.queries.tolist(), "f": result.trace.values.tolist()}
    assert [entry["index"] for entry in said["changed"]] == result.support.tolist()
    assert [entry["x"] for entry in said["changed"]] == result.x[result.support].tolist()


def test_a_failure_is_printed_once(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert minimize(module, "breaks") == 1
    captured = capsys.readouterr()
    assert (captured.out + captured.err).count("no such luck") == 1
    assert captured.out.splitlines()[0].split()[0] == "f"  # what was paid for is shown


def point(path: Path) -> Any:
    if path.suffix == ".npy":
        return np.load(path)
    if path.suffix == ".npz":
        return np.load(path)["x"]
    if path.suffix == ".json":
        return np.array(json.loads(path.read_text(encoding="utf-8"))["x"])
    with path.open(encoding="utf-8") as file:
        return np.array([float(row["x"]) for row in csv.DictReader(file)])


@pytest.mark.parametrize("ending", ["npy", "npz", "csv", "json"])
def test_the_ending_says_how_it_is_written_and_it_can_be_read_again(
    module: str, ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"best.{ending}"
    minimize(module, "f", f"--out {path}")
    result = gracezo.minimize(Valley(), Valley().x0, method="fdsa", max_queries=150, seed=1)
    assert np.array_equal(point(path), result.x)
    capsys.readouterr()
    main(shlex.split(f"minimize {module}:f --x0 {path} --method fdsa --max-queries 1 --json"))
    assert json.loads(capsys.readouterr().out)["f"] == result.fun
    assert main(shlex.split(f"screen {module}:f --dim 60 --seed 1 --out {path} --json")) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["queries"] == gracezo.screen(Valley(), Valley().x0, seed=1).queries
    columns = {"index", "name", "mu", "mu_star", "sigma", "mu_star_conf", "share", "important"}
    assert set(said["coordinates"][0]) == columns


def test_a_screen_that_finds_nothing(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["screen", f"{module}:flat", "--dim", "60"]) == 4
    assert "Nothing found" in capsys.readouterr().out


def test_programs_that_do_not_read_their_input(capsys: pytest.CaptureFixture[str]) -> None:
    """One that fails is told apart from one that answers the same number to everything."""
    common = ["--dim", "5", "--quiet", "--max-queries", "30"]
    assert main(["minimize", "--command", "false {input}", *common]) == 1
    said = capsys.readouterr().err
    assert "query 1 failed: the program 'false' ended with exit code 1" in said
    assert "(the point was written as npy; --format chooses another way)" in said
    assert main(["minimize", "--command", "echo 7 {input}", *common]) == 1  # no number at all
    capsys.readouterr()
    assert main(["minimize", "--command", "sh -c 'echo 7' {input}", *common]) == 4
    said = capsys.readouterr().err
    assert "the program answered 7.0 whatever the point was: does it read {input}" in said
    assert "written as npy (--format)?" in said
    with pytest.raises(SystemExit):
        main(["minimize", "--help"])
    assert "(default: npy)" in " ".join(capsys.readouterr().out.split())


def test_a_journal_as_json(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    minimize(module, "f", "--journal run.db --json")
    result = json.loads(capsys.readouterr().out)
    assert main(["journal", "show", "run.db", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["answered"], said["failed"], said["steps"]) == (result["queries"], 0, result["steps"])
    assert (said["status"], said["message"], said["seed"]) == (result["status"], result["message"], 1)
    assert (said["f_start"], said["f_best"]) == (result["f_start"], min(result["trace"]["f"]))
    assert main(["journal", "check", "run.db", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said == {
        "journal": "run.db",
        "whole": True,
        "error": None,
        "queries": result["queries"],
        "iterates": result["steps"] + 1,
    }
    assert main(["report", "run.db", "--replay", "0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "out": "run.html",
        "bytes": Path("run.html").stat().st_size,
    }
    blob = bytearray(Path("run.db").read_bytes())
    blob[-40:] = bytes(40)
    Path("run.db").write_bytes(blob)
    assert main(["journal", "check", "run.db", "--json"]) == 1
    captured = capsys.readouterr()
    said = json.loads(captured.out)
    assert said["whole"] is False
    assert captured.err == f"gracezo: {said['error']}\n"
    assert main(["journal", "export", "run.db", "--json"]) == 2


def test_what_is_known_of_the_problem(
    module: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {}

    def told(fun: object, x0: object, **keywords: Any) -> gracezo.Result:
        given.update(keywords)
        return gracezo.Optimizer([0.0, 0.0], f0=1.0, max_queries=1).result

    monkeypatch.setattr(gracezo, "minimize", told)
    Path("sizes.txt").write_text("\n".join(["0.5"] * 60), encoding="utf-8")
    Path("labels.txt").write_text("\n".join(["wing", "tail"] * 30), encoding="utf-8")
    minimize(module, "f", "--scale 0.1 --tol 1e-3 --groups 5")
    assert (given["scale"], given["tol"], given["groups"]) == (0.1, 1e-3, 5)
    minimize(module, "f", "--scale sizes.txt --groups labels.txt")
    assert given["scale"].tolist() == [0.5] * 60
    assert given["groups"] == ["wing", "tail"] * 30
    minimize(module, "f", "--groups 3x20")
    assert given["groups"] == (3, 20)
    capsys.readouterr()
    for wrong in ("--scale none.txt", "--groups none.txt"):
        assert minimize(module, "f", wrong) == 1
        assert f"gracezo: {wrong}: " in capsys.readouterr().err
    assert minimize(module, "f", "--resume run.db --tol 0.1") == 2


@pytest.mark.parametrize("words", ["--scale 0.5 --tol 1e-3", "--groups 4"])
def test_it_is_minded(module: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = f"minimize {module}:f --dim 60 --max-queries 80 --seed 1 --quiet --json {words}"
    assert main(shlex.split(line)) in (0, 3)
    said = json.loads(capsys.readouterr().out)
    known: dict[str, Any] = {"groups": 4} if "groups" in words else {"scale": 0.5, "tol": 1e-3}
    result = gracezo.minimize(Valley(), Valley().x0, max_queries=80, seed=1, **known)
    assert (said["f"], said["queries"]) == (result.fun, result.nfev)


def test_methods_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["methods", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == gracezo.methods()
    assert main(["methods", "fdsa", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["options"] == {"step_size": 0.5, "eps": 1e-06}


def test_the_small_tour(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import gracezo.commands.reproduce as command  # noqa: PLC0415

    monkeypatch.setattr(command, "_TOUR_METHODS", ["grace"])
    assert main(["reproduce", "--quick", "--out", "tour"]) == 0
    shown = capsys.readouterr().out
    assert "35 of 35 are the paper's." in shown
    assert "| GraCe  |" in shown
    assert main(["reproduce", "--quick", "--out", "tour", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["folder"], said["quick"]) == ("tour", True)
    assert [table["table"] for table in said["tables"]] == ["worst-case", "main"]
    assert all(Path(file).exists() for table in said["tables"] for file in table["files"])
    with Path("tour/main.csv").open(encoding="utf-8", newline="") as file:
        assert said["tables"][1]["rows"] == list(csv.DictReader(file))


def completed(shell: str, script: str, line: str) -> list[str]:
    """Return what a real shell offers after a line."""
    if shell == "fish":
        command = f"{script}\ncomplete --do-complete {shlex.quote(line)}"
    else:
        words = [*shlex.split(line), *([""] if line.endswith(" ") else [])]
        command = (
            f"{script}\nCOMP_WORDS=({' '.join(map(shlex.quote, words))})\nCOMP_CWORD={len(words) - 1}\n"
            f'_gracezo\nprintf "%s\\n" "${{COMPREPLY[@]}}"'
        )
    out = subprocess.run([shell, "-c", command], capture_output=True, text=True, check=True)
    return [word.split("\t")[0] for word in out.stdout.splitlines()]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    if shell == "zsh":  # it counts words from one, which the bridge to bash's way makes up for
        script = "setopt ksharrays\n" + "\n".join(script.splitlines()[2:]).rsplit("\n", 1)[0]
        script = "compgen() { for w in ${(s: :)2}; do [[ $w == $4* ]] && print -- $w; done }\n" + script
    assert set(completed(shell, script, "gracezo ")) >= set(COMMANDS)
    assert completed(shell, script, "gracezo mini") == ["minimize"]
    assert "--max-queries" in completed(shell, script, "gracezo minimize --max-")
    assert set(gracezo.methods()) <= set(completed(shell, script, "gracezo minimize --method "))
    assert completed(shell, script, "gracezo minimize --durable po") == ["power"]
