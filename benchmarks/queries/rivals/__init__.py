"""The methods of the profile: one file each, with a `METHOD`.

A method gets the counted function and a `Task` (x0, s, budget, seed), and calls the function until `RunOver`
is raised; it may end earlier of its own accord. It never sees the floor or the targets.
"""

from __future__ import annotations

from benchmarks.queries.rivals import (
    auto,
    cma_es,
    coordinate_descent,
    grace,
    lbfgs,
    nevergrad_default,
    support_lbfgs,
)
from benchmarks.queries.rivals.method import Method

METHODS: dict[str, Method] = {
    module.METHOD.name: module.METHOD
    for module in (auto, grace, coordinate_descent, support_lbfgs, lbfgs, cma_es, nevergrad_default)
}
"""All methods by name, in the order of the tables."""
