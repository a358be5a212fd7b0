"""Everything that is written from the runs on disk: CSV, Markdown, plots, and the figures of the page."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.page_table import put
from benchmarks.queries import plots, tables
from benchmarks.queries.execute import SEED
from benchmarks.queries.kept import kept_runs
from benchmarks.queries.problem import TARGET_NAMES, TARGETS
from benchmarks.queries.store import Record, load_all
from benchmarks.queries.summary import Summary

from gracezo.experiments.environment import describe

_PAGE_TARGET = 1e-2
_DRAWN_TARGETS = (1e-2, 1e-8)
_RIVALS = ("cma", "nevergrad")  # packages that only rivals need


def write_report(folder: Path, results: Path, page: Path | None) -> None:
    """Write tables and plots into `results`, and the generated parts of the page.

    Of methods without a run on disk, what the last report says stays.
    """
    made = list(load_all(folder))
    kept = list(kept_runs(results, page, {run.job.method for run in made}))
    summary = Summary([*kept, *made])
    results.mkdir(parents=True, exist_ok=True)
    tables.write_targets_csv(summary, results / "targets.csv")
    tables.write_profile_csv(summary, results / "profile.csv")
    (results / "targets.md").write_text(_targets_page(summary), encoding="utf-8")
    plots.profile_plot(summary, results / "profile-queries", per_sweep=False)
    plots.profile_plot(summary, results / "profile-sweeps", per_sweep=True)
    for target in _DRAWN_TARGETS:
        plots.targets_plot(summary, target, results / f"targets-{TARGET_NAMES[target]}")
    machine = _machine(made)
    if kept and (results / "machine.json").exists():
        before = json.loads((results / "machine.json").read_text(encoding="utf-8"))
        machine["rivals"] = before.get("rivals", before)
        machine |= {package: before[package] for package in _RIVALS if machine[package] is None}
    text = json.dumps(machine, indent=1, ensure_ascii=False)
    (results / "machine.json").write_text(text + "\n", encoding="utf-8")
    for row, least in summary.below_floor():
        print(f"{row.entry.name}: a run found {least!r}, below the floor {row.floor!r}", file=sys.stderr)
    if page is not None:
        for name, text in _parts(summary).items():
            put(page, name, text)


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


def _machine(runs: Sequence[Record]) -> dict[str, Any]:
    """Return seeds, versions and processor of the installation that has made the runs."""
    return {
        "seed": SEED,
        "runs": len(runs),
        "processor_seconds": round(sum(run.seconds for run in runs)),
        **describe(),
        **{package: _version(package) for package in _RIVALS},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _targets_page(summary: Summary) -> str:
    sections = [
        f"## {TARGET_NAMES[target]} of f(x0) − min f left\n\n{tables.targets_table(summary, target)}\n"
        for target in TARGETS
    ]
    return "# Queries to each target\n\n" + "\n".join(sections)
