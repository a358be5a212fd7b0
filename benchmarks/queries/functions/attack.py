"""The paper's Attack on several pairs of vertices and several graphs.

All pairs are within three hops of each other: farther ones have little connectivity to lose.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from benchmarks.queries.floors import known
from benchmarks.queries.functions.paper import wrapped
from benchmarks.queries.problem import Problem

from gracezo.core.types import FloatArray
from gracezo.problems import Attack, football


def random_graph(seed: int, vertices: int, degree: float) -> FloatArray:
    """Return the adjacency matrix of an Erdős–Rényi graph on a ring, which keeps it connected."""
    upper = np.triu(np.random.default_rng(seed).random((vertices, vertices)) < degree / vertices, 1)
    ring = np.roll(np.eye(vertices), 1, axis=1)
    adjacency: FloatArray = np.maximum.reduce([upper, upper.T, ring, ring.T]).astype(np.float64)
    return adjacency


def grid_graph(side: int) -> FloatArray:
    """Return the adjacency matrix of a square grid; vertex (row, column) is row·side + column."""
    path = np.eye(side, k=1) + np.eye(side, k=-1)
    adjacency: FloatArray = np.kron(path, np.eye(side)) + np.kron(np.eye(side), path)
    return adjacency


def _attack(name: str, about: str, graph: Callable[[], Any], u: int, v: int) -> Problem:
    return wrapped(Attack(u, v, graph()), about, known(name))


def _named(name: str, *arguments: Any) -> tuple[str, Callable[[], Problem]]:
    return name, partial(_attack, name, *arguments)


_random_60, _random_120 = partial(random_graph, 7201, 60, 6.0), partial(random_graph, 7202, 120, 8.0)

PROBLEMS: dict[str, Callable[[], Problem]] = dict(
    [
        _named("attack-football-0-1", "football graph, the paper's pair", football, 0, 1),
        _named("attack-football-12-61", "football graph", football, 12, 61),
        _named("attack-football-33-40", "football graph", football, 33, 40),
        _named("attack-football-77-104", "football graph", football, 77, 104),
        _named("attack-random-60", "random graph of 60 vertices", _random_60, 5, 7),
        _named("attack-random-120", "random graph of 120 vertices", _random_120, 30, 33),
        _named(
            "attack-grid-10", "10 × 10 grid, across the diagonal of a cell", partial(grid_graph, 10), 44, 55
        ),
    ]
)
