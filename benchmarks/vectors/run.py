"""Runs the tables and prints them as Markdown."""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import scipy
from benchmarks.vectors import simulators, tables
from benchmarks.vectors.tables import Row

import gracezo

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
HEAD = "| | SciPy 2-point, differences | queries | required | passed | |\n|---|---|---|---|---|---|"


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=20)
    parser.add_argument("--first", type=int, default=70_000, help="the first seed")
    parser.add_argument("--only", default=",".join(TABLES), help=f"of {', '.join(TABLES)}")
    parser.add_argument("--out", type=Path)
    words = parser.parse_args()
    lines = [
        f"gracezo {gracezo.__version__}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"SciPy {scipy.__version__}; {words.instances} instances from seed {words.first} on.",
        "",
        HEAD,
    ]
    print("\n".join(lines), flush=True)
    for name in words.only.split(","):
        for row in TABLES[name](words.instances, words.first):
            lines.append(str(row))
            print(row, flush=True)
    if words.out is not None:
        words.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    sys.exit(0)
