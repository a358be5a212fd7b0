"""Parameters in different units: pressures in pascals, lengths in metres, angles in degrees.

The misfit of a machine depends on 300 of each; two of each matter. `scale=`
says what a typical change of each parameter is, and is all there is to say.
Beside it, the same run without: everything is looked at in steps of one.

Run: python examples/units.py   (writes out/units.png)
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np

import gracezo

mpl.use("Agg")
import matplotlib.pyplot as plt

UNITS = {"pressure": 1e5, "length": 1e-3, "angle": 10.0}  # Pa, m, degrees: a typical change


def main(out: Path = Path("out"), each: int = 300) -> gracezo.Result:
    scale = np.repeat(list(UNITS.values()), each)
    names = [f"{unit} {i}" for unit in UNITS for i in range(each)]
    best = np.zeros(3 * each)
    best[[each // 7, each // 2, each + 5, 2 * each - 9, 2 * each + each // 3, 3 * each - 2]] = [
        1,
        -0.6,
        0.8,
        1.1,
        -1,
        0.5,
    ]

    def misfit(x: np.ndarray) -> float:
        return float(((x / scale - best) ** 2).sum())

    runs = {
        "scale=...": gracezo.minimize(
            misfit, np.zeros(3 * each), scale=scale, names=names, max_queries=400, seed=0
        ),
        "without": gracezo.minimize(misfit, np.zeros(3 * each), names=names, max_queries=400, seed=0),
    }
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
    for (name, run), colour in zip(runs.items(), ("tab:blue", "tab:orange"), strict=True):
        print(f"{name}: {run}\n")
        left.step(run.trace.queries, run.trace.values, where="post", color=colour)
        left.plot(run.nfev, run.fun, "o", color=colour)
        left.annotate(
            f"  {name}: {run.nfev} queries",
            (run.nfev, run.fun),
            color=colour,
            va="bottom",
            ha="right" if run.nfev > 100 else "left",
        )
    left.set(yscale="log", xlabel="queries", ylabel="misfit", title="the same machine")
    result = runs["scale=..."]
    indices, change = result.change
    right.barh(result.names.of(indices), np.abs(change), color="tab:blue")
    right.set(xscale="log", xlabel="change found, in its own unit", title="eight orders of magnitude apart")
    right.invert_yaxis()
    out.mkdir(parents=True, exist_ok=True)
    figure.savefig(out / "units.png", dpi=120)
    plt.close(figure)
    return result


if __name__ == "__main__":
    main()
