"""Real simulators: EPANET through wntr, flux balance through cobra (pip install gracezo[simulators])."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.resources import files
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from benchmarks.vectors.tables import Row

import gracezo
from gracezo.core.types import FloatArray

_TO = 1e-4  # of the first cost
_ROUNDING = 2.0**-18 / 12.0**0.5  # metres: of a pressure of 32 to 64, in single precision
_ABOVE = 10.0  # times the cost that rounding makes: what is to be reached


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
        self.costs: list[float] = []
        right = self._pressures(np.zeros(len(self._pipes)))
        self._data = right
        # Drawn again: pipes of which the sensors see so little that 1e-4 of the cost drowns in rounding.
        while _TO * np.sum((self._data - right) ** 2) < _ABOVE * m * _ROUNDING**2:
            truth = np.zeros(len(self._pipes))
            wrong = random.choice(len(truth), 5, replace=False)
            truth[wrong] = random.choice([-1.0, 1.0], 5) * random.uniform(0.4, 0.9, 5)
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


SOURCES = (  # of carbon
    "glc__D", "fru", "gal", "man", "xyl__D", "arab__L", "glyc", "succ", "ac", "pyr", "lac__D", "mal__L",
)  # fmt: skip


class Growth:
    """E. coli's growth on carbon sources, by flux balance (iJO1366, which comes with cobra).

    x has a relative change of every flux bound that is not zero: of 3,210. The source takes the place of
    glucose, with its capacity.
    """

    def __init__(self) -> None:
        cobra: Any = import_module("cobra")
        self._model = cobra.io.read_sbml_model(str(files("cobra") / "data" / "iJO1366.xml.gz"))
        self._reactions = list(self._model.reactions)
        self._lower = np.array([one.lower_bound for one in self._reactions])
        self._upper = np.array([one.upper_bound for one in self._reactions])
        self._moves = np.flatnonzero(self._lower), np.flatnonzero(self._upper)
        self._glucose = self._model.reactions.get_by_id("EX_glc__D_e")
        self.names = [f"{self._reactions[i].id} lower" for i in self._moves[0]]
        self.names += [f"{self._reactions[i].id} upper" for i in self._moves[1]]
        self.calls = 0

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return the growth rate on each of the sources."""
        self.calls += 1
        lower, upper = self._lower.copy(), self._upper.copy()
        below = len(self._moves[0])
        lower[self._moves[0]] *= 1.0 + x[:below]
        upper[self._moves[1]] *= 1.0 + x[below:]
        for one, low, high in zip(self._reactions, lower, np.maximum(lower, upper), strict=True):
            one.bounds = (float(low), float(high))
        capacity = self._glucose.lower_bound
        self._glucose.lower_bound = 0.0
        growth = []
        for source in SOURCES:
            uptake = self._model.reactions.get_by_id(f"EX_{source}_e")
            before = uptake.lower_bound
            uptake.lower_bound = capacity
            growth.append(self._model.slim_optimize())
            uptake.lower_bound = before
        return np.array(growth)


def cobra(instances: int, first: int) -> Iterator[Row]:
    """Count queries until the bounds are named on which growth depends."""
    growth = Growth()
    queries, named = [], True
    for seed in range(first, first + max(2, instances // 4)):
        growth.calls = 0
        found = gracezo.estimate_jacobian(growth, np.zeros(len(growth.names)), names=growth.names, seed=seed)
        assert found.queries == growth.calls
        queries.append(found.queries)
        which = {growth.names[i] for i in found.columns.tolist()}
        named = named and which == {"EX_glc__D_e lower", "ATPM lower"}
    remark = (
        "glucose's capacity and the ATP for maintenance, and no other" if named else "not both, or others too"
    )
    yield Row("cobra iJO1366, d = 3,210, 12 media", "3,211", np.array(queries), 7, remark, named)


def epanet(instances: int, first: int) -> Iterator[Row]:
    """Count queries until the cost is 1e-4 of the first; the message must say that all moved."""
    for m, bar in ((10, 27), (30, 50), (100, 120)):
        queries, missed, said = [], 0, True
        for seed in range(first, first + max(2, instances // 4)):
            network = Network(m, seed)
            result = gracezo.least_squares(
                network, np.zeros(network.d), bounds=[(-3.0, 3.0)] * network.d, seed=seed, max_queries=2 * bar
            )
            reached = np.flatnonzero(np.array(network.costs) <= _TO * network.costs[0])
            missed += not len(reached)
            queries.append(float(reached[0] + 1) if len(reached) else 2.0 * bar)
            said = said and "moved all parameters" in result.message
        remark = "the message says that all were moved" if said else "the message does not say so"
        if missed:
            remark += f"; {missed} of {len(queries)} did not arrive within {2 * bar}, and count as that"
        scipy_queries = "15,321" if m == 10 else ""
        holds = said and not missed
        yield Row(f"EPANET Net6, d = 3,829, m = {m}", scipy_queries, np.array(queries), bar, remark, holds)
