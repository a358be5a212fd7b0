"""Run the profile of the field and write its tables, plots and page.

Run: python -m benchmarks.queries [--jobs 2] [--quick] [--functions ...] [--methods ...]

Runs are kept in --runs, one file each; those that are there are not made again (--again makes those of the
chosen methods and functions anew). The report is of all that is there; of a method that has no run there it
says what the last one said, so that one method can be run anew, beside the others as they were.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from fnmatch import fnmatch
from pathlib import Path

from benchmarks.queries.execute import execute
from benchmarks.queries.functions import SUITE
from benchmarks.queries.report import write_report
from benchmarks.queries.rivals import METHODS
from benchmarks.queries.store import Job

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
RESULTS, PAGE = Path("docs/results/queries"), Path("docs/results/queries.md")
QUICK_QUERIES = 1_000
QUICK_FUNCTIONS = ("distance-1k-s1", "rosenbrock-10k-s4", "lasso-500", "leader-1k", "rastrigin-50")


def main(words: Sequence[str] | None = None) -> None:
    """Run from the command line."""
    given = _parser().parse_args(words)
    folder = given.runs or Path("out/queries-quick" if given.quick else "out/queries")
    results = given.results or (folder / "results" if given.quick else RESULTS)
    patterns = given.functions or (QUICK_FUNCTIONS if given.quick else ["*"])
    problems = [
        entry.name
        for entry in SUITE.values()
        if any(fnmatch(entry.name, pattern) or entry.family == pattern for pattern in patterns)
    ]
    if not problems:
        sys.exit(f"no function matches {' '.join(patterns)}; the names are: {' '.join(SUITE)}")
    jobs = [
        Job(problem, method, setting)
        for method in given.methods or METHODS
        for problem in problems
        for setting in METHODS[method].settings
    ]
    if given.again:
        for job in jobs:
            job.file(folder).unlink(missing_ok=True)
    if not given.report_only:
        run_all(jobs, folder, QUICK_QUERIES if given.quick else None, given.jobs)
    write_report(folder, results, PAGE if results == RESULTS else None)


def run_all(jobs: Sequence[Job], folder: Path, most_queries: int | None, workers: int) -> None:
    """Make all runs that are not on disk yet, and say how it goes."""
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))  # for the workers, which load NumPy anew
    context = multiprocessing.get_context("spawn")
    began = time.monotonic()
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        futures = [pool.submit(execute, job, folder, most_queries) for job in jobs]
        for done, future in enumerate(as_completed(futures), start=1):
            record, kept = future.result()
            if record is None or kept:
                continue
            line = f"{record.job.problem:24s} {record.job.method:14s} {record.job.setting:18s} "
            line += f"{record.queries:7,d} queries {record.seconds:7.1f} s  {record.ended}"
            print(f"[{done}/{len(futures)} {time.monotonic() - began:6.0f} s] {line}", flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.queries", description=str(__doc__).splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time (1)")
    parser.add_argument(
        "--quick",
        action="store_true",
        help=f"a few functions, {QUICK_QUERIES:,} queries each, page untouched",
    )
    parser.add_argument(
        "--functions", nargs="+", metavar="NAME", help="names, patterns or families (all of the suite)"
    )
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), metavar="NAME", help="methods (all)")
    parser.add_argument("--again", action="store_true", help="make the chosen runs anew")
    parser.add_argument("--report-only", action="store_true", help="run nothing")
    parser.add_argument("--runs", type=Path, help="where runs are kept (out/queries)")
    parser.add_argument("--results", type=Path, help="where tables and plots go, if not to the page")
    return parser


if __name__ == "__main__":
    main()
