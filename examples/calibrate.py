"""Calibrate a simulator with many outputs: 400 rate constants, from ten concentrations over time.

Of 400 reactions few take place when only species 0 is poured in; nobody knows which. Their rates in the
handbook are off by up to a factor of e. Ten species are measured at twelve times, with 1 % of noise.

Run: python examples/calibrate.py   (writes out/calibrate.png)
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from scipy.linalg import expm

import gracezo

mpl.use("Agg")
import matplotlib.pyplot as plt

TIMES = 0.7 * np.arange(1, 13)


class Reactions:
    """The simulator: concentrations at twelve times, from the logarithms of all rates over the handbook's."""

    def __init__(self, species: int, random: np.random.Generator) -> None:
        chain = np.arange(7)  # 0 → 1 → … → 6 take place; all others start from what is never there
        others = random.integers(species // 2, species, (2, 2 * species - 6))
        order = random.permutation(2 * species)
        self.source = np.concatenate([chain[:-1], others[0]])[order]
        self.product = np.concatenate([chain[1:], others[1]])[order]
        self.active, self.species = np.flatnonzero(self.source < 6), species

    def __call__(self, logs: np.ndarray) -> np.ndarray:
        flow = np.zeros((self.species, self.species))
        np.add.at(flow, (self.product, self.source), np.exp(logs))
        np.add.at(flow, (self.source, self.source), -np.exp(logs))
        state, step = np.eye(self.species)[0], expm(TIMES[0] * flow)
        return np.array([state := step @ state for _ in TIMES])[:, :10]


def main(out: Path = Path("out"), species: int = 200) -> gracezo.Result:
    random = np.random.default_rng(0)
    simulate, handbook = Reactions(species, random), np.zeros(2 * species)
    true = random.uniform(-1, 1, handbook.size)
    noise = 0.01 * simulate(true).mean()
    measured = random.normal(simulate(true), noise)

    def residuals(logs: np.ndarray) -> np.ndarray:
        return np.ravel((simulate(logs) - measured) / noise)

    names = [f"{i}: {simulate.source[i]} → {simulate.product[i]}" for i in range(2 * species)]
    result = gracezo.least_squares(residuals, handbook, names=names, max_queries=400, seed=0)
    print(result)
    draw(simulate, measured, true, result, out)
    return result


def draw(simulate: Reactions, seen: np.ndarray, true: np.ndarray, result: gracezo.Result, out: Path) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
    for kind, colour, logs in (("handbook", "tab:gray", 0 * true), ("calibrated", "tab:blue", result.x)):
        left.plot(TIMES, simulate(logs)[:, :7], color=colour, linewidth=1)[0].set_label(kind)
    left.plot(TIMES, seen[:, :7], "o", color="tab:orange", markersize=4)[0].set_label("measured")
    left.set(xlabel="time", ylabel="concentration", title=f"seven species; {result.nfev} simulations")
    left.legend()
    place = np.arange(simulate.active.size)
    right.plot(place, true[simulate.active], "o", color="tab:orange", fillstyle="none", label="true")
    right.plot(place, result.x[simulate.active], "x", color="tab:blue", label="found")
    right.set(xticks=place, xticklabels=result.names.of(simulate.active), ylabel="log(rate / handbook)")
    right.set_title(f"the {place.size} of {true.size} reactions that take place")
    right.legend()
    out.mkdir(exist_ok=True)
    figure.savefig(out / "calibrate.png", dpi=120)


if __name__ == "__main__":
    main()
