"""The worker's side: evaluates a few rows around a base point, wherever it runs.

A worker that is reached through a queue that others share cannot be told what
it knows already. It keeps the function and the latest base of a run, under
the run's name; the driver sends offsets only, and sends the rest
again to a worker that says what it misses.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from gracezo.core.asks import Ask, Offsets, Role
from gracezo.core.drive import Evaluator, rows_at_once
from gracezo.core.run import Outcome
from gracezo.core.types import FloatArray
from gracezo.evaluators.report import Report


def work(
    evaluate: Evaluator, base: FloatArray, offsets: Offsets, note: Callable[[int, int], None] | None = None
) -> Report:
    """Evaluate rows; `evaluate` answers them in order. `note` is told how many have been begun, and done."""
    began = time.perf_counter()
    ask = Ask(base, offsets, Role.PROBE)  # the role plays no part in an evaluation
    at_once = rows_at_once(evaluate, len(ask))
    if note is not None:
        note(at_once, 0)
    outcomes: list[Outcome] = []
    for answers in evaluate(ask):
        outcomes += [outcome for _, outcome in answers]
        if note is not None:
            note(min(len(outcomes) + at_once, len(ask)), len(outcomes))
    return Report(outcomes, time.perf_counter() - began)


@dataclass(frozen=True)
class Cached:
    """What a worker keeps of a run: how to evaluate, and the latest base with its number."""

    evaluate: Evaluator
    number: int = -1
    base: FloatArray | None = None


@dataclass(frozen=True)
class Missing:
    """What a worker would need to do the task: the function (and with it the base), or the base alone."""

    evaluate: bool


_RUNS_KEPT = 4
_cache: OrderedDict[str, Cached] = OrderedDict()


def remember(run: str, evaluate: Evaluator) -> None:
    """Keep a function for the tasks to come."""
    _keep(run, Cached(evaluate))


def work_from_cache(
    run: str, number: int, offsets: Offsets, evaluate: Evaluator | None, base: FloatArray | None
) -> Report | Missing:
    """Evaluate rows around base `number` of a run, with what is cached where it is not sent along."""
    cached = _cache.get(run)
    if evaluate is None:
        if cached is None:
            return Missing(evaluate=True)
        evaluate = cached.evaluate
    if base is None:
        if cached is None or cached.number != number or cached.base is None:
            return Missing(evaluate=False)
        base = cached.base
    elif cached is None or cached.number < number:
        _keep(run, Cached(evaluate, number, base))
    return work(evaluate, base, offsets)


def _keep(run: str, cached: Cached) -> None:
    _cache[run] = cached
    _cache.move_to_end(run)
    while len(_cache) > _RUNS_KEPT:
        _cache.popitem(last=False)
