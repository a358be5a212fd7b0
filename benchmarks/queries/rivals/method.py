"""What a method of the profile is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Solve: TypeAlias = Callable[..., None]  # (f: Objective, task: Task, **settings)


@dataclass(frozen=True)
class Method:
    """A method with its settings.

    Attributes
    ----------
    name, label
        Its name on the command line, and in tables and plots.
    about
        One line for the page.
    solve
        Runs it.
    settings
        The settings that are tried, by name. The table takes the best for each problem and target, and
        the queries of the others are not counted: more than one is a favour to the method.
    work
        Its machine time forbids more than ``work / d`` queries on a problem of d coordinates.
    least
        What it gets of a budget nevertheless, for any d.
    largest_d
        It is not run on larger problems.
    by_gradients
        Whether its first step takes d + 1 queries: it is not run where the budget has fewer.
    """

    name: str
    label: str
    about: str
    solve: Solve
    settings: Mapping[str, Mapping[str, Any]]
    work: float = float("inf")
    least: int = 0
    largest_d: float = float("inf")
    by_gradients: bool = False

    def affordable(self, d: int, budget: int) -> int:
        """Return the queries that it may spend of a budget; 0 when it is not run."""
        if d > self.largest_d or (self.by_gradients and budget <= d + 1):
            return 0
        return int(min(budget, max(self.work / d, self.least)))


DEFAULTS: Mapping[str, Mapping[str, Any]] = {"default": {}}
"""For methods that run with one setting."""
