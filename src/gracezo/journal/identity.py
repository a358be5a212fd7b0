"""Which run a journal belongs to: the function, x0, the method and all that its path depends on.

Stored as JSON and raw numbers. A function is stored by its name, and by digests of
what it is made of (see `function`); it is never looked up from a file: it comes from
the user, or the run does not go on.
"""

from __future__ import annotations

import functools
import numbers
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from gracezo.core.types import FloatArray
from gracezo.journal.errors import plain
from gracezo.journal.function import NoDigest, Parts, changed, digested
from gracezo.journal.settings import Journal

_CALLABLE = "callable"  # {"callable": name} stands for a function in JSON


@dataclass(frozen=True, eq=False)
class Identity:
    """What must be the same for a run to go on.

    Attributes
    ----------
    fingerprint : str
        The name of the function.
    x0 : ndarray
        Where the run starts.
    arguments : dict
        The keywords of `minimize` that the path depends on, as JSON. A seed of None is whatever was drawn.
    parts : dict
        Digests of what the function is made of; empty if the user has given it a fingerprint.
    defaults : dict
        Options that a user need not give, as they are in this version: a record of an older one may not
        know them.
    """

    fingerprint: str
    x0: FloatArray
    arguments: dict[str, Any]
    parts: Parts = field(default_factory=dict)
    defaults: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.fingerprint, str) or not isinstance(self.arguments, dict):
            raise TypeError("the function's name or the arguments are of the wrong kind")
        seed = self.arguments["seed"]
        if isinstance(seed, bool) or not isinstance(seed, (int, type(None))):
            raise TypeError("the seed is not a whole number")

    @classmethod
    def of(
        cls,
        fingerprint: str,
        x0: FloatArray,
        arguments: Mapping[str, Any],
        parts: Parts | None = None,
        defaults: Mapping[str, Any] | None = None,
    ) -> Identity:
        """Return the identity of a run, its arguments as JSON."""
        return cls(
            fingerprint,
            x0,
            {name: _as_json(name, value) for name, value in arguments.items()},
            parts or {},
            {name: _as_json(name, value) for name, value in (defaults or {}).items()},
        )

    @property
    def seed(self) -> int:
        """The seed of a recorded run."""
        return int(self.arguments["seed"])

    def with_seed(self, seed: int) -> Identity:
        """Return the identity of the run that has this seed."""
        return replace(self, arguments=self.arguments | {"seed": seed})

    def other_function(self, given: Identity) -> list[str]:
        """Say in what the function of `given` is another one than the recorded, as far as can be told."""
        if given.fingerprint != self.fingerprint:
            return [_unequal("the function", self.fingerprint, given.fingerprint)]
        if not self.parts or not given.parts:  # one of them is known by the user's word alone
            return []
        return [f"{plain(name)} has changed" for name in changed(self.parts, given.parts)]

    def differences(self, given: Identity) -> list[str]:
        """Say, one line each, in what `given` is another run than this recorded one, but for the function."""
        said = []
        if given.x0.shape != self.x0.shape:
            said.append(_unequal("the shape of x0", self.x0.shape, given.x0.shape))
        elif not np.array_equal(given.x0, self.x0):
            where = np.flatnonzero(given.x0.ravel() != self.x0.ravel())
            said.append(
                f"x0 differs at {len(where):,} of {self.x0.size:,} coordinates, the first at index {where[0]}"
            )
        there, here = _flat(self.arguments), _flat(given.arguments)
        if given.arguments.get("seed") is None:
            here["seed"] = there.get("seed")
        newer = {f"option {name}": value for name, value in given.defaults.items()}
        here = {name: value for name, value in here.items() if name in there or value != newer.get(name)}
        names = sorted(there.keys() | here.keys())
        unequal = [name for name in names if there.get(name) != here.get(name)]
        return said + [_unequal(name, there.get(name), here.get(name)) for name in unequal]

    def functions(self) -> list[str]:
        """Name the arguments that are functions, which no file can give back."""
        return [name for name, value in _flat(self.arguments).items() if _has_callable(value)]


@contextmanager
def known_by(journal: Journal, fun: Callable[..., Any], args: tuple[Any, ...]) -> Iterator[tuple[str, Parts]]:
    """Give the name of a function and digests of its parts, for the time of a run."""
    if journal.fingerprint is not None:
        yield journal.fingerprint, {}
        return
    with ExitStack() as stack:
        try:
            parts = stack.enter_context(digested(fun, args))
        except NoDigest as error:
            raise TypeError(
                f"a journal could not tell whether the function is the same next time: {error}; give it a "
                f"name that changes when it does: journal=Journal({str(journal.path)!r}, fingerprint=...)"
            ) from error
        yield fingerprint(fun), parts


def fingerprint(fun: Callable[..., Any]) -> str:
    """Return the name of a function: its own `fingerprint` if it has one, else module and qualified name."""
    own = getattr(fun, "fingerprint", None)
    if isinstance(own, str):
        return own
    if isinstance(fun, functools.partial):
        return fingerprint(fun.func)
    named = fun if hasattr(fun, "__qualname__") else type(fun)
    module = getattr(named, "__module__", None) or "?"
    if module == "__main__":  # the same script may be imported next time
        script = getattr(sys.modules["__main__"], "__file__", None)
        module = Path(script).stem if script else module
    return f"{module}:{named.__qualname__}"


def _as_json(name: str, value: object) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, numbers.Real):
        return int(value) if isinstance(value, numbers.Integral) else float(value)
    if isinstance(value, Mapping):
        return {str(key): _as_json(f"{name}[{key!r}]", item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_as_json(name, item) for item in value]
    if callable(value):
        return {_CALLABLE: fingerprint(value)}
    raise TypeError(
        f"{name} cannot be written into a journal, which holds numbers, text, lists and names of functions; "
        f"given: {type(value).__name__}"
    )


def _is_callable(value: object) -> bool:
    return isinstance(value, dict) and value.keys() == {_CALLABLE}


def _has_callable(value: object) -> bool:
    if isinstance(value, dict):
        return _is_callable(value) or any(map(_has_callable, value.values()))
    return isinstance(value, list) and any(map(_has_callable, value))


def _flat(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with each option as one of its own, for messages that name it."""
    flat = {name: value for name, value in arguments.items() if name != "options"}
    options = arguments.get("options") or {}
    return flat | {f"option {name}": value for name, value in options.items()}


def _unequal(what: str, there: object, here: object) -> str:
    return f"{what} is {_shown(there)} there and {_shown(here)} here"


def _shown(value: object) -> str:
    if _is_callable(value):
        return f"the function {value[_CALLABLE]}"  # type: ignore[index]  # a dictionary
    text = plain(value if isinstance(value, str) else repr(value))
    return text if len(text) <= 80 else text[:77] + "..."
