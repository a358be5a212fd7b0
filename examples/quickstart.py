"""GraCe on the 10,000-dimensional Distance function of the paper: find the ten coordinates that matter.

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


def main(out: Path = Path("out"), max_steps: int = 100) -> gracezo.Result:
    problem = gracezo.problems.Distance(seed=0)
    result = gracezo.minimize(
        problem,
        problem.x0,
        method="grace",
        sparsity=problem.s,
        max_steps=max_steps,
        seed=0,
        progress=True,
    )

    console = Console()
    truth = np.flatnonzero(problem.optimum)
    table = Table(title="The coordinates that matter")
    for heading in ("coordinate", "true value", "found"):
        table.add_column(heading, justify="right")
    for i in truth:
        table.add_row(f"{i}", f"{problem.optimum[i]:.4f}", f"{result.x[i]:.4f}")
    console.print(table)
    console.print(
        f"f fell to {result.fun / result.trace.values[0]:.2e} of its start with {result.nfev:,} queries "
        f"in {problem.d:,} dimensions; {len(np.intersect1d(result.support[: problem.s], truth))} of the "
        f"{problem.s} largest changes are true ones. {result.message.capitalize()}."
    )

    out.mkdir(parents=True, exist_ok=True)
    console.print(f"Convergence: {picture(result, out / 'quickstart.png')}")
    return result


def picture(result: gracezo.Result, path: Path) -> Path:
    figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
    best = np.minimum.accumulate(result.trace.values) / result.trace.values[0]
    axes.step(result.trace.queries, best, where="post", color="black")
    axes.set(
        yscale="log", xlabel="queries", ylabel="best f / f(x0)", title="GraCe on Distance, d = 10,000, s = 10"
    )
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=150)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
