"""Bayesian optimisation beside `global`: BoTorch on all of a thousand coordinates, and on those that matter.

PYTHONPATH=src python -m benchmarks.trades.bayesian [--instances 1] [--first 900] [--page]

Needs BoTorch and PyTorch (`pip install botorch torch`), which are no dependency of ours. The functions are
those of `hidden.py`, D = 1,000, with 100 queries in all: a fit in a thousand dimensions takes seconds.

- `BoTorch`: SingleTaskGP with its default priors (length scales that grow with the dimension: Hvarfner,
  Hellsten & Nardi, ICML 2024), LogExpectedImprovement, 20 points of a Sobol sequence to begin with; x0 first.
- `screen, then BoTorch`: `gracezo.screen` over the box, and the same along the coordinates that are important
  with what is left of the queries, 2s + 2 points to begin with.
- `global`: as it is.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from benchmarks.page_table import PageTable, seeds
from benchmarks.trades.hidden import KINDS, D, Instance, Over

import gracezo
from gracezo.core.types import FloatArray, IntArray

QUERIES = 100
FIRST = 900
BOX = [(0.0, 1.0)] * D


class Budget:
    """An instance that takes no more than so many queries."""

    def __init__(self, f: Instance) -> None:
        self.f = f

    def __call__(self, x: FloatArray) -> float:
        """Return f, and count."""
        if self.f.calls == QUERIES:
            raise Over
        return self.f(x)


def improve(f: Budget, x: FloatArray, which: IntArray, begin: int, seed: int) -> None:
    """Let BoTorch minimise along some coordinates, until the queries are spent."""
    import torch  # noqa: PLC0415 - as the others not among what benchmarks need
    from botorch.acquisition import LogExpectedImprovement  # noqa: PLC0415
    from botorch.fit import fit_gpytorch_mll  # noqa: PLC0415
    from botorch.models import SingleTaskGP  # noqa: PLC0415
    from botorch.optim import optimize_acqf  # noqa: PLC0415
    from gpytorch.mlls import ExactMarginalLogLikelihood  # noqa: PLC0415

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    n = len(which)
    box = torch.stack([torch.zeros(n, dtype=torch.double), torch.ones(n, dtype=torch.double)])
    at = x.copy()

    def value(z: Any) -> list[float]:
        at[which] = z.numpy()
        return [f(at)]

    sobol = torch.quasirandom.SobolEngine(n, scramble=True, seed=seed)
    points = sobol.draw(begin, dtype=torch.double)
    values = torch.tensor([value(z) for z in points], dtype=torch.double)
    while True:
        scaled = (values - values.mean()) / values.std().clamp_min(1e-12)
        model = SingleTaskGP(points, -scaled)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        better = LogExpectedImprovement(model, best_f=(-scaled).max())
        new, _ = optimize_acqf(better, bounds=box, q=1, num_restarts=2, raw_samples=128)
        points = torch.cat([points, new])
        values = torch.cat([values, torch.tensor([value(new[0])], dtype=torch.double)])


def by_botorch(f: Budget, seed: int) -> None:
    f(f.f.x0)
    improve(f, f.f.x0, np.arange(D), 20, seed)


def by_both(f: Budget, seed: int) -> None:
    found = gracezo.screen(f, f.f.x0, bounds=BOX, seed=seed, max_queries=QUERIES)
    few = found.indices[found.important]
    if len(few):
        improve(f, f.f.x0, few, 2 * len(few) + 2, seed)


def by_global(f: Budget, seed: int) -> None:
    gracezo.minimize(f, f.f.x0, method="global", bounds=BOX, max_queries=QUERIES, seed=seed)


METHODS: dict[str, Callable[[Budget, int], None]] = {
    "BoTorch": by_botorch,
    "screen, then BoTorch": by_both,
    "global": by_global,
}


def run(method: str, name: str, seed: int) -> Instance:
    """Return an instance after its queries."""
    f = Instance(name, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            METHODS[method](Budget(f), seed)
        except (Over, gracezo.EvaluationError) as error:
            if not isinstance(error, Over) and not isinstance(error.__cause__, Over):
                raise
    assert f.calls <= QUERIES
    return f


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--instances", type=int, default=1)
    parser.add_argument("--first", type=int, default=FIRST)
    parser.add_argument("--page", action="store_true", help="write docs/results/global.md")
    words = parser.parse_args()
    head = ["100 queries", *METHODS]
    packages = ("torch", "botorch")
    sheet = PageTable("bayesian", "results/global.md", head, packages=packages, write=words.page)
    sheet.begin()
    for name in KINDS:
        cells = []
        for method in METHODS:
            done = [run(method, name, seed) for seed in range(words.first, words.first + words.instances)]
            solved = sum(f.solved < np.inf for f in done)
            left = float(np.median([f.left for f in done]))
            cells.append(f"{left:.2g} ({solved} solved)")
        sheet.add(name, *cells, seeds=seeds(words.first, words.instances))


if __name__ == "__main__":
    main()
