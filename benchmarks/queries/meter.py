"""The only thing that calls a function of the suite, and the only counter.

The rules:

- Every call counts, f(x0) and probes included; the best value is that of any call.
- The call after the last affordable one is never made: `RunOver` is raised in its place. It is no
  `Exception`, so that no library takes it for a failed evaluation and goes on.
- A run is over, too, when the strictest target is reached.
- The curve is kept as the query at which each of a fixed ladder of levels was first reached. That is small
  for any budget and exact at the targets.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from benchmarks.queries.problem import TARGETS, Objective, Problem

from gracezo.core.types import FloatArray

_RUNGS = 20  # a decade
LEVELS = np.array([10.0 ** (-rung / _RUNGS) for rung in range(round(-np.log10(TARGETS[-1]) * _RUNGS) + 1)])
"""Shares of f(x0) − min f, from 1 down to the strictest target; all targets are among them."""


class RunOver(BaseException):
    """Raised in place of a call that is not affordable, and after the one that reached the last target."""


@dataclass(frozen=True, eq=False)
class Task:
    """All that a method is told, beside the function."""

    x0: FloatArray
    s: int
    budget: int
    seed: int


class Meter:
    """A function of the suite, counted. Call it with a point."""

    def __init__(self, problem: Problem, budget: int) -> None:
        self.queries = 0
        self.best = np.inf
        self.seconds = 0.0
        self.reached: list[int] = []  # the query at which each level was reached, as far as they were
        self._f: Objective = problem.f
        self._budget = budget
        self._first = np.inf
        self._floor = problem.floor

    def __call__(self, x: FloatArray) -> float:
        """Return f(x), or raise `RunOver`."""
        if self.queries >= self._budget:
            raise RunOver
        began = time.process_time()
        value = float(self._f(x))
        self.seconds += time.process_time() - began
        self.queries += 1
        if self.queries == 1:
            self._first = value
        if value < self.best:
            self.best = value
            share = (value - self._floor) / (self._first - self._floor)
            while share <= LEVELS[len(self.reached)]:
                self.reached.append(self.queries)
                if len(self.reached) == len(LEVELS):
                    raise RunOver
        return value
