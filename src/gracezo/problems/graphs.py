"""Graphs of many kinds, read into vertex labels and an adjacency matrix."""

from __future__ import annotations

import csv
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np

from gracezo.core.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Football:
    """The games between American college football teams in the season 2000.

    Girvan & Newman, PNAS 99, 7821-7826 (2002).

    Attributes
    ----------
    edges : ndarray of int, shape (613, 2)
        The pairs of teams that met.
    teams : tuple of str
        The name of each of the 115 vertices.
    conferences : ndarray of int
        The conference of each vertex.

    Examples
    --------
    >>> graph = football()
    >>> u, v = graph.edges[0]
    >>> graph.teams[u], graph.teams[v]
    ('BrighamYoung', 'FloridaState')
    """

    edges: IntArray
    teams: tuple[str, ...]
    conferences: IntArray

    @property
    def nodes(self) -> range:
        """The vertices: 0 to 114."""
        return range(len(self.teams))


def football() -> Football:
    """Return the football graph that Attack runs on, with the names of its teams.

    Examples
    --------
    >>> graph = football()
    >>> graph.edges.shape
    (613, 2)
    >>> graph.teams[:2]
    ('BrighamYoung', 'FloridaState')
    """
    games, teams = _table("football_edges.csv"), _table("football_teams.csv")
    return Football(
        edges=np.array([[int(game["u"]), int(game["v"])] for game in games]),
        teams=tuple(team["team"] for team in teams),
        conferences=np.array([int(team["conference"]) for team in teams]),
    )


def _table(name: str) -> list[dict[str, str]]:
    text = resources.files("gracezo.problems").joinpath("data", name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def read_graph(graph: Any) -> tuple[tuple[Hashable, ...], FloatArray]:
    """Return the vertex labels of an undirected graph, in order, and its adjacency matrix.

    Parameters
    ----------
    graph
        One of:

        - an object with `nodes` and `edges`, such as a networkx graph (order of `nodes`, weights ignored);
        - a mapping from each vertex to its neighbours (order of appearance);
        - an adjacency matrix, a square NumPy or SciPy sparse array with entries from 0 to 1 (0, 1, ...);
        - pairs of vertices, an iterable or an array of shape (m, 2), in the order of the sorted labels,
          or of appearance when labels cannot be compared. A 2 x 2 array is read as a matrix.
    """
    if hasattr(graph, "toarray"):  # SciPy's sparse arrays and matrices, and all that take after them
        return _matrix(graph.toarray())
    if isinstance(graph, np.ndarray):
        if graph.ndim == 2 and graph.shape[0] == graph.shape[1]:
            return _matrix(graph)
        if graph.ndim != 2 or graph.shape[1] != 2:
            raise ValueError(
                f"graph is an array of shape {graph.shape}; an adjacency matrix is square, "
                "an edge list has shape (m, 2)"
            )
        graph = graph.tolist()
    if hasattr(graph, "nodes") and hasattr(graph, "edges"):
        if hasattr(graph, "is_directed") and graph.is_directed():
            raise ValueError("graph is directed; pass an undirected one, such as graph.to_undirected()")
        return _labelled(_called(graph.nodes), _called(graph.edges))
    if isinstance(graph, Mapping):
        return _labelled(graph, ((vertex, other) for vertex in graph for other in graph[vertex]))
    if isinstance(graph, Iterable) and not isinstance(graph, str):
        pairs = _pairs(graph)
        labels = list(dict.fromkeys(label for pair in pairs for label in pair))
        try:
            labels.sort()
        except TypeError:  # labels of several kinds have no order but that of appearance
            labels = list(dict.fromkeys(label for pair in pairs for label in pair))
        return _labelled(labels, pairs)
    raise TypeError(
        f"graph is a {type(graph).__name__}; pass a networkx-like graph, pairs of vertices, "
        "a mapping to neighbours, or an adjacency matrix"
    )


def _called(view: Any) -> Iterable[Any]:
    """Return what a graph lists, as an attribute or as a method (networkx offers both)."""
    listed: Iterable[Any] = view() if callable(view) else view
    return listed


def _pairs(edges: Iterable[Any]) -> list[tuple[Any, Any]]:
    pairs = []
    for place, edge in enumerate(edges):
        try:
            first, second = edge
        except (TypeError, ValueError):
            raise ValueError(
                f"edge {place} of graph is {edge!r}; an edge is a pair of vertices "
                "(pass an adjacency matrix as an array)"
            ) from None
        pairs.append((first, second))
    return pairs


def _labelled(vertices: Iterable[Any], edges: Iterable[Any]) -> tuple[tuple[Hashable, ...], FloatArray]:
    pairs = _pairs(edges)
    labels = dict.fromkeys(vertices)
    labels.update(dict.fromkeys(label for pair in pairs for label in pair))
    place = {label: number for number, label in enumerate(labels)}
    adjacency = np.zeros((len(place), len(place)))
    for first, second in pairs:
        adjacency[place[first], place[second]] = adjacency[place[second], place[first]] = 1.0
    return tuple(place), adjacency


def _matrix(matrix: np.ndarray[Any, Any]) -> tuple[tuple[Hashable, ...], FloatArray]:
    adjacency = np.asarray(matrix, dtype=np.float64)
    if adjacency.ndim != 2 or adjacency.shape[0] != adjacency.shape[1]:
        raise ValueError(f"graph is a matrix of shape {adjacency.shape}; an adjacency matrix is square")
    if not ((adjacency >= 0) & (adjacency <= 1)).all():
        raise ValueError(
            "graph is a matrix with entries outside [0, 1]; those of an adjacency matrix lie in it"
        )
    if (adjacency != adjacency.T).any():
        raise ValueError("graph is a matrix that is not symmetric; the graph must be undirected")
    return tuple(range(len(adjacency))), adjacency
