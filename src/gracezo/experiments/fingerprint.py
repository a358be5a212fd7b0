"""A digest of the user's own code that a run depends on.

The package has a version, and a results folder belongs to it. A method or a function that someone is
still writing has none: its source stands in, so that a changed file gets new runs, not old ones.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Sequence
from pathlib import Path

import gracezo
from gracezo.experiments.runs import NONSPARSE_FUNCTION, make_function
from gracezo.methods import catalog

_PACKAGE = Path(gracezo.__file__).parent
_OWN_FUNCTIONS = frozenset({"distance", "magnitude", "attack", NONSPARSE_FUNCTION})


def foreign_code(method: str, function: str, imports: Sequence[str]) -> str:
    """Return the digest of what is not ours of a method and a function, or "" if all is.

    Parameters
    ----------
    method, function
        Their names.
    imports
        The user's modules that register them.

    Examples
    --------
    >>> foreign_code("grace", "distance", [])
    ''
    """
    files: set[Path] = set()
    made = _source(catalog.factory(method))
    if made is not None:
        files.add(made)
    if function not in _OWN_FUNCTIONS:
        files |= {path for path in [_source(type(make_function(function, 0)))] if path is not None}
    if not files and function in _OWN_FUNCTIONS:
        return ""
    files |= {Path(file) for name in imports if (file := getattr(sys.modules[name], "__file__", None))}
    parts = sorted(hashlib.sha256(path.read_bytes()).hexdigest() for path in files)
    return hashlib.sha256("".join(parts).encode()).hexdigest()[:12]


def _source(thing: object) -> Path | None:
    """Return the file that defines a function or class outside of the package, if there is one."""
    try:
        file = inspect.getsourcefile(inspect.unwrap(thing))  # type: ignore[arg-type]  # else a TypeError
    except TypeError:
        return None
    path = Path(file) if file else None
    return path if path is not None and path.is_file() and not path.is_relative_to(_PACKAGE) else None
