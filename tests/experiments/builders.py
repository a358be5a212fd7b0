"""Small made-up records and cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gracezo.experiments.cells import Cell
from gracezo.experiments.paper import Printed
from gracezo.experiments.runs import Job, Record
from gracezo.experiments.settings import Plan


def record(job: Job, values: Sequence[float], queries_a_step: int = 2) -> Record:
    steps = len(values) - 1
    return Record(
        job=job,
        queries=1 + queries_a_step * np.arange(steps + 1),
        values=np.array(values, dtype=np.float64),
        nfev=1 + queries_a_step * steps,
        nit=steps,
        status=1,
        message="all steps are made",
        seconds=0.1,
        made_with={"gracezo": "0"},
    )


def cell(
    bests: Sequence[float],
    printed: Printed | None = None,
    *,
    function: str = "distance",
    method: str = "rs",
    comparable: bool = True,
) -> Cell:
    plan = Plan(function, method, range(len(bests)), printed)
    records = tuple(
        record(Job(function, method, place, {}, max_steps=2), [2.0, 4.0 * best, 2.0 * best])
        for place, best in enumerate(bests)
    )
    return Cell(plan, records, comparable)
