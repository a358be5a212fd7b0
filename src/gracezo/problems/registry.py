"""Functions by name, for the experiments and the command line.

Third parties add theirs with `register`, or with an entry point in the group
"gracezo.problems" that names a factory. A name that is taken stays with its
first owner: ours, then the registered, then the entry points.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import TypeAlias

from gracezo.problems.attack import Attack
from gracezo.problems.base import Benchmark
from gracezo.problems.distance import Distance
from gracezo.problems.magnitude import Magnitude

GROUP = "gracezo.problems"

Factory: TypeAlias = Callable[[int], Benchmark]


def _attack(instance: int) -> Benchmark:
    # All instances are the same function: only the optimiser's seed differs.
    return Attack()


_factories: dict[str, Factory] = {"distance": Distance, "magnitude": Magnitude, "attack": _attack}


def names() -> list[str]:
    """Return the names that `make` knows.

    Examples
    --------
    >>> names()[:3]
    ['distance', 'magnitude', 'attack']
    """
    return list(dict.fromkeys([*_factories, *_installed()]))


def make(name: str, instance: int) -> Benchmark:
    """Return one instance of a named function.

    Parameters
    ----------
    name
        One of `names()`.
    instance
        The number of the instance, from 0 on: the seed of Distance and Magnitude. Attack has one
        instance only, whatever the number.

    Examples
    --------
    >>> make("distance", 3).d
    10000
    """
    if isinstance(instance, bool) or not isinstance(instance, int) or instance < 0:
        raise ValueError(f"instance is {instance!r}; it is a whole number from 0 on")
    factory = _factories.get(name)
    if factory is None:
        installed = _installed()
        if name not in installed:
            near = difflib.get_close_matches(name, names()) or names()
            raise ValueError(f"there is no function {name!r}; did you mean {' or '.join(map(repr, near))}?")
        factory = installed[name].load()
    made: object = factory(instance)
    if not isinstance(made, Benchmark):
        raise TypeError(
            f"the factory of {name!r} returned a {type(made).__name__}; "
            "it must return a gracezo.problems.Benchmark"
        )
    return made


def register(name: str, factory: Factory) -> None:
    """Add a function under a new name.

    Parameters
    ----------
    name
        What tables and the command line call it.
    factory
        Called with the number of an instance; returns a `Benchmark`.

    Examples
    --------
    >>> from gracezo import problems
    >>> problems.register("distance-100", lambda instance: problems.Distance(instance, d=100, s=2))
    >>> problems.make("distance-100", 0).d
    100
    """
    if not callable(factory):
        raise TypeError(f"factory is {factory!r}; it must be callable with the number of an instance")
    if name in _factories:
        raise ValueError(f"there is a function {name!r} already; choose another name")
    _factories[name] = factory


def _installed() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}
