"""One run, in a process of its own."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from benchmarks.queries.functions import SUITE
from benchmarks.queries.meter import LEVELS, Meter, RunOver, Task
from benchmarks.queries.rivals import METHODS
from benchmarks.queries.store import Job, Record, load

SEED = 1
"""What every method is seeded with; the seeds of the instances are in `functions`."""


def execute(job: Job, folder: Path, most_queries: int | None) -> tuple[Record | None, bool]:
    """Make one run, or find it on disk when it was made under the same conditions.

    Returns
    -------
    record
        None when the method is not run on a problem of this size.
    kept
        Whether it was on disk.
    """
    problem = SUITE[job.problem].make()
    if not np.isfinite(problem.floor):
        raise ValueError(f"{job.problem} has no floor yet; run python -m benchmarks.queries.find_floors")
    method = METHODS[job.method]
    budget = problem.budget if most_queries is None else min(problem.budget, most_queries)
    budget = method.affordable(problem.d, budget)
    if budget == 0:
        return None, False
    file = job.file(folder)
    if file.exists():
        kept = load(file)
        if (kept.budget, kept.floor, kept.d) == (budget, problem.floor, problem.d):
            return kept, True

    meter = Meter(problem, budget)
    began = time.process_time()
    ended = "itself"
    with np.errstate(all="ignore"):
        try:
            task = Task(problem.x0, problem.s, budget, SEED)
            method.solve(meter, task, **method.settings[job.setting])
        except (RunOver, Exception) as error:  # a rival may raise anything; it is kept as that run's end
            ended = f"{type(error).__name__}: {error}"
            if RunOver in (type(error), type(error.__cause__)):  # as it is, or as a failed evaluation
                ended = "target" if len(meter.reached) == len(LEVELS) else "budget"
    record = Record(
        job=job,
        d=problem.d,
        s=problem.s,
        budget=budget,
        floor=problem.floor,
        queries=meter.queries,
        reached=meter.reached,
        best=meter.best,
        seconds=time.process_time() - began,
        inside=meter.seconds,
        ended=ended,
    )
    record.save(folder)
    return record, False
