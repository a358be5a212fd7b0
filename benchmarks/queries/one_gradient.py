"""Queries to find all s coordinates of one exactly sparse gradient, against d and against s.

Run: python -m benchmarks.queries.one_gradient [--instances 10] [--auto-only] [--report-only]

The gradient is that of Distance at x0 = 0: s nonzero entries of very different sizes, and curvature in every
coordinate. f(x0) counts as a query. Measured: auto, which is not told s; published GraCe, which is: one pass,
and passes with fresh groups until together they found all s (12 at most). GraCe gets the better of two ε at
each point, and an oracle says when all are found: both are favours to it. Computed: its worst case, the order
s·ln(d/s) of compressed sensing with its constant taken as 1, and the counting bound.
"""

from __future__ import annotations

import argparse
import csv
import math
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from statistics import mean

import numpy as np
from benchmarks.page_table import put
from benchmarks.queries.plots import save
from benchmarks.queries.tables import markdown, write_csv
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import gracezo
from gracezo.problems import Distance
from gracezo.theory import counting_bound, worst_case_queries

_DIMENSIONS = [(d, 10) for d in (100, 1_000, 10_000, 100_000, 1_000_000)]
_SPARSITIES = [(10_000, s) for s in (1, 2, 5, 10, 20, 50, 100)]
_DIFFERENCES = (1e-6, 1e-8)
_FIRST_SEED = 8_300
_MOST_PASSES = 12
_FIRST_DIVISION = 20


@dataclass(frozen=True)
class Cost:
    """Mean queries of one way to find the coordinates, and the mean share of the s that it found."""

    queries: float
    found: float


@dataclass(frozen=True)
class Point:
    """One d and s: what was measured and computed there."""

    d: float
    s: float
    auto: float
    auto_found: float
    grace_pass: float
    grace_pass_found: float
    grace_all: float
    grace_all_found: float
    worst_case: float
    compressed_sensing: float
    counting: float


def measure(d: int, s: int, instances: int) -> Point:
    """Measure and compute everything for one d and s."""
    problems = _instances(d, s, instances)
    auto = _average([_auto(problem) for problem in problems])
    eps = _best_difference(problems)
    once = _average([_grace(problem, eps, 1) for problem in problems])
    until = _average([_grace(problem, eps, _MOST_PASSES) for problem in problems])
    return Point(
        d,
        s,
        auto.queries,
        auto.found,
        once.queries,
        once.found,
        until.queries,
        until.found,
        worst_case_queries(d, s, first_division=_FIRST_DIVISION),
        s * math.log(d / s),
        counting_bound(d, s),
    )


def measure_auto(point: Point, instances: int) -> Point:
    """Measure auto anew, and keep the rest."""
    problems = _instances(round(point.d), round(point.s), instances)
    auto = _average([_auto(problem) for problem in problems])
    return replace(point, auto=auto.queries, auto_found=auto.found)


def _instances(d: int, s: int, count: int) -> list[Distance]:
    return [Distance(_FIRST_SEED + instance, d, s) for instance in range(count)]


def _auto(problem: Distance) -> Cost:
    estimate = gracezo.estimate_gradient(problem, problem.x0, method="auto", seed=1, copy=False)
    return Cost(estimate.queries, _share(problem, set(estimate.indices.tolist())))


def _grace(problem: Distance, eps: float, passes: int) -> Cost:
    """Return the cost of passes of published GraCe until all are found or `passes` are made."""
    value = problem(problem.x0)
    queries, found = 1, set[int]()
    for seed in range(passes):
        estimate = gracezo.estimate_gradient(
            problem,
            problem.x0,
            method="grace",
            sparsity=problem.s,
            f0=value,
            seed=seed,
            copy=False,
            options={"eps": eps, "variant": "published", "first_division": _FIRST_DIVISION},
        )
        queries += estimate.queries
        found |= set(estimate.indices[np.abs(estimate.values) > _threshold(problem, eps)].tolist())
        if _share(problem, found) == 1.0:
            break
    return Cost(queries, _share(problem, found))


def _threshold(problem: Distance, eps: float) -> float:
    """Return what a difference at ε cannot tell from zero."""
    return 10.0 * np.finfo(np.float64).eps * problem(problem.x0) / eps + eps


def _share(problem: Distance, found: set[int]) -> float:
    true = set(np.flatnonzero(problem.gradient(problem.x0)).tolist())
    return len(found & true) / len(true)


def _average(costs: list[Cost]) -> Cost:
    return Cost(mean(cost.queries for cost in costs), mean(cost.found for cost in costs))


def _best_difference(problems: list[Distance]) -> float:
    """Return the ε with which one pass of GraCe finds most."""
    found = {eps: mean(_grace(problem, eps, 1).found for problem in problems) for eps in _DIFFERENCES}
    return max(found, key=lambda eps: found[eps])


# ---------------------------------------------------------------- what is written

_LINES = (  # column, label, colour, dash, marker
    ("auto", "auto, s unknown", "#000000", "-", "o"),
    ("grace_all", "GraCe (published), passes until all are found, 12 at most", "#D55E00", "--", "s"),
    ("grace_pass", "GraCe (published), one pass; % at the foot: share found", "#D55E00", ":", "D"),
    ("worst_case", "GraCe, worst case of one pass", "#CC79A7", "-.", "v"),
    ("compressed_sensing", "s·ln(d/s): order of compressed sensing", "#0072B2", "--", "x"),
    ("counting", "counting bound, 53 bits a query", "#009E73", "-.", "+"),
)


def draw(by_d: list[Point], by_s: list[Point], file: Path) -> None:
    """Draw both pictures side by side."""
    figure = Figure(figsize=(12, 6), layout="constrained")
    left, right = figure.subplots(1, 2)
    _panel(left, by_d, "d", f"against d, s = {by_d[0].s:.0f}")
    _panel(right, by_s, "s", f"against s, d = {by_s[0].d:,.0f}")
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, handlelength=4.5, frameon=False)
    save(figure, file)


def _panel(axes: Axes, points: list[Point], against: str, title: str) -> None:
    x = [getattr(point, against) for point in points]
    for column, label, colour, dash, marker in _LINES:
        y = [getattr(point, column) for point in points]
        axes.plot(
            x,
            y,
            color=colour,
            linestyle=dash,
            marker=marker,
            label=label,
            linewidth=2.4 if column == "auto" else 1.5,
            fillstyle="full" if column == "auto" else "none",
        )
    foot = axes.get_xaxis_transform()  # x as in the data, y from 0 to 1: shares stand below all lines
    for point in points:
        share = f"{100 * point.grace_pass_found:.0f} %"
        axes.text(getattr(point, against), 0.02, share, transform=foot, ha="center", fontsize=9)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(bottom=0.4)
    axes.set_xlabel(against)
    axes.set_ylabel("queries to find all s coordinates")
    axes.set_title(f"One gradient, {title}", fontsize=11)
    axes.grid(alpha=0.3, which="both")


def table(points: list[Point]) -> str:
    """Return the figures as Markdown."""
    return markdown(
        [
            "d",
            "s",
            "auto",
            "found",
            "GraCe, one pass",
            "found",
            "… until all",
            "worst case",
            "s·ln(d/s)",
            "bound",
        ],
        [
            [
                f"{p.d:,.0f}",
                f"{p.s:,.0f}",
                f"{p.auto:.1f}",
                f"{100 * p.auto_found:.0f} %",
                f"{p.grace_pass:.1f}",
                f"{100 * p.grace_pass_found:.0f} %",
                f"{p.grace_all:.0f}"
                + ("" if p.grace_all_found == 1 else f" ({100 * p.grace_all_found:.3g} %)"),
                f"{p.worst_case:,.0f}",
                f"{p.compressed_sensing:.0f}",
                f"{p.counting:.0f}",
            ]
            for p in points
        ],
        left=0,
    )


def _write(points: list[Point], file: Path) -> None:
    names = [field.name for field in fields(Point)]
    write_csv(file, names, [[f"{value:.6g}" for value in asdict(point).values()] for point in points])


def _read(file: Path) -> list[Point]:
    with file.open(encoding="utf-8") as stream:
        return [
            Point(**{name: float(value) for name, value in row.items()}) for row in csv.DictReader(stream)
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--instances", type=int, default=10, help="instances of Distance at each point (10)")
    parser.add_argument("--results", type=Path, default=Path("docs/results/queries"))
    parser.add_argument("--page", type=Path, default=Path("docs/results/queries.md"))
    parser.add_argument(
        "--auto-only", action="store_true", help="measure auto anew, keep the rest of the CSV"
    )
    parser.add_argument("--report-only", action="store_true", help="draw from the CSV files that are there")
    given = parser.parse_args()
    given.results.mkdir(parents=True, exist_ok=True)
    sides: list[list[Point]] = []
    for against, grid in (("d", _DIMENSIONS), ("s", _SPARSITIES)):
        file = given.results / f"one-gradient-{against}.csv"
        if not given.report_only:
            anew = (
                (measure_auto(point, given.instances) for point in _read(file))
                if given.auto_only
                else (measure(d, s, given.instances) for d, s in grid)
            )
            points = []
            for point in anew:
                points.append(point)
                print(point, flush=True)
            _write(points, file)
        sides.append(_read(file))
    by_d, by_s = sides
    draw(by_d, by_s, given.results / "one-gradient")
    put(given.page, "one-gradient", table(by_d + by_s))


if __name__ == "__main__":
    main()
