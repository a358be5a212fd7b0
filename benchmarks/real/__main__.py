"""Lets `python -m benchmarks.real` print the tables."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from types import ModuleType

import benchmarks.real
from benchmarks.real import claims, invariance, record, rivals, slopes, tails, verdicts, written

TABLES: dict[str, tuple[ModuleType, int]] = {
    "tails": (tails, 20),
    "written": (written, 20),
    "verdicts": (verdicts, 5),
    "invariance": (invariance, 3),
    "claims": (claims, 200),
    "slopes": (slopes, 200),
    "rivals": (rivals, 3),
    "record": (record, 1),
}
"""The tables, and how many instances they have by default."""


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.real",
        description=benchmarks.real.__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"{', '.join(TABLES)}; all by default")
    parser.add_argument("--only", default="", help="rows whose names begin so, separated by commas")
    parser.add_argument("--first", type=int, default=1000, help="the first seed")
    parser.add_argument("--instances", type=int, help="how many seeds a row")
    parser.add_argument("--list", action="store_true", help="name the rows and stop")
    chosen = parser.parse_args()
    if unknown := set(chosen.tables) - set(TABLES):
        parser.error(f"no table {', '.join(sorted(unknown))}; there are {', '.join(TABLES)}")
    wanted = tuple(chosen.only.split(","))
    for name in chosen.tables or TABLES:
        module, instances = TABLES[name]
        rows = [row for row in module.ROWS if row.startswith(wanted)]
        if chosen.list:
            print(f"{name}: {', '.join(rows)}")
            continue
        if rows:
            show: Callable[[list[str], int, int], None] = module.table
            print(f"\n## {name}\n", flush=True)
            show(rows, chosen.first, chosen.instances or instances)


if __name__ == "__main__":
    main()
