"""``gracezo journal``: look into a journal, or take its tables elsewhere."""

from __future__ import annotations

import argparse
import csv
import datetime
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from gracezo.commands.errors import Failed, UsageError
from gracezo.commands.outcome import print_json
from gracezo.journal.errors import JournalError, plain
from gracezo.journal.reading import Record, read
from gracezo.report.points import asked

Table: TypeAlias = dict[str, list[Any]]  # columns

_DESCRIPTION = """\
show prints what a journal holds: which run it is, how far it has come, its last
steps. check reads every entry, and says whether all are as they were written.
export writes one of its tables as CSV, or as Parquet if pyarrow is installed. All
may be used while the run goes on.

tables:
  queries  query, role, value, failure, at (seconds since 1970): every evaluation,
           in the order of asking
  steps    step, queries, value, changed: every iterate, x0 first
  x        step, index, name, x: where each iterate differs from x0
  known    the iterates and their values as arrays X and F (.npz), to begin a new
           run with: known = numpy.load(FILE); minimize(..., known=(known["X"], known["F"]))
  points   the points of all queries and their values as arrays query, X and F (.npz):
           the method is run again, without the function, as far as it asks what was asked
"""
_EXAMPLES = """\
examples:
  gracezo journal show run.db
  gracezo journal check run.db
  gracezo journal export run.db --out queries.csv
  gracezo journal export run.db --table steps --out steps.parquet
"""


def add(subparsers: Any, name: str) -> None:
    """Describe the words of the command."""
    parser = subparsers.add_parser(
        name,
        help="look into a journal, check it, or export its tables",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("what", choices=("show", "check", "export"))
    parser.add_argument("journal", type=Path, metavar="FILE", help="the journal")
    parser.add_argument(
        "--table", choices=(*TABLES, "known", "points"), help="what to export (default: queries)"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="where to: .csv, .parquet, or .npz for known and points (default: CSV, printed)",
    )
    parser.add_argument(
        "--json", action="store_true", help="show, check: print one JSON object instead of words"
    )
    parser.set_defaults(run=run)


def run(words: argparse.Namespace) -> int:
    """Show, check or export."""
    if words.what != "export" and (words.table or words.out):
        raise UsageError("--table and --out belong to export")
    if words.what == "export" and words.json:
        raise UsageError("--json belongs to show and check; export writes tables, by the ending of --out")
    try:
        record = read(words.journal)
    except JournalError as error:
        if words.json:
            print_json({"journal": str(words.journal), "whole": False, "error": str(error)})
        raise Failed(str(error)) from error
    if words.what == "show" and words.json:
        print_json(_entries(record))
    elif words.what == "show":
        _show(record)
    elif words.what == "check":
        _check(words, record)
    else:
        _write(words, record)
    return 0


# ---------------------------------------------------------------- show


def _show(record: Record) -> None:
    arguments = record.identity.arguments
    limits = {name: value for name, value in record.header.get("limits", {}).items() if value is not None}
    answered = sum(query.failure is None for query in record.queries)
    failed = len(record.queries) - answered
    rows = {
        "function": record.identity.fingerprint,
        "method": f"{arguments.get('method')}, seed {arguments.get('seed')}",
        "options": _listed(arguments.get("options") or {}),
        "given": _listed(_given(arguments)) or "nothing else",
        "x0": f"{record.identity.x0.size:,} coordinates, shape {record.identity.x0.shape}",
        "limits": _listed(limits) or "the default",
        "written by": f"gracezo {record.header.get('library')}, {_date(record.header.get('created'))}",
        "queries": f"{answered:,} answered"
        + f", {failed:,} failed" * bool(failed)
        + f", {record.in_flight:,} asked without an answer" * bool(record.in_flight)
        + f", {record.reasked:,} asked again" * bool(record.reasked)
        + f", {record.aside:,} set aside by a larger budget" * bool(record.aside),
        "overruled": "; ".join(record.header.get("overridden") or []),
        "state": "under way, or stopped by force" if record.finish is None else record.finish.message,
    }
    for name, text in rows.items():
        if name == "overruled" and not text:
            continue
        print(f"{name:<10}  {plain(text)}")
    if record.steps:
        print(f"\n{'step':>8}  {'queries':>10}  {'f':>22}  changed")
        changed = steps(record)["changed"]
        for step, count in list(zip(record.steps, changed, strict=True))[-10:]:
            shown = "not kept" if count is None else f"{count:,}"
            print(f"{step.step:>8}  {step.queries:>10,}  {step.value!r:>22}  {shown}")
        best = min(record.steps, key=lambda step: step.value)
        print(f"\nbest iterate: step {best.step}, f = {best.value!r}")


def _entries(record: Record) -> dict[str, Any]:
    """Return what a journal holds with the keys that `--json` promises."""
    arguments, finish = record.identity.arguments, record.finish
    answered = sum(query.failure is None for query in record.queries)
    values = [step.value for step in record.steps]
    return {
        "function": record.identity.fingerprint,
        "method": arguments.get("method"),
        "seed": arguments.get("seed"),
        "dimension": int(record.identity.x0.size),
        "library": record.header.get("library"),
        "created": record.header.get("created"),
        "limits": record.header.get("limits"),
        "status": None if finish is None else finish.status,
        "message": None if finish is None else finish.message,
        "answered": answered,
        "failed": len(record.queries) - answered,
        "in_flight": record.in_flight,
        "reasked": record.reasked,
        "aside": record.aside,
        "steps": max(0, len(values) - 1),
        "f_start": values[0] if values else None,
        "f_best": min(values, default=None),
    }


# ---------------------------------------------------------------- check


def _check(words: argparse.Namespace, record: Record) -> None:
    """Say what a check has found; a journal that is damaged could not have been read."""
    if words.json:
        whole = {"journal": str(words.journal), "whole": True, "error": None}
        print_json(whole | {"queries": len(record.queries), "iterates": len(record.steps)})
        return
    state = "unfinished" if record.finish is None else f"finished: {record.finish.message}"
    counts = f"{len(record.queries):,} queries, {len(record.steps):,} iterates"
    print(plain(f"{words.journal} is whole: {counts}, {state}"))


def _given(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return what the user said of the problem, in short."""
    said = {name: arguments.get(name) for name in ("sparsity", "batch", "noise", "on_failure")}
    box = arguments.get("bounds")
    if box is not None:
        low, high = ("different" if isinstance(box[side], list) else box[side] for side in ("lower", "upper"))
        said["bounds"] = f"({low}, {high})"
    return {name: value for name, value in said.items() if value is not None}


def _listed(values: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())


def _date(seconds: object) -> str:
    if not isinstance(seconds, int):
        return "at an unknown time"
    try:
        moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    except (OverflowError, ValueError, OSError):
        return "at an unknown time"
    return f"{moment:%Y-%m-%d %H:%M} UTC"


# ---------------------------------------------------------------- export


def _write(words: argparse.Namespace, record: Record) -> None:
    try:
        if words.table in ("known", "points"):
            _export_arrays(words.table, record, words.out)
        else:
            _export(TABLES[words.table or "queries"](record), words.out)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise Failed(f"--out {words.out}: {error.strerror or error}") from error


def queries(record: Record) -> Table:
    """Return every evaluation."""
    names = ("query", "role", "value", "failure", "at")
    return {name: [getattr(query, name) for query in record.queries] for name in names}


def steps(record: Record) -> Table:
    """Return every iterate."""
    names = ("step", "queries", "value")
    table: Table = {name: [getattr(step, name) for step in record.steps] for name in names}
    x0 = record.identity.x0.ravel()
    changed = [None if step.x is None else int(np.count_nonzero(step.x != x0)) for step in record.steps]
    return table | {"changed": changed}


def points(record: Record) -> Table:
    """Return where the iterates differ from x0."""
    x0 = record.identity.x0.ravel()
    table: Table = {"step": [], "index": [], "name": [], "x": []}
    for step in record.steps:
        if step.x is None:
            continue
        where = np.flatnonzero(step.x != x0)
        table["step"] += [step.step] * len(where)
        table["index"] += where.tolist()
        table["name"] += record.names.of(where)
        table["x"] += step.x[where].tolist()
    return table


TABLES: dict[str, Callable[[Record], Table]] = {"queries": queries, "steps": steps, "x": points}


def _export_arrays(table: str, record: Record, path: Path | None) -> None:
    if path is None or path.suffix != ".npz":
        raise UsageError(f"--table {table} needs --out with a name that ends in .npz; given: {path}")
    if table == "known":
        points, values = record.known()
        np.savez_compressed(path, X=points, F=values)
        return
    try:
        found = asked(record)
    except (TypeError, ValueError, ImportError) as error:
        raise Failed(f"this run cannot be run again here, so the points are not known: {error}") from error
    np.savez_compressed(path, query=found.queries, X=found.points, F=found.values)
    answered = sum(query.value is not None for query in record.queries)
    if len(found.queries) < answered:
        print(
            f"gracezo: the points of {len(found.queries):,} of {answered:,} values are known: after these, "
            f"the method asks for others than it did (the values are in --table queries)",
            file=sys.stderr,
        )


def _export(table: Table, path: Path | None) -> None:
    if path is None:
        _write_csv(table, sys.stdout)
    elif path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            _write_csv(table, file)
    elif path.suffix == ".parquet":
        try:
            pyarrow = importlib.import_module("pyarrow")
            parquet = importlib.import_module("pyarrow.parquet")
        except ImportError as error:
            raise Failed("Parquet needs pyarrow (pip install pyarrow); or write .csv") from error
        parquet.write_table(pyarrow.table(table), path)
    else:
        raise UsageError(f"--out must end in .csv or .parquet; given: {path}")


def _write_csv(table: Table, file: Any) -> None:
    writer = csv.writer(file)
    writer.writerow(table)
    writer.writerows(zip(*table.values(), strict=True))
