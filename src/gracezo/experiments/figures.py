"""The convergence plots: normalised objective against queries, mean with a standard-error band.

Readable without colour: every method has its own dashes and marker, and the legend stands beside the
plot in the order in which the lines end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gracezo.core.types import FloatArray
from gracezo.experiments import paper
from gracezo.experiments.cells import Cell

GROUPS = {
    "full": ("full-gradient methods", (*paper.FULL_GRADIENT, "grace")),
    "sparse": ("sparse-gradient methods", paper.SPARSE_GRADIENT),
}
_POINTS = 400
_FLOOR = 1e-6  # what is below was not to be told apart by the others
_LOG_BELOW = 0.1  # a logarithmic axis where two or more get below a tenth: elsewhere it squeezes the others
# Colours that differ in lightness too (after Okabe and Ito), each with its own dashes and marker.
_BOLD = {"grace": ("#000000", "-", "o"), "auto": ("#C8102E", "-", "H")}
_STYLES = (
    ("#D55E00", "--", "s"),
    ("#0072B2", "-.", "^"),
    ("#009E73", ":", "D"),
    ("#CC79A7", (0, (8, 2)), "v"),
    ("#56B4E9", (0, (5, 1, 1, 1, 1, 1)), "P"),
    ("#8C6D00", (0, (2, 1)), "X"),
    ("#555555", (0, (8, 2, 2, 2)), "*"),
    ("#7B3294", (0, (1, 2)), "<"),
    ("#E69F00", (0, (4, 2, 1, 2)), ">"),
)


class PlotsMissing(RuntimeError):
    """Matplotlib is not installed."""


def require_matplotlib() -> None:
    """Raise `PlotsMissing` if there is nothing to plot with."""
    try:
        import matplotlib  # noqa: F401, PLC0415  # an extra, imported only where it is used
    except ImportError as error:
        raise PlotsMissing("figures need matplotlib: pip install 'gracezo[plots]'") from error


@dataclass(frozen=True)
class Curve:
    """The mean of some runs at common numbers of queries."""

    queries: FloatArray
    mean: FloatArray
    se: FloatArray

    @classmethod
    def of(cls, cell: Cell, points: int = _POINTS) -> Curve:
        """Return the curve of a cell, from the start to where its longest run ended.

        Between two iterates, and after its last, a run stands where the earlier one left it.
        """
        records = cell.records
        queries = np.geomspace(1, max(record.queries[-1] for record in records), points)
        values = np.stack(
            [r.normalised[np.searchsorted(r.queries, queries, side="right") - 1] for r in records]
        )
        se = values.std(axis=0, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.zeros(points)
        return cls(queries, values.mean(axis=0), se)


def plot_all(cells: Sequence[Cell], folder: Path, mark: str = "") -> list[Path]:
    """Draw two plots for each function, each as PNG and SVG, and return their paths.

    Parameters
    ----------
    cells
        The finished cells of the main table. A method that is in neither of the paper's two groups
        is drawn in both plots.
    folder
        Where the files go.
    mark
        Added to every title.
    """
    grouped = {name for _, members in GROUPS.values() for name in members}
    paths = []
    for function in dict.fromkeys(cell.plan.function for cell in cells):
        for group, (title, members) in GROUPS.items():
            shown = [
                cell
                for cell in cells
                if cell.plan.function == function
                and (cell.plan.method in members or cell.plan.method not in grouped)
            ]
            if shown:
                heading = f"{paper.title(function)}: {title}{mark}"
                paths += _plot(shown, heading, folder / f"convergence-{function}-{group}")
    return paths


def _plot(cells: Sequence[Cell], heading: str, stem: Path) -> list[Path]:
    import matplotlib as mpl  # noqa: PLC0415  # an extra, imported only where it is used
    from matplotlib.figure import Figure  # noqa: PLC0415

    curves = {cell.plan.method: Curve.of(cell) for cell in cells}
    with mpl.rc_context({"svg.hashsalt": "gracezo", "font.size": 10}):
        picture = Figure(figsize=(7.2, 4.0), layout="constrained")
        axes = picture.add_subplot()
        lines = {name: _draw(axes, name, curve, place) for place, (name, curve) in enumerate(curves.items())}
        if sum(curve.mean.min() < _LOG_BELOW for curve in curves.values()) > 1:
            axes.set_yscale("log")
            axes.set_ylim(bottom=max(_FLOOR, 0.5 * min(curve.mean.min() for curve in curves.values())))
        else:
            axes.set_ylim(bottom=0)
        axes.set_xscale("log")
        axes.set_title(heading, loc="left")
        axes.set_xlabel("queries")
        axes.set_ylabel("f(x) / f(x₁), mean ± standard error")
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
        order = sorted(lines, key=lambda name: -curves[name].mean[-1])
        picture.legend(
            [lines[name] for name in order],
            [paper.title(name) for name in order],
            loc="outside right center",
            frameon=False,
            handlelength=3.5,
        )
        paths = [stem.with_name(stem.name + ending) for ending in (".png", ".svg")]
        for path in paths:
            metadata = {"Date": None} if path.suffix == ".svg" else {}
            picture.savefig(path, dpi=160, metadata=metadata)
    return paths


def _draw(axes: Any, name: str, curve: Curve, place: int) -> Any:
    bold = name in _BOLD
    colour, dashes, marker = _BOLD[name] if bold else _STYLES[place % len(_STYLES)]
    every = _POINTS // 8
    (line,) = axes.plot(
        curve.queries,
        curve.mean,
        color=colour,
        linestyle=dashes,
        linewidth=2.4 if bold else 1.4,
        marker=marker,
        markersize=5,
        markevery=(every * (1 + place % 4) // 4, every),
    )
    low = np.maximum(curve.mean - curve.se, curve.mean * 0.05)  # a band never reaches zero on a log axis
    axes.fill_between(curve.queries, low, curve.mean + curve.se, color=colour, alpha=0.18, linewidth=0)
    return line
