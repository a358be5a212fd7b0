"""What the report that was last written says of methods whose runs are no longer on disk.

So one method can be run anew and compared with all others as they were. Of their runs only the queries to
each target are known still, those of the best setting.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Collection, Iterator
from pathlib import Path

from benchmarks.page_table import places
from benchmarks.queries.meter import LEVELS
from benchmarks.queries.problem import TARGET_NAMES, TARGETS
from benchmarks.queries.rivals import METHODS
from benchmarks.queries.store import Job, Record

SETTING = "kept"
"""The setting that such a run is said to have."""


def kept_runs(results: Path, page: Path | None, others: Collection[str]) -> Iterator[Record]:
    """Return the runs of all methods but `others` that a report in `results`, and on its page, speaks of."""
    if not (results / "targets.md").exists():
        return
    own = _microseconds(page)
    cells = _cells((results / "targets.md").read_text(encoding="utf-8"))
    with (results / "targets.csv").open(encoding="utf-8") as stream:
        problems = {row["problem"]: row for row in csv.DictReader(stream)}
    for name, row in problems.items():
        for method in METHODS.values():
            if method.name in others or (name, method.label, TARGET_NAMES[TARGETS[0]]) not in cells:
                continue
            d, budget = int(row["d"]), int(row["budget"])
            needed = [cells[name, method.label, target] for target in TARGET_NAMES.values()]
            reached = _reached(needed)
            queries = reached[-1] if reached else method.affordable(d, budget)
            yield Record(
                job=Job(name, method.name, SETTING),
                d=d,
                s=int(row["s"]),
                budget=method.affordable(d, budget),
                floor=math.nan,
                queries=queries,
                reached=reached,
                best=math.inf,
                seconds=1e-6 * own.get(method.label, math.nan) * queries,
                inside=0.0,
                ended="",
            )


def _reached(needed: list[float]) -> list[int]:
    """Return the query at which each level was reached at the latest, given those of the targets.

    >>> _reached([12.0, math.inf, math.inf, math.inf])[-2:]
    [12, 12]
    """
    reached: list[int] = []
    for level in LEVELS:
        target = next(place for place, target in enumerate(TARGETS) if target <= level * (1.0 + 1e-9))
        if math.isinf(needed[target]):
            break
        reached.append(int(needed[target]))
    return reached


def _cells(text: str) -> dict[tuple[str, str, str], float]:
    """Return the queries of a written report by problem, label and target; empty cells are left out."""
    found: dict[tuple[str, str, str], float] = {}
    target, head = "", [""]
    for line in text.splitlines():
        if line.startswith("## "):
            target = line.split()[1]
        elif line.startswith("| problem"):
            head = _split(line)
        elif line.startswith("| `"):
            name, *cells = _split(line)
            for label, cell in zip(head[1:], cells, strict=True):
                if cell:
                    count = cell.strip("*").replace(",", "")
                    found[name.strip("`"), label, target] = math.inf if count == "–" else float(count)
    return found


def _microseconds(page: Path | None) -> dict[str, float]:
    """Return the microseconds a query that a page states, by label."""
    text = "" if page is None else next((text for name, _, text in places(page) if name == "methods"), "")
    rows = [_split(line) for line in text.splitlines() if line.startswith("| ")][2:]
    return {row[0]: float(row[-1].replace(",", "")) for row in rows}


def _split(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]
