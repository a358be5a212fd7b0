"""gracezo fit: a model of many outputs against data, by function and by program."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from gracezo.cli import main

MODEL = """
import sys
import numpy as np

TIMES = np.linspace(0.0, 2.0, 12)

def simulate(x):
    return np.exp(x[7]) * np.exp(-TIMES) + x[33] * np.exp(-3.0 * TIMES)

if __name__ == "__main__":
    np.savetxt(sys.argv[2], simulate(np.loadtxt(sys.argv[1])))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "simulator.py").write_text(MODEL)
    times = np.linspace(0.0, 2.0, 12)
    np.savetxt(tmp_path / "data.txt", np.exp(0.4) * np.exp(-times) - 0.6 * np.exp(-3.0 * times))
    np.savetxt(tmp_path / "weights.txt", np.linspace(1.0, 2.0, 12))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "simulator", raising=False)
    return tmp_path


@pytest.mark.parametrize(
    "function",
    [
        ["simulator:simulate"],
        ["--command", f"{sys.executable} simulator.py {{input}} {{output}}", "--format", "text"],
    ],
)
def test_a_model_is_fitted_to_data(
    folder: Path, function: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "fit",
        *function,
        "--data",
        "data.txt",
        "--weights",
        "weights.txt",
        "--dim",
        "100",
        "--seed",
        "1",
    ]
    assert main([*words, "--json", "--out", "best.npy"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {one["index"] for one in told["changed"]} == {7, 33}
    assert told["queries"] < 20
    assert np.load("best.npy")[[7, 33]] == pytest.approx([0.4, -0.6], abs=1e-5)


def test_a_fit_is_resumed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["fit", "simulator:simulate", "--data", "data.txt"]
    assert main([*words, "--dim", "100", "--seed", "1", "--journal", "fit.db", "--max-queries", "8"]) == 3
    assert main([*words, "--resume", "fit.db", "--max-queries", "50"]) == 0
    assert "Converged" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--loss", "hubr"], "invalid choice"),
        (["--f-scale", "-1"], "f_scale must be a positive number"),
        (["--weights", "nothing.txt"], "nothing.txt"),
    ],
)
def test_wrong_words(folder: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", "simulator:simulate", "--dim", "100", *words]) in (1, 2)
    assert said in capsys.readouterr().err


def test_data_of_another_length(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savetxt("short.txt", np.ones(5))
    assert main(["fit", "simulator:simulate", "--data", "short.txt", "--dim", "100"]) == 1
    assert "--data has 5 numbers" in capsys.readouterr().err
