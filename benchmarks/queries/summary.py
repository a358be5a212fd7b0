"""The numbers behind tables and plots: queries to each target, and who solved what."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from benchmarks.queries.functions import SUITE, Entry
from benchmarks.queries.meter import LEVELS
from benchmarks.queries.problem import TARGETS
from benchmarks.queries.rivals import METHODS
from benchmarks.queries.rivals.method import Method
from benchmarks.queries.store import Record

from gracezo.core.types import FloatArray

_PLACES = [int(np.argmin(np.abs(LEVELS - target))) for target in TARGETS]


@dataclass(frozen=True)
class Row:
    """One problem, as the tables show it."""

    entry: Entry
    d: int
    s: int
    budget: int
    floor: float


class Summary:
    """All runs of a folder, by problem and method. In the order of the suite and of the methods."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._runs: dict[tuple[str, str], list[Record]] = {}
        rows: dict[str, Row] = {}
        for record in records:
            job = record.job
            if job.problem not in SUITE or job.method not in METHODS:
                continue  # kept from a time when the suite or the methods were others
            self._runs.setdefault((job.problem, job.method), []).append(record)
            row = Row(SUITE[job.problem], record.d, record.s, record.budget, record.floor)
            before = rows.get(job.problem, row)
            rows[job.problem] = row if row.budget >= before.budget else before
        self.rows: list[Row] = [rows[name] for name in SUITE if name in rows]
        ran = {method for _, method in self._runs}
        self.methods: list[Method] = [method for name, method in METHODS.items() if name in ran]

    def runs(self, row: Row, method: Method) -> Sequence[Record]:
        """Return the runs of a method on a problem: one for each setting."""
        return self._runs.get((row.entry.name, method.name), [])

    def queries(self, row: Row, method: Method, target: float) -> float:
        """Return the queries to a target, of the best setting; ∞ when it was not reached."""
        place = _PLACES[TARGETS.index(target)]
        return min(
            (run.reached[place] for run in self.runs(row, method) if len(run.reached) > place),
            default=math.inf,
        )

    def best(self, row: Row, target: float, methods: Iterable[Method] | None = None) -> float:
        """Return the fewest queries to a target of any (or these) methods."""
        return min(
            (self.queries(row, method, target) for method in methods or self.methods), default=math.inf
        )

    def share(self, method: Method, target: float, at: FloatArray, per_sweep: bool) -> FloatArray:
        """Return the share of problems solved within each of the budgets `at`: a data profile.

        Budgets are queries, or with `per_sweep` multiples of d + 1 (Moré & Wild, SIAM J. Optim. 20, 2009).
        """
        needed = np.array(
            [self.queries(row, method, target) / (row.d + 1 if per_sweep else 1) for row in self.rows]
        )
        solved: FloatArray = (needed[:, np.newaxis] <= at).mean(axis=0)
        return solved

    def below_floor(self) -> list[tuple[Row, float]]:
        """Return the problems whose floor a run went below by more than rounding: floors to be mended."""
        found = []
        for row in self.rows:
            least = min(run.best for method in self.methods for run in self.runs(row, method))
            if least < row.floor - 1e-10 * max(1.0, abs(row.floor)):
                found.append((row, least))
        return found
