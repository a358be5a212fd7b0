"""How a step size is found that nobody gives: by a trial on an instance that no table uses.

First every size of the paper's grid {0.5, 0.2, 0.1, 0.05, …} gets a 20th of the budget. A longer
run does not want larger steps than a short one (it has the time for small ones, and a method with a
noise floor needs them), so from the best of these the sizes are tried downwards with the whole
budget, until one is no better than the one before. That costs about a quarter of what the whole
budget for every size would.
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
        Whether the second part is made: the trials with the whole budget.
    """
    looks = [trial(size, max(2, budget // SHORT)) for size in sizes]
    if open_ := [job for job in looks if get(job) is None]:
        return open_
    place = min(range(len(sizes)), key=lambda at: _best(looks[at], get))
    while thorough and place + 1 < len(sizes):
        pair = [trial(size, budget) for size in sizes[place : place + 2]]
        if open_ := [job for job in pair if get(job) is None]:
            return open_
        if not _best(pair[1], get) < _best(pair[0], get):
            break
        place += 1
    return sizes[place]


def _best(job: Job, get: Get) -> float:
    record = get(job)
    assert record is not None
    return record.best
