"""``gracezo screen``: which coordinates matter most at a point."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np

import gracezo
from gracezo.commands import objective
from gracezo.commands.errors import Failed, WrongWords

_DESCRIPTION = """\
Print the coordinates that matter most at a point: their names (or their places
in the point), the derivative of the function along them and its standard error,
where the method knows one.
"""
_EXAMPLES = """\
examples:
  gracezo screen model:loss --x0 start.npy --sparsity 10
  gracezo screen --command "./simulate {input}" --format text --dim 10000 --sparsity 20 --out matter.csv
"""


def add(subparsers: Any, name: str) -> None:
    """Describe the words of the command."""
    parser = subparsers.add_parser(
        name,
        help="print which coordinates matter most at a point",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    objective.add_function(parser)
    objective.add_point(parser)
    objective.add_method(parser)
    parser.add_argument("--max-queries", type=int, metavar="N", help="never more than so many evaluations")
    parser.add_argument(
        "--top", type=int, default=20, metavar="K", help="print so many at most (default: 20)"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write all that were found there, as CSV")
    parser.set_defaults(run=run)


def run(words: argparse.Namespace) -> int:
    """Estimate the gradient, and print its largest coordinates."""
    fun = objective.function(words)
    try:
        found = gracezo.estimate_gradient(
            fun,
            objective.point(words),
            bounds=objective.bounds(words),
            names=objective.names(words),
            **objective.method(words),
            max_queries=words.max_queries,
            vectorized=words.vectorized,
            workers=words.workers,
        )
    except gracezo.EvaluationError as error:
        raise Failed(str(error)) from error
    except (TypeError, ValueError) as error:
        raise WrongWords(str(error)) from error
    except KeyboardInterrupt:
        raise Failed("interrupted") from None
    order = np.argsort(-np.abs(found.values), kind="stable")
    assert found.names is not None
    named = found.names.of(found.indices[order])
    rows = [
        (int(found.indices[i]), name, float(found.values[i]), float(found.errors[i]))
        for i, name in zip(order, named, strict=True)
    ]
    width = max(10, *map(len, named[: words.top]), 0)
    print(f"{'coordinate':>{width}}  {'derivative':>14}  {'error':>10}")
    for _, name, derivative, spread in rows[: words.top]:
        print(f"{name:>{width}}  {derivative:>14.6g}  {_error(spread, '?'):>10}")
    print(f"{len(rows):,} coordinates found with {found.queries:,} queries")
    if words.out is not None:
        _write(words.out, rows)
    return 0


def _write(path: Path, rows: list[tuple[int, str, float, float]]) -> None:
    try:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["index", "name", "derivative", "error"])
            for index, name, derivative, spread in rows:
                writer.writerow((index, name, derivative, _error(spread, "")))
    except OSError as error:
        raise Failed(f"--out {path}: {error.strerror or error}") from error
    print(f"wrote {path}")


def _error(spread: float, unknown: str) -> str:
    return unknown if np.isnan(spread) else f"{spread:.3g}"
