"""nevergrad's own choice of optimiser, NGOpt."""

from __future__ import annotations

import warnings

import numpy as np
from benchmarks.queries.meter import Task
from benchmarks.queries.problem import Objective
from benchmarks.queries.rivals.method import DEFAULTS, Method


def solve(f: Objective, task: Task) -> None:
    import nevergrad as ng  # noqa: PLC0415  # an extra: only who runs this method needs it

    space = ng.p.Array(init=task.x0)
    space.random_state = np.random.RandomState(task.seed)  # what nevergrad takes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        optimizer = ng.optimizers.NGOpt(parametrization=space, budget=task.budget)
        optimizer.tell(space, f(task.x0))
        while True:
            candidate = optimizer.ask()
            optimizer.tell(candidate, f(candidate.value))


METHOD = Method(
    "nevergrad",
    "nevergrad (NGOpt)",
    "its default; at most 2·10⁷/d queries, d ≤ 10⁴",
    solve,
    DEFAULTS,
    work=2e7,
    largest_d=10_000,
)
