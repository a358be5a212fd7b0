"""Find the ten coordinates that matter among 10,000, on the Distance function of the paper, by values alone.

`auto` is told nothing. GraCe as published is told that ten coordinates
matter, and a step size; it runs beside it for the picture.

Run: python examples/quickstart.py   (writes out/quickstart.png, and out/quickstart.html: a report of the run)
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

    out.mkdir(parents=True, exist_ok=True)
    journal = out / "quickstart.db"
    journal.unlink(missing_ok=True)  # a run that is kept there would only be told again

    console.print(f"auto, {problem.d:,} coordinates, until f is 1e-8 of its start:")
    result = gracezo.minimize(problem, problem.x0, target=goal, seed=0, progress=True, journal=journal)
    console.print(f"\n{result}\n", highlight=False)
    console.print(staircase(result), highlight=False)
    console.print(coordinates(problem, result))
    report = result.report(out / "quickstart.html", journal=journal)
    console.print(f"Report, for your browser: {report.resolve().as_uri()}\n", soft_wrap=True)

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

    console.print(f"Convergence: {picture({'auto': result, 'GraCe': grace}, out / 'quickstart.png')}")


def staircase(result: gracezo.Result, width: int = 60, height: int = 8) -> str:
    """Draw how f fell: its best value against the queries."""
    best = np.minimum.accumulate(result.trace.values)
    queries = np.linspace(1, result.nfev, width)
    levels = best[np.searchsorted(result.trace.queries, queries, side="right") - 1]
    shares = (levels - best[-1]) / (best[0] - best[-1])
    rows = [
        "".join("█" if share * height > height - 1 - row else " " for share in shares).rstrip()
        for row in range(height)
    ]
    marks = {0: f"{result.trace.values[0]:.1e}", height - 1: f"{result.fun:.1e}"}
    lines = [f"{marks.get(row, ''):>8} │{text}" for row, text in enumerate(rows)]
    foot = f"{'f':>8} └{'─' * width}"
    return "\n".join([*lines, foot, f"{'':>10}1{f'{result.nfev} queries':>{width - 1}}"])


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
