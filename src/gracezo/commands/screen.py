"""``gracezo screen``: which coordinates matter most at a point."""

from __future__ import annotations

import argparse
import math
from typing import Any

import gracezo
from gracezo.commands import objective, outcome
from gracezo.commands.errors import DONE, STUCK, Failed, Interrupted, UsageError
from gracezo.report.words import shortened

_DESCRIPTION = """\
Print the coordinates that matter most at a point: their names (or their places
in the point), the derivative of the function along them and its standard error,
where the method knows one.
"""
_EXAMPLES = """\
examples:
  gracezo screen model:loss --x0 start.npy --sparsity 10
  gracezo screen --command "./simulate {input}" --format text --dim 10000 --sparsity 20 --out matter.csv

exit code: 0 some were found, 1 failed, 2 usage error, 4 nothing found, 130 interrupted.
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
    outcome.add(parser, "all that were found")
    parser.set_defaults(run=run)


def run(words: argparse.Namespace) -> int:
    """Estimate the gradient, and print its largest coordinates."""
    outcome.check(words)
    fun = objective.function(words)
    try:
        found = gracezo.estimate_gradient(
            fun,
            objective.point(words),
            bounds=objective.bounds(words),
            names=objective.names(words),
            scale=objective.scale(words),
            **objective.method(words),
            max_queries=words.max_queries,
            vectorized=words.vectorized,
            workers=words.workers,
        )
    except gracezo.EvaluationError as error:
        hint = objective.format_hint(fun) if error.query == 1 else ""
        raise Failed(f"{error}{hint}") from error
    except (TypeError, ValueError) as error:
        raise UsageError(str(error)) from error
    except KeyboardInterrupt:
        raise Interrupted("interrupted") from None
    if words.out is not None:
        outcome.write_gradient(words.out, found)
    if words.json:
        outcome.print_json(outcome.gradient_object(found) | {"out": words.out and str(words.out)})
    else:
        _show(found, words)
    return DONE if len(found.indices) else STUCK


def _show(found: gracezo.GradientEstimate, words: argparse.Namespace) -> None:
    columns = outcome.gradient_columns(found)
    named = [shortened(name) for name in columns["name"][: words.top]]
    width = max(10, *map(len, named), 0)
    print(f"{'coordinate':>{width}}  {'derivative':>14}  {'error':>10}")
    for name, derivative, spread in zip(named, columns["derivative"], columns["error"], strict=False):
        print(f"{name:>{width}}  {derivative:>14.6g}  {'?' if math.isnan(spread) else f'{spread:.3g}':>10}")
    print(f"{len(found.indices):,} coordinates found with {found.queries:,} queries")
    if words.out is not None:
        print(f"wrote {words.out}")
