"""Runs the tables and prints them as Markdown."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

from benchmarks.page_table import PageTable
from benchmarks.vectors import simulators, tables
from benchmarks.vectors.tables import Row

TABLES: dict[str, Callable[[int, int], Iterator[Row]]] = {
    "jacobian": tables.jacobians,
    "batch": tables.batches,
    "large": tables.large,
    "coverage": tables.coverage,
    "fit": tables.fits,
    "losses": tables.losses,
    "claims": tables.claims,
    "epanet": simulators.epanet,
    "cobra": simulators.cobra,
}
HEAD = ["", "SciPy 2-point, differences", "queries", "required", "passed", ""]


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=20)
    parser.add_argument("--first", type=int, default=70_000, help="the first seed")
    parser.add_argument("--only", default=",".join(TABLES), help=f"of {', '.join(TABLES)}")
    parser.add_argument("--page", action="store_true", help="write docs/results/vectors.md")
    words = parser.parse_args()
    shown = PageTable("vectors", "results/vectors.md", HEAD, write=words.page)
    shown.begin()
    for name in words.only.split(","):
        for row in TABLES[name](words.instances, words.first):
            shown.add(*row.cells, seeds=f"from {words.first:,}")
