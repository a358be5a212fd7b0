"""``gracezo reproduce``: the paper's tables and figures, measured anew."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gracezo.commands.errors import Failed, UsageError
from gracezo.commands.outcome import print_json
from gracezo.experiments.figures import PlotsMissing
from gracezo.experiments.pool import RunFailed
from gracezo.experiments.reproduce import TABLES, Request, known, reproduce
from gracezo.experiments.settings import Override
from gracezo.experiments.store import FolderError, Store

_DESCRIPTION = """\
Measure a table or the figures of the paper (Qiu & Tong, Gradient Compressed
Sensing, ICML 2024) and set the paper's figures beside ours.

Every finished run is kept in the folder of results. The same command, given
again, continues where it was stopped and makes no run twice.

tables:
"""
_EXAMPLES = """\
examples:
  gracezo reproduce --quick                a small tour: the worst cases, and Distance
                                           with GraCe and the methods nearest to it
  gracezo reproduce main --quick           a look in about a minute
  gracezo reproduce all --out results      everything, on all cores
  gracezo reproduce main --functions distance --methods grace,zo-bcd --runs 3
  gracezo reproduce main --methods grace,mine --import mymodule --setting mine.step_size=0.1

Written to the folder: <table>.csv, .md and .tex, convergence-*.png and .svg,
machine.json (versions, processor, date), runs/ (one file a run).
"""
_TOUR = ("worst-case", "main")
_TOUR_METHODS = ["zo-bcd", "zoro", "grace"]


def add(subparsers: Any, name: str) -> None:
    """Describe the words of the command."""
    rows = "\n".join(f"  {table:<16} {about.summary}" for table, about in TABLES.items())
    parser = subparsers.add_parser(
        name,
        help="measure the tables and figures of the paper anew",
        description=f"{_DESCRIPTION}{rows}\n  {'all':<16} all of these",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("table", nargs="?", help="which one (see above); with --quick, none: a small tour")
    parser.add_argument(
        "--functions", type=_list, metavar="A,B", help="only these functions (default: the paper's three)"
    )
    parser.add_argument(
        "--methods",
        type=_list,
        metavar="A,B",
        help="only these methods (default: those of the paper's table)",
    )
    parser.add_argument(
        "--runs", type=_positive, metavar="N", help="runs of each cell (default: 10; nonsparse: 3)"
    )
    parser.add_argument(
        "--jobs", type=_positive, metavar="J", help="processes at a time (default: one a core)"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="the folder of results (default: gracezo-results, or gracezo-quick with --quick)",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="two runs (nonsparse: one) of a tenth of the steps; marked as such",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of words")
    own = parser.add_argument_group("your own method or function")
    own.add_argument(
        "--import",
        dest="imports",
        action="append",
        default=[],
        metavar="MODULE",
        help="import a module of yours that registers methods or functions; may be repeated",
    )
    own.add_argument(
        "--setting",
        dest="settings",
        action="append",
        default=[],
        metavar="[FUNCTION:]METHOD.OPTION=VALUE",
        help="an option of a method, on all functions or on one; may be repeated",
    )
    own.add_argument(
        "--budget",
        type=_positive,
        metavar="N",
        help="queries of a run that the paper has no setting for "
        "(default: the paper's budget on its functions, 6000 elsewhere)",
    )
    parser.set_defaults(run=run)


def run(words: argparse.Namespace) -> int:
    """Make what is missing, and write and print the tables."""
    request = _request(words)
    folder = words.out or Path("gracezo-quick" if words.quick else "gracezo-results")
    try:
        store = Store(folder)
        tables = []
        for written in reproduce(request, store, processes=words.jobs or _cores()):
            files = list(map(str, written.paths))
            tables.append(
                {"table": written.name, "files": files, "rows": [dict(row) for row in written.data]}
            )
            if not words.json:
                print(written.text or "figures", *files, sep="\n", end="\n\n")
        if words.json:
            print_json({"folder": str(folder), "quick": words.quick, "tables": tables})
    except (FolderError, PlotsMissing, RunFailed) as error:
        raise Failed(str(error)) from error
    except BrokenPipeError:  # the reader of our output has gone: nothing is wrong with the folder
        raise
    except OSError as error:
        raise Failed(f"{folder}: {error.strerror or error}; what is finished is kept") from error
    except KeyboardInterrupt:
        raise Failed(
            f"stopped; the finished runs are kept in {folder}, and the same command continues there"
        ) from None
    return 0


def _request(words: argparse.Namespace) -> Request:
    try:
        if words.table is None and not words.quick:
            raise UsageError(f"name a table: {', '.join(TABLES)} or all; or --quick for a small tour")
        if words.table is None:
            chosen = list(_TOUR)
        else:
            chosen = list(TABLES) if known("table", words.table, [*TABLES, "all"]) == "all" else [words.table]
        _import(words.imports)
        return Request(
            tables=chosen,
            functions=words.functions or (["distance"] if words.table is None else None),
            methods=words.methods or (_TOUR_METHODS if words.table is None else None),
            runs=words.runs,
            quick=words.quick,
            budget=words.budget,
            overrides=[Override.parse(text) for text in words.settings],
            imports=words.imports,
        )
    except (ValueError, TypeError) as error:
        raise UsageError(str(error)) from error
    except ImportError as error:  # an extra that a method needs; the message names it
        raise Failed(str(error)) from error


def _import(modules: Sequence[str]) -> None:
    """Import the user's modules, those beside them in the current folder too."""
    if modules and "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    for name in modules:
        _import_one(name)


def _import_one(name: str) -> None:
    try:
        importlib.import_module(name)
    except Exception as error:  # whatever the user's code raises
        raise UsageError(f"--import {name}: {type(error).__name__}: {error}") from error


def _list(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise argparse.ArgumentTypeError("name at least one")
    return list(dict.fromkeys(names))


def _positive(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1; given: {text}")
    return number


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
