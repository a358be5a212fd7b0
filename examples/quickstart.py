"""Find the ten coordinates that matter among 10,000, on the Distance function of the paper, by values alone.

`auto` is told nothing. GraCe as published is told that ten coordinates
matter, and a step size; it runs beside it for the picture.

Run: python examples/quickstart.py   (writes out/quickstart.png)
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from rich.console import Console
from rich.table import Table

import gracezo

mpl.use("Agg")
import matplotlib.pyplot as plt


def main(out: Path = Path("out")) -> None:
    console = Console()
    problem = gracezo.problems.Distance(seed=0)
    goal = 1e-8 * problem(problem.x0)

    console.print(f"auto, {problem.d:,} coordinates, until f is 1e-8 of its start:")
    result = gracezo.minimize(problem, problem.x0, target=goal, seed=0, progress=True)
    console.print(coordinates(problem, result))
    console.print(f"{result.nfev} queries; {result.message}.\n")

    console.print("GraCe as published, told the sparsity, 100 steps:")
    grace = gracezo.minimize(
        problem,
        problem.x0,
        method="grace",
        sparsity=problem.s,
        max_steps=100,
        seed=0,
        progress=True,
        options={"variant": "published"},
    )
    console.print(f"f fell to {grace.fun / grace.trace.values[0]:.1e} of its start.\n")

    out.mkdir(parents=True, exist_ok=True)
    console.print(f"Convergence: {picture({'auto': result, 'GraCe': grace}, out / 'quickstart.png')}")


def coordinates(problem: gracezo.problems.Distance, result: gracezo.Result) -> Table:
    table = Table(title="The coordinates that matter")
    for heading in ("coordinate", "true value", "found"):
        table.add_column(heading, justify="right")
    for i in np.flatnonzero(problem.optimum):
        table.add_row(f"{i}", f"{problem.optimum[i]:.5f}", f"{result.x[i]:.5f}")
    return table


def picture(results: dict[str, gracezo.Result], path: Path) -> Path:
    figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
    for (name, result), line in zip(results.items(), ("-", "--"), strict=True):
        best = np.minimum.accumulate(result.trace.values) / result.trace.values[0]
        label = f"{name}: {best[-1]:.0e} after {result.nfev:,} queries"
        axes.step(result.trace.queries, best, line, where="post", color="black", label=label)
        axes.plot(result.trace.queries[-1], best[-1], "o", color="black", markersize=4)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="queries",
        ylabel="best f / f(x0)",
        title="Distance, d = 10,000, ten coordinates matter",
    )
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    figure.savefig(path, dpi=150)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
