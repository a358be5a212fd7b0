"""Runs that are killed: `python killed.py FOLDER RUNS KILLS WORKERS`.

Prints a line of JSON for a run that is left alone, and one for each that is not.

Each run is begun in a child process and killed (SIGKILL) KILLS times, at
random moments: when its function has been called so often, within the function
itself or a random little later from outside, so that every part of the work is
hit: the function, the method, a commit. (No child gets far: 15 calls later its
function waits for the end.) After each death another child goes on. At last the
run is finished in this process. WORKERS is none, threads or processes (two).
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import gracezo
from gracezo.core.result import Result
from gracezo.testing import Valley

ARGUMENTS: dict[str, Any] = {
    "method": "grace",
    "sparsity": 3,
    "max_queries": 500,
    "seed": 5,
    "options": {"repeats": 2},
}


class Counted:
    """The valley, each call a byte in a file. At byte `last` it may kill its process, or wait for that."""

    fingerprint = "the valley, counted"

    def __init__(self, calls: Path, last: int, within: bool) -> None:
        self.valley = Valley()
        self.calls = calls
        self.last = last
        self.within = within
        self.run = os.getpid()

    def __call__(self, x: np.ndarray) -> float:
        with self.calls.open("ab") as file:
            file.write(b".")
            file.flush()
            size = os.fstat(file.fileno()).st_size
        if self.within and size == self.last:
            os.kill(self.run, signal.SIGKILL)
        if size >= self.last + 15:
            with suppress(ProcessLookupError):  # a worker may outlive its run
                while True:
                    os.kill(self.run, 0)
        return self.valley.value(x)


def go(journal: Path, calls: Path, workers: str, last: int = 10**9, within: bool = False) -> Result:
    with ThreadPoolExecutor(2) as threads:
        chosen = {"none": None, "threads": threads, "processes": 2}[workers]
        function = Counted(calls, last, within)
        return gracezo.minimize(function, Valley().x0, **ARGUMENTS, workers=chosen, journal=journal)


def killed(work: Callable[[], object], moment: Callable[[], bool], delay: float) -> bool:
    """Do the work in a child and kill it a little after the moment; return whether it was killed."""
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    while not moment() and os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        pass
    until = time.perf_counter() + delay
    while time.perf_counter() < until:
        pass
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def size(file: Path) -> int:
    with suppress(FileNotFoundError):
        return file.stat().st_size
    return 0


def reached(file: Path, least: int) -> bool:
    return size(file) >= least


def recorded(journal: Path) -> int:
    if not journal.exists():
        return 0
    with closing(sqlite3.connect(journal)) as db:
        (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (count,) = db.execute("SELECT count(*) FROM answers").fetchone() if tables else (0,)
    return int(count)


def main(folder: str, runs: str, kills: str, workers: str) -> None:
    tell(gracezo.minimize(Valley(), Valley().x0, **ARGUMENTS))
    dice = random.Random(0)
    for number in range(int(runs)):
        journal, calls = Path(folder, f"{number}.db"), Path(folder, f"{number}.calls")
        sessions = []
        for kill in range(int(kills)):
            before = size(calls), recorded(journal)
            last = before[0] + dice.randint(1, 300 // int(kills))
            within = kill % 2 == 0
            work = partial(go, journal, calls, workers, last, within)
            dead = killed(work, partial(reached, calls, last + within), dice.random() * 3e-4)
            sessions.append((dead, size(calls) - before[0], recorded(journal) - before[1]))
        tell(go(journal, calls, workers), sessions=sessions, calls=size(calls))


def tell(result: Result, **others: object) -> None:
    """Print a result; JSON gives back the same floats."""
    told = {
        "x": result.x.tolist(),
        "queries": result.trace.queries.tolist(),
        "values": result.trace.values.tolist(),
        "nfev": result.nfev,
    }
    print(json.dumps({"result": told, "reasked": result.reasked} | others))


if __name__ == "__main__":
    main(*sys.argv[1:])
