"""Which of 5,000 parameters of a simulator matter? A screening over their whole ranges.

The load on a power grid: 5,000 customers, each with a range of consumption. The
largest current depends on few of them: those behind the line that is nearest
to its limit. Morris' method takes 5,001 simulations for each of its trajectories.

Run: python examples/matter.py   (writes out/matter.png)
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np

import gracezo

mpl.use("Agg")
import matplotlib.pyplot as plt


class Grid:
    """The simulator: customers behind lines, eight large ones behind the line that is loaded most."""

    def __init__(self, customers: int) -> None:
        random = np.random.default_rng(0)
        self.large = random.choice(customers, 8, replace=False)
        self.power = np.linspace(1.0, 3.0, 8)
        self.small = 1e-4 * random.random(customers)

    def __call__(self, loads: np.ndarray) -> float:
        drawn = self.power @ loads[self.large] + self.small @ loads
        return float(drawn + 0.02 * drawn**2)  # a line that is loaded more gets warmer, and loses more


def main(out: Path = Path("out"), customers: int = 5000) -> gracezo.Screening:
    grid = Grid(customers)
    found = gracezo.screen(
        grid,
        bounds=[(0.0, 1.0)] * customers,
        names=[f"customer {i}" for i in range(customers)],
        seed=0,
    )
    print(found)
    print(found.to_df().head(10))

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
    shown = found.indices[:10]
    left.barh(found.names.of(shown), found.mu_star[:10], xerr=found.mu_star_conf[:10], color="tab:blue")
    left.invert_yaxis()
    left.set(xlabel="effect over the whole range (mu_star)", title=f"found by {found.queries} simulations")
    right.bar(["this", "Morris, r = 4"], [found.queries, 4 * (customers + 1)], color=["tab:blue", "tab:gray"])
    right.bar_label(right.containers[0], fmt="{:,.0f}")
    right.set(yscale="log", ylabel="simulations", title=f"{customers:,} customers")
    out.mkdir(parents=True, exist_ok=True)
    figure.savefig(out / "matter.png", dpi=120)
    plt.close(figure)
    return found


if __name__ == "__main__":
    main()
