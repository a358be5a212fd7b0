"""What a run of `auto` takes, by how many parameters matter and how f looks: see docs/start/queries.md.

Run: python -m benchmarks.what_it_takes [--page] [--seeds 5]   (some minutes)

Queries until the current point has 99 % of the decrease that there is, and until the run ends by itself: the
median of the seeds, and the least and the most.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from benchmarks.page_table import PageTable, seeds

import gracezo

Array = np.ndarray[Any, np.dtype[np.float64]]
Function = Callable[[Array], float]
FIRST = 300
MOST = 20_000


def bowl(seed: int, d: int, s: int) -> Function:
    """Return a sum of squares of s coordinates, each with a weight of its own; 0 at its minimum."""
    rng = np.random.default_rng(seed)
    place, goal, weights = rng.choice(d, s, replace=False), rng.uniform(-1, 1, s), rng.uniform(0.5, 2, s)
    return lambda x: float(weights @ (x[place] - goal) ** 2)


def curved(seed: int, d: int, s: int) -> Function:
    """Return a function of s coordinates that is no parabola and couples neighbours; 0 at its minimum."""
    rng = np.random.default_rng(seed)
    place, goal, weights = rng.choice(d, s, replace=False), rng.uniform(-1, 1, s), rng.uniform(0.5, 2, s)

    def f(x: Array) -> float:
        y = x[place] - goal
        return float(2.0 * weights @ np.sinh(0.5 * y) ** 2 + 0.3 * ((y[1:] - y[:-1]) ** 2).sum())

    return f


def tail(seed: int, d: int, s: int) -> Function:
    """Return a bowl of all coordinates, of which s have half of all that is to be gained."""
    rng = np.random.default_rng(seed)
    goal = rng.uniform(-1, 1, d)
    weights = np.full(d, 1.0 / (goal @ goal))
    large = rng.choice(d, s, replace=False)
    weights[large] = 1.0 / (goal[large] @ goal[large])
    return lambda x: float(weights @ (x - goal) ** 2)


CASES: dict[str, tuple[Callable[[int, int, int], Function], int, int, float]] = {
    "5 of 1,000 matter, a sum of squares": (bowl, 1000, 5, 0.0),
    "30 of 1,000 matter, a sum of squares": (bowl, 1000, 30, 0.0),
    "5 of 1,000 matter, coupled and no parabola": (curved, 1000, 5, 0.0),
    "30 of 1,000 matter, coupled and no parabola": (curved, 1000, 30, 0.0),
    "5 of 1,000 matter as much as all others together": (tail, 1000, 5, 0.0),
    "all of 1,000 matter, coupled and no parabola": (curved, 1000, 1000, 0.0),
    "5 of 1,000 matter, noise of 1 % of f(x0)": (curved, 1000, 5, 0.01),
}


def taken(f: Function, d: int, noise: float, seed: int) -> tuple[int | None, int | None]:
    """Return the queries until 99 % of the decrease are there, and until the run ends; None: it does not."""
    rng, before = np.random.default_rng(seed), f(np.zeros(d))
    within: list[int] = []

    def asked(x: Array) -> float:
        return f(x) + noise * before * float(rng.standard_normal())

    def look(result: gracezo.Result) -> None:
        if not within and f(result.x) <= 0.01 * before:
            within.append(result.nfev)

    result = gracezo.minimize(asked if noise else f, np.zeros(d), max_queries=MOST, seed=seed, callback=look)
    return within[0] if within else None, None if result.status == 1 else result.nfev


def said(counts: list[int | None]) -> str:
    """Return the median, the least and the most, or of how many runs, where some have not come so far."""
    there = [count for count in counts if count is not None]
    if not there:
        return f"none of {len(counts)}"
    some = "" if len(there) == len(counts) else f"; {len(there)} of {len(counts)} runs"
    return f"{median(there):,.0f} ({min(there):,} … {max(there):,}{some})"


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="write docs/start/queries.md")
    parser.add_argument("--seeds", type=int, default=5)
    words = parser.parse_args()
    head = ["your function", "until 99 % of the decrease", "until nothing is left"]
    table = PageTable("what-it-takes", "start/queries.md", head, write=words.page)
    table.begin()
    for name, (made, d, s, noise) in CASES.items():
        runs = [taken(made(seed, d, s), d, noise, seed) for seed in range(FIRST, FIRST + words.seeds)]
        near, whole = (said([run[i] for run in runs]) for i in range(2))
        table.add(name, near, whole, seeds=seeds(FIRST, words.seeds))


if __name__ == "__main__":
    main()
