"""Run the methods on the families, and print one table for each target."""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from benchmarks.others.functions import FAMILIES
from benchmarks.page_table import made_with, put, seeds
from benchmarks.queries.meter import LEVELS, Meter, RunOver, Task
from benchmarks.queries.rivals import METHODS
from benchmarks.queries.run import ONE_THREAD
from benchmarks.queries.tables import count, markdown

COMPARED = ("auto", "support-lbfgs", "lbfgs", "coordinates")
TARGETS = {"0.01": 1e-2, "1e-4": 1e-4}


@dataclass(frozen=True)
class Run:
    """What came of one method on one instance: the query at which each target was reached, or ∞."""

    family: str
    instance: int
    method: str
    d: int
    reached: dict[str, float]
    left: float
    ended: str


def budget(d: int) -> int:
    """Return the queries that each method gets."""
    return min(max(20 * (d + 1), 8_000), 30_000)


def execute(family: str, instance: int, name: str) -> Run:
    """Make one run, in a process of its own."""
    problem, method = FAMILIES[family](instance), METHODS[name]
    affordable = budget(problem.d)
    meter = Meter(problem, affordable)
    with np.errstate(all="ignore"):
        try:
            method.solve(meter, Task(problem.x0, problem.s, affordable, instance))
            ended = "budget" if meter.queries == affordable else "itself"  # some keep to it themselves
        except RunOver:
            ended = "target" if len(meter.reached) == len(LEVELS) else "budget"
        except Exception as error:  # a rival may raise anything; it is shown as that run's end
            ended = f"{type(error).__name__}: {error}"
    reached = {}
    for target, share in TARGETS.items():
        place = int(np.argmin(np.abs(LEVELS - share)))
        reached[target] = meter.reached[place] if len(meter.reached) > place else math.inf
    left = (meter.best - problem.floor) / (problem.f(problem.x0) - problem.floor)
    return Run(family, instance, name, problem.d, reached, left, ended)


def table(runs: Iterable[Run], target: str) -> str:
    """Return the mean queries to a target; the fewest of those that solve the most in bold."""
    by_cell: dict[tuple[str, str], list[float]] = {}
    sizes: dict[str, int] = {}
    for run in runs:
        sizes[run.family] = run.d
        by_cell.setdefault((run.family, run.method), []).append(run.reached[target])
    rows = []
    for family in (name for name in FAMILIES if name in sizes):
        needed = [by_cell[family, method] for method in COMPARED]
        solved = [[queries for queries in cell if math.isfinite(queries)] for cell in needed]
        ranks = [(-len(cell), sum(cell) / len(cell)) if cell else (0, math.inf) for cell in solved]
        cells = []
        for tried, reached, rank in zip(needed, solved, ranks, strict=True):
            mean = count(rank[1])
            mean = f"**{mean}**" if reached and rank == min(ranks) else mean
            some = 0 < len(reached) < len(tried)
            cells.append(f"{mean} ({len(reached)} of {len(tried)})" if some else mean)
        rows.append([f"`{family}`", f"{sizes[family]:,}", *cells])
    return markdown(["function", "d", *(METHODS[name].label for name in COMPARED)], rows)


def main(words: Sequence[str] | None = None) -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks.others", description=str(__doc__).splitlines()[0])
    parser.add_argument("--instances", type=int, default=3, help="of each family (3)")
    parser.add_argument("--first", type=int, default=101, help="the first instance, and its seed (101)")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time (2)")
    parser.add_argument("--only", nargs="+", choices=list(FAMILIES), metavar="NAME", help="families (all)")
    parser.add_argument("--page", type=Path, help="write the tables into docs/results/others.md")
    given = parser.parse_args(words)
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))  # for the workers, which load NumPy anew
    instances = range(given.first, given.first + given.instances)
    runs = []
    with ProcessPoolExecutor(given.jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        futures = [
            pool.submit(execute, family, instance, method)
            for family in given.only or FAMILIES
            for instance in instances
            for method in COMPARED
        ]
        for done, future in enumerate(as_completed(futures), start=1):
            run = future.result()
            runs.append(run)
            line = f"{run.family:20s} {run.instance} {run.method:14s} {run.left:9.1e} left  {run.ended}"
            print(f"[{done}/{len(futures)}] {line}", file=sys.stderr, flush=True)
    for target in TARGETS:
        print(f"Queries to {target} of f(x0) − min f, seeds {instances[0]} to {instances[-1]}:\n")
        text = table(runs, target)
        print(text, end="\n\n", flush=True)
        if given.page is not None:
            told = f"Seeds {seeds(given.first, given.instances)}; {made_with()}; {datetime.now(UTC).date()}."
            put(given.page, f"to-{target.replace('.', '-')}", f"{text}\n\n{told}")


if __name__ == "__main__":
    main()
