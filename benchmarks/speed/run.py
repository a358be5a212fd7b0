"""Run all cases, each in a process of its own, one after the other, and write table and picture.

Run: python -m benchmarks.speed [--sizes 1e4 1e5 1e6 1e7 1e8] [--cases auto grace ...] [--results FOLDER]

Seconds are those of the processor, on one thread. Machines differ, and so do hours: compare within one run.
Memory is what the process had at most, less what it had had when the function was made and called, in
arrays of d doubles. Rows that are in the folder and are not made anew stay in the table.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.speed.cases import CASES
from benchmarks.speed.report import write

SIZES = (10**4, 10**5, 10**6, 10**7, 10**8)
MOST = 20 * 2**30
"""Bytes that a process may have."""
PATIENCE = 1_200.0
"""Seconds."""
REPEATS = 5
"""Runs of a case up to 10⁷, of which the fastest counts: other work on the machine can only add. And as many
as take so many"""
AT_LEAST = 2.0
"""seconds: short runs would all be in the same bad moment."""


def main(words: Sequence[str] | None = None) -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("--sizes", nargs="+", type=lambda word: int(float(word)), default=SIZES)
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--results", type=Path, default=Path("docs/results"))
    parser.add_argument("--one", nargs=2, metavar=("CASE", "D"), help=argparse.SUPPRESS)
    given = parser.parse_args(words)
    if given.one is not None:
        print(json.dumps(measure(given.one[0], int(given.one[1]))))
        return
    rows = []
    for d in given.sizes:
        for case in given.cases:
            if d <= CASES[case][2]:
                row = in_a_process(case, d)
                rows.append({"case": case, "d": d} | row)
                print(json.dumps(rows[-1]), flush=True)
    write(rows, given.results)


def in_a_process(case: str, d: int) -> dict[str, float | str]:
    """Make one case in a process of its own; what it raises is its row."""
    command = [sys.executable, "-m", "benchmarks.speed", "--one", case, str(d)]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
            env=os.environ | threads,
        )
    except subprocess.TimeoutExpired:
        return {"ended": f"not within {PATIENCE:g} s"}
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"signal {-done.returncode}"])[-1]
        return {"ended": last[:80]}
    row: dict[str, float | str] = json.loads(done.stdout.splitlines()[-1])
    return row


def _enough(rows: Sequence[dict[str, float]]) -> bool:
    """Whether there were enough runs."""
    return len(rows) >= REPEATS and sum(row["seconds"] for row in rows) >= AT_LEAST


def measure(case: str, d: int) -> dict[str, float]:
    """Make one case here."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST))
    made = CASES[case][1]
    made(100)  # what is loaded at first use is no part of a query
    rows = [made(d)]
    while d <= 10**7 and case != "growth" and not _enough(rows):
        rows.append(made(d))
    fastest = min(rows, key=lambda row: row["seconds"])
    return fastest | {"memory": rows[0]["memory"]}
