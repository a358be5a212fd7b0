"""Attack: cut two vertices of a graph off from each other with few changed edges.

Reference: Qiu & Tong, "Gradient Compressed Sensing", ICML 2024, section 5.1.
Symbols: A the adjacency matrix, X the change, Ã = max(A ∘ (1 − |X|) + (1 − A) ∘ |X|, 0),
D the diagonal of Ã's row sums, M = D^(−1/2) Ã D^(−1/2), W the number of hops.

The two forms. As printed, the connectivity is Σ_{w=1..W} (M^w)_{u,v}. The code behind the published
figures computes z_1 = row u of M, z_{w+1} = M z_w, Σ_w (z_w)_v, which is the same only where M is
symmetric. Both are a chain z_{w+1} = M z_w of which one entry is read; they differ in its ends:

    published   starts with row u of M      and reads entry v
    printed     starts with column v of M   and reads entry u
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gracezo.core.types import FloatArray
from gracezo.problems.base import Benchmark, frozen
from gracezo.problems.graphs import football, read_graph

_LEAST_ROOT = 1e-8
"""Square roots of degrees are floored here, so that a vertex with no edge left divides by no zero."""

_FOOTBALL_MINIMA = {"published": 0.205693, "printed": 0.143958}
"""Least f(x)/f(x0) known on the football graph, rounded down; from benchmarks/attack_floor.py."""


class Attack(Benchmark):
    """f(X) = connectivity of u and v within some hops + λ ‖X‖_F², X an n × n change of the adjacency.

    X need not be symmetric: each ordered pair of vertices is a coordinate, d = n².
    x0 = 0, where f has a kink (it depends on |X|).

    Parameters
    ----------
    u, v
        The labels of the two vertices.
    graph
        The graph: by default the football graph of 115 vertices (labels 0 to 114). Else any
        undirected graph: an object with `nodes` and `edges` such as a networkx graph, a mapping
        to neighbours, pairs of vertices, or an adjacency matrix (NumPy or SciPy sparse).
    hops
        The longest walks that count (the paper's W).
    lam
        The weight λ of the change; by default 100/n².
    s
        The sparsity that methods are told; the true one is unknown.
    form
        "published", as computed for the paper's figures, or "printed", the formula of the paper.
        They agree where X is symmetric.

    Attributes
    ----------
    vertices : tuple
        The labels; row and column i of X belong to ``vertices[i]``.
    lam : float
        The weight λ.
    optimum : None
        Unknown.
    minimum : float or None
        The least value known on the football graph with u = 0, v = 1 and the default hops and λ:
        0.205693 f(x0) as published, 0.143958 f(x0) as printed. Bounded L-BFGS with exact gradients
        ends there from each of 25 starts (benchmarks/attack_floor.py); it is not proven. Else None.

    Examples
    --------
    >>> f = Attack()
    >>> f.d, round(f(f.x0), 4)
    (13225, 0.1269)
    >>> path = Attack("a", "c", graph=[("a", "b"), ("b", "c")], s=2)
    >>> path.vertices, round(path(path.x0), 4)
    (('a', 'b', 'c'), 1.0)
    """

    name = "attack"

    def __init__(
        self,
        u: Hashable = 0,
        v: Hashable = 1,
        graph: Any = None,
        *,
        hops: int = 4,
        lam: float | None = None,
        s: int = 30,
        form: Literal["published", "printed"] = "published",
    ) -> None:
        self.vertices, adjacency = read_graph(football() if graph is None else graph)
        places = {label: place for place, label in enumerate(self.vertices)}
        for argument, label in (("u", u), ("v", v)):
            if label not in places:
                shown = ", ".join(repr(vertex) for vertex in self.vertices[:3])
                raise ValueError(
                    f"{argument} is {label!r}, which is not among the {len(places)} vertices of the graph "
                    f"({shown}, ...)"
                )
        if u == v:
            raise ValueError(f"u and v are both {u!r}; the attack is on two different vertices")
        if hops < 1:
            raise ValueError(f"hops is {hops}; a walk has at least 1")
        if form not in ("published", "printed"):
            raise ValueError(f"form is {form!r}; it is 'published' or 'printed'")
        n = len(places)
        self.lam = 100.0 / n**2 if lam is None else lam
        self.hops = hops
        self.form = form
        # Where the chain of products starts (a row or a column of M) and the entry that is read.
        self._start, self._read = (places[u], places[v]) if form == "published" else (places[v], places[u])
        # Ã = A + max((1 − 2A) ∘ |X|, −A), the formula above with fewer operations. The maximum with an
        # array is three times faster than the one with the number 0.
        self._adjacency = frozen(adjacency.reshape(-1))
        self._turn = frozen(1.0 - 2.0 * self._adjacency)
        self._least = frozen(-self._adjacency)
        super().__init__(np.zeros(n * n), s)
        if graph is None and (u, v, hops, lam) == (0, 1, 4, None):
            self.minimum = _FOOTBALL_MINIMA[form] * self(self.x0)

    def _values(self, rows: FloatArray) -> FloatArray:
        changed = np.abs(rows)
        penalty = np.square(changed).sum(axis=-1)
        changed *= self._turn
        np.maximum(changed, self._least, out=changed)
        changed += self._adjacency
        n = len(self.vertices)
        changed = changed.reshape(-1, n, n)
        scale = 1.0 / np.maximum(np.sqrt(changed.sum(axis=-1)), _LEAST_ROOT)

        start, read = self._start, self._read
        end = changed[:, start] if self.form == "published" else changed[:, :, start]
        chain = end * scale * scale[:, start, np.newaxis]
        connectivity = chain[:, read].copy()
        for _ in range(self.hops - 2):
            chain = np.einsum("kij,kj->ki", changed, chain * scale) * scale  # einsum: no BLAS, see base.py
            connectivity += chain[:, read]
        if self.hops > 1:  # of the last product only the entry that is read
            connectivity += (changed[:, read] * (chain * scale)).sum(axis=-1) * scale[:, read]
        values: FloatArray = connectivity + self.lam * penalty
        return values

    def gradient(self, x: npt.ArrayLike) -> FloatArray:
        """Return the gradient, by reverse differentiation of the chain of products.

        f has kinks where X_ij = 0, and on edges where |X_ij| = 1. At X_ij = 0
        this is the slope for X_ij > 0 (the one for X_ij < 0 is its negative: f
        is even in X_ij); at |X_ij| = 1 it is the slope for smaller |X_ij|, so
        that a search in the box [0, 1] sees the slopes of the inside everywhere.
        """
        point = self._flat(x)
        n = len(self.vertices)
        start, read = self._start, self._read
        raw = self._adjacency + self._turn * np.abs(point)
        changed = np.maximum(raw, 0.0).reshape(n, n)
        root = np.sqrt(changed.sum(axis=1))
        scale = 1.0 / np.maximum(root, _LEAST_ROOT)
        matrix = changed * np.outer(scale, scale)

        chains = [matrix[start] if self.form == "published" else matrix[:, start]]
        for _ in range(self.hops - 1):
            chains.append(matrix @ chains[-1])

        # Back along the chain: `back` is ∂f/∂z_w, `slope` collects ∂f/∂M.
        unit = np.zeros(n)
        unit[read] = 1.0
        back = unit
        slope = np.zeros((n, n))
        for chain in reversed(chains[:-1]):
            slope += np.outer(back, chain)
            back = unit + matrix.T @ back
        if self.form == "published":
            slope[start] += back
        else:
            slope[:, start] += back

        # M_ij = Ã_ij r_i r_j with r = scale, and r_i falls with the degree Σ_j Ã_ij above its least.
        through = slope * changed
        by_scale = through @ scale + through.T @ scale
        by_degree = np.where(root > _LEAST_ROOT, -0.5 * by_scale * scale**3, 0.0)
        by_entry = (slope * np.outer(scale, scale) + by_degree[:, np.newaxis]).reshape(-1)
        by_change = np.where(raw >= 0, by_entry, 0.0)
        gradient: FloatArray = (
            by_change * self._turn * np.where(point < 0, -1.0, 1.0) + 2.0 * self.lam * point
        )
        return gradient
