"""Queries that `auto` needs on the paper's functions.

    python -m benchmarks.auto_bars [--only distance,attack] [--instances 10] [--first 0] [--page]

Every call of f is counted, f(x0) included. Exact and reproducible: instance i uses seed i. `--page` writes
the rows that are made into docs/results/auto.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from benchmarks.page_table import PageTable, seeds

import gracezo
from gracezo.core.keys import Key
from gracezo.core.limits import Limits
from gracezo.core.method import Problem
from gracezo.core.run import Run
from gracezo.core.steps import whole_run
from gracezo.core.types import FloatArray
from gracezo.methods.auto.method import Auto
from gracezo.problems import Attack, Distance, Magnitude

Objective = Callable[[FloatArray], float]


@dataclass(frozen=True)
class Spending:
    """How many queries a run had spent when f first fell to each ratio, and its best ratio."""

    to: dict[float, int | None]
    best: float
    rounds: int


def spend(
    fun: Objective,
    x0: FloatArray,
    seed: int,
    ratios: tuple[float, ...],
    budget: int,
    *,
    batch: int = 1,
) -> Spending:
    """Run `auto` until the smallest ratio is reached or the budget is spent."""
    first = fun(x0)
    method = Auto(Problem(len(x0), batch=batch))
    steps = whole_run(method, x0, first, Key(seed))
    run = Run(steps, x0, Limits(max_queries=budget - 1, target=min(ratios) * first), seed)
    reached: dict[float, int | None] = dict.fromkeys(ratios)
    best = first

    def met(value: float) -> None:
        nonlocal best
        best = min(best, value)
        for ratio in ratios:
            if reached[ratio] is None and best <= ratio * first:
                reached[ratio] = run.nfev + 1

    while (ask := run.next()) is not None:
        for row in range(len(ask)):
            value = fun(ask.point(row))
            run.record([(row, value)])
            if ask.role.may_answer:
                met(value)
        if run.best is not None:
            met(run.best.value)
    if run.best is not None:
        met(run.best.value)
    return Spending(reached, best / first, run.rounds + 1)


def gradient_queries(fun: Distance, seed: int) -> int:
    """Return what one gradient costs, f(x) included; all of its coordinates must be found."""
    estimate = gracezo.estimate_gradient(fun, fun.x0, seed=seed)
    missing = set(np.flatnonzero(fun.optimum).tolist()) - set(estimate.indices.tolist())
    if missing:
        print(f"    seed {seed}: {len(missing)} of {fun.s} not found")
    return estimate.queries


def rows(table: PageTable, instances: int, only: str, first: int) -> Iterator[Callable[[], None]]:
    def line(name: str, results: list[Spending], ratios: tuple[float, ...]) -> None:
        for ratio in ratios:
            spent = [result.to[ratio] for result in results]
            solved = [queries for queries in spent if queries is not None]
            mean = f"{np.mean(solved):,.1f}" if solved else "–"
            there = f"{len(solved)} of {len(spent)}"
            table.add(name, f"{ratio:g} of f(x0)", mean, there, seeds=seeds(first, len(results)))

    def distance(name: str, d: int, s: int, ratios: tuple[float, ...], budget: int, count: int) -> None:
        results = []
        for seed in range(first, first + count):
            fun = Distance(d=d, s=s, seed=seed)
            results.append(spend(fun, fun.x0, seed, ratios, budget))
        line(name, results, ratios)

    def magnitude() -> None:
        results = []
        for seed in range(first, first + instances):
            fun = Magnitude(seed=seed)
            results.append(spend(fun, fun.x0, seed, (0.01,), 500))
        line("Magnitude", results, (0.01,))

    def attack() -> None:
        fun = Attack()
        results = [
            spend(fun, fun.x0, seed, (0.33, 0.25), 3000) for seed in range(first, first + 2 * instances)
        ]
        line("Attack", results, (0.33, 0.25))

    def attack_end() -> None:
        fun = Attack()
        best = [spend(fun, fun.x0, seed, (0.0,), 20_000).best for seed in range(first, first + instances)]
        left = f"{np.mean(best):.5f} of f(x0)"
        table.add("Attack", "the best of 20,000 queries", left, "", seeds=seeds(first, instances))

    def gradient() -> None:
        for d in (10_000, 1_000_000):
            for s in (1, 5, 10, 30, 100):
                count = instances if d < 1_000_000 else min(instances, 6)
                cost = []
                for seed in range(first, first + count):
                    fun = Distance(d=d, s=s, seed=seed)
                    cost.append(gradient_queries(fun, seed))
                name = f"one gradient of Distance, d = {d:,}, s = {s}"
                table.add(name, f"all {s} found", f"{np.mean(cost):,.1f}", "", seeds=seeds(first, count))

    def batches() -> None:
        for name, ratio, count in (("Distance", 0.01, instances), ("Attack", 0.33, 2 * instances)):
            results = []
            for seed in range(first, first + count):
                fun = Distance(seed=seed) if name == "Distance" else Attack()
                results.append(spend(fun, fun.x0, seed, (ratio,), 3000, batch=8))
            queries = np.mean([result.to[ratio] or 3000 for result in results])
            rounds = np.mean([result.rounds for result in results])
            to, told = f"{ratio:g} of f(x0)", f"in {rounds:.1f} rounds"
            table.add(f"{name}, `batch=8`", to, f"{queries:,.1f}", told, seeds=seeds(first, count))

    jobs: dict[str, Callable[[], None]] = {
        "distance": lambda: distance("Distance, d = 10⁴, s = 10", 10_000, 10, (0.01, 1e-8), 500, instances),
        "distance-1e6": lambda: distance(
            "Distance, d = 10⁶, s = 10", 1_000_000, 10, (0.01,), 500, min(instances, 3)
        ),
        "distance-100": lambda: distance("Distance, s = 100", 10_000, 100, (0.01,), 3000, instances),
        "distance-2500": lambda: distance("Distance, s = 2500", 10_000, 2500, (1e-4,), 30_000, instances),
        "magnitude": magnitude,
        "attack": attack,
        "attack-end": attack_end,
        "gradient": gradient,
        "batch": batches,
    }
    wanted = only.split(",") if only else list(jobs)
    unknown = [name for name in wanted if name not in jobs]
    if unknown:
        raise SystemExit(f"no row is called {', '.join(unknown)}; there are {', '.join(jobs)}")
    for name in wanted:
        yield jobs[name]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="names of rows, separated by commas")
    parser.add_argument("--instances", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="the first instance and seed (0)")
    parser.add_argument("--page", action="store_true", help="write the rows into the page")
    given = parser.parse_args()
    head = ["function", "until", "queries, mean", "reached"]
    table = PageTable("auto-bars", "results/auto.md", head, named_by=2, write=given.page)
    table.begin()
    for job in rows(table, given.instances, given.only, given.first):
        job()


if __name__ == "__main__":
    main()
