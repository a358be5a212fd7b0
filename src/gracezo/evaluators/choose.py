"""From the arguments `workers`, `vectorized` and `copy` to an evaluator: the one place that decides."""

from __future__ import annotations

import numbers
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from importlib import import_module
from inspect import ismodule
from types import ModuleType
from typing import Any, TypeAlias

from gracezo.command import Command
from gracezo.core.drive import Evaluator
from gracezo.evaluators import executor
from gracezo.evaluators.mapped import Mapped
from gracezo.evaluators.objective import Objective
from gracezo.evaluators.processes import Processes
from gracezo.evaluators.serial import Serial
from gracezo.evaluators.spread import Spread
from gracezo.evaluators.vectorized import Vectorized

Workers: TypeAlias = object  # None, int, map-like callable, Executor, Dask client, "ray": see `minimize`


@contextmanager
def evaluator(objective: Objective, workers: Workers, vectorized: bool, copy: bool) -> Iterator[Evaluator]:
    """Provide the evaluator for a run; what was started for it ends with the context."""
    if vectorized and isinstance(objective.fun, Command):
        raise ValueError("a Command takes one point at a time: leave vectorized=False, and give workers")
    here = Vectorized(objective, copy) if vectorized else Serial(objective, copy)
    count = _count(workers)
    if count == 1:
        yield here
    elif count is not None:
        with Processes(here, count) as processes:
            yield Spread(processes, vectorized)
    elif isinstance(workers, Executor):
        yield Spread(executor.crew(workers, here), vectorized)
    elif _is_dask(workers):
        yield Spread(import_module("gracezo.evaluators.dask").DaskCrew(workers, here), vectorized)
    elif _is_ray(workers):
        ray = _ray()
        with ray.initialised():
            yield Spread(ray.RayCrew(here), vectorized)
    elif callable(workers):
        yield _mapped(objective, workers, vectorized)
    else:
        raise _wrong(workers)


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


def _mapped(objective: Objective, mapping: Callable[..., Any], vectorized: bool) -> Mapped:
    if vectorized:
        raise ValueError(
            "vectorized=True does not go with a map-like callable as workers, which gets point by point; "
            "give a number of processes or an executor"
        )
    return Mapped(objective, mapping)


def _count(given: object) -> int | None:
    """Return a number of processes, or None when something else is given."""
    if given is None:
        return 1
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
