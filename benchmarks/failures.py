"""What failing evaluations cost: queries until Distance has fallen to 0.01 of f(x0).

    python -m benchmarks.failures [--instances 10] [--page]

Each evaluation but f(x0) fails with the given chance, independently of the point and of all others.
Failed ones count. *To be expected* is what retrying every failed evaluation would take on average,
n/(1 − p), n being the queries without failures. Instance i uses seed i; a run that has
not come there within BUDGET queries, or was ended by its failures, is not among the means.
"""

from __future__ import annotations

import argparse

import numpy as np
from benchmarks.page_table import PageTable, seeds

import gracezo
from gracezo.core.types import FloatArray
from gracezo.problems import Distance

CHANCES = (0.0, 0.01, 0.05, 0.2)
METHODS = ("auto", "grace")
RULES = (("retry", 10), ("skip", 100))
BUDGET = 30_000


class Failing:
    """A function some of whose evaluations fail, the first one never."""

    def __init__(self, function: Distance, chance: float, seed: int) -> None:
        self._function = function
        self._chance = chance
        self._random = np.random.default_rng([seed, 1])
        self.calls = 0

    def __call__(self, x: FloatArray) -> float:
        """Return f, or fail."""
        self.calls += 1
        if self.calls > 1 and self._random.random() < self._chance:
            raise RuntimeError("no convergence")
        return float(self._function(x))


def queries(method: str, chance: float, rule: tuple[str, int], seed: int) -> float:
    """Return the queries until the target, NaN if it was not reached."""
    problem = Distance(seed)
    fun = Failing(problem, chance, seed)
    try:
        result = gracezo.minimize(
            fun,
            problem.x0,
            method=method,
            sparsity=problem.s,
            target=0.01 * float(problem(problem.x0)),
            max_queries=BUDGET,
            on_failure=rule,
            seed=seed,
        )
    except gracezo.EvaluationError:
        return np.nan
    assert result.nfev == fun.calls
    return result.nfev if result.success else np.nan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instances", type=int, default=10)
    parser.add_argument("--page", action="store_true", help="write docs/how-to/failures.md")
    words = parser.parse_args()
    instances: int = words.instances
    head = ["method", "failing", "to be expected", "retry", "skip"]
    table = PageTable("failures", "how-to/failures.md", head, named_by=2, write=words.page)
    table.begin()
    for method in METHODS:
        without = np.nan
        for chance in CHANCES:
            cells = []
            for rule in RULES:
                needed = np.array([queries(method, chance, rule, seed) for seed in range(instances)])
                reached = needed[~np.isnan(needed)]
                mean = reached.mean() if len(reached) else np.nan
                some = f" ({len(reached)} of {instances})" if len(reached) < instances else ""
                cells.append(f"{mean:,.0f}{some}")
                if chance == 0.0:
                    without = mean
            expected = f"{without / (1 - chance):,.0f}"
            table.add(f"`{method}`", f"{100 * chance:g} %", expected, *cells, seeds=seeds(0, instances))


if __name__ == "__main__":
    main()
