"""Calibrate a water network: the roughness of 3,829 pipes, from the pressure at ten gauges (EPANET).

In the model of a town's network (Net6, which comes with wntr) five of the wider pipes are rougher or smoother
than on paper, nobody knows which. Every pipe acts on every pressure, so no five can be told from ten numbers:
the fit moves all pipes a little, says so, and makes the model right at the gauges, not everywhere.

Run: pip install "gracezo[simulators,plots]"; python examples/water.py   (writes out/water.png)
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib as mpl
import numpy as np
import wntr
from matplotlib.collections import LineCollection

import gracezo

mpl.use("Agg")
import matplotlib.pyplot as plt


class Network:
    """The simulator: pressures at all junctions (metres), from logarithms of roughness over that on paper."""

    def __init__(self, name: str) -> None:
        self.model = wntr.network.WaterNetworkModel(name)
        self.model.options.time.duration = 0  # the steady state
        self.model.options.hydraulic.accuracy = 1e-8
        self.pipes = [self.model.get_link(pipe) for pipe in self.model.pipe_name_list]
        self.paper = np.array([pipe.roughness for pipe in self.pipes])

    def __call__(self, logs: np.ndarray) -> np.ndarray:
        for pipe, roughness in zip(self.pipes, self.paper * np.exp(logs), strict=True):
            pipe.roughness = float(roughness)
        with TemporaryDirectory() as folder:  # EPANET writes files
            run = wntr.sim.EpanetSimulator(self.model).run_sim(file_prefix=f"{folder}/net")
        return np.array(run.node["pressure"].loc[0, self.model.junction_name_list], np.float64)


def main(out: Path = Path("out"), name: str = "Net6", gauges: int = 10) -> gracezo.Result:
    random = np.random.default_rng(0)
    simulate = Network(name)
    paper, true = np.zeros(len(simulate.pipes)), np.zeros(len(simulate.pipes))
    wide = np.argsort([pipe.diameter for pipe in simulate.pipes])[-paper.size // 10 :]
    true[random.choice(wide, 5, replace=False)] = [-0.9, -0.7, -0.5, 0.5, 0.7]
    measured = simulate(true)
    gauge = random.choice(measured.size, gauges, replace=False)

    def residuals(logs: np.ndarray) -> np.ndarray:
        return np.take(simulate(logs) - measured, gauge)

    box = [(-3.0, 3.0)] * paper.size
    result = gracezo.least_squares(residuals, paper, bounds=box, ftol=1e-6, max_queries=200, seed=0)
    print(result)
    misfits = [np.maximum(np.abs(simulate(logs) - measured), 1e-6) for logs in (paper, result.x)]
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    left.loglog(*misfits, ".", color="tab:gray", markersize=2, label="other junctions")
    left.loglog(*(one[gauge] for one in misfits), "o", color="tab:blue", label=f"the {gauges} gauges")
    left.loglog([1e-6, 1], [1e-6, 1], color="black", linewidth=0.5)
    left.set(xlabel="misfit on paper (m)", ylabel="calibrated (m)", title=f"{result.nfev} runs of EPANET")
    place = simulate.model.query_node_attribute("coordinates")
    ends = np.array([(place[pipe.start_node_name], place[pipe.end_node_name]) for pipe in simulate.pipes])
    lines = right.add_collection(LineCollection(list(ends), array=result.x, cmap="coolwarm"))
    right.plot(*ends[true != 0].mean(axis=1).T, "kx", markersize=9, label="wrong in truth")
    right.set(xticks=[], yticks=[], title=f"all {paper.size:,} pipes were moved, none is named")
    figure.colorbar(lines, ax=right, label="log(roughness / paper)")
    left.legend(loc="upper left")
    right.legend()
    out.mkdir(exist_ok=True)
    figure.savefig(out / "water.png", dpi=120)
    return result


if __name__ == "__main__":
    main()
