"""Minimise a function that answers differently each time: the mean waiting time of a simulated clinic.

Of 500 settings of the schedule five matter. Each simulated day is random, so
a value has an error of some percent. `auto` measures that by itself, works
with it, and says how good its answer is.

Run: python examples/noisy.py   (writes out/noisy.png)
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np

import gracezo

mpl.use("Agg")
import matplotlib.pyplot as plt


class Clinic:
    """The simulator: waiting time over one random day, in minutes."""

    def __init__(self, settings: int, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.best = np.zeros(settings)
        self.best[self.random.choice(settings, 5, replace=False)] = [1.0, -0.8, 1.2, 0.7, -1.1]
        self.asked: list[float] = []

    def mean(self, x: np.ndarray) -> float:
        """What nobody can see: the mean over all days."""
        return 20.0 + 10.0 * float(((x - self.best) ** 2).sum())

    def __call__(self, x: np.ndarray) -> float:
        self.asked.append(self.mean(x) + 0.6 * self.random.standard_normal())
        return self.asked[-1]


def main(out: Path = Path("out"), settings: int = 500, max_queries: int = 600) -> gracezo.Result:
    clinic = Clinic(settings, seed=1)
    result = gracezo.minimize(clinic, np.zeros(settings), max_queries=max_queries, seed=0)
    print(result)
    print(
        f"mean over all days: {clinic.mean(result.x):.3f}; stated: {result.fun:.3f} ± {result.fun_error:.3f}"
    )

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
    left.plot(
        range(1, result.nfev + 1), clinic.asked, ".", color="tab:gray", markersize=3, label="each query"
    )
    trace = result.trace
    left.step(trace.queries, trace.values, where="post", color="tab:blue", label="current point")
    left.legend(loc="center right")
    left.set(xlabel="queries", ylabel="waiting time (minutes)", title="one value a day, all of them noisy")
    matter = np.flatnonzero(clinic.best)
    right.plot(clinic.best[matter], "o", color="tab:orange", fillstyle="none", markersize=9, label="best")
    right.plot(result.x[matter], "x", color="tab:blue", label="found")
    right.set(xticks=range(5), xticklabels=[f"setting {i}" for i in matter], title="the five that matter")
    right.legend()
    out.mkdir(parents=True, exist_ok=True)
    figure.savefig(out / "noisy.png", dpi=120)
    plt.close(figure)
    return result


if __name__ == "__main__":
    main()
