"""Queries that `auto` needs on noisy functions, with no noise level given, against the bars it has to clear.

    python benchmarks/noise_bars.py [--only distance,attack] [--levels 1e-6,float32] [--first 0]

The noise is Gaussian with a standard deviation relative to f(x0), or that of a result rounded to float32, or
to so many decimals (`--levels digits3`). A run counts as there when the exact f at the x that it would return
now is, never when a noisy value is; and its end is judged by the exact f at the x it returns. Every call of f
is counted. Instance i uses seed i for the function, the method and the noise.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from gracezo.core.keys import Key
from gracezo.core.limits import Limits
from gracezo.core.method import Method, Problem
from gracezo.core.result import Result
from gracezo.core.run import Run
from gracezo.core.steps import whole_run
from gracezo.core.types import FloatArray
from gracezo.methods.auto import auto
from gracezo.problems import Attack, Distance, Magnitude
from gracezo.problems.base import Benchmark

LEVELS = ("exact", "float32", "1e-6", "1e-5", "1e-4", "1e-3")
BARS = {
    "distance": (58, 150, 150, 180, 270, 1500),
    "magnitude": (32, 110, 95, 110, 160, 1200),
    "attack": (np.nan, 340, 330, 510, 1200, np.nan),
}
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default=",".join(BARS))
    parser.add_argument("--levels", default=",".join(LEVELS))
    parser.add_argument("--instances", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--budget", type=int, default=3000)
    parser.add_argument("--each", action="store_true")
    chosen = parser.parse_args()
    print("| function | noise | queries | there | still there at the end | bar |\n|---|---|---|---|---|---|")
    for name in chosen.only.split(","):
        for level in chosen.levels.split(","):
            runs = [
                spend(instance(name, seed), level, seed, RATIO[name], chosen.budget)
                for seed in range(chosen.first, chosen.first + chosen.instances)
            ]
            there = [queries for queries, _, _ in runs if queries is not None]
            kept = sum(ratio <= RATIO[name] for _, _, ratio in runs)
            bar = BARS[name][LEVELS.index(level)] if level in LEVELS else np.nan
            mean = np.mean(there) if there else np.nan
            print(
                f"| {name} | {level} | {mean:.1f} | {len(there)}/{len(runs)} | {kept} | {bar:g} |", flush=True
            )
            if chosen.each:
                for queries, result, ratio in runs:
                    print("   ", queries, result.nfev, result.nit, round(ratio, 5), result.message)


if __name__ == "__main__":
    main()
