"""What a query of the Gaussian methods costs, beside a plain loop that draws each row with NumPy.

Run: python -m benchmarks.gaussian_rows [--page]

Both minimise Distance (d = 10,000) with the same steps and the same number of
queries. The loop is what one writes down first: `Generator.standard_normal`
for each row, one call of f, the row added to the gradient. They run in turn,
many times, in one process; the least of each counts, since other work on the
machine can only add. It is the processor's time, on one thread: to wait for
others costs nothing. The time of f is in both.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from benchmarks.page_table import PageTable

import gracezo
from gracezo.core.keys import Key
from gracezo.estimators.rows import gaussian

EPS = 1e-6
ROUNDS = 100
CASES = [  # method, step size, queries of an estimate, steps
    ("rs", 1e-4, 1, 500),
    ("tpge", 1e-4, 2, 400),
    ("rspg", 5e-3, 58, 12),
    ("trunczsgd", 2e-2, 58, 12),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write the table into docs/reference/methods.md")
    head = ["method", "rows a step", "µs a query", "the loop", "ratio"]
    write = parser.parse_args().page
    table = PageTable("gaussian-rows", "reference/methods.md", head, times=True, write=write)
    problem = gracezo.problems.Distance(0)
    generator, stream = np.random.default_rng(0), Key(0).generator()
    plain, ours = in_turn(
        lambda: repeat(200, lambda: generator.standard_normal(problem.d)),
        lambda: repeat(200, lambda: gaussian(stream, 1, problem.d)),
    )
    print(f"a row of {problem.d:,}: standard_normal {plain / 200:.1f} µs, ours {ours / 200:.1f} µs")
    table.begin()
    for method, step_size, queries, steps in CASES:
        table.add(
            f"`{method}`", str(queries), *compare(problem, method, step_size, queries, steps), seeds="0"
        )


def compare(
    problem: gracezo.problems.Distance, method: str, step_size: float, queries: int, steps: int
) -> list[str]:
    def library() -> None:
        gracezo.minimize(
            problem,
            problem.x0,
            method=method,
            sparsity=problem.s,
            max_steps=steps,
            seed=0,
            options={"step_size": step_size, "queries": queries, "eps": EPS},
        )

    def by_rows() -> None:
        loop(problem, method, step_size, queries, steps)

    plain, ours = in_turn(by_rows, library)
    asked = 1 + steps * (queries + 1)
    return [f"{ours / asked:.0f}", f"{plain / asked:.0f}", f"{ours / plain:.2f}"]


def loop(problem: gracezo.problems.Distance, method: str, step_size: float, queries: int, steps: int) -> None:
    random = np.random.default_rng(0)
    x = problem.x0.copy()
    value = problem(x)
    for _ in range(steps):
        g = np.zeros(problem.d)
        if method == "tpge":
            for _ in range(queries // 2):
                near = x + EPS * random.standard_normal(problem.d)
                z = random.standard_normal(problem.d)
                g += (problem(near + EPS * z) - problem(near)) / EPS * z
            g /= queries // 2
        else:
            for _ in range(queries):
                z = random.standard_normal(problem.d)
                g += (problem(x + EPS * z) - value) / EPS * z
            g /= queries
        if method == "trunczsgd":
            g[np.argsort(np.abs(g))[: -problem.s]] = 0
        x = x - step_size * g
        value = problem(x)


def repeat(times: int, action: Callable[[], object]) -> None:
    for _ in range(times):
        action()


def in_turn(*actions: Callable[[], None]) -> list[float]:
    """Return the least time of each, in microseconds."""
    times: list[list[float]] = [[] for _ in actions]
    for _ in range(ROUNDS):
        for place, action in enumerate(actions):
            began = time.process_time()
            action()
            times[place].append((time.process_time() - began) * 1e6)
    return [min(each) for each in times]


if __name__ == "__main__":
    main()
