"""The runner as a third party uses it: own method and function, in a folder of their own, no edit of ours."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import gracezo

SOURCE = str(Path(gracezo.__file__).parents[1])

MODULE = """
    import numpy as np

    import gracezo
    from gracezo import problems
    from gracezo.methods.fdsa import fdsa


    def careful(problem, *, step_size=0.1):
        "Careful: finite differences."
        return fdsa(problem, step_size=step_size)


    class Bowl(problems.Benchmark):
        name = "bowl"

        def _values(self, rows):
            return np.square(rows).sum(axis=-1)


    def bowl(instance):
        return Bowl(np.full(8, 1.0 + instance), s=2)
"""
REGISTER = """
    gracezo.register("careful", careful)
    problems.register("bowl", bowl)
"""


def call(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gracezo", "reproduce", *words, "--jobs", "1"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([SOURCE, str(folder)])},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text), encoding="utf-8")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def stamps(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in sorted(folder.glob("runs/*/*/*.npz"))}


def test_a_module_of_ones_own_gets_into_the_tables_and_no_run_is_made_twice(tmp_path: Path) -> None:
    write(tmp_path / "mine.py", MODULE + REGISTER)
    words = ["--import", "mine", "--methods", "careful,fdsa", "--functions", "bowl", "--runs", "2"]
    words += ["--budget", "46", "--setting", "careful.step_size=0.25", "--setting", "bowl:fdsa.step_size=0.5"]
    first = call(tmp_path, "main", *words, "--out", "results")
    assert first.returncode == 0, first.stderr
    table = rows(tmp_path / "results" / "main.csv")
    assert [(row["function"], row["method"], row["runs"]) for row in table] == [
        ("bowl", "careful", "2"),
        ("bowl", "fdsa", "2"),
    ]
    # f = ‖x‖²: a step of η takes x to (1 − 2η)·x, and 46 queries buy 1 + 5·(8 + 1).
    assert float(table[0]["mean"]) == pytest.approx(0.25**5, rel=1e-3)
    assert float(table[0]["queries"]) == 46
    assert float(table[1]["mean"]) < 1e-9
    made = stamps(tmp_path / "results")
    assert len(made) == 4

    Path(next(iter(made))).unlink()
    assert call(tmp_path, "main", *words, "--out", "results").returncode == 0
    remade = stamps(tmp_path / "results")
    assert sum(remade[path] != made[path] for path in made) == 1

    write(tmp_path / "mine.py", MODULE.replace("step_size=step_size", "step_size=step_size / 2") + REGISTER)
    assert call(tmp_path, "main", *words, "--out", "results").returncode == 0
    changed = rows(tmp_path / "results" / "main.csv")
    assert float(changed[0]["mean"]) == pytest.approx(0.75**10, rel=1e-3), "changed code is another run"


def test_the_page_does_what_it_says(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "results" / "compare-your-own.md").read_text(
        encoding="utf-8"
    )
    module, check = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    write(tmp_path / "mine.py", module)
    (commands,) = re.findall(r"```sh\n(.*?)```", page, flags=re.DOTALL)
    main, figures = (shlex.split(line)[2:] for line in commands.splitlines())
    done = call(tmp_path, *main)
    assert done.returncode == 0, done.stderr
    table = rows(tmp_path / "gracezo-results" / "main.csv")
    assert [(row["function"], row["method"]) for row in table] == [
        ("distance", "grace"),
        ("distance", "pairs"),
        ("chain", "grace"),
        ("chain", "pairs"),
    ]
    assert all(float(row["mean"]) < 1 for row in table)
    made = stamps(tmp_path / "gracezo-results")
    assert call(tmp_path, *figures).returncode == 0
    assert stamps(tmp_path / "gracezo-results") == made
    assert (tmp_path / "gracezo-results" / "convergence-chain-full.svg").stat().st_size > 1000
    checked = subprocess.run(
        [sys.executable, "-c", f"import mine\n{check}"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": SOURCE},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr


def test_an_installed_package_offers_its_own_by_entry_points(tmp_path: Path) -> None:
    write(tmp_path / "mine.py", MODULE)
    write(tmp_path / "mine-1.0.dist-info" / "METADATA", "Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    write(
        tmp_path / "mine-1.0.dist-info" / "entry_points.txt",
        "[gracezo.methods]\ncareful = mine:careful\n[gracezo.problems]\nbowl = mine:bowl\n",
    )
    done = call(
        tmp_path, "main", "--methods", "careful", "--functions", "bowl", "--runs", "1", "--budget", "46"
    )
    assert done.returncode == 0, done.stderr
    (row,) = rows(tmp_path / "gracezo-results" / "main.csv")
    # The step size was left open: 0.5 of the paper's grid solves this function in one step.
    assert float(row["mean"]) < 1e-9
    assert "careful on bowl 0.5" in done.stdout
    record = json.loads((tmp_path / "gracezo-results" / "machine.json").read_text(encoding="utf-8"))
    assert record["made_with"][0]["gracezo"] == gracezo.__version__
    assert str(tmp_path) not in json.dumps(record)


def test_a_run_that_fails_is_one_line_the_rest_is_kept_and_one_that_diverges_counts(tmp_path: Path) -> None:
    broken = MODULE.replace(
        "return np.square", "assert rows[0, 0] != 2.0, 'no\\n two'\n            return np.square"
    )
    write(tmp_path / "mine.py", broken + REGISTER)
    words = ["--import", "mine", "--methods", "careful", "--functions", "bowl", "--runs", "3"]
    words += ["--budget", "900", "--setting", "careful.step_size=1e9"]
    failed = call(tmp_path, "main", *words)
    assert failed.returncode == 1
    assert "careful on bowl, instance 1: query 1 failed" in failed.stderr
    assert "no two" in failed.stderr
    assert "Traceback" not in failed.stderr
    assert len(stamps(tmp_path / "gracezo-results")) == 2
    write(tmp_path / "mine.py", MODULE + REGISTER)
    diverged = call(tmp_path, "main", *words)
    assert diverged.returncode == 0, diverged.stderr
    assert float(rows(tmp_path / "gracezo-results" / "main.csv")[0]["mean"]) == 1.0


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("by", ["Ctrl-C", "SIGKILL"])
def test_a_call_that_is_stopped_keeps_what_is_finished_and_leaves_no_worker(by: str, tmp_path: Path) -> None:
    # Instance 1 does not end until there is a file "go", and says who is waiting.
    waiting = """
    def bowl(instance):
        if instance == 1:
            pathlib.Path("worker").write_text(str(os.getpid()))
            while not pathlib.Path("go").exists():
                time.sleep(0.01)
    """
    imports = "import os\n    import pathlib\n    import time\n    import numpy as np"
    module = MODULE.replace("import numpy as np", imports).replace(
        "\n    def bowl(instance):", waiting.rstrip()
    )
    write(tmp_path / "mine.py", module + REGISTER)
    words = ["main", "--import", "mine", "--methods", "careful", "--functions", "bowl", "--runs", "2"]
    words += ["--budget", "20", "--setting", "careful.step_size=0.25"]
    running = subprocess.Popen(
        [sys.executable, "-m", "gracezo", "reproduce", *words, "--jobs", "2"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": SOURCE},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    results = tmp_path / "gracezo-results"
    while not stamps(results) or not (tmp_path / "worker").exists():
        assert running.poll() is None
        time.sleep(0.02)
    kept = stamps(results)
    if by == "SIGKILL":
        running.kill()
        running.communicate(timeout=60)
    else:
        os.killpg(running.pid, signal.SIGINT)  # as a terminal does: every process of the group
        _, said = running.communicate(timeout=60)
        assert running.returncode == 1
        assert "kept in gracezo-results, and the same command continues there" in said
        assert "Traceback" not in said
    worker = int((tmp_path / "worker").read_text(encoding="utf-8"))
    deadline = time.monotonic() + 60
    while alive(worker):
        assert time.monotonic() < deadline, "the worker outlives the process that waits for it"
        time.sleep(0.02)
    assert stamps(results) == kept
    write(tmp_path / "go", "")
    assert call(tmp_path, *words).returncode == 0
    assert len(stamps(results)) == 2
    assert kept.items() <= stamps(results).items()


def alive(process: int) -> bool:
    """Return whether a process runs; one that has ended may still be listed (state Z)."""
    try:
        os.kill(process, 0)
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"
