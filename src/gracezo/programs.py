"""Programs that leave nothing behind: each under a supervisor, in a folder that is gone afterwards.

A supervisor (see `supervisor.py`) is a process that runs one program at a time; it is kept for the next
evaluation. It is told to stop by the end of its input, which comes whatever happens to this process. A
folder's name says which process made it, so that folders of processes that were killed together with their
supervisors are found and removed when the next one starts.

On Windows there is no supervisor: the program is killed at its time-out and when an evaluation is
interrupted, and what it has started is not.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from gracezo import supervisor
from gracezo.core.cancel import stopped_by

_PATIENCE = 5.0  # seconds for a supervisor to kill and clean, before it is killed itself


class Late(Exception):
    """A program has not ended in time, and was killed."""


class Trouble(Exception):
    """A program could not be run; the message says why."""


def run(words: list[str], cwd: str, folder: Path, timeout: float | None) -> int:
    """Run a program, its output in files of the folder, and return its exit code.

    Whatever interrupts this call, the program and all that it started are killed before it returns.
    """
    task = {
        "words": words,
        "cwd": cwd,
        "folder": str(folder),
        "stdout": str(folder / "stdout"),
        "stderr": str(folder / "stderr"),
        "env": os.environ | {"TMPDIR": str(folder)},
    }
    if os.name != "posix":
        return _unsupervised(task, timeout)
    watcher = _idle.pop() if _idle else _Supervisor()
    try:
        with stopped_by(watcher.stop):
            answer = watcher.run(task, timeout)
    finally:  # also when it did not answer, at an interrupt, or in a worker that is told to leave
        if watcher.free:
            _idle.append(watcher)
        else:
            watcher.dismiss()
    if "trouble" in answer:
        raise Trouble(answer["trouble"])
    return int(answer["code"])


def dismiss() -> None:
    """End the supervisors that have nothing to do."""
    while _idle:
        with suppress(IndexError):  # another thread was faster
            _idle.pop().dismiss()


class _Supervisor:
    """The process that runs a program for us."""

    def __init__(self) -> None:
        words = [sys.executable, "-I", "-S", supervisor.__file__]
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, cwd="/"
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        self._closing = threading.Lock()
        self.free = True
        """Whether it has answered what it was told last: then it can be told something else."""
        _all.add(self)

    def run(self, task: dict[str, Any], timeout: float | None) -> dict[str, Any]:
        """Have a program run, and wait for its end."""
        until = math.inf if timeout is None else time.monotonic() + timeout
        self.free = False
        with suppress(OSError, ValueError):  # it has died, or was stopped: the answer will not come
            self._input.write(json.dumps(task).encode() + b"\n")
            self._input.flush()
        if not self._answers(until):
            with suppress(OSError, ValueError):
                self._input.write(b"kill\n")
                self._input.flush()
            if self._answers(time.monotonic() + _PATIENCE):
                self.free = bool(self._output.readline())
            raise Late
        line = self._output.readline()
        self.free = bool(line)
        if not line:
            raise Trouble("it was stopped, or what watches over it was killed")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _answers(self, until: float) -> bool:
        """Wait for a line, or the end, until this time; return whether it has come."""
        waiting = select.poll()  # `select` itself knows no file whose number is above 1023
        waiting.register(self._output, select.POLLIN)
        while True:
            left = max(0.0, min(until - time.monotonic(), 1e5))
            if waiting.poll(math.ceil(1000 * left)):
                return True
            if time.monotonic() >= until:
                return False

    def stop(self) -> None:
        """End the program, from any thread: the supervisor then kills it and leaves."""
        with self._closing, suppress(OSError):
            self._input.close()

    def dismiss(self) -> None:
        """End the supervisor, with what it runs."""
        self.stop()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._output.close()
        _all.discard(self)

    def forget(self) -> None:
        """In a process that was forked: let go of what belongs to the parent."""
        for pipe in (self._input, self._output):
            with suppress(OSError, ValueError):
                os.close(pipe.fileno())
        self._process.returncode = 0  # not ours to wait for


_all: set[_Supervisor] = set()
_idle: list[_Supervisor] = []


def _forget_all() -> None:
    for watcher in _all:
        watcher.forget()
    _lost.extend(_all)  # their pipes' numbers are others' by now: nobody may close them again
    _all.clear()
    _idle.clear()


_lost: list[_Supervisor] = []
atexit.register(dismiss)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


def _unsupervised(task: dict[str, Any], timeout: float | None) -> int:
    try:
        with open(task["stdout"], "wb") as stdout, open(task["stderr"], "wb") as stderr:
            program = subprocess.Popen(
                task["words"],
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                cwd=task["cwd"],
                env=task["env"],
            )
    except (OSError, ValueError) as error:
        raise Trouble(str(error)) from error
    try:
        with stopped_by(program.kill):
            return program.wait(timeout)
    except subprocess.TimeoutExpired:
        raise Late from None
    finally:
        program.kill()
        program.wait()


# ---------------------------------------------------------------- folders


@contextmanager
def folder() -> Iterator[Path]:
    """Provide a folder of one's own, gone afterwards."""
    mark = _mark(os.getpid())
    _sweep_once(tempfile.gettempdir(), os.getpid())
    made = tempfile.mkdtemp(prefix=f"gracezo-{mark}-")
    try:
        yield Path(made)
    finally:
        shutil.rmtree(made, ignore_errors=True)


@lru_cache(maxsize=1)
def _mark(pid: int) -> str:
    """Return what names a process for good: where its number means something, that, and its start."""
    return f"{_namespace()}-{pid}-{_start(pid)}"


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid").strip("pid:[]")
    except OSError:  # not Linux
        return "0"


def _start(pid: int) -> str:
    """Return when a process was started, in ticks of its machine; empty if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


@lru_cache(maxsize=8)
def _sweep_once(where: str, pid: int) -> None:
    """Remove folders of processes that are not there any more."""
    if not Path("/proc/self/stat").exists():
        return
    for path in Path(where).glob(f"gracezo-{_namespace()}-*"):
        words = path.name.split("-")
        if len(words) >= 5 and words[2].isdecimal() and _start(int(words[2])) != words[3]:
            shutil.rmtree(path, ignore_errors=True)
