"""The words for a function and a point, which `minimize` and `screen` share."""

from __future__ import annotations

import argparse
import csv
import importlib
import json
import os
import re
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import Bounds

import gracezo
from gracezo.commands.errors import Failed, UsageError
from gracezo.core.types import FloatArray


def add_function(parser: argparse.ArgumentParser) -> None:
    """Describe how the function is named."""
    what = parser.add_argument_group("the function")
    what.add_argument("function", nargs="?", metavar="FUNCTION", help="a function of yours, as module:name")
    what.add_argument(
        "--command",
        metavar="TEMPLATE",
        help="a program instead: a command line with {input} where the file with the point goes, and "
        "{output} for the file with its answer (without: the last line that it prints)",
    )
    what.add_argument(
        "--format",
        choices=("npy", "text", "json"),
        default="npy",
        help="how the point is written for the program: npy (NumPy's format), text (one number a line) or "
        "json (default: npy)",
    )
    what.add_argument(
        "--timeout",
        type=float,
        metavar="SECONDS",
        help="give an evaluation up after so long: it has failed (a function needs --workers)",
    )
    what.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="evaluate in so many processes (-1: one a core; default: here)",
    )
    what.add_argument("--vectorized", action="store_true", help="the function takes many points at once")


def add_point(parser: argparse.ArgumentParser) -> None:
    """Describe how the point is given."""
    where = parser.add_argument_group("the point")
    where.add_argument(
        "--x0", type=Path, metavar="FILE", help="a file: .npy, .npz, .json, .csv, or text with numbers"
    )
    where.add_argument("--dim", type=int, metavar="D", help="instead: zero, with so many coordinates")
    where.add_argument(
        "--names",
        type=Path,
        metavar="FILE",
        help="what the coordinates are called: a text file with one name a line, or a .json list",
    )
    where.add_argument(
        "--bounds",
        nargs="+",
        metavar=("LOW", "HIGH"),
        help="what no coordinate may leave: two numbers, none for no bound; or a file with a pair for "
        "each (two columns; inf or -inf for no bound)",
    )
    where.add_argument(
        "--scale",
        metavar="SIZE",
        help="the typical size of a change of each coordinate: a number for all, or a file with one for each",
    )


def add_method(parser: argparse.ArgumentParser) -> None:
    """Describe how the method is chosen."""
    how = parser.add_argument_group("the method")
    how.add_argument("--method", help="see: gracezo methods (default: auto)")
    how.add_argument("--sparsity", type=int, metavar="S", help="how many coordinates matter at a time")
    how.add_argument("--f0", type=float, metavar="VALUE", help="the value at the point, when it is known")
    how.add_argument(
        "--noise", type=float, metavar="SD", help="standard deviation of the noise of the values; 0: exact"
    )
    how.add_argument(
        "--tol", type=float, metavar="SHARE", help="converged when no more than this share is left to find"
    )
    how.add_argument(
        "--groups",
        metavar="GROUPS",
        help="coordinates that belong together: a file with a label for each (one a line, or a .json list), "
        "or the shape of a block, such as 4x4",
    )
    how.add_argument("--seed", type=int, help="a whole number; the same one gives the same run")
    how.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the method, say step_size=0.1; may be repeated",
    )


def function(words: argparse.Namespace) -> Callable[..., Any]:
    """Return the function that the words name."""
    if (words.function is None) == (words.command is None):
        raise UsageError("name one function, as module:name, or one --command")
    if words.command is not None:
        try:
            return gracezo.Command(words.command, format=words.format, timeout=words.timeout)
        except (TypeError, ValueError) as error:
            raise UsageError(f"--command: {error}") from error
    return _imported(words.function)


def format_hint(fun: object) -> str:
    """Return what may be wrong when a program fails at once."""
    if not isinstance(fun, gracezo.Command):
        return ""
    return f" (the point was written as {fun.format}; --format chooses another way)"


def function_words(words: argparse.Namespace) -> list[str]:
    """Return the words that name the same function again."""
    said = [words.function] if words.command is None else ["--command", words.command]
    if words.command is not None and words.format != "npy":
        said += ["--format", words.format]
    if words.timeout is not None:
        said += ["--timeout", f"{words.timeout:g}"]
    if words.workers is not None:
        said += ["--workers", str(words.workers)]
    return said + ["--vectorized"] * words.vectorized


def point(words: argparse.Namespace) -> FloatArray:
    """Return the point that the words give."""
    if words.x0 is not None and words.dim is not None:
        raise UsageError(
            "--x0 and --dim both say where to start (a point in a file; zero in so many dimensions): "
            "leave out one of them"
        )
    if words.x0 is None and words.dim is None:
        raise UsageError("say where: --x0 FILE, or --dim D for zero in D dimensions")
    if words.x0 is None:
        if words.dim < 1:
            raise UsageError(f"--dim must be at least 1; given: {words.dim}")
        return np.zeros(words.dim)
    return loaded("--x0", words.x0)


def names(words: argparse.Namespace) -> list[Any] | None:
    """Return the names of coordinates that the words give."""
    return None if words.names is None else _list("--names", words.names)


def groups(words: argparse.Namespace) -> object:
    """Return the groups that the words give: labels in a file, or the shape of a block."""
    if words.groups is None:
        return None
    if re.fullmatch(r"\d+(x\d+)*", words.groups):
        sides = tuple(map(int, words.groups.split("x")))
        return sides if len(sides) > 1 else sides[0]
    return _list("--groups", Path(words.groups))


def _list(option: str, path: Path) -> list[Any]:
    """Return the words that a file holds, one a line, or a list in JSON."""
    try:
        text = path.read_text(encoding="utf-8")
        given = json.loads(text) if path.suffix == ".json" else text.splitlines()
    except OSError as error:
        raise Failed(f"{option} {path}: {error.strerror or error}") from error
    except ValueError as error:  # no UTF-8, or no JSON
        raise Failed(f"{option} {path} cannot be read: {error}") from error
    if not isinstance(given, list):
        raise Failed(f"{option} {path} must hold a list; given: {str(given)[:60]}")
    return given


def scale(words: argparse.Namespace) -> float | FloatArray | None:
    """Return the sizes of changes that the words give: one number, or those in a file."""
    if words.scale is None:
        return None
    try:
        return float(words.scale)
    except ValueError:
        return loaded("--scale", Path(words.scale))


def bounds(words: argparse.Namespace) -> object:
    """Return the bounds that the words give."""
    if words.bounds is None:
        return None
    if len(words.bounds) == 1 and Path(words.bounds[0]).exists():
        return loaded("--bounds", Path(words.bounds[0]))
    try:
        low, high = (None if word == "none" else float(word) for word in words.bounds)
    except ValueError as error:
        given = " ".join(words.bounds) + (", and there is no such file" if len(words.bounds) == 1 else "")
        raise UsageError(
            f"--bounds takes LOW HIGH, two numbers or none, or one file; given: {given}"
        ) from error
    return Bounds(-np.inf if low is None else low, np.inf if high is None else high)


def loaded(option: str, path: Path) -> FloatArray:
    """Return the numbers that a file holds."""
    try:
        if path.suffix == ".npy":
            loaded = np.load(path, allow_pickle=False)
        elif path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as arrays:
                loaded = arrays["x"]
        elif path.suffix == ".json":
            read = json.loads(path.read_text(encoding="utf-8"))
            loaded = np.array(read["x"] if isinstance(read, dict) else read)
        elif path.suffix == ".csv":
            loaded = _column(path)
        else:
            loaded = np.loadtxt(path)
    except OSError as error:
        raise Failed(f"{option} {path}: {error.strerror or error}") from error
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise Failed(f"{option} {path} cannot be read: {error}") from error
    return np.asarray(loaded)


def _column(path: Path) -> FloatArray:
    """Return the numbers of a CSV file; of one that --out wrote, the column x."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        head = next(rows, [])
        if "x" in head:
            place = head.index("x")
            return np.array([float(row[place]) for row in rows])
    return np.loadtxt(path, delimiter=",")


def method(words: argparse.Namespace) -> dict[str, Any]:
    """Return the words of the method as keywords."""
    chosen = {} if words.method is None else {"method": words.method}
    return chosen | {
        "sparsity": words.sparsity,
        "f0": words.f0,
        "noise": words.noise,
        "tol": words.tol,
        "groups": groups(words),
        "seed": words.seed,
        "options": dict(_option(text) for text in words.option),
    }


def _option(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"--option is name=value; given: {text}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value  # a word needs no quotes


def _imported(text: str) -> Callable[..., Any]:
    module, colon, path = text.partition(":")
    if not colon or not module or not path:
        program = "; a program goes behind --command" if " " in text or "{" in text else ""
        raise UsageError(f"a function is named module:name; given: {text}{program}")
    if module.endswith(".py"):
        raise UsageError(f"a module is named without .py: {module.removesuffix('.py')}:{path}")
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # as in `python -m`
    try:
        found: Any = importlib.import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
    except Exception as error:  # whatever the user's module raises
        raise UsageError(f"{text}: {type(error).__name__}: {error}") from error
    if not callable(found):
        raise UsageError(f"{text} cannot be called; it is of type {type(found).__name__}")
    chosen: Callable[..., Any] = found
    return chosen
