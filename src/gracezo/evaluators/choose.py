"""From the arguments `workers`, `vectorized` and `copy` to an evaluator: the one place that decides."""

from __future__ import annotations

import math
import numbers
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from importlib import import_module
from inspect import ismodule
from types import ModuleType
from typing import Any, TypeAlias

from gracezo import programs
from gracezo.command import Command
from gracezo.core.drive import Evaluator
from gracezo.core.errors import WorkersLost
from gracezo.evaluators import executor, memory
from gracezo.evaluators.mapped import Mapped
from gracezo.evaluators.objective import Objective
from gracezo.evaluators.priced import prices
from gracezo.evaluators.processes import Processes
from gracezo.evaluators.serial import Serial
from gracezo.evaluators.spread import Spread, WorkerPool
from gracezo.evaluators.vectorized import Vectorized

Workers: TypeAlias = object  # None, int, map-like callable, Executor, Dask client, "ray": see `minimize`


@contextmanager
def evaluator(
    objective: Objective, workers: Workers, vectorized: bool, copy: bool, timeout: float | None = None
) -> Iterator[Evaluator]:
    """Provide the evaluator for a run; what was started for it ends with the context.

    `timeout` is how many seconds one call of the function may take.
    """
    if vectorized and isinstance(objective.fun, Command):
        raise ValueError("a Command takes one point at a time: leave vectorized=False, and give workers")
    if timeout is not None and isinstance(objective.fun, Command):  # which ends its program itself
        objective = replace(objective, fun=objective.fun.within(timeout))
        timeout = None
    room = _room(objective, workers, vectorized)
    here = Vectorized(objective, copy, room) if vectorized else Serial(objective, copy)
    with ExitStack() as started:
        if isinstance(objective.fun, Command):
            started.callback(programs.dismiss)
        if workers is None:
            if timeout is not None:
                raise _no_timeout("a function cannot be stopped that runs in the caller's own thread")
            if isinstance(objective.fun, Command):
                yield Spread(started.enter_context(closing(executor.OneThread(here))))
            else:
                yield here
        elif callable(workers) and not _is_dask(workers) and not _is_ray(workers):
            if timeout is not None:
                raise _no_timeout("a map-like callable cannot be interrupted")
            yield _mapped(objective, workers, vectorized, room)
        else:
            try:
                pool = _pool_of(workers, here, started)
            except WorkersLost as lost:  # before any query
                raise ValueError(f"workers: {lost}") from (lost.__cause__ or lost)
            yield Spread(pool, vectorized, timeout)


def _room(objective: Objective, workers: Workers, vectorized: bool) -> int:
    """Return how many bytes of points may be laid out at once, by each who does so."""
    if prices(objective) and not vectorized and not callable(workers):  # no point need ever be whole
        return memory.USUAL
    return memory.limit(math.prod(objective.shape), _count(workers) or 1)


def _pool_of(workers: Workers, here: Evaluator, started: ExitStack) -> WorkerPool:
    count = _count(workers)
    if count is not None:
        processes = started.enter_context(closing(Processes(here, count)))
        processes.start()  # when it is known that they will be closed: an interrupt may come at any moment
        return processes
    if isinstance(workers, Executor):
        return started.enter_context(closing(executor.pool_behind(workers, here)))
    if _is_dask(workers):
        tasks: WorkerPool = import_module("gracezo.evaluators.dask").DaskPool(workers, here)
        return tasks
    if _is_ray(workers):
        ray = _ray()
        started.enter_context(ray.initialised())
        actors: WorkerPool = ray.RayPool(here)
        return actors
    raise _wrong(workers)


def _no_timeout(why: str) -> ValueError:
    return ValueError(
        f"timeout: {why}; give workers (1 or more processes, an executor, Dask or Ray), or a Command"
    )


def _is_dask(given: object) -> bool:
    distributed = sys.modules.get("distributed")  # a client can only come from there
    return distributed is not None and isinstance(given, distributed.Client)


def _is_ray(given: object) -> bool:
    return (isinstance(given, str) and given == "ray") or (ismodule(given) and given.__name__ == "ray")


def _ray() -> ModuleType:
    try:
        return import_module("gracezo.evaluators.ray")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("workers='ray' needs Ray: pip install 'gracezo[ray]'") from error


def _mapped(objective: Objective, mapping: Callable[..., Any], vectorized: bool, room: int) -> Mapped:
    if vectorized:
        raise ValueError(
            "vectorized=True does not go with a map-like callable as workers, which gets point by point; "
            "give a number of processes or an executor"
        )
    return Mapped(objective, mapping, room)


def _count(given: object) -> int | None:
    """Return a number of processes, or None when something else is given."""
    if isinstance(given, bool) or not isinstance(given, numbers.Integral):
        return None
    if given == -1:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if given < 1:
        raise ValueError(f"workers must be at least 1, or -1 for all cores; given: {given}")
    return int(given)


def _wrong(given: object) -> TypeError:
    return TypeError(
        "workers must be a number of processes (-1: all cores), a map-like callable, "
        "a concurrent.futures.Executor, a dask.distributed.Client or 'ray'; "
        f"given: {given!r} ({type(given).__name__})"
    )
