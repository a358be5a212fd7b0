"""Programs as objectives."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import select
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gracezo
from gracezo import programs
from gracezo.core.errors import EvaluationFailure
from gracezo.testing import assert_same

X = np.array([0.1, -2.5e-300, 1 / 3, 4.0])


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place of all temporary folders, where none may be left."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def sh(script: str, *words: str, **options: Any) -> gracezo.Command:
    """Return a command that runs a script, whose $0 is the input and $1 the output if `words` name it."""
    line = shlex.join(["sh", "-c", script, "{input}", *words])
    return gracezo.Command(line, **options)


# ---------------------------------------------------------------- what goes out


def test_npy(tmp_path: Path) -> None:
    sh(f'cp "$0" {tmp_path}/kept; echo 1')(X.reshape(2, 2))
    with (tmp_path / "kept").open("rb") as file:
        kept = np.load(file, allow_pickle=False)
    assert np.array_equal(kept, X.reshape(2, 2))
    assert kept.dtype == np.float64


def test_text(tmp_path: Path) -> None:
    sh(f'cp "$0" {tmp_path}/kept; echo 1', format="text")(X.reshape(2, 2))
    assert [float(line) for line in (tmp_path / "kept").read_text().splitlines()] == X.tolist()


def test_json(tmp_path: Path) -> None:
    sh(f'cp "$0" {tmp_path}/kept; echo 1', format="json")(X)
    assert json.loads((tmp_path / "kept").read_text()) == X.tolist()


def test_there_is_no_shell(tmp_path: Path) -> None:
    command = gracezo.Command("printf '%s\\n' {input}';touch' '$HOME' '*' 2.5")
    assert command(X) == 2.5


def test_relative_names_are_of_the_folder_where_it_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "answer").write_text("7\n")
    monkeypatch.chdir(tmp_path)
    command = sh("cat answer")
    monkeypatch.chdir("/")
    assert pickle.loads(pickle.dumps(command))(X) == 7.0


# ---------------------------------------------------------------- what comes back


@pytest.mark.parametrize("text", ["1", "-1.5", "+.5", "2.", "1e-3", "1E+10", "  3 \\n\\n", "thinking\\n4"])
def test_an_answer_on_standard_output(text: str, temporary: Path) -> None:
    expected = float(text.replace("\\n", "\n").split()[-1])
    assert sh(f"printf %b '{text}'")(X) == expected
    assert list(temporary.iterdir()) == []


def test_an_answer_in_a_file() -> None:
    assert sh('echo 1; echo 2.5 >"$1"', "{output}")(X) == 2.5
    assert sh('cut -d= -f2 >"${1#--out=}" <<E\nf=3\nE', "--out={output}")(X) == 3.0


UNREADABLE = ["nan", "inf", "-Infinity", "1_000", "0x10", "1 x", "1,5", "", "1e999", "1;2", "ten", "١"]


@pytest.mark.parametrize("text", [*UNREADABLE, "1" * 5000, "__import__('os')"])
def test_what_is_not_one_number_is_a_failure(text: str) -> None:
    with pytest.raises(EvaluationFailure, match="must be one finite decimal number, and is"):
        sh(f'printf %s "{text}"')(X)
    with pytest.raises(EvaluationFailure, match=r"what it wrote to \{output\} must be one finite"):
        sh(f'printf %s "{text}" >"$1"', "{output}")(X)


@pytest.mark.parametrize("script", ["true", 'mkdir "$1"', 'mkfifo "$1"', 'ln -s /dev/zero "$1"'])
def test_an_answer_that_is_not_there(script: str) -> None:
    with pytest.raises(EvaluationFailure, match=r"left no file \{output\}; it said nothing"):
        sh(script, "{output}")(X)


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("echo out; echo diverged >&2; exit 3", "'sh' ended with exit code 3; its last words: diverged"),
        ("echo out; exit 1", "ended with exit code 1; its last words: out"),
        ("kill -SEGV $$", "was ended by signal 11 \\(Segmentation fault\\); it said nothing"),
        ("echo boom >&2; echo nan", "is 'nan'; its last words: boom"),
        ("seq 100000 >&2; exit 1", r"last words: \d*\n(\d+\n)+100000$"),
    ],
)
def test_failures_have_the_last_words(script: str, says: str, temporary: Path) -> None:
    with pytest.raises(EvaluationFailure, match=says):
        sh(script)(X)
    assert list(temporary.iterdir()) == []


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(EvaluationFailure, match=r"'\./no-such-thing' cannot be started: .*No such file"):
        gracezo.Command("./no-such-thing {input}")(X)


def gone(pid: int) -> bool:
    """Wait for a process to end."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], 60.0)[0])
    finally:
        os.close(watched)


needs_pidfd = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="watches processes by pidfd")


@needs_pidfd
def test_a_time_out_kills_what_the_program_started_too(tmp_path: Path, temporary: Path) -> None:
    command = sh(f"sleep 1000 & echo $! >{tmp_path}/pid; echo waiting >&2; wait", timeout=1.0)
    with pytest.raises(EvaluationFailure, match="after 1 seconds, its time-out; its last words: waiting"):
        command(X)
    assert gone(int((tmp_path / "pid").read_text()))
    assert list(temporary.iterdir()) == []


@needs_pidfd
@pytest.mark.parametrize("workers", [None, 2])
def test_an_interrupt_kills_the_program(workers: int | None, tmp_path: Path, temporary: Path) -> None:
    before = set(multiprocessing.active_children())
    command = sh(f"echo $$ >{tmp_path}/pid; kill -INT {os.getpid()}; exec sleep 1000")
    result = gracezo.minimize(command, X, method="fdsa", max_queries=9, workers=workers)
    assert result.status == 2
    assert gone(int((tmp_path / "pid").read_text()))
    assert set(multiprocessing.active_children()) <= before
    assert list(temporary.iterdir()) == []


LEAVERS = {
    "another session": "setsid sleep 1000 & echo $! >{pid}; sleep 0.2",
    "a daemon": "(setsid sh -c 'echo $$ >{pid}; exec sleep 1000' &); until [ -s {pid} ]; do sleep 0.01; done",
    "the background": "sleep 1000 & echo $! >{pid}",
}


@needs_pidfd
@pytest.mark.skipif(sys.platform != "linux", reason="orphans are found on Linux only")
@pytest.mark.parametrize("how", LEAVERS)
@pytest.mark.parametrize("ends", ["well", "late"])
def test_what_a_program_leaves_behind_is_killed(how: str, ends: str, tmp_path: Path, temporary: Path) -> None:
    script = LEAVERS[how].replace("{pid}", f"{tmp_path}/pid")
    if ends == "well":
        assert sh(f"{script}; echo 1")(X) == 1.0
    else:
        with pytest.raises(EvaluationFailure, match="its time-out"):
            sh(f"{script}; sleep 1000", timeout=3.0)(X)
    assert gone(int((tmp_path / "pid").read_text()))
    assert list(temporary.iterdir()) == []


KILLED = """
import signal, sys, tempfile
from concurrent.futures import ThreadPoolExecutor
import gracezo
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # who runs the tests may ignore it
tempfile.tempdir = sys.argv[1]
script = f"echo $$ >{sys.argv[2]}.new; mv {sys.argv[2]}.new {sys.argv[2]}; exec sleep 1000"
command = gracezo.Command(f"sh -c '{script}' {{input}}")
with ThreadPoolExecutor(2) as pool:
    workers = {"none": None, "threads": pool, "ours": 2}[sys.argv[3]]
    gracezo.minimize(command, [1.0, 2.0], method="fdsa", max_queries=9, workers=workers)
"""


@needs_pidfd
@pytest.mark.parametrize("workers", ["none", "threads", "ours"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_a_program_dies_with_whoever_runs_it(
    workers: str, number: signal.Signals, tmp_path: Path, temporary: Path
) -> None:
    words = [sys.executable, "-c", KILLED, str(temporary), str(tmp_path / "pid"), workers]
    parent = subprocess.Popen(words)
    while not (tmp_path / "pid").exists():
        assert parent.poll() is None
        time.sleep(0.01)
    parent.send_signal(number)
    parent.wait()
    assert gone(int((tmp_path / "pid").read_text()))
    deadline = time.monotonic() + 60.0
    while list(temporary.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert list(temporary.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="processes are known by their start on Linux only")
def test_folders_of_the_dead_are_swept(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, dead = programs._mark(os.getpid()), programs._mark(os.getpid()).rpartition("-")[0] + "-7"
    other = "7-" + dead.partition("-")[2]  # of another container: its numbers mean nothing here
    left = {f"gracezo-{mine}-a", f"gracezo-{other}-a", "gracezo-notes", "gracezo-1-2-3"}
    for name in left | {f"gracezo-{dead}-a"}:
        (temporary / name).mkdir()
        (temporary / name / "input.npy").touch()
    programs._sweep_once.cache_clear()
    assert sh("echo 1")(X) == 1.0
    assert {entry.name for entry in temporary.iterdir()} == left


def test_a_supervisor_that_was_killed_is_replaced() -> None:
    assert sh("echo 1")(X) == 1.0
    (watcher,) = programs._idle[-1:]
    watcher._process.kill()
    watcher._process.wait()
    with pytest.raises(EvaluationFailure, match="cannot be started: it was stopped, or what watches"):
        sh("echo 2")(X)
    assert sh("echo 3")(X) == 3.0


def test_nothing_of_ours_is_left_after_a_run() -> None:
    gracezo.minimize(sh("echo 1"), X, method="fdsa", max_queries=3)
    assert programs._idle == []


# ---------------------------------------------------------------- in a run


def test_runs_are_the_same_on_any_workers(temporary: Path, tmp_path: Path) -> None:
    command = sh(
        f'echo "$TMPDIR" >>{tmp_path}/folders; awk \'{{s += ($1 - 1)^2}} END {{print s}}\' "$0"',
        format="text",
    )

    def run(workers: Any) -> gracezo.Result:
        return gracezo.minimize(
            command,
            np.zeros(6),
            method="fdsa",
            options={"eps": 1e-3},
            max_queries=15,
            workers=workers,
            seed=0,
        )

    expected = run(None)
    assert expected.fun < 6
    assert_same(run(2), expected, "processes")
    with ThreadPoolExecutor(3) as pool:
        assert_same(run(pool), expected, "threads")
    folders = (tmp_path / "folders").read_text().splitlines()
    assert len(set(folders)) == len(folders) == 3 * expected.nfev
    assert list(temporary.iterdir()) == []


def test_the_run_says_what_the_program_said() -> None:
    with pytest.raises(gracezo.EvaluationError) as info:
        gracezo.minimize(sh("echo no licence >&2; exit 9"), X, method="fdsa", workers=2)
    assert str(info.value) == (
        "query 1 failed: the program 'sh' ended with exit code 9; its last words: no licence"
    )


@pytest.mark.parametrize(
    ("given", "options", "error", "says"),
    [
        ("simulate", {}, ValueError, "template must say {input}"),
        ("simulate '{input}", {}, ValueError, "cannot be split into words: No closing quotation"),
        (["simulate", "{input}"], {}, TypeError, "template must be a string"),
        ("simulate {input}", {"format": "csv"}, ValueError, "one of npy, text, json; given: 'csv'"),
        ("simulate {input}", {"timeout": 0}, ValueError, "timeout must be a positive number"),
        ("simulate {input}", {"timeout": "1"}, ValueError, "timeout must be a positive number"),
    ],
)
def test_wrong_arguments(given: Any, options: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        gracezo.Command(given, **options)


def test_a_command_takes_one_point_at_a_time() -> None:
    with pytest.raises(ValueError, match="a Command takes one point at a time"):
        gracezo.minimize(sh("echo 1"), X, method="fdsa", vectorized=True)


def test_a_journal_knows_it_by_its_command_line(tmp_path: Path) -> None:
    journal = tmp_path / "run.db"
    result = gracezo.minimize(sh("echo 1"), X, method="fdsa", journal=journal)
    with pytest.raises(gracezo.JournalError, match="echo 2"):
        gracezo.resume(journal, sh("echo 2"))
    assert_same(gracezo.resume(journal, sh("echo 1")), result, "resumed")


SAVES = "import sys, numpy as np; x = np.load(sys.argv[1]); "


def writing(code: str) -> gracezo.Command:
    """A program that reads a point x and does this."""
    return gracezo.Command(f"{shlex.join([sys.executable, '-c', SAVES + code])} {{input}} {{output}}")


@pytest.mark.parametrize(
    "code",
    [
        "open(sys.argv[2], 'w').write(' '.join(map(repr, x.tolist())))",
        "open(sys.argv[2], 'w').write('\\n'.join(map(repr, x.tolist())))",
        "np.save(sys.argv[2], x)",
        "np.save(open(sys.argv[2], 'wb'), x)",
    ],
)
def test_many_numbers_through_the_output_file(code: str) -> None:
    x = np.array([0.1, -1e-300, 3.0])
    assert np.array_equal(writing(code)(x), x)


def test_a_vector_is_no_answer_to_minimize_and_a_word_among_numbers_is_none_at_all() -> None:
    command = writing("np.save(sys.argv[2], x)")
    with pytest.raises(gracezo.EvaluationError, match="number; it returned an array of shape"):
        gracezo.minimize(command, [1.0, 2.0], max_queries=3)
    with pytest.raises(EvaluationFailure, match="the last line of its output must be one finite"):
        sh("echo 1 2")(X)
    with pytest.raises(EvaluationFailure, match="one finite decimal number, and is '1 two'"):
        writing("open(sys.argv[2], 'w').write('1 two')")(np.ones(2))


@pytest.mark.parametrize(
    "script", ['rm -rf "$TMPDIR"', 'rm "$TMPDIR/stdout"; mkfifo "$TMPDIR/stdout"', 'rm "$TMPDIR/stdout"']
)
def test_a_program_that_does_away_with_its_own_folder_or_output(script: str) -> None:
    with pytest.raises(EvaluationFailure, match="gave no answer: the last line of its output"):
        sh(f"{script}; echo 5")(X)


@needs_pidfd
def test_a_time_out_that_is_over_at_once_kills_the_program_and_confuses_nobody(tmp_path: Path) -> None:
    for _ in range(3):
        late = sh(f"echo $$ >{tmp_path}/pid; exec sleep 1000", timeout=1e-9)
        with pytest.raises(EvaluationFailure, match="its time-out"):
            late(X)
        with suppress(FileNotFoundError, ValueError):  # it may have been killed before it wrote
            assert gone(int((tmp_path / "pid").read_text()))
        assert sh("echo 5")(X) == 5.0


def test_a_supervisor_that_does_not_answer_is_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs.dismiss()
    monkeypatch.setattr(programs, "_PATIENCE", 0.0)  # for one who is slow
    with pytest.raises(EvaluationFailure, match="its time-out"):
        sh("exec sleep 1000", timeout=0.5)(X)
    monkeypatch.undo()
    assert sh("sleep 0.2; echo 7")(X) == 7.0  # and not what was said of the one before


@pytest.mark.skipif(sys.platform == "win32", reason="it is POSIX that numbers files")
def test_a_process_with_very_many_open_files() -> None:
    resource = pytest.importorskip("resource")
    programs.dismiss()
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if before[1] < 3000:
        pytest.skip("no more than 1,024 files can be open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (3000, before[1]))
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        assert sh("echo 5")(X) == 5.0
        programs.dismiss()
    finally:
        for file in held:
            os.close(file)
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
