"""Queries that `auto` needs on noisy functions, with no noise level given.

    python -m benchmarks.noise_bars [--only distance,attack] [--first 0] [--page]
    python -m benchmarks.noise_bars --decimals [--page]

The noise is Gaussian with a standard deviation relative to f(x0), or that of a result rounded to float32, or
to so many decimals (`--decimals`). A run counts as there when the exact f at the x that it would return
now is, never when a noisy value is; and its end is judged by the exact f at the x it returns. Every call of f
is counted. Instance i uses seed i for the function, the method and the noise. A cell has the mean over the
runs that came there, and how many did and still were there at the end, if not all.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable

import numpy as np
from benchmarks.page_table import PageTable, seeds

from gracezo.core.keys import Key
from gracezo.core.limits import Limits
from gracezo.core.method import Method, Problem
from gracezo.core.result import Result
from gracezo.core.run import Run
from gracezo.core.steps import whole_run
from gracezo.core.types import FloatArray
from gracezo.methods.auto.method import auto
from gracezo.problems import Attack, Distance, Magnitude
from gracezo.problems.base import Benchmark

LEVELS = ("exact", "float32", "1e-6", "1e-5", "1e-4", "1e-3")
DECIMALS = ("digits2", "digits3", "digits4", "digits6")
RATIO = {"distance": 0.01, "magnitude": 0.01, "attack": 0.35}


def noisy(fun: Benchmark, level: str, seed: int) -> Callable[[FloatArray], float]:
    """Return the function as its user would meet it."""
    if level == "exact":
        return fun
    if level == "float32":
        return lambda x: float(np.float32(fun(x)))
    if level.startswith("digits"):
        return lambda x: round(fun(x), int(level.removeprefix("digits")))
    rng = np.random.default_rng([seed, 1])
    deviation = float(level) * fun(fun.x0)
    return lambda x: fun(x) + deviation * float(rng.standard_normal())


def spend(
    fun: Benchmark, level: str, seed: int, ratio: float, budget: int, batch: int = 1
) -> tuple[int | None, Result, float]:
    """Return the queries spent when the exact f fell to a ratio of f(x0), the result, and its exact ratio."""
    given = noisy(fun, level, seed)
    first = fun(fun.x0)
    reached: list[int] = []
    method: Method = auto(Problem(fun.d, batch=batch))
    run = Run(whole_run(method, fun.x0, None, Key(seed)), fun.x0, Limits(max_queries=budget), seed)
    best = None
    while (ask := run.next()) is not None:
        if not reached and run.best is not None and run.best is not best:
            best = run.best
            if fun(best.x) <= ratio * first:
                reached.append(run.nfev)
        if reached and run.nfev > 2 * reached[0]:
            break
        for row in range(len(ask)):
            run.record([(row, given(ask.point(row)))])
    result = run.result()
    return (reached[0] if reached else None), result, fun(result.x) / first


def instance(name: str, seed: int) -> Benchmark:
    """Return one function of the table."""
    if name == "attack":
        return Attack()
    return Distance(seed) if name == "distance" else Magnitude(seed)


def cell(runs: list[tuple[int | None, Result, float]], ratio: float) -> str:
    """Return what came of the runs of one function and level."""
    there = [queries for queries, _, _ in runs if queries is not None]
    kept = sum(end <= ratio for _, _, end in runs)
    if not there:
        return "never"
    count = f"{len(there)} of {len(runs)}" if len(there) < len(runs) else ""
    gone = f"{kept} at the end" if kept < len(there) else ""
    told = ", ".join(filter(None, (count, gone)))
    return f"{np.mean(there):,.0f}" + (f" ({told})" if told else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default=",".join(RATIO))
    parser.add_argument("--decimals", action="store_true", help="values rounded to so many decimals")
    parser.add_argument("--instances", type=int, default=10)
    parser.add_argument(
        "--first", type=int, nargs="+", default=[0], help="the first seed, of several sets too"
    )
    parser.add_argument("--budget", type=int, default=3000)
    parser.add_argument("--each", action="store_true", help="print every run")
    parser.add_argument("--page", action="store_true", help="write docs/how-to/noise.md")
    chosen = parser.parse_args()
    levels = DECIMALS if chosen.decimals else LEVELS
    head = ["function", *(level.removeprefix("digits") for level in levels)]
    name = "decimals" if chosen.decimals else "noise"
    table = PageTable(name, "how-to/noise.md", head, by_seeds=True, write=chosen.page)
    table.begin()
    for first, function in itertools.product(chosen.first, chosen.only.split(",")):
        cells = []
        for level in levels:
            runs = [
                spend(instance(function, seed), level, seed, RATIO[function], chosen.budget)
                for seed in range(first, first + chosen.instances)
            ]
            cells.append(cell(runs, RATIO[function]))
            if chosen.each:
                for queries, result, ratio in runs:
                    print("   ", level, queries, result.nfev, result.nit, round(ratio, 5), result.message)
        table.add(function.capitalize(), *cells, seeds=seeds(first, chosen.instances))


if __name__ == "__main__":
    main()
