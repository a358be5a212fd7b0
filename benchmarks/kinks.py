"""Kinks: how often `auto` comes to the minimum, what it takes, and whether it claims success elsewhere.

    python -m benchmarks.kinks [--instances 60] [--first 0] [--batch 1] [--only NAME ...] [--page]

- Corners: Σ w_i |x_i − c_i| on 10 hidden coordinates of 10,000, and a parabola on the rest; to 1e-4 of f(x0).
- Tents: Σ a_i |x_i − k_i| + b_i (x_i − m_i)², d = 5 and 20, half of the coordinates begun on their kink.
- LASSO: ½|Ax − b|² + λ|x|₁, d = 30, about half of the coordinates at zero in the end.
- Valleys: a Σ |x_i − x_{i+1}| + |Σ x_i − d|, d = 2 to 5: kinks across coordinates, which none of them alone
  leads out of.
- Deviations: max |x_i − c_i|, d = 12: one coordinate at a time has a slope.

A run is *solved* if what is left of f(x0) − f* is at most 1e-6 (corners: 1e-4), and a *false claim* if it is
not, and says `success`. Instance i is run with seed i.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from benchmarks.page_table import PageTable, seeds

import gracezo
from gracezo.core.types import FloatArray

_QUERIES = 6000


@dataclass(frozen=True)
class Kinked:
    """A function with kinks, where to begin, and its least value."""

    f: Callable[[FloatArray], float]
    x0: FloatArray
    least: float
    within: float = 1e-6


def corner(rng: np.random.Generator) -> Kinked:
    """Return straight lines to hidden corners, curves elsewhere."""
    d, s = 10_000, 10
    chosen = rng.choice(d, s, replace=False)
    goal, sizes = rng.uniform(0.5, 1.5, s) * rng.choice([-1.0, 1.0], s), rng.uniform(0.5, 1.5, s)
    weights = rng.random(d)
    weights[chosen] = 0.0

    def f(x: FloatArray) -> float:
        return float((sizes * np.abs(x[chosen] - goal)).sum() + 0.5 * (weights * x * x).sum())

    return Kinked(f, np.zeros(d), 0.0, 1e-4)


def tents(rng: np.random.Generator) -> Kinked:
    """Return a kink and a parabola in each coordinate."""
    d = int(rng.choice([5, 20]))
    sizes = rng.uniform(0.2, 2.0, d) * (rng.random(d) < 0.7)
    kinks, weights, middles = rng.normal(size=d), rng.uniform(0.05, 1.0, d), 2.0 * rng.normal(size=d)

    def f(x: FloatArray) -> float:
        return float((sizes * np.abs(x - kinks) + weights * (x - middles) ** 2).sum())

    reach = sizes / (2.0 * weights)  # how far a tent pulls its parabola's minimum
    x0 = kinks + rng.choice([0.0, 1.0], d) * rng.normal(size=d)
    return Kinked(f, x0, f(np.clip(kinks, middles - reach, middles + reach)))


def lasso(rng: np.random.Generator) -> Kinked:
    """Return a LASSO; proximal gradient steps, which know its kinks, have its least value."""
    d = 30
    a = rng.normal(size=(d, d)) / np.sqrt(d)
    b = a @ rng.normal(size=d)
    penalty = 0.3 * float(np.abs(a.T @ b).max())

    def f(x: FloatArray) -> float:
        return float(0.5 * np.sum((a @ x - b) ** 2) + penalty * np.abs(x).sum())

    x, length = np.zeros(d), 1.0 / np.linalg.norm(a, 2) ** 2
    for _ in range(5000):
        y = x - length * a.T @ (a @ x - b)
        x = np.sign(y) * np.maximum(np.abs(y) - penalty * length, 0.0)
    return Kinked(f, np.zeros(d), f(x))


def valley(rng: np.random.Generator) -> Kinked:
    """Return a valley that lies across the coordinates."""
    d = int(rng.integers(2, 6))
    steep = float(rng.uniform(1.0, 10.0))

    def f(x: FloatArray) -> float:
        return float(steep * np.abs(np.diff(x)).sum() + abs(x.sum() - d))

    return Kinked(f, rng.choice([0.0, 1.0]) * rng.normal(size=d), 0.0)


def deviation(rng: np.random.Generator) -> Kinked:
    """Return the largest of twelve deviations."""
    goal = rng.normal(size=12)

    def f(x: FloatArray) -> float:
        return float(np.max(np.abs(x - goal)))

    return Kinked(f, np.zeros(12), 0.0)


FAMILIES = {"corners": corner, "tents": tents, "LASSO": lasso, "valleys": valley, "deviations": deviation}
HEAD = [
    "kinks",
    "solved",
    "queries, mean of the solved",
    "most",
    "ended unsolved, and says so",
    "false claims",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--instances", type=int, default=60, help="of each family (60)")
    parser.add_argument("--first", type=int, default=0, help="the first instance (0)")
    parser.add_argument("--batch", type=int, default=1, help="queries that go out at once (1)")
    parser.add_argument("--only", nargs="+", choices=list(FAMILIES), default=list(FAMILIES), help="families")
    parser.add_argument("--page", action="store_true", help="write docs/results/auto.md")
    words = parser.parse_args()
    table = PageTable("kinks", "results/auto.md", HEAD, write=words.page)
    table.begin()
    for name in words.only:
        make = FAMILIES[name]
        solved, honest, false = [], 0, 0
        for seed in range(words.first, words.first + words.instances):
            kinked = make(np.random.default_rng(seed))
            result = gracezo.minimize(kinked.f, kinked.x0, max_queries=_QUERIES, seed=seed, batch=words.batch)
            left = (result.fun - kinked.least) / (kinked.f(kinked.x0) - kinked.least)
            if left <= kinked.within:
                solved.append(result.nfev)
            elif result.success:
                false += 1
            else:
                honest += 1
        mean, most = (f"{np.mean(solved):,.1f}", f"{max(solved):,}") if solved else ("–", "–")
        batch = "" if words.batch == 1 else f", `batch={words.batch}`"
        count = f"{len(solved)} of {words.instances}"
        told = seeds(words.first, words.instances)
        table.add(name + batch, count, mean, most, str(honest), str(false), seeds=told)


if __name__ == "__main__":
    main()
