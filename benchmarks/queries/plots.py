"""The plots, as PNG and SVG. Lines differ in dash and marker as well as in colour."""

from __future__ import annotations

import math
from pathlib import Path

import matplotlib as mpl
import numpy as np
from benchmarks.queries.problem import TARGET_NAMES, TARGETS
from benchmarks.queries.summary import Summary
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gracezo.core.types import FloatArray

mpl.rcParams["svg.hashsalt"] = "gracezo"  # the same picture is the same file

STYLES: dict[str, tuple[str, str, str]] = {  # colour, dash, marker
    "auto": ("#000000", "-", "o"),
    "grace": ("#D55E00", "--", "s"),
    "coordinates": ("#0072B2", "-.", "^"),
    "support-lbfgs": ("#009E73", ":", "D"),
    "lbfgs": ("#CC79A7", "--", "v"),
    "sep-cma-es": ("#8C6D00", "-.", "x"),
    "nevergrad": ("#7F7F7F", ":", "+"),
}
_WIDTH = {"auto": 2.4}


def save(figure: Figure, file: Path) -> None:
    """Write a figure as PNG and SVG; `file` has no ending."""
    figure.savefig(f"{file}.png", dpi=130)
    figure.savefig(f"{file}.svg", metadata={"Date": None})


def profile_plot(summary: Summary, file: Path, per_sweep: bool) -> None:
    """Draw the data profiles, one panel a target."""
    needed = [
        q / (row.d + 1 if per_sweep else 1)
        for row in summary.rows
        for method in summary.methods
        for target in TARGETS
        if math.isfinite(q := summary.queries(row, method, target)) and q > 1
    ]
    at = np.logspace(math.floor(math.log10(min(needed))), math.log10(max(needed)) + 0.02, 400)
    figure = Figure(figsize=(11, 8.2), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    for axes, target in zip(panels.flat, TARGETS, strict=True):
        for method in summary.methods:
            share = 100.0 * summary.share(method, target, at, per_sweep)
            _line(axes, at, share, method.name, method.label)
        axes.set_xscale("log")
        axes.set_xlim(at[0], at[-1])
        axes.set_ylim(-1, 101)
        axes.set_title(f"{TARGET_NAMES[target]} of f(x0) − min f left", fontsize=11)
        axes.grid(alpha=0.3)
    for axes in panels[1]:
        axes.set_xlabel("queries / (d + 1)" if per_sweep else "queries")
    for axes in panels[:, 0]:
        axes.set_ylabel(f"solved, % of {len(summary.rows)} problems")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, handlelength=4.5, frameon=False)
    save(figure, file)


def _line(axes: Axes, x: FloatArray, y: FloatArray, name: str, label: str) -> None:
    colour, dash, marker = STYLES[name]
    place = list(STYLES).index(name)
    axes.plot(
        x,
        y,
        color=colour,
        linestyle=dash,
        linewidth=_WIDTH.get(name, 1.5),
        marker=marker,
        markersize=5.5,
        markevery=(8 * place, 57),
        drawstyle="steps-post",
        label=label,
    )


def targets_plot(summary: Summary, target: float, file: Path) -> None:
    """Draw the queries of every method to one target, a line a problem."""
    rows = summary.rows
    figure = Figure(figsize=(9.5, 0.235 * len(rows) + 1.7), layout="constrained")
    axes = figure.subplots()
    heights = np.arange(len(rows))[::-1]
    for height, row in zip(heights, rows, strict=True):
        needed = [q for m in summary.methods if math.isfinite(q := summary.queries(row, m, target))]
        if needed:
            axes.plot([min(needed), max(needed)], [height, height], color="0.8", linewidth=1, zorder=1)
    for method in reversed(summary.methods):
        colour, _, marker = STYLES[method.name]
        needed = [summary.queries(row, method, target) for row in rows]
        axes.plot(
            needed,
            heights,
            marker=marker,
            markersize=6,
            color=colour,
            fillstyle="full" if method.name == "auto" else "none",
            linestyle="none",
            label=method.label,
        )
    axes.set_xscale("log")
    axes.set_yticks(heights, [row.entry.name for row in rows], fontsize=8)
    axes.set_ylim(-0.8, len(rows) - 0.2)
    axes.set_xlabel(
        f"queries until {TARGET_NAMES[target]} of f(x0) − min f is left (none: not within the budget)"
    )
    axes.grid(axis="x", alpha=0.3)
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="outside upper center", ncols=4, frameon=False)
    save(figure, file)
