"""What would give the paper's figures in the cells of the non-sparse table that are far from ours.

    python -m benchmarks.nonsparse_ends [--page] [--only zoro]

Distance with s = 2500, up to 250,000 queries, instances 0 to 2. These runs are in no table: their settings
are not the best of the trial.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from benchmarks.page_table import PageTable, seeds

from gracezo.experiments import paper
from gracezo.experiments.runs import NONSPARSE_FUNCTION, Job, Record, execute

INSTANCES = 3
HEAD = ["method", "how", "ours", "paper"]


@dataclass(frozen=True)
class Other:
    """Another way to run a method, and what is looked at."""

    method: str
    how: str
    options: dict[str, Any]
    steps: int
    look: Callable[[Record], float] = lambda run: run.best


CASES = (
    Other("gld", "η = 0.01, a fifth of the steps", {"step_size": 0.01, "queries": 4}, 10_000),
    Other("gld", "η = 0.005, a fifth of the steps", {"step_size": 0.005, "queries": 4}, 10_000),
    Other(
        "zo-signsgd",
        "η = 0.1, mean of the last six iterates",
        {"step_size": 0.1, "queries": 10_000},
        25,
        lambda run: float(run.normalised[-6:].mean()),
    ),
    Other("zoro", "q = 2·s·ln(d/s) = 6,932, η = 0.2", {"step_size": 0.2, "queries": 6932}, 36),
)


def main() -> None:
    """Make the runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write docs/results/README.md")
    parser.add_argument("--only", metavar="METHOD", help="run one method; the other rows stay")
    words = parser.parse_args()
    table = PageTable("nonsparse-ends", "results/README.md", HEAD, named_by=2, write=words.page)
    table.begin()
    for case in (case for case in CASES if words.only in (None, case.method)):
        ends = [
            case.look(
                execute(
                    Job(NONSPARSE_FUNCTION, case.method, instance, case.options, max_steps=case.steps), {}
                )
            )
            for instance in range(INSTANCES)
        ]
        spread = f"{np.mean(ends):.4f} ({min(ends):.4f} … {max(ends):.4f})"
        printed = f"{paper.NONSPARSE[case.method].mean:g}"
        table.add(paper.TITLES[case.method], case.how, spread, printed, seeds=seeds(0, INSTANCES))


if __name__ == "__main__":
    main()
