"""Find the ten coordinates that matter among 10,000, by values alone: `auto` beside two others.

The Distance function of the paper. `auto` is told nothing. GraCe as published
is told that ten coordinates matter, and a step size. SciPy's L-BFGS with finite
differences needs 10,001 queries for each gradient.

Run: python examples/quickstart.py   (writes out/quickstart.png and a report, out/quickstart.html)
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from scipy.optimize import minimize

import gracezo

mpl.use("Agg")
import matplotlib.pyplot as plt


def main(out: Path = Path("out"), d: int = 10_000) -> gracezo.Result:
    problem = gracezo.problems.Distance(seed=0, d=d)
    goal = 1e-8 * problem(problem.x0)
    out.mkdir(parents=True, exist_ok=True)
    journal = out / "quickstart.db"
    journal.unlink(missing_ok=True)  # a run that is kept there would only be told again

    print(f"auto, {d:,} coordinates, until f is 1e-8 of its start:")
    result = gracezo.minimize(problem, problem.x0, target=goal, seed=0, progress=True, journal=journal)
    print(f"\n{result}\n\ntrue values: {problem.optimum[result.support].round(5).tolist()}")
    report = result.report(out / "quickstart.html", journal=journal)
    print(f"report, for your browser: {report.resolve().as_uri()}")

    published: dict[str, Any] = {
        "method": "grace",
        "sparsity": problem.s,
        "options": {"variant": "published"},
    }
    grace = gracezo.minimize(problem, problem.x0, max_steps=100, seed=0, **published)

    values: list[float] = []

    def counted(x: np.ndarray) -> float:
        values.append(problem(x))
        return values[-1]

    many = {"maxfun": 10**7, "ftol": 0.0}
    minimize(counted, problem.x0, method="L-BFGS-B", options=many)

    lines: dict[str, tuple[str, str, str, Any, Any]] = {
        "auto": ("tab:blue", "left", "bottom", result.trace.queries, result.trace.values),
        "GraCe, as published": ("tab:orange", "right", "top", grace.trace.queries, grace.trace.values),
        "L-BFGS, differences": ("tab:gray", "right", "bottom", np.arange(1, len(values) + 1), values),
    }
    figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
    for name, (colour, side, height, queries, reached) in lines.items():
        best = np.minimum.accumulate(reached) / reached[0]
        label, end = f"{name}\n{queries[-1]:,} queries", (queries[-1], best[-1])
        print(f"{name}: {queries[-1]:,} queries, and f is {best[-1]:.0e} of its start")
        away = (8 if side == "left" else -8, 4 if height == "bottom" else -6)
        axis.step(queries, best, where="post", color=colour, linewidth=2)
        axis.plot(*end, "o", color=colour)
        words: Any = {"ha": side, "va": height, "color": colour, "weight": "bold", "size": 12}
        axis.annotate(label, end, away, textcoords="offset points", **words)
    axis.set(xscale="log", yscale="log", xlabel="queries", ylabel="f, as a share of its start")
    axis.set_title(f"{d:,} parameters, ten of them matter")
    axis.grid(alpha=0.3)
    figure.savefig(out / "quickstart.png", dpi=150)
    plt.close(figure)
    return result


if __name__ == "__main__":
    main()
