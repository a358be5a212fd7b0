"""The library's default, told nothing but the function and the starting point."""

from __future__ import annotations

from benchmarks.queries.meter import Task
from benchmarks.queries.problem import Objective
from benchmarks.queries.rivals.method import DEFAULTS, Method

import gracezo


def solve(f: Objective, task: Task) -> None:
    gracezo.minimize(f, task.x0, method="auto", max_queries=task.budget, seed=task.seed, copy=False)


METHOD = Method("auto", "auto", "the library's default; no s, no step size, no ε", solve, DEFAULTS)
