"""What a command prints of a result, and the file it writes: in words, as JSON, by the ending of a name."""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from gracezo.commands.errors import Failed, UsageError
from gracezo.core.result import Result
from gracezo.report import words as said
from gracezo.sensitivity.interactions import Interactions
from gracezo.sensitivity.screening import Screening

Columns: TypeAlias = dict[str, list[Any]]

ENDINGS = (".npy", ".npz", ".csv", ".json")


def add(parser: argparse.ArgumentParser, what: str) -> None:
    """Describe the words for what comes out."""
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help=f"write {what} there, as its ending says: {', '.join(ENDINGS)}",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print one JSON object instead of words (docs/reference/command-line.md)",
    )


def check(words: argparse.Namespace) -> None:
    """Refuse, before a query is spent, a file that could not be written."""
    path: Path | None = words.out
    if path is None:
        return
    if path.suffix not in ENDINGS:
        raise UsageError(f"--out must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}; given: {path}")
    if path.is_dir():
        raise UsageError(f"--out {path} is a folder")
    if not path.parent.is_dir():
        raise UsageError(f"--out {path}: there is no folder {path.parent}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"--out {path} cannot be written")


# ---------------------------------------------------------------- results


def result_object(result: Result) -> dict[str, Any]:
    """Return a result with the keys that `--json` promises."""
    indices, amounts = result.change
    flat = result.x.ravel()
    return {
        "status": int(result.status),
        "success": bool(result.success),
        "message": result.message,
        "f": said.value_of(result),
        "f_error": float(result.get("fun_error", 0.0)),
        "f_start": float(result.trace.values[0]) if len(result.trace.values) else None,
        "queries": int(result.nfev),
        "reasked": int(result.reasked),
        "rounds": int(result.rounds),
        "steps": int(result.nit),
        "seed": int(result.seed),
        "dimension": int(result.x.size),
        "changed": [
            {"index": int(index), "name": name, "x": float(flat[index]), "change": float(amount)}
            for index, name, amount in zip(indices, result.names.of(indices), amounts, strict=True)
        ],
        "trace": {"queries": result.trace.queries.tolist(), "f": result.trace.values.tolist()},
    }


def write_result(path: Path, result: Result) -> None:
    """Write the best point, and beside it what the format has room for."""
    indices, amounts = result.change
    _write(
        path,
        array=result.x,
        arrays={
            "x": result.x,
            "f": np.float64(said.value_of(result)),
            "support": indices,
            "change": amounts,
            "trace_queries": result.trace.queries,
            "trace_f": result.trace.values,
        },
        columns=lambda: {
            "index": list(range(result.x.size)),
            "name": list(result.names),
            "x": result.x.ravel().tolist(),
        },
        entries=lambda: result_object(result) | {"x": result.x.tolist()},
    )


# ---------------------------------------------------------------- screenings


def screening_columns(found: Screening) -> Columns:
    """Return the coordinates found, the most important first; of many outputs, what they say together."""
    columns: Columns = {"index": found.indices.tolist(), "name": found.names.of(found.indices)}
    if found.effects.shape[1] > 1:
        columns["overall"] = found.overall.tolist()
        columns["important"] = np.atleast_1d(found.important.any(axis=0)).tolist()
        return columns
    for name in ("mu", "mu_star", "sigma", "mu_star_conf", "share", "important"):
        columns[name] = getattr(found, name).tolist()
    return columns


def screening_object(found: Screening) -> dict[str, Any]:
    """Return a screening with the keys that `--json` promises."""
    columns = screening_columns(found)
    return {
        "message": found.message,
        "complete": bool(found.complete),
        "queries": int(found.queries),
        "rounds": int(found.rounds),
        "points": int(found.points),
        "seed": int(found.seed),
        "dimension": int(found.size),
        "outputs": int(found.effects.shape[1]),
        "rate": float(found.rate),
        "residual": float(found.residual),
        "background": np.asarray(found.background).tolist(),
        "coordinates": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
    } | ({} if found.interactions is None else {"interactions": _pairs(found.interactions)})


def _pairs(found: Interactions) -> list[dict[str, Any]]:
    """Return the pairs that act together; of many outputs, lists with a number for each."""
    names = ("mu", "mu_star", "sigma", "mu_star_conf", "important")
    return [
        {"pair": pair, "names": found.names.of(found.pairs[place])}
        | {name: getattr(found, name)[..., place].tolist() for name in names}
        for place, pair in enumerate(found.pairs.tolist())
    ]


def write_screening(path: Path, found: Screening) -> None:
    """Write a screening: mu_star of every coordinate as .npy, its parts as .npz, a table, or an object."""
    whole = np.zeros((found.effects.shape[1], found.size))
    whole[:, found.indices] = np.atleast_2d(found.mu_star)
    names = ("indices", "mu", "mu_star", "sigma", "mu_star_conf", "share", "important", "overall", "effects")
    _write(
        path,
        array=whole if len(whole) > 1 else whole[0],
        arrays={name: getattr(found, name) for name in names},
        columns=lambda: screening_columns(found),
        entries=lambda: screening_object(found),
    )


# ---------------------------------------------------------------- files


def print_json(entries: dict[str, Any]) -> None:
    """Print one object on one line."""
    print(_json(entries))


def _write(
    path: Path,
    *,
    array: Any,
    arrays: dict[str, Any],
    columns: Callable[[], Columns],
    entries: Callable[[], dict[str, Any]],
) -> None:
    try:
        if path.suffix == ".npy":
            with path.open("wb") as file:
                np.save(file, array, allow_pickle=False)
        elif path.suffix == ".npz":
            with path.open("wb") as file:
                np.savez_compressed(file, allow_pickle=False, **arrays)
        elif path.suffix == ".csv":
            table = columns()
            with path.open("w", newline="", encoding="utf-8") as text:
                writer = csv.writer(text)
                writer.writerow(table)
                writer.writerows([_cell(cell) for cell in row] for row in zip(*table.values(), strict=True))
        else:
            path.write_text(_json(entries()) + "\n", encoding="utf-8")
    except OSError as error:
        raise Failed(f"--out {path}: {error.strerror or error}") from error


def _json(entries: dict[str, Any]) -> str:
    return json.dumps(_finite(entries), ensure_ascii=False, allow_nan=False)


def _finite(value: Any) -> Any:
    """Return the value with null for what JSON has no number for."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _cell(value: Any) -> Any:
    return "" if isinstance(value, float) and math.isnan(value) else value
