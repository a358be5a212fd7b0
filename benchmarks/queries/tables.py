"""The tables, as CSV for machines and Markdown for people."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median

import numpy as np
from benchmarks.queries.problem import TARGET_NAMES, TARGETS
from benchmarks.queries.rivals.method import Method
from benchmarks.queries.summary import Row, Summary

PROFILE_QUERIES = np.unique(np.round(np.logspace(0, 5, 101))).astype(np.float64)
PROFILE_SWEEPS = np.logspace(-4, 3, 141)


def count(queries: float) -> str:
    """Return a number of queries as text, a dash when there is none."""
    return f"{queries:,.0f}" if math.isfinite(queries) else "–"


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """Return a Markdown table; all columns but the first `left` are aligned right."""
    rule = ["---" if column < left else "---:" for column in range(len(head))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, rule, *rows])


def write_csv(file: Path, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)


def write_targets_csv(summary: Summary, file: Path) -> None:
    """Write queries to each target: a line a problem and target, a column a method, empty if not reached."""
    rows = [
        [
            row.entry.name,
            row.entry.family,
            row.d,
            row.s,
            row.budget,
            TARGET_NAMES[target],
            *("" if math.isinf(q) else int(q) for q in _needed(summary, row, target)),
        ]
        for target in TARGETS
        for row in summary.rows
    ]
    names = [method.name for method in summary.methods]
    write_csv(file, ["problem", "family", "d", "s", "budget", "target", *names], rows)


def write_profile_csv(summary: Summary, file: Path) -> None:
    """Write the data profiles: share of problems solved against queries, and against sweeps of d + 1."""
    rows: list[list[object]] = []
    for unit, at in (("queries", PROFILE_QUERIES), ("sweeps", PROFILE_SWEEPS)):
        for target in TARGETS:
            shares = [summary.share(method, target, at, unit == "sweeps") for method in summary.methods]
            for place, budget in enumerate(at):
                rows.append(
                    [
                        unit,
                        TARGET_NAMES[target],
                        f"{budget:.6g}",
                        *(f"{share[place]:.4f}" for share in shares),
                    ]
                )
    write_csv(file, ["unit", "target", "budget", *(method.name for method in summary.methods)], rows)


def suite_table(summary: Summary) -> str:
    """Return the table of the problems."""
    made = ((row, row.entry.make()) for row in summary.rows)
    return markdown(
        ["problem", "what it is", "d", "s", "budget"],
        [
            [f"`{row.entry.name}`", problem.about, f"{row.d:,}", f"{row.s:,}", f"{problem.budget:,}"]
            for row, problem in made
        ],
        left=2,
    )


def methods_table(summary: Summary) -> str:
    """Return the table of the methods, with their machine time."""
    rows = []
    for method in summary.methods:
        runs = [run for row in summary.rows for run in summary.runs(row, method)]
        own = median(1e6 * (run.seconds - run.inside) / run.queries for run in runs)
        tried = sum(1 for row in summary.rows if summary.runs(row, method))
        rows.append([method.label, method.about, str(tried), f"{own:,.0f}"])
    return markdown(["method", "how it is run", "problems", "µs a query"], rows, left=2)


def targets_table(summary: Summary, target: float) -> str:
    """Return queries to one target, the fewest in bold; empty where a method was not run."""
    rows = []
    for row in summary.rows:
        fewest = summary.best(row, target)
        cells = []
        for method in summary.methods:
            needed = summary.queries(row, method, target)
            cell = count(needed) if summary.runs(row, method) else ""
            cells.append(f"**{cell}**" if needed == fewest < math.inf else cell)
        rows.append([f"`{row.entry.name}`", *cells])
    return markdown(["problem", *(method.label for method in summary.methods)], rows)


def solved_table(summary: Summary) -> str:
    """Return how many problems each method solves within the budget, by target, and where it is first."""
    rows = []
    for method in summary.methods:
        cells = []
        for target in TARGETS:
            needed = [
                (summary.queries(row, method, target), summary.best(row, target)) for row in summary.rows
            ]
            solved = sum(math.isfinite(q) for q, _ in needed)
            first = sum(math.isfinite(q) and q == fewest for q, fewest in needed)
            cells.append(f"{solved} ({first})")
        rows.append([method.label, *cells])
    head = ["method", *(f"to {TARGET_NAMES[target]}" for target in TARGETS)]
    return markdown(head, rows) + f"\n\nOf {len(summary.rows)} problems; in brackets, how often it was first."


def families_table(summary: Summary) -> str:
    """Return, by family, how many problem-target pairs each method solves, and how often it is first."""
    rows = []
    for family in dict.fromkeys(row.entry.family for row in summary.rows):
        pairs = [(row, target) for row in summary.rows if row.entry.family == family for target in TARGETS]
        cells = []
        for method in summary.methods:
            needed = [
                (summary.queries(row, method, target), summary.best(row, target)) for row, target in pairs
            ]
            solved = sum(math.isfinite(q) for q, _ in needed)
            first = sum(math.isfinite(q) and q == fewest for q, fewest in needed)
            cells.append(f"{solved} ({first})")
        rows.append([family, str(len(pairs)), *cells])
    return markdown(["family", "pairs", *(method.label for method in summary.methods)], rows)


def losses_table(summary: Summary, mine: Method) -> str:
    """Return where another method needs fewer queries than this one, the worst first."""
    others = [method for method in summary.methods if method is not mine]
    lost: list[tuple[float, list[str]]] = []
    for row in summary.rows:
        for target in TARGETS:
            own, rival = summary.queries(row, mine, target), summary.best(row, target, others)
            if rival < own:
                winner = next(m for m in others if summary.queries(row, m, target) == rival)
                cells = [f"`{row.entry.name}`", TARGET_NAMES[target], winner.label, count(rival), count(own)]
                lost.append((own / rival, cells))
    lost.sort(key=lambda item: -item[0])
    pairs = len(summary.rows) * len(TARGETS)
    table = markdown(
        ["problem", "to", "fewest by", "its queries", mine.label], [cells for _, cells in lost], left=3
    )
    verdict = f"{mine.label} needs more queries than the best other method in {len(lost)} of {pairs} cases"
    return f"{verdict}:\n\n{table}"


def ratios_table(summary: Summary, mine: Method) -> str:
    """Return the queries of the others over those of a method: medians over the problems that both solve."""
    others = [method for method in summary.methods if method is not mine]
    lines = []
    for target in TARGETS:
        cells = []
        for rivals in (others, *([method] for method in others)):
            ratios = [
                rival / own
                for row in summary.rows
                if math.isfinite(own := summary.queries(row, mine, target))
                and math.isfinite(rival := summary.best(row, target, rivals))
            ]
            cells.append(f"{median(ratios):.1f} ({len(ratios)})" if ratios else "–")
        lines.append([TARGET_NAMES[target], *cells])
    table = markdown(["to", "best other", *(method.label for method in others)], lines)
    return f"{table}\n\nMedians; in brackets, how many problems both solve."


def _needed(summary: Summary, row: Row, target: float) -> list[float]:
    return [summary.queries(row, method, target) for method in summary.methods]
