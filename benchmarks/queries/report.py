"""Everything that is written from the runs on disk: CSV, Markdown, plots, and the figures of the page."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.queries import plots, tables
from benchmarks.queries.problem import TARGET_NAMES, TARGETS
from benchmarks.queries.summary import Summary

_PAGE_TARGET = 1e-2
_DRAWN_TARGETS = (1e-2, 1e-8)


def write_report(folder: Path, results: Path, page: Path | None) -> None:
    """Write tables and plots into `results`, and the generated parts of the page."""
    summary = Summary.of(folder)
    results.mkdir(parents=True, exist_ok=True)
    tables.write_targets_csv(summary, results / "targets.csv")
    tables.write_profile_csv(summary, results / "profile.csv")
    (results / "targets.md").write_text(_targets_page(summary), encoding="utf-8")
    plots.profile_plot(summary, results / "profile-queries", per_sweep=False)
    plots.profile_plot(summary, results / "profile-sweeps", per_sweep=True)
    for target in _DRAWN_TARGETS:
        plots.targets_plot(summary, target, results / f"targets-{TARGET_NAMES[target]}")
    for row, least in summary.below_floor():
        print(f"{row.entry.name}: a run found {least!r}, below the floor {row.floor!r}", file=sys.stderr)
    if page is not None:
        fill(page, _parts(summary))


def fill(page: Path, parts: Mapping[str, str]) -> None:
    """Replace what is between `<!-- NAME -->` and `<!-- end NAME -->` on a page, for each named part."""
    text = page.read_text(encoding="utf-8")
    for name, content in parts.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end {name} -->"
        if begin not in text or end not in text:
            raise ValueError(f"{page} has no place for the part {name!r}")
        before, rest = text.split(begin, 1)
        _, after = rest.split(end, 1)
        text = f"{before}{begin}{content}\n{end}{after}"
    page.write_text(text, encoding="utf-8")


def _parts(summary: Summary) -> dict[str, str]:
    parts = {
        "suite": tables.suite_table(summary),
        "methods": tables.methods_table(summary),
        "solved": tables.solved_table(summary),
        "families": tables.families_table(summary),
        "targets": tables.targets_table(summary, _PAGE_TARGET),
    }
    autos = [method for method in summary.methods if method.name == "auto"]
    if autos:
        parts["ratios"] = tables.ratios_table(summary, autos[0])
        parts["losses"] = tables.losses_table(summary, autos[0])
    return parts


def _targets_page(summary: Summary) -> str:
    sections = [
        f"## {TARGET_NAMES[target]} of f(x0) − floor left\n\n{tables.targets_table(summary, target)}\n"
        for target in TARGETS
    ]
    return "# Queries to each target\n\n" + "\n".join(sections)
