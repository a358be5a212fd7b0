"""Watches over one program at a time, in a process of its own: `python supervisor.py`, for `Command`.

It reads a line of JSON from its standard input (what to run), starts the program in a session of its own and
answers with a line when it has ended; another line meanwhile says that it is to be killed. When its input
ends, because it is not needed any more or because whoever started it has died, however that was, it kills the
program and all that the program has started, removes its folder, and leaves. So nothing outlives an
evaluation, and nothing that was started can be lost before somebody knows of it.

On Linux it is the one to whom orphans of the program return (a "subreaper"): children that have left the
program's session, or that it left behind, are found and killed too. Elsewhere the program's process group is.

This file imports nothing but the standard library, since it is started often.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time

_SUBREAPER, _DEATH_SIGNAL = 36, 1  # PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG
_LIBC = ctypes.CDLL(None)
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_ROUNDS = 1000  # milliseconds of killing, for programs that start others faster than they are killed


def main() -> None:
    """Run programs until the input ends."""
    _control(_SUBREAPER, 1)
    for name in _SIGNALS:
        signal.signal(name, signal.SIG_IGN)  # the input says when to leave
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    told = _Lines(sys.stdin.fileno())
    while line := told.next():
        task = json.loads(line)
        answer, ended = _run(task, told, woken)
        _clean(task["folder"] if ended else None)
        if ended:
            return
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


class _Lines:
    """What we are told, line by line; one that was read together with another is not forgotten."""

    def __init__(self, source: int) -> None:
        self.source = source
        self._read = b""

    @property
    def waiting(self) -> bool:
        """Whether a line has been read that nobody has asked for."""
        return b"\n" in self._read

    def next(self) -> bytes:
        """Return the next line, or nothing when the input has ended."""
        while not self.waiting:
            more = os.read(self.source, 2**16)
            if not more:
                return b""
            self._read += more
        line, _, self._read = self._read.partition(b"\n")
        return line + b"\n"


def _run(task: dict[str, object], told: _Lines, woken: int) -> tuple[dict[str, object], bool]:
    """Run one program; return its exit code or why it has none, and whether the input has ended."""
    try:
        with open(str(task["stdout"]), "wb") as stdout, open(str(task["stderr"]), "wb") as stderr:
            program = subprocess.Popen(
                task["words"],  # type: ignore[call-overload]  # a list of strings
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                cwd=task["cwd"],
                env=task["env"],
                start_new_session=True,
                preexec_fn=_begin,  # noqa: PLW1509 - there are no threads here
            )
    except (OSError, ValueError) as error:
        return {"trouble": str(error)}, False
    ended = False
    while program.poll() is None:
        ready = [told.source] if told.waiting else select.select([told.source, woken], [], [])[0]
        if woken in ready:
            os.read(woken, 4096)
        if told.source in ready:  # a line says that its time is over; none, that ours is
            ended = not told.next()
            break
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(program.pid, signal.SIGKILL)
    code = program.wait()
    _kill_orphans()
    return {"code": code}, ended


def _begin() -> None:
    """In the program, before it is one: hear signals, and die with the supervisor."""
    for name in _SIGNALS:
        signal.signal(name, signal.SIG_DFL)
    _control(_DEATH_SIGNAL, signal.SIGKILL)


def _control(what: int, value: int) -> None:
    if sys.platform == "linux":
        _LIBC.prctl(what, value, 0, 0, 0)


def _kill_orphans() -> None:
    """Kill what the program has left behind, and what that leaves behind."""
    for _ in range(_ROUNDS):
        for child in _children():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.001)


def _children() -> list[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return [int(word) for word in file.read().split()]
    except OSError:  # not Linux
        return []


def _clean(folder: object) -> None:
    if folder is not None:
        shutil.rmtree(str(folder), ignore_errors=True)


if __name__ == "__main__":
    main()
