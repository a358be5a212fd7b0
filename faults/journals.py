"""Damage to journal files, SQLite calls that fail, disks that are full, clocks that jump, kills."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from functools import cache, lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import numpy as np

import gracezo
from faults.common import ERRORS, Counted, Dice, Interrupted, case, expected, same
from faults.pools import OURS, pool_of
from gracezo.journal.reading import read
from gracezo.journal.schema import TABLES
from gracezo.report.page import report
from gracezo.testing import Valley


class Stops(Valley):
    """The valley, that interrupts the run at a call, and may copy the journal at another."""

    fingerprint = "gracezo.testing:Valley"

    def __init__(self, at: int, copy: tuple[int, Path, Path] | None = None) -> None:
        super().__init__()
        self.at, self.copy = at, copy

    def __call__(self, x: np.ndarray) -> float:
        if len(self.points) == self.at:
            raise KeyboardInterrupt
        if self.copy is not None and len(self.points) == self.copy[0]:
            _, journal, to = self.copy
            for end in ("", "-wal"):
                with suppress(FileNotFoundError):
                    shutil.copy(f"{journal}{end}", f"{to}{end}")
        return super().__call__(x)


@cache
def _folder() -> str:
    folder = TemporaryDirectory(prefix="gracezo-faults-")
    atexit.register(folder.cleanup)
    return folder.name


@lru_cache(maxsize=32)
def written(kind: int) -> tuple[Path, dict[str, Any], gracezo.Result]:
    """Return a journal, finished or not, with its run and what is to come of it."""
    dice = Dice(str(kind))
    path = Path(_folder()) / f"{kind}.db"
    arguments = case(dice)
    whole = expected(arguments)
    stop = dice.choice([10**9, dice.randrange(1, max(2, whole.nfev))])
    valley = Stops(stop)
    gracezo.minimize(valley, valley.x0, **arguments, journal=path)
    return path, arguments, whole


def damage(dice: Dice, folder: Path) -> None:
    """A changed file gives the same result or one clear error."""
    source, arguments, whole = written(dice.randrange(12))
    path = folder / "run.db"
    if dice.random() < 0.25:
        shutil.copy(source, path)
        _edit(dice, path)
    else:
        path.write_bytes(_mutated(dice, bytearray(source.read_bytes())))
    _as_promised(path, arguments, whole)


def _as_promised(path: Path, arguments: dict[str, Any], whole: gracezo.Result) -> None:
    valley = Valley()
    for attempt in (
        lambda: read(path),
        lambda: gracezo.minimize(valley, valley.x0, **arguments, journal=path),
    ):
        try:
            result = attempt()
        except ERRORS as error:
            assert "\n" not in str(error), error
        else:
            if isinstance(result, gracezo.Result):
                same(result, whole)


def _mutated(dice: Dice, blob: bytearray) -> bytes:
    for _ in range(dice.choice([1, 1, 1, dice.size("mutations", 2, 5)])):
        place, size = dice.randrange(len(blob)), dice.choice([1, 1, 2, 8, 64, 4096])
        match dice.randrange(6):
            case 0:
                blob[place] ^= 1 << dice.randrange(8)
            case 1:
                blob[place : place + size] = dice.randbytes(len(blob[place : place + size]))
            case 2:
                other = dice.randrange(len(blob))
                blob[place : place + size] = blob[other : other + size]
            case 3:
                blob[place : place + size] = bytes(len(blob[place : place + size]))
            case 4:
                used = [index for index, byte in enumerate(blob) if byte]
                blob[dice.choice(used)] = dice.randrange(256)
            case 5:
                if len(blob) > 100:
                    del blob[max(100, place) :]
    return bytes(blob)


def _edit(dice: Dice, path: Path) -> None:
    """Change, remove or repeat a row by SQL, as somebody might."""
    with closing(sqlite3.connect(path)) as db:
        table = dice.choice([*TABLES, "head"])
        column = dice.choice([row[1] for row in db.execute(f"PRAGMA table_info({table})")])
        rows = [row[0] for row in db.execute(f"SELECT rowid FROM {table}")]
        row = dice.choice(rows)
        with suppress(sqlite3.Error):  # a key that exists already
            match dice.randrange(3):
                case 0:
                    new = dice.choice([None, 0, 1, -1.5, "text", b"bytes", dice.random()])
                    db.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (new, row))
                case 1:
                    db.execute(f"DELETE FROM {table} WHERE rowid = ?", (row,))
                case 2:
                    other = dice.choice(rows)
                    db.execute(
                        f"UPDATE {table} SET {column} = (SELECT {column} FROM {table} WHERE rowid = ?) "
                        f"WHERE rowid = ?",
                        (other, row),
                    )
            db.commit()


def snapshots(dice: Dice, folder: Path) -> None:
    """A copy of file and log, made while the run went on, with the log damaged or lost."""
    arguments = case(dice)
    whole = expected(arguments)
    path, copy = folder / "run.db", folder / "copy.db"
    valley = Stops(10**9, (dice.randrange(1, max(2, whole.nfev)), path, copy))
    gracezo.minimize(valley, valley.x0, **arguments, journal=path)
    if not copy.exists():
        return
    log = Path(f"{copy}-wal")
    if log.exists():
        blob = bytearray(log.read_bytes())
        match dice.randrange(4):
            case 0:
                log.unlink()
            case 1:
                log.write_bytes(blob[: dice.randrange(len(blob) + 1)])
            case 2 if blob:
                log.write_bytes(_mutated(dice, blob))
    _as_promised(copy, arguments, whole)


class Failing:
    """A connection to SQLite of which one call fails."""

    left = 0
    error = ""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def _call(self, name: str, *given: Any) -> Any:
        Failing.left -= 1
        if Failing.left == 0:
            raise sqlite3.OperationalError(Failing.error)
        return getattr(self._connection, name)(*given)

    def execute(self, *given: Any) -> Any:
        return self._call("execute", *given)

    def executemany(self, *given: Any) -> Any:
        return self._call("executemany", *given)

    def commit(self) -> Any:
        return self._call("commit")


def minimized(arguments: dict[str, Any], path: Path, fun: Any) -> gracezo.Result:
    """Begin a run with a journal, or go on with it."""
    return gracezo.minimize(fun, Valley().x0, **arguments, journal=path)


def sqlite_calls(dice: Dice, folder: Path) -> None:
    """Every call of SQLite fails once: one error, and what was paid for is there at the next start."""
    arguments = case(dice, most=10)
    whole = expected(arguments)
    begun = dice.randrange(whole.nfev)  # what is in the journal before
    Failing.error = dice.choice(["disk I/O error", "database or disk is full", "database is locked"])
    connect = sqlite3.connect

    def failing(*given: Any, **others: Any) -> Any:
        return Failing(connect(*given, **others))

    call = 0
    while call == 0 or Failing.left <= 0:  # the first, the second, … until none is left that could fail
        call += 1
        path, calls = folder / f"{call}.db", Counted(folder / f"{call}.calls")
        run = partial(minimized, arguments, path)
        if begun:
            run(Interrupted(calls, begun))
        Failing.left = call
        with mock.patch("gracezo.journal.file.sqlite3.connect", failing):
            try:
                same(run(calls), whole)
            except ERRORS as error:
                assert Failing.left <= 0, error
        result = run(calls)
        same(result, whole)
        assert calls.calls() - result.nfev in (0, 1), (call, calls.calls(), result.nfev)
    assert call > whole.nfev


def clocks(dice: Dice, folder: Path) -> None:
    """The clock of the machine jumps; nothing depends on it."""
    arguments = case(dice)
    whole = expected(arguments)
    valley = Stops(dice.randrange(1, max(2, whole.nfev)))
    times = [0.0, 1e9, 1e12, -5.0, -1e12]  # all of which a date can be made of, as logging does
    with mock.patch("time.time", lambda: dice.choice(times) + dice.random()):
        gracezo.minimize(valley, valley.x0, **arguments, max_seconds=1e6, journal=folder / "run.db")
        fresh = Valley()
        result = gracezo.minimize(fresh, fresh.x0, **arguments, max_seconds=1e6, journal=folder / "run.db")
        same(result, whole)
    report(folder / "run.db", folder / "run.html")  # against time, too


FULL = """
import resource, subprocess, sys
import gracezo
from faults.common import Counted
from gracezo.testing import Valley
from pathlib import Path
folder, limit, how = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
if how == "tmpfs":
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={limit}", "tmpfs", folder / "disk"], check=True)
else:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    gracezo.minimize(Counted(folder / "calls"), Valley().x0, method="grace", sparsity=3, max_queries=400,
                     seed=1, journal=folder / "disk" / "run.db")
except gracezo.JournalWriteError as error:
    assert error.result is None or error.result.nfev <= 400
if how == "tmpfs":
    subprocess.run(["mount", "-o", "remount,size=10m", folder / "disk"], check=True)
    for file in (folder / "disk").iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
"""


@cache
def own_disks() -> bool:
    """Whether this process may mount a file system, in a namespace of its own."""
    words = ["unshare", "--mount", "--map-root-user", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    with suppress(OSError):
        return subprocess.run(words, capture_output=True, check=False).returncode == 0
    return False


def full_disk(dice: Dice, folder: Path) -> None:
    """The disk is full (a small tmpfs, where that is allowed), or the file cannot grow; later it can."""
    arguments: dict[str, Any] = {"method": "grace", "sparsity": 3, "max_queries": 400, "seed": 1}
    how = dice.choice(["tmpfs", "limit"]) if own_disks() else "limit"
    disk = folder / "disk"
    disk.mkdir()
    words = [sys.executable, "-c", FULL, str(folder), str(dice.randrange(1_000, 150_000)), how]
    if how == "tmpfs":
        words = ["unshare", "--mount", "--map-root-user", *words]
    out = subprocess.run(words, capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stderr
    calls, journal = Counted(folder / "calls"), (folder if how == "tmpfs" else disk) / "run.db"
    try:
        result = gracezo.minimize(calls, Valley().x0, **arguments, journal=journal)
    except gracezo.JournalError:  # not even its first page was written
        assert calls.calls() == 0
        return
    same(result, expected(arguments))
    assert calls.calls() - result.nfev in (0, 1)


KILLED = """
import sys
from pathlib import Path
from faults.pools import pool_of
from faults.journals import go
with pool_of(sys.argv[2]) as workers:
    print("ready", flush=True)
    go(Path(sys.argv[1]), workers, int(sys.argv[3]))
"""


def kills(dice: Dice, folder: Path) -> None:
    """SIGKILL at random moments, whoever evaluates; then the run goes on to the same end."""
    number = dice.randrange(10**6)
    whole = expected(case(Dice(str(number))))
    kind = dice.choice(["none", "threads", "ours", "one", "pool", "loky", "dask", "ray"])
    for _ in range(dice.size("kills", 1, 3)):
        words = [sys.executable, "-c", KILLED, str(folder), kind, str(number)]
        with subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, process_group=0
        ) as run:
            assert run.stdout is not None
            run.stdout.readline()
            time.sleep(dice.random() * 0.6)
            with suppress(
                ProcessLookupError
            ):  # pools of the user's do not leave with their parent, as ours do
                (os.kill if kind in ("none", "threads", *OURS) else os.killpg)(run.pid, signal.SIGKILL)
    with pool_of(kind) as workers:
        result = go(folder, workers, number)
    same(result, whole)
    # Workers that outlive their run finish at most the row that they have, which is in flight as well.
    calls = Counted(folder / "calls").calls()
    assert 0 <= calls - result.nfev <= result.reasked, (kind, calls, result.nfev, result.reasked)


def go(folder: Path, workers: Any, number: int) -> gracezo.Result:
    """Begin a run or go on with it; `number` says which it is."""
    arguments = case(Dice(str(number)))
    calls = Counted(folder / "calls", seconds=0.001)
    return gracezo.minimize(calls, Valley().x0, **arguments, journal=folder / "run.db", workers=workers)
