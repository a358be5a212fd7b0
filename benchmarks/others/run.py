"""Run the methods on the families, and print one table for each target."""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import re
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from benchmarks.others.functions import FAMILIES
from benchmarks.page_table import made_with, places, put, seeds
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
        except (RunOver, Exception) as error:  # a rival may raise anything; it is shown as that run's end
            ended = f"{type(error).__name__}: {error}"
            if RunOver in (type(error), type(error.__cause__)):  # as it is, or as a failed evaluation
                ended = "target" if len(meter.reached) == len(LEVELS) else "budget"
    reached = {}
    for target, share in TARGETS.items():
        place = int(np.argmin(np.abs(LEVELS - share)))
        reached[target] = meter.reached[place] if len(meter.reached) > place else math.inf
    left = (meter.best - problem.floor) / (problem.f(problem.x0) - problem.floor)
    return Run(family, instance, name, problem.d, reached, left, ended)


def table(runs: Iterable[Run], target: str, kept: str = "") -> str:
    """Return the mean queries to a target; the fewest of those that solve the most in bold.

    What was not run is taken from a table that is kept.
    """
    found: dict[str, dict[str, list[float]]] = {}
    rows = {row[0]: row[1:] for row in cells_of(kept)}
    for run in runs:
        found.setdefault(run.family, {}).setdefault(run.method, []).append(run.reached[target])
        rows.setdefault(f"`{run.family}`", [f"{run.d:,}", *[""] * len(COMPARED)])
    for family, methods in found.items():
        for method, tried in methods.items():
            rows[f"`{family}`"][1 + COMPARED.index(method)] = cell(tried)
    lines = []
    for name in (f"`{family}`" for family in FAMILIES if f"`{family}`" in rows):
        size, *shown = rows[name]
        ranks = [rank(text) for text in shown]
        first = [r == min(ranks) and r[0] < 0.0 for r in ranks]
        best = [
            re.sub(r"^[\d,]+", r"**\g<0>**", text) if b else text
            for text, b in zip(shown, first, strict=True)
        ]
        lines.append([name, size, *best])
    return markdown(["function", "d", *(METHODS[name].label for name in COMPARED)], lines)


def cells_of(text: str) -> list[list[str]]:
    """Return the rows of a table in Markdown without its head, and without bold type."""
    lines = [line for line in text.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.replace("**", "").strip("|").split("|")] for line in lines]


def cell(tried: Sequence[float]) -> str:
    """Return the mean of those that arrived, and how many did if not all."""
    solved = [queries for queries in tried if math.isfinite(queries)]
    mean = count(sum(solved) / len(solved) if solved else math.inf)
    return f"{mean} ({len(solved)} of {len(tried)})" if 0 < len(solved) < len(tried) else mean


def rank(text: str) -> tuple[float, float]:
    """Return what a cell is ordered by: the share that was solved, then the queries.

    Examples
    --------
    >>> rank("1,234 (1 of 2)"), rank("700"), rank("–")
    ((-0.5, 1234.0), (-1.0, 700.0), (0.0, inf))
    """
    said = re.fullmatch(r"([\d,]+)(?: \((\d+) of (\d+)\))?", text)
    if said is None:
        return 0.0, math.inf
    return -int(said[2] or 1) / int(said[3] or 1), float(said[1].replace(",", ""))


def main(words: Sequence[str] | None = None) -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks.others", description=str(__doc__).splitlines()[0])
    parser.add_argument("--instances", type=int, default=3, help="of each family (3)")
    parser.add_argument("--first", type=int, default=101, help="the first instance, and its seed (101)")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time (2)")
    parser.add_argument("--only", nargs="+", choices=list(FAMILIES), metavar="NAME", help="families (all)")
    parser.add_argument(
        "--methods", nargs="+", choices=COMPARED, default=COMPARED, help="of which columns (all; others stay)"
    )
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
            for method in given.methods
        ]
        for done, future in enumerate(as_completed(futures), start=1):
            run = future.result()
            runs.append(run)
            line = f"{run.family:20s} {run.instance} {run.method:14s} {run.left:9.1e} left  {run.ended}"
            print(f"[{done}/{len(futures)}] {line}", file=sys.stderr, flush=True)
    for target in TARGETS:
        print(f"Queries to {target} of f(x0) − min f, seeds {instances[0]} to {instances[-1]}:\n")
        place = f"to-{target.replace('.', '-')}"
        kept = (
            "" if given.page is None else next(text for name, _, text in places(given.page) if name == place)
        )
        text = table(runs, target, kept)
        print(text, end="\n\n", flush=True)
        if given.page is not None:
            made = f"{seeds(given.first, given.instances)}; {made_with()}; {datetime.now(UTC).date()}"
            told = f"Seeds {made}."
            if len(given.methods) < len(COMPARED):
                before = kept.strip().splitlines()[-1].partition(" `auto`: ")[0]
                told = f"{before} {', '.join(f'`{name}`' for name in given.methods)}: seeds {made}."
            put(given.page, place, f"{text}\n\n{told}")


if __name__ == "__main__":
    main()
