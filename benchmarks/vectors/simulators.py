"""Real simulators: EPANET through wntr (pip install wntr)."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from benchmarks.vectors.tables import Row

import gracezo
from gracezo.core.types import FloatArray

_TO = 1e-4  # of the first cost


class Network:
    """EPANET's Net6 in steady state: pressures at m junctions, log factors on the roughness of all pipes."""

    def __init__(self, m: int, seed: int) -> None:
        wntr: Any = import_module("wntr")
        self._folder = TemporaryDirectory()  # EPANET writes files
        self._simulator = wntr.sim.EpanetSimulator
        self._network = wntr.network.WaterNetworkModel("Net6")
        self._network.options.time.duration = 0
        self._network.options.hydraulic.accuracy = 1e-8
        self._pipes = [self._network.get_link(name) for name in self._network.pipe_name_list]
        self._rough = np.array([pipe.roughness for pipe in self._pipes])
        random = np.random.default_rng(seed)
        self._sensors = random.choice(self._network.junction_name_list, m, replace=False).tolist()
        truth = np.zeros(len(self._pipes))
        wrong = random.choice(len(truth), 5, replace=False)
        truth[wrong] = random.choice([-1.0, 1.0], 5) * random.uniform(0.4, 0.9, 5)
        self.costs: list[float] = []
        self._data = self._pressures(truth)

    @property
    def d(self) -> int:
        """The number of pipes."""
        return len(self._pipes)

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return the differences of the pressures."""
        residuals = self._pressures(x) - self._data
        self.costs.append(0.5 * float(residuals @ residuals))
        return residuals

    def _pressures(self, x: FloatArray) -> FloatArray:
        for pipe, rough in zip(self._pipes, self._rough * np.exp(x), strict=True):
            pipe.roughness = float(rough)
        results = self._simulator(self._network).run_sim(file_prefix=f"{self._folder.name}/net")
        pressures: FloatArray = results.node["pressure"].loc[0, self._sensors].to_numpy(np.float64)
        return pressures


def epanet(instances: int, first: int) -> Iterator[Row]:
    """Count queries until the cost is 1e-4 of the first; the message must say that all moved."""
    for m, bar in ((10, 27), (30, 50), (100, 120)):
        queries, said = [], True
        for seed in range(first, first + max(2, instances // 10)):
            network = Network(m, seed)
            result = gracezo.least_squares(
                network, np.zeros(network.d), bounds=[(-3.0, 3.0)] * network.d, seed=seed, max_queries=300
            )
            reached = np.flatnonzero(np.array(network.costs) <= _TO * network.costs[0])
            queries.append(float(reached[0] + 1) if len(reached) else np.inf)
            said = said and "moved all parameters" in result.message
        scipy_queries = "15,321" if m == 10 else ""
        remark = "the message says so" if said else "the message does not say so"
        yield Row(f"EPANET Net6, d = 3,828, m = {m}", scipy_queries, np.array(queries), bar, remark, said)
