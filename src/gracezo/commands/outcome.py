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
from gracezo.core.names import Names
from gracezo.core.result import GradientEstimate, Result
from gracezo.report import words as said

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


# ---------------------------------------------------------------- gradients


def gradient_columns(found: GradientEstimate) -> Columns:
    """Return the coordinates found, the steepest first."""
    order = np.argsort(-np.abs(found.values), kind="stable")
    names = found.names or Names(found.shape or (found.size,))
    return {
        "index": found.indices[order].tolist(),
        "name": names.of(found.indices[order]),
        "derivative": found.values[order].tolist(),
        "error": found.errors[order].tolist(),
    }


def gradient_object(found: GradientEstimate) -> dict[str, Any]:
    """Return an estimate with the keys that `--json` promises."""
    columns = gradient_columns(found)
    return {
        "queries": int(found.queries),
        "dimension": int(found.size),
        "norm": found.found,
        "residual": float(found.residual),
        "background": float(found.background),
        "flat": bool(found.flat),
        "coordinates": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
    }


def write_gradient(path: Path, found: GradientEstimate) -> None:
    """Write an estimate: dense as .npy, its parts as .npz, a table, or an object."""
    _write(
        path,
        array=found.toarray(),
        arrays={"indices": found.indices, "values": found.values, "errors": found.errors},
        columns=lambda: gradient_columns(found),
        entries=lambda: gradient_object(found),
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
