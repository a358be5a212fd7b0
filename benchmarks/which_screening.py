"""Which tool tells what matters: simulations of `gracezo.screen` and of Morris' method, and who is right.

Run: python -m benchmarks.which_screening [--seeds 5]

The table goes between the marks of docs/which-tool.md. Right: the inputs with the largest mu_star are those
that matter most in truth, as many as are named in the row. Morris' method is SALib's with r = 4.
Where all inputs matter, the correlation of the ranks with the true ones is given.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from benchmarks.page_table import made_with, put, seeds
from SALib.analyze import morris as analysis
from SALib.sample import morris as sampling
from scipy.stats import spearmanr

import gracezo

PAGE = Path("docs/which-tool.md")
Array = np.ndarray[Any, np.dtype[np.float64]]
Made = tuple[Callable[[Array], float], Array, int]


def _sum(weights: Array) -> Callable[[Array], float]:
    """Return a smooth function on [0, 1]^d whose effects are as large as the weights."""
    return lambda x: float(weights @ (x + 0.3 * x**2))


def few(seed: int) -> Made:
    """5 of 1,000 inputs matter."""
    random = np.random.default_rng(seed)
    weights = np.zeros(1000)
    weights[random.choice(1000, 5, replace=False)] = random.uniform(1, 2, 5)
    return _sum(weights), weights, 5


def tail(seed: int) -> Made:
    """5 of 1,000 matter, the others 1 % as much each."""
    _, weights, s = few(seed)
    weights = np.where(weights > 0, weights, 0.01 * np.random.default_rng(seed + 1).random(1000))
    return _sum(weights), weights, s


def product(seed: int) -> Made:
    """2 of 500 matter, only together: (x − ½)·(y − ½)."""
    i, j = np.random.default_rng(seed).choice(500, 2, replace=False).tolist()
    weights = np.zeros(500)
    weights[[i, j]] = 1.0
    return lambda x: float((x[i] - 0.5) * (x[j] - 0.5)), weights, 2


def twenty(seed: int) -> Made:
    """All of 20 inputs matter."""
    weights = np.random.default_rng(seed).uniform(0.5, 2, 20)
    return _sum(weights), weights, 20


def all_of_many(seed: int) -> Made:
    """All of 300 inputs matter."""
    weights = np.random.default_rng(seed).uniform(0.5, 2, 300)
    return _sum(weights), weights, 300


CASES = (few, tail, product, twenty, all_of_many)


def screened(f: Callable[[Array], float], d: int, seed: int) -> tuple[Array, int]:
    """Return mu_star of all inputs by `gracezo.screen`, and the simulations."""
    found = gracezo.screen(f, bounds=[(0.0, 1.0)] * d, seed=seed)
    effects = np.zeros(d)
    effects[found.indices] = found.mu_star
    return effects, found.queries


def morris(f: Callable[[Array], float], d: int, seed: int) -> tuple[Array, int]:
    """Return mu_star of all inputs by SALib, and the simulations."""
    problem = {"num_vars": d, "names": [f"x{i}" for i in range(d)], "bounds": [[0.0, 1.0]] * d}
    points = sampling.sample(problem, 4, num_levels=4, seed=seed)
    answers = np.array([f(x) for x in points])
    found = analysis.analyze(problem, points, answers, num_levels=4, seed=seed, num_resamples=2)
    return np.asarray(found["mu_star"], float), len(points)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    chosen = parser.parse_args()
    lines = ["| | `gracezo.screen` | Morris, r = 4 |", "|---|---|---|"]
    for case in CASES:
        cells = []
        for tool in (screened, morris):
            queries, right = [], []
            for seed in range(chosen.seeds):
                f, weights, s = case(seed)
                effects, spent = tool(f, weights.size, seed)
                queries.append(spent)
                if s < weights.size:
                    right.append(float(set(np.argsort(-effects)[:s]) == set(np.argsort(-weights)[:s])))
                else:
                    right.append(float(spearmanr(effects, weights).statistic))
            whole = (
                f"right in {sum(right):.0f} of {chosen.seeds}" if s < weights.size else f"{median(right):.2f}"
            )
            cells.append(f"{median(queries):,.0f}; {whole}")
        lines.append(f"| {(case.__doc__ or '').rstrip('.')} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    table = "\n".join(lines)
    put(PAGE, "which-screening", f"{table}\n\nSeeds {seeds(0, chosen.seeds)}; {made_with('SALib')}.")


if __name__ == "__main__":
    main()
