"""Table and picture of a run, written to a folder."""

from __future__ import annotations

import json
import math
import platform
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from benchmarks.page_table import put
from benchmarks.speed.cases import CASES

_STYLES = {
    "auto": "C0",
    "grace": "C1",
    "lbfgsb": "C2",
    "pycma": "C3",
    "cmaes": "C4",
    "nevergrad": "C5",
    "copy": "0.5",
}


def beyond(row: Mapping[str, Any]) -> float:
    """Return the seconds a query that were not spent in f; all of them where f was never called whole."""
    inside = row.get("inside", math.nan)
    return float((row["seconds"] - (0.0 if math.isnan(inside) else inside)) / row["queries"])


def write(new: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """Write the table into speed.md, between its marks, and the picture beside it.

    Rows of earlier runs, in speed.json, stay unless they were made anew.
    """
    kept = folder / "speed.json"
    rows = {(row["case"], row["d"]): row for row in json.loads(kept.read_text())} if kept.exists() else {}
    rows |= {(row["case"], row["d"]): dict(row) for row in new}
    order = list(CASES)
    write_report(sorted(rows.values(), key=lambda row: (row["d"], order.index(row["case"]))), folder)


def write_report(rows: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """Write rows, their table and their picture."""
    lines = ",\n".join(json.dumps(row) for row in rows)
    (folder / "speed.json").write_text(f"[\n{lines}\n]\n")
    page = folder / "speed.md"
    if not page.exists():
        page.write_text("<!-- speed: written by `python -m benchmarks.speed` -->\n<!-- end of speed -->\n")
    put(page, "speed", f"{_machine()}\n\n{table(rows)}\n\n{queries(rows)}")
    picture(rows, folder / "speed.png")


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the table, a row for each case and size."""
    head = "| d | | queries | µs a query beyond f | whole / (queries × f) | memory, arrays of d |"
    lines = [head, "|---:|---|---:|---:|---:|---:|"]
    for row in rows:
        if row["case"] == "growth":
            continue
        d, name = f"10^{round(math.log10(row['d']))}", CASES[row["case"]][0]
        if "ended" in row:
            lines.append(f"| {d} | {name} | {row['ended']} | | | |")
            continue
        whole = row["seconds"] / (row["queries"] * row["f"])
        ratio = "" if math.isnan(whole) else f"{whole:.2f}"
        memory = row["memory"] / (8.0 * row["d"])
        told = f"{memory:.2f}" if row["d"] >= 10**6 else ""
        lines.append(f"| {d} | {name} | {row['queries']:,} | {1e6 * beyond(row):,.0f} | {ratio} | {told} |")
    return "\n".join(lines)


def queries(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return how the queries of `auto` grow with d, in a table."""
    own = [row for row in rows if row["case"] == "growth" and "ended" not in row]
    if not own:
        return ""
    head = "".join(f" 10^{round(math.log10(row['d']))} |" for row in own)
    line = "".join(f" {row['queries']:.1f} ± {row.get('error', math.nan):.1f} |" for row in own)
    return f"| d |{head}\n|---|{'---:|' * len(own)}\n| queries to 0.01 ± standard error |{line}"


def picture(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw time a query beyond f, and memory, against d."""
    mpl.use("Agg")
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    for case in dict.fromkeys(row["case"] for row in rows):
        own = [row for row in rows if row["case"] == case and "ended" not in row]
        if not own or case == "growth":
            continue
        name, *kind = case.split("-")
        style = {"color": _STYLES[name], "label": CASES[case][0], "marker": "o", "markersize": 4}
        style["linestyle"] = {"sparse": "--", "hidden": ":", "many": "-.", "bounds": (0, (1, 4))}.get(
            kind[0] if kind else "", "-"
        )
        d = np.array([row["d"] for row in own])
        left.loglog(d, [1e6 * beyond(row) for row in own], **style)
        large = [row for row in own if row["d"] >= 10**6]
        right.loglog([row["d"] for row in large], [max(row["memory"] / 2**20, 0.1) for row in large], **style)
    left.set(xlabel="coordinates d", ylabel="µs a query beyond f")
    right.set(xlabel="coordinates d", ylabel="memory beside the user's own, MiB")
    sizes = np.array(sorted({row["d"] for row in rows if row["d"] >= 10**6}))
    if len(sizes):
        right.loglog(sizes, 8.0 * sizes / 2**20, color="0.8", linewidth=4, zorder=0, label="one array of d")
    left.legend(fontsize=7)
    right.legend(fontsize=7)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _machine() -> str:
    names = ("numpy", "scipy", "cma", "cmaes", "nevergrad")
    parts = [f"Python {sys.version.split()[0]}", *(f"{name} {version(name)}" for name in names)]
    return f"One thread; {', '.join(parts)}; {platform.machine()}."
