"""Time of one query of each benchmark function, single and batched.

Run: python benchmarks/problems_speed.py
"""

from __future__ import annotations

import timeit

import numpy as np

from gracezo.problems import Attack, Benchmark, Distance, Magnitude

ROWS = 32


def microseconds(statement: object, repeats: int) -> float:
    assert callable(statement)
    return min(timeit.repeat(statement, number=repeats, repeat=7)) / repeats * 1e6


def main() -> None:
    functions: list[Benchmark] = [
        Distance(0, d=100),
        Distance(0),
        Distance(0, d=1_000_000),
        Magnitude(0),
        Attack(),
    ]
    print(f"{'function':12s}{'d':>10s}{'single, µs':>14s}{'batched, µs a row':>20s}")
    for f in functions:
        rows = f.x0 + 1e-3 * np.random.default_rng(0).standard_normal((ROWS, f.d))
        repeats = max(2, 10_000_000 // (f.d * ROWS))
        single = microseconds(lambda f=f, x=rows[0]: f(x), ROWS * repeats)
        batched = microseconds(lambda f=f, rows=rows: f.many(rows), repeats) / ROWS
        print(f"{f.name:12s}{f.d:10,d}{single:14.1f}{batched:20.1f}")


if __name__ == "__main__":
    main()
