"""What the engine and GraCe add to a query, beside the time of f itself.

Run: python benchmarks/engine_overhead.py

GraCe runs on Distance (d = 10,000, s = 10; 100 steps), in both variants. The
same points are then evaluated again by a bare loop. Both are timed in turn,
several times; the least of each counts, since other work on the machine can
only add.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import gracezo


def main() -> None:
    print(
        f"numpy {np.__version__}, Python {sys.version.split()[0]}; least of 15 runs, in turn with a bare loop"
    )
    for variant in ("printed", "published"):
        measure(variant)


def measure(variant: str) -> None:
    problem = gracezo.problems.Distance(0)
    points: list[np.ndarray] = []

    def remember(x: np.ndarray) -> float:
        if len(points) < 500:
            points.append(x)
        return problem(x)

    def run(fun: object) -> gracezo.Result:
        return gracezo.minimize(
            fun,  # type: ignore[arg-type]
            problem.x0,
            method="grace",
            sparsity=problem.s,
            max_steps=100,
            seed=0,
            options={"variant": variant},
        )

    queries = run(remember).nfev
    whole, bare = [], []
    for _ in range(15):
        began = time.perf_counter()
        run(problem)
        whole.append((time.perf_counter() - began) / queries)
        began = time.perf_counter()
        for x in points:
            problem(x)
        bare.append((time.perf_counter() - began) / len(points))
    least, f = min(whole) * 1e6, min(bare) * 1e6
    print(f"{variant}: {queries:,} queries at d = {problem.d:,}")
    print(f"  a query in all      {least:6.1f} µs")
    print(f"  f alone             {f:6.1f} µs")
    print(f"  engine and GraCe    {least - f:6.1f} µs, {(least - f) / f:.2f} times f (bar: 40 µs)")


if __name__ == "__main__":
    main()
