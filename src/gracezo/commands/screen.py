"""``gracezo screen``: which coordinates matter, at a point or over a box."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import Bounds

import gracezo
from gracezo.commands import objective, outcome
from gracezo.commands.errors import DONE, SPENT, STUCK, Failed, Interrupted, UsageError
from gracezo.commands.minimize import add_same
from gracezo.core.types import FloatArray
from gracezo.report import words as said

_DESCRIPTION = """\
Print the coordinates that matter most, at a point or over a box: their names (or
their places in the point) and their effects over the width of the box, as SALib's
Morris method has them: mu, mu_star, sigma, and the 95 % interval of mu_star.
"""
_EXAMPLES = """\
examples:
  gracezo screen model:simulate --bounds box.csv
  gracezo screen model:simulate --problem salib.json --max-queries 200 --out matter.csv
  gracezo screen model:loss --x0 start.npy --points 1
  gracezo screen --command "./simulate {input}" --format text --dim 10000 --bounds 0 1 --journal runs.db

exit code: 0 some were found, 1 failed, 2 usage error, 3 budget spent, 4 nothing found, 130 interrupted.
"""


def add(subparsers: Any, name: str) -> None:
    """Describe the words of the command."""
    parser = subparsers.add_parser(
        name,
        help="print which coordinates matter, at a point or over a box",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    objective.add_function(parser)
    objective.add_point(parser)
    how = parser.add_argument_group("the screening")
    how.add_argument(
        "--problem",
        type=Path,
        metavar="FILE",
        help="a SALib problem as .json instead of --bounds: num_vars, bounds, maybe names and groups",
    )
    how.add_argument(
        "--points",
        type=int,
        metavar="N",
        help="at so many points (default: as many as it takes; 1 without a box)",
    )
    how.add_argument(
        "--interactions",
        action="store_true",
        help="look for pairs of the important coordinates that act together, too; needs a box",
    )
    how.add_argument(
        "--groups",
        metavar="GROUPS",
        help="coordinates that belong together: a file with a label for each (one a line, or a .json list), "
        "or the shape of a block, such as 4x4",
    )
    how.add_argument(
        "--noise", type=float, metavar="SD", help="standard deviation of the noise of the values; 0: exact"
    )
    how.add_argument("--tol", type=float, metavar="SHARE", help="of the squared effects: not worth a query")
    how.add_argument("--batch", type=int, default=1, metavar="N", help="queries that may go out together")
    how.add_argument("--seed", type=int, help="a whole number; the same one gives the same run")
    how.add_argument("--max-queries", type=int, metavar="N", help="never more than so many evaluations")
    how.add_argument(
        "--journal", type=Path, metavar="FILE", help="keep every value there, and go on from what it has"
    )
    add_same(how)
    how.add_argument("--progress", action="store_true", help="show a live line on standard error")
    parser.add_argument(
        "--top", type=int, default=20, metavar="K", help="print so many at most (default: 20)"
    )
    outcome.add(parser, "all that were found")
    parser.set_defaults(run=run)


def run(words: argparse.Namespace) -> int:
    """Screen, and print what matters."""
    outcome.check(words)
    if words.same and words.journal is None:
        raise UsageError("--same speaks of the function of a journal: add --journal FILE")
    fun = objective.function(words)
    start, bounds = _where(words)
    try:
        found = gracezo.screen(
            fun,
            start,
            bounds=bounds,
            points=words.points,
            interactions=words.interactions,
            names=objective.names(words),
            scale=objective.scale(words),
            groups=objective.groups(words),
            noise=words.noise,
            tol=words.tol,
            max_queries=words.max_queries,
            vectorized=words.vectorized,
            workers=words.workers,
            batch=words.batch,
            timeout=words.timeout if words.command is None else None,
            seed=words.seed,
            progress=words.progress,
            journal=words.journal and gracezo.Journal(words.journal, same=words.same),
        )
    except gracezo.EvaluationError as error:
        hint = objective.format_hint(fun) if error.query == 1 else ""
        raise Failed(f"{error}{hint}") from error
    except (gracezo.JournalError, gracezo.JournalWriteError) as error:
        raise Failed(str(error)) from error
    except (TypeError, ValueError) as error:
        raise UsageError(str(error)) from error
    except KeyboardInterrupt:
        raise Interrupted("interrupted") from None
    if words.out is not None:
        outcome.write_screening(words.out, found)
    if words.json:
        outcome.print_json(outcome.screening_object(found) | {"out": words.out and str(words.out)})
    else:
        _show(found, words)
    if not found.complete:
        return SPENT
    return DONE if len(found.indices) else STUCK


def _where(words: argparse.Namespace) -> tuple[FloatArray | None, object]:
    """Return the first point, if the words give one, and the box.

    `--dim` alone is zero; with a box that has two ends, it is the number of coordinates of the box.
    """
    bounds = _bounds(words)
    if words.x0 is None and words.dim is None:
        if words.bounds is not None and len(words.bounds) > 1:
            raise UsageError("--bounds LOW HIGH is for all coordinates: add --dim D, or --x0 FILE")
        return None, bounds
    start = objective.point(words)
    ends = (getattr(bounds, "lb", -np.inf), getattr(bounds, "ub", np.inf))
    if words.x0 is not None or not np.isfinite(ends).all():
        return start, bounds
    return None, Bounds(*(np.broadcast_to(end, start.shape) for end in ends))


def _bounds(words: argparse.Namespace) -> object:
    """Return the box that the words give."""
    if words.problem is None:
        try:
            return objective.bounds(words)
        except Failed as failed:
            raise UsageError(f"{failed}; a SALib problem is for --problem") from failed
    if words.bounds is not None:
        raise UsageError("--bounds and --problem both say what the box is: leave out one of them")
    try:
        problem = json.loads(words.problem.read_text(encoding="utf-8"))
    except OSError as error:
        raise Failed(f"--problem {words.problem}: {error.strerror or error}") from error
    except ValueError as error:
        raise Failed(f"--problem {words.problem} cannot be read: {error}") from error
    if not isinstance(problem, dict) or "num_vars" not in problem:
        raise UsageError(f"--problem {words.problem} must hold a SALib problem, with num_vars and bounds")
    return problem


def _show(found: gracezo.Screening, words: argparse.Namespace) -> None:
    print(said.screened(found))
    columns = outcome.screening_columns(found)
    numbers = [name for name in columns if name not in ("index", "name", "important")]
    rows: list[tuple[str, ...]] = [("coordinate", *numbers, "important")]
    for place, name in enumerate(columns["name"][: words.top]):
        cells = (f"{columns[column][place]:.4g}" for column in numbers)
        rows.append((said.shortened(name), *cells, "yes" if columns["important"][place] else "no"))
    print("\n".join(f"  {row}" for row in said.columns(rows)))
    if found.interactions is not None:
        print("\n".join(said.pairs_of(found.interactions, words.top)))
    print(f"{said.screening_cost(found)}; left outside: {said.left_out(found)}")
    if not found.complete:
        print(said.plain(found.message))
    if words.out is not None:
        print(f"wrote {words.out}")
