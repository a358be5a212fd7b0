"""Draw one search: which sets each query asks, until all coordinates of a gradient are found.

PYTHONPATH=src python benchmarks/search_picture.py [--out docs/images/search.png]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np

from gracezo.core.asks import Ask, Point, SparseRows
from gracezo.core.keys import Key
from gracezo.core.types import FloatArray, IntArray
from gracezo.methods.auto.search.estimator import TreeEstimator
from gracezo.problems import Distance

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

_LABELLED = 0.01  # relative spread of the displacements, in units of the weights, that shows labels


@dataclass(frozen=True)
class Query:
    """One query: the positions it displaces, and by how much in units of their weights."""

    positions: IntArray
    lengths: FloatArray

    @property
    def labelled(self) -> bool:
        """Whether the lengths rise with the position."""
        return len(self.lengths) > 1 and float(np.ptp(self.lengths)) > _LABELLED * float(self.lengths.max())


def search(problem: Distance, seed: int) -> tuple[list[Query], IntArray]:
    """Return the queries of one search in the order of its tree, and the order itself."""
    at = Point(problem.x0, problem(problem.x0))
    steps = TreeEstimator(problem.d).estimate(at, 1, Key(seed))
    queries: list[Query] = []
    place: IntArray | None = None
    weights: FloatArray = np.zeros(0)
    order: IntArray = np.zeros(0, np.int64)
    said = next(steps)
    try:
        while True:
            assert isinstance(said, Ask)
            rows = said.offsets
            assert isinstance(rows, SparseRows)
            for row in range(len(rows)):
                part = rows.part(row, row + 1)
                if place is None:  # the first query is along all coordinates, in the order of the tree
                    order, weights = part.indices, np.abs(part.values)
                    place = np.argsort(order)
                positions = place[part.indices]
                queries.append(Query(positions, np.abs(part.values) / weights[positions]))
            said = steps.send(np.array([problem(said.point(row)) for row in range(len(said))]))
    except StopIteration:
        return queries, order


def draw(axes: Axes, queries: list[Query], order: IntArray, problem: Distance) -> None:
    """Draw each query as a column: a bar for a sum, a wedge where weighted by position, a dot for one."""
    for position in np.flatnonzero(np.isin(order, np.flatnonzero(problem.optimum))).tolist():
        axes.axhline(position, color="tab:red", linewidth=0.9, linestyle=":", zorder=0)
    for number, query in enumerate(queries, 1):
        low, high = int(query.positions.min()), int(query.positions.max())
        if len(query.positions) == 1:
            axes.plot(number, low, "o", color="tab:red", markersize=8)
        elif query.labelled:
            share = query.lengths / query.lengths.max()
            by_place = np.argsort(query.positions)
            heights, width = query.positions[by_place], 0.35 * share[by_place]
            axes.fill_betweenx(heights, number - width, number + width, color="tab:orange", linewidth=0)
        else:
            axes.bar(number, high - low, 0.5, low, color="tab:blue", alpha=0.6)
    axes.set_xlabel("query")
    axes.set_ylabel("position in the random order")
    axes.set_xlim(0.3, len(queries) + 0.7)
    axes.set_xticks(range(1, len(queries) + 1))
    axes.set_ylim(-0.02 * problem.d, 1.02 * problem.d)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("docs/images/search.png"))
    chosen = parser.parse_args()
    problem = Distance(seed=3, d=1000, s=4)
    queries, order = search(problem, seed=3)
    figure, axes = plt.subplots(figsize=(9, 4.2), layout="constrained")
    draw(axes, queries, order, problem)
    axes.set_title(
        f"All {problem.s} coordinates of a gradient among {problem.d:,} in {len(queries)} queries\n"
        "blue: sum over a group; orange: weighted by position; red: one coordinate (dotted: where they are)",
        fontsize=10,
    )
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(chosen.out, dpi=130)
    print(f"{len(queries)} queries: {chosen.out}")


if __name__ == "__main__":
    main()
