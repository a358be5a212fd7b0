"""What workers cost a query, and what they gain.

Run: python benchmarks/workers_overhead.py

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

import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np

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


def cost() -> None:
    queries = run(cheap, None).nfev
    points = [START + 1e-6 * number for number in range(300)]

    def mapped(pool: Executor) -> float:
        return seconds(lambda: list(pool.map(cheap, points))) / len(points)

    with ThreadPoolExecutor(2) as threads, ProcessPoolExecutor(2) as processes:
        ways: dict[str, Callable[[], float]] = {
            "in this process": lambda: seconds(lambda: run(cheap, None)) / queries,
            "2 threads": lambda: seconds(lambda: run(cheap, threads)) / queries,
            "2 threads, Executor.map alone": lambda: mapped(threads),
            "2 processes, workers=2 (start and end of the pool included)": lambda: (
                seconds(lambda: run(cheap, 2)) / queries
            ),
            "2 processes, ProcessPoolExecutor": lambda: seconds(lambda: run(cheap, processes)) / queries,
            "2 processes, Executor.map alone": lambda: mapped(processes),
        }
        least = dict.fromkeys(ways, float("inf"))
        for _ in range(ROUNDS):
            for name, measure in ways.items():
                least[name] = min(least[name], measure())
    print(f"cost a query at d = {D:,}, {queries:,} queries (bars: 100 µs threads, 400 µs processes)")
    for name, least_seconds in least.items():
        print(f"  {least_seconds * 1e6:8.1f} µs  {name}")


def gain() -> None:
    alone = seconds(lambda: run(sleepy, None, 2))
    with ThreadPoolExecutor(8) as pool:
        together = seconds(lambda: run(sleepy, pool, 2))
    print(
        f"GraCe, f sleeps 20 ms: {alone:.2f} s on one worker, {together:.2f} s on 8 threads, "
        f"{alone / together:.1f} times faster (bar: 6)"
    )


def gain_of_auto() -> None:
    """Measure the same for auto with batch=8, until Attack is at a third of its start."""
    problem = gracezo.problems.Attack()

    def slow(x: np.ndarray) -> float:
        time.sleep(0.02)
        return problem(x)

    def auto(workers: Any) -> gracezo.Result:
        target = 0.33 * problem(problem.x0)
        return gracezo.minimize(slow, problem.x0, target=target, batch=8, seed=0, workers=workers)

    alone = seconds(lambda: auto(None))
    with ThreadPoolExecutor(8) as pool:
        together = seconds(lambda: auto(pool))
    print(
        f"auto with batch=8, f sleeps 20 ms: {alone:.2f} s on one worker, {together:.2f} s on 8 threads, "
        f"{alone / together:.1f} times faster (bar: 3)"
    )


def main() -> None:
    print(f"numpy {np.__version__}, Python {sys.version.split()[0]}, {os.cpu_count()} cores")
    cost()
    gain()
    gain_of_auto()


if __name__ == "__main__":
    main()
