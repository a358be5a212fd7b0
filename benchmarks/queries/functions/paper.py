"""The paper's Distance and Magnitude (Qiu & Tong, ICML 2024), s from 1 to 2500, d from 10³ to 10⁶."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks.queries.problem import Problem

from gracezo.problems import Benchmark, Distance, Magnitude


def wrapped(f: Benchmark, about: str, floor: float) -> Problem:
    """Return a function of the library as a problem of the suite."""
    return Problem(about, f, f.gradient, f.x0, f.s, floor, f.optimum)


def _distance(seed: int, d: int, s: int) -> Problem:
    return wrapped(Distance(seed, d, s), "weighted distance to a hidden sparse point", 0.0)


def _magnitude(seed: int, d: int, s: int) -> Problem:
    return wrapped(Magnitude(seed, d, s), "reward for the s largest coordinates, penalty for others", 0.0)


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "distance-1k-s1": partial(_distance, 7101, 1_000, 1),
    "distance-10k-s10": partial(_distance, 7102, 10_000, 10),
    "distance-10k-s100": partial(_distance, 7103, 10_000, 100),
    "distance-10k-s2500": partial(_distance, 7104, 10_000, 2_500),
    "distance-100k-s30": partial(_distance, 7105, 100_000, 30),
    "distance-1m-s10": partial(_distance, 7106, 1_000_000, 10),
    "magnitude-10k-s5": partial(_magnitude, 7107, 10_000, 5),
    "magnitude-100k-s20": partial(_magnitude, 7108, 100_000, 20),
}
