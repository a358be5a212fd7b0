from __future__ import annotations

import math
from typing import Any, Literal

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from gracezo.core.types import FloatArray
from gracezo.problems import Attack, football

FORMS: list[Literal["published", "printed"]] = ["published", "printed"]


def by_powers(a: FloatArray, x: FloatArray, u: int, v: int, *, hops: int, lam: float, form: str) -> float:
    """Return f by the definition, with matrices and their powers."""
    changed = np.maximum(a * (1 - abs(x)) + (1 - a) * abs(x), 0)
    root = np.maximum(np.sqrt(changed.sum(axis=1)), 1e-8)
    m = changed / root[:, None] / root[None, :]
    if form == "printed":
        walks = [np.linalg.matrix_power(m, w)[u, v] for w in range(1, hops + 1)]
    else:
        walks = [(np.linalg.matrix_power(m, w) @ m[u])[v] for w in range(hops)]
    return math.fsum(walks) + lam * math.fsum((x**2).ravel())


@st.composite
def matrices(draw: st.DrawFn) -> FloatArray:
    n = draw(st.integers(2, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    a = np.triu(rng.random((n, n)) < draw(st.floats(0, 1)), 1) * (
        rng.random((n, n)) if draw(st.booleans()) else 1.0
    )
    return a + a.T


@settings(deadline=None)
@given(
    a=matrices(),
    seed=st.integers(0, 2**32 - 1),
    scale=st.sampled_from([0.01, 0.5, 2.0]),
    hops=st.integers(1, 6),
    form=st.sampled_from(FORMS),
)
def test_the_formula(
    a: FloatArray, seed: int, scale: float, hops: int, form: Literal["published", "printed"]
) -> None:
    n = len(a)
    x = scale * np.random.default_rng(seed).standard_normal((n, n))
    expected = by_powers(a, x, n - 1, 0, hops=hops, lam=100 / n**2, form=form)
    assert Attack(n - 1, 0, graph=a, hops=hops, s=1, form=form)(x) == pytest.approx(expected, rel=1e-11)
    expected = by_powers(a, x, n - 1, 0, hops=hops, lam=0.0, form=form)
    assert Attack(n - 1, 0, graph=a, hops=hops, lam=0.0, s=1, form=form)(x) == pytest.approx(
        expected, rel=1e-11
    )


def test_the_papers_instance() -> None:
    f = Attack()
    assert (f.d, f.s, f.hops, f.form, f.optimum) == (13_225, 30, 4, "published", None)
    assert f.lam == 100 / 115**2
    assert f.vertices == tuple(range(115))
    assert not f.x0.any()
    a = nx.to_numpy_array(nx.from_edgelist(football().edges.tolist()), nodelist=range(115))
    expected = by_powers(a, np.zeros((115, 115)), 0, 1, hops=4, lam=f.lam, form="printed")
    assert f(f.x0) == pytest.approx(expected, rel=1e-12)


def test_the_forms_agree_where_the_change_is_symmetric() -> None:
    published, printed = Attack(), Attack(form="printed")
    assert published(published.x0) == pytest.approx(printed(printed.x0), rel=1e-15)
    x = np.random.default_rng(0).random((115, 115)) * 0.3
    assert published(x + x.T) == pytest.approx(printed(x + x.T), rel=1e-12)
    published, printed = Attack(lam=0.0), Attack(lam=0.0, form="printed")
    assert published(x) != pytest.approx(printed(x), rel=1e-3)


@pytest.mark.parametrize("form", FORMS)
def test_the_gradient_on_the_football_graph(form: Literal["published", "printed"]) -> None:
    f = Attack(form=form)
    rng = np.random.default_rng(1)
    x = rng.uniform(0.05, 0.9, f.d) * rng.choice([-1.0, 1.0], f.d)
    for _ in range(5):
        direction = rng.standard_normal(f.d)
        slope = (f(x + 1e-5 * direction) - f(x - 1e-5 * direction)) / 2e-5
        assert f.gradient(x) @ direction == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_the_gradient_at_the_start_is_the_slope_for_more(form: Literal["published", "printed"]) -> None:
    f = Attack(form=form)
    slopes = f.gradient(f.x0)
    step = 1e-7
    for place in (0, 1, 4, 115, 119, 5000, 13_224, int(np.argmax(abs(slopes)))):
        x = f.x0.copy()
        for side in (step, -step):  # f is even in each coordinate
            x[place] = side
            assert (f(x) - f(f.x0)) / step == pytest.approx(slopes[place], rel=1e-4, abs=1e-7)


def test_the_gradient_at_a_cut_edge_is_that_of_the_inside() -> None:
    f = Attack("a", "c", graph=[("a", "b"), ("b", "c"), ("a", "c")], s=1)
    x = np.full((3, 3), 0.3)
    x[0, 2] = 1.0
    inside = x.copy()
    inside[0, 2] -= 1e-6
    assert (f(x) - f(inside)) / 1e-6 == pytest.approx(f.gradient(x)[2], rel=1e-4)
    x[0, 2] = 1.5  # beyond, only the weight of the change is felt
    assert f.gradient(x)[2] == pytest.approx(2 * f.lam * 1.5)


@pytest.mark.parametrize(("form", "ratio"), [("published", 0.2057), ("printed", 0.1440)])
def test_the_floor_is_reached_and_not_passed(form: Literal["published", "printed"], ratio: float) -> None:
    f = Attack(form=form)
    x, step = f.x0.copy(), 8.0
    value = f(x)
    for _ in range(
        60
    ):  # projected descent, a step that worsens is halved: slower than L-BFGS, and independent of it
        trial = np.clip(x - step * f.gradient(x), 0, 1)
        if f(trial) < value:
            x, value = trial, f(trial)
        else:
            step /= 2
    assert f.minimum is not None
    assert f.minimum <= value < f.minimum * 1.01
    assert f.minimum / f(f.x0) == pytest.approx(ratio, abs=5e-5)


@pytest.mark.parametrize("change", [{"hops": 3}, {"lam": 0.1}, {"v": 2}, {"graph": football()}])
def test_no_floor_where_none_is_known(change: dict[str, Any]) -> None:
    assert Attack(**change).minimum is None


def test_a_vertex_without_edges_divides_by_no_zero() -> None:
    f = Attack(0, 1, graph=np.zeros((3, 3)), s=1)
    assert f(f.x0) == 0.0
    assert np.isfinite(f.gradient(f.x0)).all()


PAIRS = [("a", "b"), ("c", "b"), ("c", "d"), ("a", "c")]
MATRIX = np.array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]])


@pytest.mark.parametrize(
    "graph",
    [
        PAIRS,
        iter(PAIRS),
        np.array(PAIRS),
        nx.Graph([("a", "b"), *PAIRS]),
        nx.MultiGraph([("a", "b"), *PAIRS]),
        {"a": ["b", "c"], "b": [], "c": ["b", "d"], "d": []},
        {"a": ["b"], "b": "c", "c": ["d", "a"]},
    ],
    ids=["pairs", "iterator", "array", "networkx", "multigraph", "mapping", "mapping without leaves"],
)
def test_graphs_with_labels(graph: Any) -> None:
    f = Attack("a", "d", graph=graph, s=1)
    assert f.vertices == ("a", "b", "c", "d")
    x = np.random.default_rng(0).random((4, 4))
    assert f(x) == Attack(0, 3, graph=MATRIX, s=1)(x)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.coo_matrix, lambda m: m.astype(bool)])
def test_matrices(make: Any) -> None:
    x = np.random.default_rng(0).random((4, 4))
    expected = by_powers(MATRIX.astype(float), x, 0, 3, hops=4, lam=6.25, form="published")
    assert Attack(0, 3, graph=make(MATRIX), s=1)(x) == pytest.approx(expected, rel=1e-12)


def test_the_order_of_labels() -> None:
    assert Attack(0, 3, graph=[(7, 3), (0, 7)], s=1).vertices == (0, 3, 7)
    assert Attack("x", 3, graph=[("x", 3), (0, (1, 2))], s=1).vertices == ("x", 3, 0, (1, 2))
    assert Attack(2, 5, graph=nx.Graph([(5, 2), (1, 2)]), s=1).vertices == (5, 2, 1)
    edges = football().edges
    x = np.random.default_rng(0).random(13_225) * 0.1
    for graph in (edges, edges.tolist(), football()):
        assert Attack(graph=graph)(x) == Attack()(x)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"u": "z"}, r"u is 'z', which is not among the 4 vertices of the graph \('a', 'b', 'c', ...\)"),
        ({"v": 1}, "v is 1, which is not among"),
        ({"v": "a"}, "u and v are both 'a'"),
        ({"hops": 0}, "hops is 0"),
        ({"form": "draft"}, "form is 'draft'; it is 'published' or 'printed'"),
        ({"s": 17}, "s is 17"),
        ({"graph": np.zeros((3, 4))}, r"shape \(3, 4\); an adjacency matrix is square"),
        ({"graph": np.zeros(3)}, r"shape \(3,\)"),
        ({"graph": sparse.csr_array(np.zeros((3, 4)))}, r"shape \(3, 4\); an adjacency matrix is square"),
        ({"graph": 2 * np.eye(3)}, r"outside \[0, 1\]"),
        ({"graph": np.full((3, 3), np.nan)}, r"outside \[0, 1\]"),
        ({"graph": np.triu(np.ones((3, 3)))}, "not symmetric"),
        ({"graph": nx.DiGraph(PAIRS)}, "graph is directed"),
        (
            {"graph": [("a", "b"), ("a", "b", "c")]},
            r"edge 1 of graph is \('a', 'b', 'c'\); an edge is a pair",
        ),
        ({"graph": [1, 2]}, "edge 0 of graph is 1"),
    ],
)
def test_bad_input(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Attack(**{"u": "a", "v": "d", "graph": PAIRS, "s": 1, **arguments})


@pytest.mark.parametrize("graph", [5, "abc"])
def test_not_a_graph(graph: object) -> None:
    with pytest.raises(TypeError, match=f"graph is a {type(graph).__name__}; pass"):
        Attack(graph=graph)


def test_football() -> None:
    graph = football()
    assert graph.edges.shape == (613, 2)
    assert len(graph.teams) == len(set(graph.teams)) == len(graph.conferences) == 115
    assert graph.edges.min() == 0
    assert graph.edges.max() == 114
    assert len({frozenset(edge) for edge in graph.edges.tolist()}) == 613
    assert (graph.edges[:, 0] != graph.edges[:, 1]).all()
