"""Boxes that cut the optimum off: where `auto` ends, and where L-BFGS-B with exact gradients does.

    python -m benchmarks.bounds [--only chain-10k-12,...] [--queries 200000] [--page]

The box of a function: of the coordinates that differ between x0 and its optimum without bounds, every
second may go only half of that way; all others may go ten times the longest way. (Attack depends on
|x|: its box begins at 0, where it is smooth, and its coordinates may go half as far as L-BFGS-B takes
them.) Each point that is asked is compared with the box inside f.

*To 1e-4* and *to 1e-8*: queries until f − f* is that share of f(x0) − f*, f* being the least value that
either of the two has found. *Gradient*: the largest entry of the projected gradient, x − P(x − g), at the
end, as a share of the same at x0.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from benchmarks.page_table import PageTable
from benchmarks.queries.functions import SUITE
from benchmarks.queries.problem import Problem
from scipy.optimize import Bounds, OptimizeResult, minimize

import gracezo
from gracezo.core.result import Trace
from gracezo.core.types import FloatArray

FUNCTIONS = (
    "distance-1k-s1",
    "distance-10k-s10",
    "distance-10k-s100",
    "magnitude-10k-s5",
    "attack-football-0-1",
    "attack-random-60",
    "quadratic-10k-s20-k10",
    "quadratic-10k-s20-k1e2",
    "quadratic-10k-s20-k1e4",
    "rosenbrock-10k-s4",
    "rosenbrock-10k-s20",
    "power-law-10k-1.5",
    "stages-10k-5x4",
    "stages-2k-12x2",
    "chain-10k-12",
    "chain-3k-40",
    "logistic-500",
    "dense-quadratic-300",
    "dense-log-cosh-500",
    "scaled-5k-s20",
)
HEAD = [
    "function",
    "to 1e-4",
    "to 1e-8",
    "at the end",
    "f",
    "L-BFGS-B",
    "above it by",
    "gradient",
    "outside",
]
_EXACT = {"maxiter": 50_000, "maxfun": 200_000, "ftol": 0.0, "gtol": 1e-12}


class Fenced:
    """A function that notes each point outside its box."""

    def __init__(self, problem: Problem, box: Bounds) -> None:
        self._problem = problem
        self._box = box
        self.outside = 0

    def __call__(self, x: FloatArray) -> float:
        """Return f, and note where it was asked."""
        self.outside += not (np.all(x >= self._box.lb) and np.all(x <= self._box.ub))
        return self._problem.f(x)


@dataclass(frozen=True)
class Row:
    """What came of one function."""

    name: str
    queries: int
    trace: Trace
    f0: float
    found: float
    reference: float
    gradient: float
    outside: int

    @property
    def excess(self) -> float:
        """Return how far the end lies above L-BFGS-B's, as a share of the whole way."""
        return (self.found - self.reference) / (self.f0 - self.reference)

    def until(self, share: float) -> int | None:
        """Return the queries until so much of the way is left."""
        least = min(self.found, self.reference)
        there = np.flatnonzero(self.trace.values - least <= share * (self.f0 - least))
        return int(self.trace.queries[there[0]]) if len(there) else None


def exactly(problem: Problem, box: Bounds | None) -> OptimizeResult:
    """Run L-BFGS-B with exact gradients."""
    return minimize(
        problem.f, problem.x0, jac=problem.gradient, method="L-BFGS-B", bounds=box, options=_EXACT
    )


def box_of(name: str, problem: Problem) -> Bounds:
    """Return the box that cuts the optimum off."""
    x0 = problem.x0
    attack = name.startswith("attack")
    if problem.optimum is not None:
        end = problem.optimum
    else:
        end = exactly(problem, Bounds(0.0, np.inf) if attack else None).x
    way = end - x0
    longest = float(np.abs(way).max())
    lower = np.zeros(problem.d) if attack else x0 - 10 * longest
    upper = x0 + 10 * longest
    moved = np.flatnonzero(np.abs(way) > 1e-3 * longest)[::2]
    half = x0[moved] + 0.5 * way[moved]
    upper[moved] = np.where(way[moved] > 0, half, upper[moved])
    lower[moved] = np.where(way[moved] < 0, half, lower[moved])
    return Bounds(lower, upper)


def measured(name: str, queries: int, seed: int = 0) -> Row:
    """Run `auto` and L-BFGS-B on one function in its box."""
    problem = SUITE[name].make()
    box = box_of(name, problem)
    fun = Fenced(problem, box)
    result = gracezo.minimize(fun, problem.x0, bounds=box, max_queries=queries, seed=seed)
    return Row(
        name,
        result.nfev,
        result.trace,
        problem.f(problem.x0),
        result.fun,
        float(exactly(problem, box).fun),
        _projected(problem, box, result.x) / _projected(problem, box, problem.x0),
        fun.outside,
    )


def _projected(problem: Problem, box: Bounds, x: FloatArray) -> float:
    return float(np.abs(x - np.clip(x - problem.gradient(x), box.lb, box.ub)).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="names of functions, separated by commas")
    parser.add_argument("--queries", type=int, default=200_000, help="the budget (200,000)")
    parser.add_argument("--page", action="store_true", help="write docs/how-to/bounds.md")
    words = parser.parse_args()
    table = PageTable("bounds", "how-to/bounds.md", HEAD, write=words.page)
    table.begin()
    for name in words.only.split(",") if words.only else FUNCTIONS:
        row = measured(name, words.queries)
        counts = [row.until(1e-4), row.until(1e-8), row.queries]
        values = [f"{row.found:.8g}", f"{row.reference:.8g}", f"{row.excess:.0e}", f"{row.gradient:.0e}"]
        cells = ["–" if queries is None else f"{queries:,}" for queries in counts]
        table.add(name, *cells, *values, str(row.outside), seeds="0")


if __name__ == "__main__":
    main()
