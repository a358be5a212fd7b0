"""Separable CMA-ES by pycma (Ros & Hansen, PPSN 2008), restarted with twice the population when it stops."""

from __future__ import annotations

import warnings

import numpy as np
from benchmarks.queries.meter import Task
from benchmarks.queries.problem import Objective
from benchmarks.queries.rivals.method import DEFAULTS, Method

_FIRST_SPREAD = 0.3


def solve(f: Objective, task: Task) -> None:
    import cma  # noqa: PLC0415  # an extra: only who runs this method needs it

    f(task.x0)  # pycma never asks for it; all methods pay for it
    spread, population = _FIRST_SPREAD, None
    while True:
        options = {
            "CMA_diagonal": True,
            "verbose": -9,
            "seed": task.seed + 1,  # 0 means the clock
            "tolfun": 0.0,
            "tolfunhist": 0.0,
            "maxiter": np.inf,
            **({"popsize": population} if population else {}),
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            strategy = cma.CMAEvolutionStrategy(task.x0, spread, options)
            while not strategy.stop():
                points = strategy.ask()
                strategy.tell(points, [f(np.asarray(point)) for point in points])
        population = 2 * strategy.popsize


METHOD = Method(
    "sep-cma-es",
    "separable CMA-ES",
    "pycma, σ₀ = 0.3; restarts with twice the population; at most 10⁸/d queries, d ≤ 10⁵",
    solve,
    DEFAULTS,
    work=1e8,
    largest_d=100_000,
)
