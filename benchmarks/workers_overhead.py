"""What workers cost a query, and what they gain.

Run: python -m benchmarks.workers_overhead [--page] [--only cost|gain]

Cost: published GraCe (d = 10,000, s = 20, batches of about 30) on a function
that reads 20 coordinates and takes a few microseconds, so that nearly all the
time is ours: the algorithm, the making of points, the sending. Next to it, in
the same run and on the same pools, what `Executor.map` alone costs for as many
whole points. The least of several rounds counts, since other work on the
machine can only add.

Gain: the same run with a function that sleeps for 20 ms, on one worker and on
eight threads; and so for auto on Attack.
"""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
from benchmarks.page_table import PageTable

import gracezo

D = 10_000
S = 20
ROUNDS = 5
MATTER = np.arange(37, D, D // S)
START = np.zeros(D)
GOAL = np.zeros(D)
GOAL[MATTER] = 1.0


def cheap(x: np.ndarray) -> float:
    part = x[MATTER] - 1.0
    return float(part @ part)


def sleepy(x: np.ndarray) -> float:
    time.sleep(0.02)
    part = x - GOAL  # every coordinate counts a little, so that no group is found empty
    return float(part @ part)


def run(fun: Callable[..., Any], workers: Any, max_steps: int = 20) -> gracezo.Result:
    return gracezo.minimize(
        fun,
        START,
        method="grace",
        sparsity=S,
        max_steps=max_steps,
        seed=0,
        workers=workers,
        options={"variant": "published", "step_size": 0.1},
    )


def seconds(job: Callable[[], object]) -> float:
    began = time.perf_counter()
    job()
    return time.perf_counter() - began


def least(job: Callable[[], object]) -> float:
    return min(seconds(job) for _ in range(ROUNDS))


def cost(write: bool) -> None:
    queries = run(cheap, None).nfev
    points = [START + 1e-6 * number for number in range(300)]

    def mapped(pool: Executor) -> float:
        return seconds(lambda: list(pool.map(cheap, points))) / len(points)

    with ThreadPoolExecutor(2) as threads, ProcessPoolExecutor(2) as processes:
        ways: dict[str, tuple[Any, Executor | None]] = {  # and who maps whole points beside it
            "in this process": (None, None),
            "2 threads": (threads, threads),
            "2 processes, `workers=2`, their start and end included": (2, None),
            "2 processes, `ProcessPoolExecutor`": (processes, processes),
        }
        fewest = {name: [float("inf")] * 2 for name in ways}
        for _ in range(ROUNDS):
            for name, (workers, pool) in ways.items():
                own = seconds(functools.partial(run, cheap, workers)) / queries
                alone = float("inf") if pool is None else mapped(pool)
                fewest[name] = [min(fewest[name][0], own), min(fewest[name][1], alone)]
    head = ["evaluated", "µs a query", "`Executor.map` alone, whole points"]
    table = PageTable("workers", "how-to/workers.md", head, times=True, write=write)
    table.begin()
    for name, (own, alone) in fewest.items():
        table.add(name, f"{own * 1e6:.0f}", f"{alone * 1e6:.0f}" if alone < float("inf") else "")


def gain(table: PageTable) -> None:
    """Measure what eight threads gain GraCe."""
    alone = least(lambda: run(sleepy, None, 2))
    with ThreadPoolExecutor(8) as pool:
        together = least(lambda: run(sleepy, pool, 2))
    name = "published GraCe, batches of 27 to 29 and one query after each step"
    table.add(name, f"{alone:.2f} s", f"{together:.2f} s", f"{alone / together:.1f}")


def gain_of_auto(table: PageTable) -> None:
    """Measure the same for auto with batch=8, until Attack is at a third of its start."""
    problem = gracezo.problems.Attack()

    def slow(x: np.ndarray) -> float:
        time.sleep(0.02)
        return problem(x)

    def auto(workers: Any) -> gracezo.Result:
        target = 0.33 * problem(problem.x0)
        return gracezo.minimize(slow, problem.x0, target=target, batch=8, seed=0, workers=workers)

    alone = least(lambda: auto(None))
    with ThreadPoolExecutor(8) as pool:
        together = least(lambda: auto(pool))
    name = "`auto` with `batch=8`, Attack to a third of f(x0)"
    table.add(name, f"{alone:.2f} s", f"{together:.2f} s", f"{alone / together:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write the tables into docs/how-to/workers.md")
    parser.add_argument("--only", choices=["cost", "gain"], help="make one of the tables")
    words = parser.parse_args()
    if words.only != "gain":
        cost(words.page)
    if words.only != "cost":
        head = ["f sleeps for 20 ms", "one worker", "8 threads", "times as fast"]
        table = PageTable("workers-gain", "how-to/workers.md", head, times=True, write=words.page)
        table.begin()
        gain(table)
        gain_of_auto(table)


if __name__ == "__main__":
    main()
