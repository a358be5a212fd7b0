"""Whether a function is the recorded one, as far as can be told: digests of what it is made of.

Of a function: its code, that of the functions beside it that it names, its defaults and the variables that it
closes over; of a partial, its arguments; of an object, its attributes and the code of its class; and the
`args`. Each part has a digest of its own, so that what differs can be named. Code is compared within one
version of Python, since another one compiles it otherwise. What a function finds in global variables or in
files is not seen.
"""

from __future__ import annotations

import functools
import sys
import types
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np

Parts: TypeAlias = dict[str, str]  # what it is: its digest

_PYTHON = "Python"


class NoDigest(TypeError):
    """Something has no digest: two of them cannot be compared in two processes."""


def changed(there: Parts, here: Parts) -> list[str]:
    """Name the parts that differ; code of another version of Python is not compared."""
    other = there.get(_PYTHON) != here.get(_PYTHON)
    names = [*there, *(name for name in here if name not in there)]
    if other:
        names = [name for name in names if name != _PYTHON and not name.startswith("the code")]
    return [name for name in names if there.get(name) != here.get(name)]


# ---------------------------------------------------------------- a function that a run itself changes

_settled: dict[tuple[int, str], tuple[weakref.ref[Any], Parts, Parts]] = {}


@contextmanager
def digested(fun: Callable[..., Any], args: tuple[Any, ...]) -> Iterator[Parts]:
    """Give the parts of a function for the time of a run.

    A function may count its calls, or keep what it was asked: it is then another one after the run than
    before. In the same process it is still known by what it was made of before, if nobody but the run has
    changed it.
    """
    now = _parts(fun, args)
    owner = getattr(fun, "__self__", fun)
    key = id(owner), getattr(fun, "__name__", "")
    known = _settled.get(key)
    if known is not None and known[0]() is owner and known[2] == now:
        now = known[1]
    try:
        yield now
    finally:
        try:
            _settled[key] = weakref.ref(owner, lambda _: _settled.pop(key, None)), now, _parts(fun, args)
        except TypeError:  # no weak references to it, or no digest any more
            _settled.pop(key, None)


# ---------------------------------------------------------------- what a function is made of


def _parts(fun: Callable[..., Any], args: tuple[Any, ...]) -> Parts:
    found: dict[str, Any] = {}
    if not isinstance(getattr(fun, "fingerprint", None), str):  # that says all there is to say
        _collect(fun, found)
    for place, value in enumerate(args):
        found[f"args[{place}]"] = value
    parts = {_PYTHON: f"{sys.version_info.major}.{sys.version_info.minor}"}
    for name, value in found.items():
        hasher = _Hasher()
        try:
            hasher.take(value)
        except RecursionError as error:
            raise NoDigest(f"{name} is nested too deeply") from error
        except NoDigest as error:
            raise NoDigest(f"{name} is or holds {error}") from error
        parts[name] = hasher.hexdigest()
    return parts


def _collect(fun: Any, found: dict[str, Any]) -> None:
    """Find what a function is made of, by names for people."""
    if isinstance(fun, functools.partial):
        _collect(fun.func, found)
        found |= {f"argument {place + 1} of the partial": value for place, value in enumerate(fun.args)}
        found |= {f"argument {name} of the partial": value for name, value in fun.keywords.items()}
    elif isinstance(fun, types.MethodType):
        _collect(fun.__func__, found)
        _collect_state(fun.__self__, found)
    elif isinstance(fun, types.FunctionType):
        _collect_function(fun, found)
    elif not isinstance(fun, (type, types.BuiltinFunctionType, types.BuiltinMethodType)):
        for cls in type(fun).__mro__:
            if cls.__module__ == type(fun).__module__:
                for method in vars(cls).values():
                    if isinstance(method, types.FunctionType):
                        found.setdefault(f"the code of {method.__qualname__}", _Code(method))
        _collect_state(fun, found)


def _collect_function(fun: types.FunctionType, found: dict[str, Any]) -> None:
    name = f"the code of {fun.__qualname__}"
    if name in found:
        return
    found[name] = _Code(fun)
    for variable, cell in zip(fun.__code__.co_freevars, fun.__closure__ or (), strict=True):
        try:
            value = cell.cell_contents
        except ValueError:  # not bound yet
            continue
        if value is not fun:
            found[f"the variable {variable}"] = value
    defaults = fun.__defaults__ or ()
    names = fun.__code__.co_varnames[: fun.__code__.co_argcount][-len(defaults) or sys.maxsize :]
    found |= {f"the default of {name}": value for name, value in zip(names, defaults, strict=True)}
    found |= {f"the default of {name}": value for name, value in (fun.__kwdefaults__ or {}).items()}
    for name in _names(fun.__code__):
        helper = fun.__globals__.get(name)
        if isinstance(helper, types.FunctionType) and helper.__module__ == fun.__module__:
            _collect_function(helper, found)


def _collect_state(owner: Any, found: dict[str, Any]) -> None:
    state = getattr(owner, "__dict__", None)
    if isinstance(state, dict) and not isinstance(owner, (type, types.ModuleType)):
        found |= {f"the attribute {name}": value for name, value in state.items()}
    else:
        found["the object"] = owner


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


class _Code:
    """The code of a function, without its docstring and its place in the file."""

    def __init__(self, fun: types.FunctionType) -> None:
        self.code = fun.__code__
        self.doc = fun.__doc__


class _Hasher:
    """A digest of any value that consists of numbers, text, arrays, containers and objects of these."""

    def __init__(self) -> None:
        self._sum = blake2b(digest_size=8)
        self._above: list[int] = []  # what is being taken: an object may hold itself

    def hexdigest(self) -> str:
        return self._sum.hexdigest()

    def take(self, value: Any) -> None:
        kind = type(value)
        self._say(kind.__qualname__)
        if value is None or kind in (bool, int, float, complex):
            self._say(repr(value))
        elif kind is str:
            self._say(value)
        elif kind in (bytes, bytearray):
            self._bytes(value)
        elif id(value) in self._above:
            self._say(f"again {self._above.index(id(value))}")
        else:
            self._above.append(id(value))
            self._whole(value)
            self._above.pop()

    def _whole(self, value: Any) -> None:
        if isinstance(value, np.ndarray) and value.dtype.kind in "biufcSUmM":
            self._say(f"{value.dtype.str} {value.shape}")
            self._bytes(np.ascontiguousarray(value).view(np.uint8) if value.size else b"")
        elif type(value) in (list, tuple):
            self._several(value)
        elif type(value) is dict:
            self._several(sorted((_digest(key), _digest(item)) for key, item in value.items()))
        elif type(value) in (set, frozenset):
            self._several(sorted(map(_digest, value)))
        elif isinstance(value, _Code):
            self._code(value.code, value.doc)
        elif isinstance(value, types.CodeType):
            self._code(value, None)
        elif isinstance(value, (types.FunctionType, types.MethodType, functools.partial)):
            found: dict[str, Any] = {}
            _collect(value, found)
            self.take(found)
        elif isinstance(value, (type, types.BuiltinFunctionType, np.ufunc, types.ModuleType)):
            self._say(f"{getattr(value, '__module__', '')}:{value.__name__}")
        else:
            self._reduced(value)

    def _reduced(self, value: Any) -> None:
        """Take an object as pickle would take it apart."""
        said = getattr(value, "fingerprint", None)
        if isinstance(said, str):
            self._say(said)
            return
        try:
            reduced = value.__reduce_ex__(4)
            if isinstance(reduced, str):
                pieces: list[Any] = [reduced]
            else:  # callable, arguments, state; items of a list and of a dictionary come as iterators
                pieces = [*reduced[:3], *(list(rest) for rest in reduced[3:5] if rest is not None)]
        except Exception as error:  # whatever the user's object raises
            raise NoDigest(f"a {type(value).__name__}, which cannot be compared") from error
        self._several(pieces)

    def _code(self, code: types.CodeType, doc: str | None) -> None:
        constants = [None if doc is not None and one == doc else one for one in code.co_consts]
        self._several([code.co_code, code.co_names, code.co_varnames, code.co_freevars, constants])

    def _several(self, values: Any) -> None:
        self._say(str(len(values)))
        for value in values:
            self.take(value)

    def _say(self, text: str) -> None:
        self._bytes(text.encode("utf-8", "surrogatepass"))

    def _bytes(self, data: Any) -> None:
        self._sum.update(b"%d:" % memoryview(data).nbytes)
        self._sum.update(data)


def _digest(value: Any) -> str:
    hasher = _Hasher()
    hasher.take(value)
    return hasher.hexdigest()
