"""The named methods. A method of ours is one line here; others come by `register` or an entry point.

An installed package offers methods in the entry-point group "gracezo.methods";
each entry is a factory like those below (see `gracezo.core.method.Factory`).
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from gracezo.core.method import OPTIONAL_KNOWLEDGE, Factory, Method, Problem
from gracezo.methods.auto.method import auto
from gracezo.methods.fdsa import fdsa
from gracezo.methods.gld import gld
from gracezo.methods.global_ import global_
from gracezo.methods.grace import grace
from gracezo.methods.ipw import ipw
from gracezo.methods.lasso import lasso
from gracezo.methods.least_squares import least_squares
from gracezo.methods.rs import rs
from gracezo.methods.rspg import rspg
from gracezo.methods.screen import screen
from gracezo.methods.sparseszo import sparseszo
from gracezo.methods.szoht import szoht
from gracezo.methods.tpge import tpge
from gracezo.methods.trunczsgd import trunczsgd
from gracezo.methods.zo_adamm import zo_adamm
from gracezo.methods.zo_bcd import zo_bcd
from gracezo.methods.zo_signsgd import zo_signsgd
from gracezo.methods.zoro import zoro

_FACTORIES: dict[str, Factory] = {
    "auto": auto,
    "global": global_,
    "grace": grace,
    "ipw": ipw,
    "fdsa": fdsa,
    "rs": rs,
    "tpge": tpge,
    "rspg": rspg,
    "zo-signsgd": zo_signsgd,
    "zo-adamm": zo_adamm,
    "gld": gld,
    "lasso": lasso,
    "sparseszo": sparseszo,
    "trunczsgd": trunczsgd,
    "zoro": zoro,
    "zo-bcd": zo_bcd,
    "szoht": szoht,
}
# For functions with many outputs, which have entry points of their own.
_OF_OUTPUTS: dict[str, Factory] = {"least_squares": least_squares, "screen": screen}
_GROUP = "gracezo.methods"
SCIPY_OPTIONS = {"maxiter": "max_steps", "maxfev": "max_queries", "disp": "progress"}
"""What SciPy's methods take as options, and ours as arguments of their own."""


def names() -> list[str]:
    """Return the names of the methods that minimise."""
    return [*_FACTORIES, *(entry.name for entry in _plugins() if entry.name not in _FACTORIES)]


def sentences() -> dict[str, str]:
    """Return the known methods, each with one sentence."""
    return {name: _sentence(factory(name)) for name in names()}


def register(name: str, factory: Factory) -> None:
    """Make a method known under a name, for this process.

    Parameters
    ----------
    name
        How the method is called in `method=`.
    factory
        Called as ``factory(problem, **options)`` for each run; returns an
        object with ``run(start, key)``. The first line of its docstring is
        shown by `gracezo.methods`; its keyword-only parameters are its options.

    Examples
    --------
    >>> import gracezo
    >>> def careful(problem):
    ...     "Finite differences with a small step."
    ...     from gracezo.methods.fdsa import fdsa
    ...     return fdsa(problem, step_size=0.01)
    >>> gracezo.register("careful", careful)
    >>> gracezo.methods()["careful"]
    'Finite differences with a small step.'
    """
    if not isinstance(name, str) or not name:
        raise TypeError(f"name must be a non-empty string; given: {name!r}")
    if not callable(factory):
        raise TypeError(f"factory must be callable as factory(problem, **options); given: {factory!r}")
    if name in names() or name in _OF_OUTPUTS:
        raise ValueError(f"a method named {name!r} exists already")
    _FACTORIES[name] = factory


def factory(name: str) -> Factory:
    """Return the factory of a method, or say which names are near."""
    if name in _FACTORIES:
        return _FACTORIES[name]
    if name in _OF_OUTPUTS:
        return _OF_OUTPUTS[name]
    for entry in _plugins():
        if entry.name == name:
            _FACTORIES[name] = entry.load()
            return _FACTORIES[name]
    known = names()
    near = get_close_matches(str(name).lower(), known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    raise ValueError(f"unknown method {name!r}; {hint}known: {', '.join(known)}")


def make(name: str, problem: Problem, options: Mapping[str, Any]) -> Method:
    """Make a method for one run, its options checked."""
    build = factory(name)
    allowed = option_defaults(build) if options else {}
    for key in options:
        if key not in allowed:
            near = get_close_matches(str(key), allowed, n=3, cutoff=0.5)
            hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
            known = f"it has: {', '.join(allowed)}" if allowed else "it has none"
            ours = SCIPY_OPTIONS.get(key)
            where = f"; {ours}= is an argument of its own" if ours else ""
            raise ValueError(f"method {name!r} has no option {key!r}; {hint}{known}{where}")
    for what, refusal in OPTIONAL_KNOWLEDGE.items():
        if getattr(problem, what) is not None and what not in getattr(build, "uses", ()):
            able = [other for other in names() if what in getattr(factory(other), "uses", ())]
            raise ValueError(f"method {name!r} {refusal}: {', '.join(able)}")
    for what in needs(name):
        if getattr(problem, what) is None:
            raise ValueError(f"method {name!r} needs {what}=")
    return build(problem, **options)


def needs(name: str) -> frozenset[str]:
    """Return the fields of `Problem` without which a method cannot be made."""
    return getattr(factory(name), "needs", frozenset())


def option_defaults(build: Factory) -> dict[str, Any]:
    """Return the options of a method with their defaults."""
    parameters = inspect.signature(build).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}


def constants(name: str) -> dict[str, Any]:
    """Return the defaults of a method's options but those that are functions."""
    defaults = option_defaults(factory(name))
    return {option: value for option, value in defaults.items() if not callable(value)}


def _sentence(build: Factory) -> str:
    return (inspect.getdoc(build) or "(no description)").splitlines()[0]


def _plugins() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=_GROUP))
