"""GraCe as published (Qiu & Tong, ICML 2024), told the true s, with the best of several settings.

γ = 0.7 and D_1 = 20 as in the paper. Its step size and difference ε suit functions with curvatures near 1;
the grid is wide enough for the others.
"""

from __future__ import annotations

from contextlib import suppress

from benchmarks.queries.meter import Task
from benchmarks.queries.problem import Objective
from benchmarks.queries.rivals.method import Method

import gracezo

_STEP_SIZES = (1.0, 0.5, 0.1, 0.01, 1e-3)
_DIFFERENCES = (1e-6, 1e-8)


def solve(f: Objective, task: Task, step_size: float, eps: float) -> None:
    with suppress(gracezo.EvaluationError):  # a step size that is too large runs off to infinity
        gracezo.minimize(
            f,
            task.x0,
            method="grace",
            sparsity=task.s,
            max_queries=task.budget,
            seed=task.seed,
            copy=False,
            options={"step_size": step_size, "eps": eps, "variant": "published"},
        )


METHOD = Method(
    "grace",
    "GraCe (published)",
    f"told s; best of {len(_STEP_SIZES)} step sizes × {len(_DIFFERENCES)} ε, chosen afterwards, for free; "
    "at most 10⁸/d queries a run, or 5,000",
    solve,
    {
        f"step={step:g},eps={eps:g}": {"step_size": step, "eps": eps}
        for step in _STEP_SIZES
        for eps in _DIFFERENCES
    },
    work=1e8,
    least=5_000,
)
