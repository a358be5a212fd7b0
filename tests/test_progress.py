"""The live line, as people meet it: in a terminal, in a pipe, in a notebook; callbacks and logs."""

from __future__ import annotations

import fcntl
import logging
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import OptimizeResult, minimize

import gracezo
from gracezo.core.asks import Point
from gracezo.core.limits import Limits
from gracezo.core.result import Finish, Status
from gracezo.core.run import Run
from gracezo.progress import Line
from gracezo.testing import Valley, assert_same

SLOW = """
import time, numpy as np, gracezo
goal = np.zeros(1000)
goal[[12, 345, 678]] = [0.5, -1.0, 0.8]
calls = []
def f(x):
    calls.append(1)
    time.sleep(2.5 if len(calls) == {long} else 0.02)
    return float(((x - goal) ** 2).sum())
result = gracezo.minimize(
    f, np.zeros(1000), method="grace", sparsity=3, seed=0, max_queries=60, progress={progress}
)
"""
COLUMNS = 60


def script(tmp_path: Path, **words: object) -> list[str]:
    path = tmp_path / "slow.py"
    path.write_text(SLOW.format(**{"long": 30, "progress": True} | words), encoding="utf-8")
    return [sys.executable, str(path)]


def in_a_terminal(command: list[str], columns: int) -> str:
    """Return all that a command writes to a pseudo-terminal of this width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {
        key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES", "NO_COLOR")
    }
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment | {"TERM": "xterm"}
    )
    os.close(theirs)
    written = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other side has gone
            break
        if not part:
            break
        written += part
    os.close(ours)
    assert process.wait() == 0
    return written.decode()


def test_a_terminal_shows_one_line_that_lives(tmp_path: Path) -> None:
    written = in_a_terminal(script(tmp_path), COLUMNS)
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written)
    frames = [frame for frame in re.split(r"[\r\n]+", shown) if frame.strip()]
    assert len(frames) > 8
    assert all(len(frame) < COLUMNS for frame in frames), max(frames, key=len)
    assert shown.count("\n") == 1  # the last state stays, on a line of its own
    assert re.fullmatch(r"(\d+)/60 q  f \S+  \d+ st  \d+ x  \S+/s  \d+ s", frames[-1]), frames[-1]
    waiting = [frame for frame in frames if "now 2 s" in frame]
    assert waiting, frames
    assert re.search(r"  \d+ s \+\d+ s$", waiting[-1])


def test_a_pipe_gets_whole_lines_at_a_decent_pace(tmp_path: Path) -> None:
    out = subprocess.run(script(tmp_path), capture_output=True, text=True, check=True)
    lines = out.stderr.splitlines()
    assert out.stdout == ""
    assert 2 <= len(lines) <= 4
    assert "\x1b" not in out.stderr
    assert "\r" not in out.stderr
    words = r"\d+ of 60 queries · best f \S+ · \d+ steps? · \d+ coordinates? · .* · \d+ s passed.*"
    assert all(re.fullmatch(words, line) for line in lines), lines


def test_nothing_is_said_when_nobody_asks(tmp_path: Path) -> None:
    out = subprocess.run(script(tmp_path, progress=False, long=0), capture_output=True, text=True, check=True)
    assert out.stdout + out.stderr == ""


def test_in_a_notebook(tmp_path: Path) -> None:
    """With what a plain install has: no widgets."""
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    cells = [
        nbformat.v4.new_code_cell("import sys; sys.modules['ipywidgets'] = None"),
        nbformat.v4.new_code_cell(SLOW.format(long=0, progress=True)),
        nbformat.v4.new_code_cell("result"),
        nbformat.v4.new_code_cell("gracezo.estimate_gradient(f, np.zeros(1000), seed=0)"),
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    client = nbclient.NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    (line,) = notebook.cells[1].outputs  # one, renewed in place, and nothing on standard error
    assert re.match(r"\d+ of 60 queries · best f .* passed$", line["data"]["text/plain"]), line
    (shown,) = notebook.cells[2].outputs
    assert shown["data"]["text/plain"].startswith("Budget spent: ")
    assert "<svg" in shown["data"]["text/html"]
    (shown,) = notebook.cells[3].outputs
    assert "<td" in shown["data"]["text/html"]


def state(**others: Any) -> Run:
    """Return a run in the middle of its way, whose clock says what it is told."""
    now = others.pop("seconds", 100.0)
    run = Run(iter(()), np.zeros(10), Limits(**others), 0, elapsed=lambda: now)  # type: ignore[arg-type]
    run.nfev = 200
    run._standing.take(Point(np.eye(10)[3], -1.234567e-5), 0.0)
    return run


def test_the_time_left_is_that_of_the_first_limit() -> None:
    assert "100 of" not in Line(state(max_queries=1000)).text()
    assert Line(state(max_queries=1000)).text().endswith("2 a second · 1:40 passed, 6:40 left")
    assert Line(state(max_queries=1000, max_seconds=160)).text().endswith("1:40 passed, 1:00 left")
    assert Line(state(max_steps=7)).text().endswith("2 a second · 1:40 passed")
    over = state(max_queries=1000)
    over.finish = Finish(Status.CONVERGED, "done")
    assert Line(over).text().endswith("2 a second · 1:40 passed")


@pytest.mark.parametrize("width", [200, 79, 60, 40, 20, 8])
def test_the_line_fits(width: int) -> None:
    run = state(max_queries=123_456_789, seconds=360_000.0)
    run.nfev = 98_765_432
    assert 0 < len(Line(run).text(width)) <= width


def test_at_60_columns_all_of_it_is_there() -> None:
    assert Line(state(max_queries=10_000)).text(60) == "200/10k q  f -1.235e-5  0 st  1 x  2/s  1:40 +1:21:40"


def test_a_replay_takes_no_time() -> None:
    clock = [0.0]
    run = Run(iter(()), np.zeros(3), Limits(max_queries=100), 0, elapsed=lambda: clock[0])  # type: ignore[arg-type]
    line = Line(run)
    run.nfev = 50
    assert line.text() == "50 of 100 queries"
    clock[0] = 1.0
    line.text()
    run.nfev, clock[0] = 60, 6.0
    assert line.text() == "60 of 100 queries · 2 a second · 6 s passed, 20 s left"


# ---------------------------------------------------------------- callbacks


@pytest.mark.parametrize("bad", [lambda: None, lambda x, f: None, lambda *, other: None])
def test_a_callback_is_checked_before_the_first_query(bad: Any) -> None:
    valley = Valley()
    with pytest.raises(TypeError, match=r"callback must take one argument, .*; given: <lambda>\("):
        gracezo.minimize(valley, valley.x0, max_queries=9, callback=bad)
    with pytest.raises(TypeError, match="callback must take one argument"):
        minimize(valley, valley.x0, method=gracezo.scipy_method(max_queries=9), callback=bad)
    assert not valley.points


def test_callbacks_of_both_kinds() -> None:
    heard: list[int] = []

    class Hears:
        def __call__(self, result: OptimizeResult) -> None:
            heard.append(result.nfev)

    def named(*, intermediate_result: OptimizeResult) -> None:
        heard.append(intermediate_result.nfev)

    callbacks: list[Any] = [Hears(), named, lambda result, more=1: heard.append(result.nfev)]
    for callback in callbacks:
        heard.clear()
        result = gracezo.minimize(Valley(), Valley().x0, method="fdsa", max_queries=130, callback=callback)
        assert heard == result.trace.queries[1:].tolist()


def test_the_examples_of_other_tools() -> None:
    """tqdm as the page shows it; MLflow and W&B are called in the same way."""
    tqdm = pytest.importorskip("tqdm")
    with tqdm.tqdm(total=130, disable=True) as bar:
        result = gracezo.minimize(
            Valley(),
            Valley().x0,
            method="fdsa",
            max_queries=130,
            callback=lambda step: bar.update(step.nfev - bar.n),
        )
    assert result.nfev <= 130


# ---------------------------------------------------------------- logs


def test_logs(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "gracezo")
    result = gracezo.minimize(Valley(), Valley().x0, method="fdsa", max_queries=130, seed=0)
    said = [record.getMessage() for record in caplog.records if record.levelno == logging.INFO]
    steps = zip(result.trace.queries.tolist(), result.trace.values.tolist(), strict=True)
    _, *rest = [f"f = {value:.10g} after {queries} queries" for queries, value in steps]
    assert said[0] == f"start: f = {result.trace.values[0]:.10g}"
    assert said[1:-1] == [f"step {number}: {text}" for number, text in enumerate(rest, 1)]
    assert said[-1] == f"end after {result.nfev} queries: {result.message}"
    asked = [record.getMessage() for record in caplog.records if record.levelno == logging.DEBUG]
    assert len(asked) == result.rounds
    assert re.fullmatch(r"round 2: 60 × \w+ after 1 queries", asked[1])


def test_decisions_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    """What a method decides is in the log; no query and no step depends on who listens."""
    dense = np.linspace(1.0, 2.0, 200)
    run = partial(gracezo.minimize, lambda x: float(((x - dense) ** 2).sum()), np.zeros(200), max_queries=900)
    silent = run(seed=1)
    with caplog.at_level(logging.DEBUG, "gracezo"):
        result = run(seed=1)
    assert_same(result, silent, "listened to")
    said = [record.getMessage() for record in caplog.records if record.levelno == logging.DEBUG]
    decided = [line for line in said if line.startswith("after ")]
    assert decided[0].endswith("queries: f is taken to be exact, up to its rounding")
    turn, *_ = [line for line in decided if "way of plain differences along every coordinate" in line]
    assert "on trial against that along the few coordinates" in turn
    caplog.clear()
    noise = np.random.default_rng(0)
    with caplog.at_level(logging.DEBUG, "gracezo"):
        gracezo.minimize(lambda x: x[3] + noise.normal(), np.zeros(50), noise=1.0, max_queries=30, seed=0)
    assert any("f is taken to be noisy, by about 1: " in record.getMessage() for record in caplog.records)


def test_logs_are_silent_by_default_and_do_not_change_the_run(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    plain = gracezo.minimize(Valley(), Valley().x0, method="fdsa", max_queries=130, seed=0)
    assert capsys.readouterr() == ("", "")
    caplog.set_level(logging.DEBUG, "gracezo")
    heard = gracezo.minimize(Valley(), Valley().x0, method="fdsa", max_queries=130, seed=0)
    assert np.array_equal(plain.x, heard.x)
    assert plain.nfev == heard.nfev


def test_failures_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "gracezo")
    with pytest.raises(gracezo.EvaluationError):
        gracezo.minimize(lambda x: None, [1.0, 2.0], max_queries=9)
    said = [record.getMessage() for record in caplog.records]
    assert said[0].startswith("an evaluation failed: ")
    assert said[-1].startswith("end after 1 queries: query 1 failed: ")
