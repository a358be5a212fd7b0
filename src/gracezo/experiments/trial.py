"""How a step size is found that nobody gives: by a trial on an instance that no table uses.

First every size of the paper's grid {0.5, 0.2, 0.1, 0.05, …} gets a 20th of the budget. From the best of
these the sizes are tried with the whole budget: downwards until one is no better than the one before (a long
run has the time for small steps, and a method whose steps stay noisy needs them), and if already the first
was not, upwards (a method with momentum needs a while to gather speed, and its short runs mislead). That
costs about a third of what the whole budget for every size would.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from gracezo.experiments.runs import Job, Record

INSTANCE = 100
SHORT = 20  # the first look spends a 20th of the budget

Get: TypeAlias = Callable[[Job], Record | None]


def step_size(
    trial: Callable[[float, int], Job],
    sizes: Sequence[float],
    budget: int,
    get: Get,
    *,
    thorough: bool = True,
) -> float | list[Job]:
    """Return the step size, or the trials that have to be made before it is known.

    Parameters
    ----------
    trial
        Gives the trial of a step size with a number of queries.
    sizes
        The step sizes, the largest first.
    budget
        The queries of the run that the step size is for.
    get
        Gives the record of a finished trial.
    thorough
        Whether the second part is made, the trials with the whole budget.
    """
    looks = [trial(size, max(2, budget // SHORT)) for size in sizes]
    if open_ := [job for job in looks if get(job) is None]:
        return open_
    place = first = min(range(len(sizes)), key=lambda at: _best(looks[at], get))
    for way in (1, -1) if thorough else ():
        while (way == 1 or place <= first) and 0 <= place + way < len(sizes):
            here, there = (trial(sizes[at], budget) for at in (place, place + way))
            if open_ := [job for job in (here, there) if get(job) is None]:
                return open_
            if not _best(there, get) < _best(here, get):
                break
            place += way
    return sizes[place]


def _best(job: Job, get: Get) -> float:
    record = get(job)
    assert record is not None
    return record.best
