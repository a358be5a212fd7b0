"""The suite: one file a family, each with `PROBLEMS`, a table of names and factories.

Nothing here was chosen by looking at how a method fares, and no method may be tuned to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.queries.functions import (
    attack,
    chains,
    dense,
    kinks,
    opening,
    paper,
    power_law,
    quadratics,
    regression,
    rosenbrock,
    rough,
    scaled,
)
from benchmarks.queries.problem import Problem


@dataclass(frozen=True)
class Entry:
    """A named problem of the suite, built when it is needed."""

    name: str
    family: str
    make: Callable[[], Problem]


_FAMILIES = {
    "paper": paper,
    "attack": attack,
    "quadratics": quadratics,
    "rosenbrock": rosenbrock,
    "power law": power_law,
    "chains": chains,
    "regression": regression,
    "kinks": kinks,
    "dense": dense,
    "scaled": scaled,
    "opening": opening,
    "rough": rough,
}

SUITE: dict[str, Entry] = {
    name: Entry(name, family, make)
    for family, module in _FAMILIES.items()
    for name, make in module.PROBLEMS.items()
}
"""All problems by name, in the order of the tables."""
