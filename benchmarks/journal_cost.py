"""What the journal adds to a query, in time and in bytes.

Run: python -m benchmarks.journal_cost [FOLDER] [--page]

GraCe runs on Distance (d = 10,000, s = 10; 60 steps) with and without a
journal, in turn, several times; the least of each counts, since other work on
the machine can only add. Time is that of the processor, and beside it that of
the clock, which also counts the disk and whatever else the machine does. In
batches: with a vectorised function, whose values come together. One by one:
each value is committed by itself, as it arrives.
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
from benchmarks.page_table import PageTable

import gracezo
from gracezo.core.asks import Ask, DenseRows, Offsets, Role, SparseRows
from gracezo.journal.digest import Digest
from gracezo.journal.reading import read


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="where the journals are (a temporary folder)")
    parser.add_argument("--page", action="store_true", help="write the table into docs/how-to/journal.md")
    words = parser.parse_args()
    print(f"SQLite {sqlite3.sqlite_version}; the least of 9 runs, in turn")
    with tempfile.TemporaryDirectory() as made:
        costs(words.folder or Path(made), words.page)


def costs(folder: Path, write: bool) -> None:
    head = ["values", "a query, of the processor", "by the clock", "in the file, beside x0 and the steps"]
    table = PageTable("journal", "how-to/journal.md", head, times=True, write=write)
    table.begin()
    for vectorized in (True, False):
        for durable in ("process", "power"):
            how = "in batches" if vectorized else "one by one, each with a commit of its own"
            name = how if durable == "process" else f'{how}, `durable="power"`'
            table.add(name, *measure(folder / "run.db", vectorized, durable), seeds="0")
    replay(folder / "run.db")
    digests()


def run(problem: gracezo.problems.Distance, vectorized: bool, journal: object) -> gracezo.Result:
    def rows(points: np.ndarray) -> list[float]:
        return [problem(x) for x in points]

    return gracezo.minimize(
        rows if vectorized else problem,
        problem.x0,
        method="grace",
        sparsity=problem.s,
        max_steps=60,
        seed=0,
        vectorized=vectorized,
        journal=journal,  # type: ignore[arg-type]
    )


def measure(path: Path, vectorized: bool, durable: str) -> list[str]:
    problem = gracezo.problems.Distance(0)
    bare, kept = [], []
    for _ in range(9):
        path.unlink(missing_ok=True)
        began = clocks()
        queries = run(problem, vectorized, None).nfev
        middle = clocks()
        run(problem, vectorized, gracezo.Journal(path, durable=durable))
        kept.append(clocks() - middle)
        bare.append(middle - began)
    processor, clock = (np.min(kept, axis=0) - np.min(bare, axis=0)) / queries * 1e6
    steps = read(path).steps
    changes = sum(np.count_nonzero(a.x != b.x) for a, b in pairwise(steps))
    # x0 takes 8 bytes a coordinate, once; a changed coordinate 12 in its step.
    size = path.stat().st_size - 8 * problem.d - 12 * int(changes)
    return [f"{processor:.0f} µs", f"{clock:.0f} µs", f"{size / queries:.0f} bytes"]


def clocks() -> np.ndarray:
    return np.array([time.process_time(), time.perf_counter()])


def replay(path: Path) -> None:
    problem = gracezo.problems.Distance(0)
    path.unlink(missing_ok=True)
    queries = run(problem, False, path).nfev
    began = clocks()
    gracezo.resume(path, problem)
    processor, clock = (clocks() - began) / queries * 1e6
    print(f"replay, the method's own work among it: {processor:.1f} µs a query (clock: {clock:.0f})")


def digests() -> None:
    random = np.random.default_rng(0)
    base = random.random(10_000)
    group = SparseRows.single(random.permutation(10_000)[:700], random.random(700))
    kinds: dict[str, Offsets] = {
        "15 groups of 700": SparseRows.stack([group] * 15),
        "one coordinate": SparseRows.single(np.array([7]), np.array([1.0])),
        "10 dense rows (float32)": DenseRows(random.random((10, 10_000), dtype=np.float32)),
    }
    for name, offsets in kinds.items():
        digest, ask = Digest(), Ask(base, offsets, Role.PROBE)
        digest(ask)
        took = []
        for _ in range(50):
            began = time.perf_counter()
            digest(ask)
            took.append(time.perf_counter() - began)
        print(f"digest of {name}: {min(took) / len(ask) * 1e6:.1f} µs a query")


if __name__ == "__main__":
    main()
