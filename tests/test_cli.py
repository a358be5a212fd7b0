from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import gracezo
from gracezo.cli import main


def said(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line on standard error."""
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1, captured.err
    return captured.err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("reprodce main", "did you mean 'reproduce' or 'report'?"),
        ("reproduce mian", "did you mean 'main'?"),
        ("reproduce", "name a table: main, "),
        ("reproduce main --methods grce", "did you mean 'grace'"),
        ("reproduce main --methods ,", "name at least one"),
        ("reproduce main --functions distnce", "did you mean 'distance'?"),
        ("reproduce main --runs 0", "at least 1; given: 0"),
        ("reproduce main --jobs two", "given: two"),
        ("reproduce main --fast", "--fast"),
        ("reproduce main --setting grace.stepsize=1", "did you mean 'step_size'"),
        ("reproduce main --setting grace.step_size=-1", "step_size must be a positive number; given: -1"),
        ("reproduce main --setting grce.step_size=1", "did you mean 'grace'"),
        ("reproduce main --setting attck:grace.step_size=1", "did you mean 'attack'?"),
        ("reproduce main --setting step", "method.option=value"),
        ("reproduce main --import no_such_module", "No module named 'no_such_module'"),
        ("reproduce sparsity --functions attack", "distance"),
        ("methods grce", "did you mean 'grace'"),
        ("minimize m:f --dimension 20", "did you mean '--dim'"),
        ("minimize m:f m:g", "unknown word 'm:g' (see: gracezo minimize --help)"),
    ],
)
def test_wrong_words_are_one_line_and_code_2(
    words: str, hint: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words.split()) == 2
    assert hint in said(capsys)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_used_is_one_line_and_code_1(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main(["reproduce", "worst-case", "--out", str(tmp_path / "file" / "below")]) == 1
    assert "cannot be written" in said(capsys)
    (tmp_path / "gracezo-results.json").write_text(json.dumps({"gracezo": "0.0.1"}), encoding="utf-8")
    assert main(["reproduce", "worst-case", "--out", str(tmp_path)]) == 1
    assert "made by gracezo 0.0.1" in said(capsys)


def test_figures_without_matplotlib_name_the_extra(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["reproduce", "figures", "--methods", "grace", "--out", str(tmp_path)]) == 1
    assert "pip install 'gracezo[plots]'" in said(capsys)


def test_what_needs_no_runs_is_printed_and_written_at_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["reproduce", "worst-case", "--out", str(tmp_path)]) == 0
    assert "35 of 35 are the paper's." in capsys.readouterr().out
    assert main(["reproduce", "hyperparameters", "--methods", "grace", "--out", str(tmp_path)]) == 0
    assert "| Attack    | GraCe  | 0.5 |" in capsys.readouterr().out
    for name in ("worst-case", "hyperparameters"):
        for ending in (".csv", ".md", ".tex"):
            assert (tmp_path / (name + ending)).is_file()


def test_methods(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["methods"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(gracezo.methods())
    assert main(["methods", "grace"]) == 0
    assert "first_division  20" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--help"], ["reproduce", "--help"], ["methods", "--help"]])
def test_help_teaches(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 0
    assert "example" in capsys.readouterr().out


def test_a_tiny_quick_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["reproduce", "main", "--methods", "grace", "--functions", "distance", "--quick"]
    assert main([*words, "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("# QUICK LOOK, a tenth of the steps")
    assert "0.00508 ± 0.00242" in shown
    assert "≠" not in shown
    assert (tmp_path / "main.tex").read_text(encoding="utf-8").count("QUICK LOOK") == 1


def test_more_coordinates_than_there_is_memory_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["minimize", "math:fsum", "--dim", "1" + 17 * "0", "--max-queries", "3"]) == 1
    assert capsys.readouterr().err.startswith("gracezo: there is not enough memory: ")
