"""CMA-ES in a box, by pycma, with draws of our own.

Hansen & Ostermeier, *Completely derandomized self-adaptation in evolution strategies*, Evolutionary
Computation 9(2), 2001; Hansen, *The CMA evolution strategy: a tutorial*, arXiv:1604.00772. The strategy sees
each coordinate in units of the width of its bounds. It ends where it has told its basin: the last digits are
bought more cheaply by whoever goes down from there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gracezo.core.asks import Ask, DenseRows, Moved, Point, Role, Steps
from gracezo.core.box import Box
from gracezo.core.keys import Key
from gracezo.core.result import Finish, Status
from gracezo.core.types import FloatArray

WIDTH = 0.3
"""First standard deviation, of the width of the bounds: what pycma advises for a minimum anywhere in them."""
TOLD = 0.01
"""Of how far the strategy has come down: it ends when the values of a generation differ by no more."""


def population(n: int) -> int:
    """Return λ, the points of a generation, by default for n coordinates (tutorial, table 1).

    >>> population(2), population(10)
    (6, 10)
    """
    return 4 + int(3 * np.log(n))


def evolve(box: Box, first: FloatArray, size: int, role: Role, key: Key) -> Steps[Finish]:
    """Minimise in a box with finite bounds; tell the middle of each generation as the iterate.

    Parameters
    ----------
    box
        The bounds.
    first
        The first mean, in units of their widths, from the lower ones.
    size
        λ, the points of a generation.
    role
        In which they are asked.
    key
        Where the draws come from.
    """
    width = box.upper - box.lower
    strategy = _strategy(first, size, key.generator())
    highest, lowest = -np.inf, np.inf
    while not strategy.stop():
        shares = strategy.ask()
        ask = Ask(np.asarray(box.lower), DenseRows(width * np.array(shares)), role)
        values = yield ask
        known = np.flatnonzero(~np.isnan(values))
        if not len(known):
            break  # whatever it asks fails
        ranked = known[np.argsort(values[known], kind="stable")]
        middle = int(ranked[len(ranked) // 2])
        yield Moved(Point(ask.point(middle), float(values[middle])))
        if len(values) < size:
            return Finish(Status.SPENT)
        worst = float(values[ranked[-1]])  # one that failed ranks last
        highest, lowest = max(highest, float(values[middle])), min(lowest, float(values[ranked[0]]))
        if worst - values[ranked[0]] <= TOLD * (highest - lowest):
            break
        try:
            strategy.tell(shares, np.where(np.isnan(values), worst, values).tolist())
        except ValueError:  # of pycma 4.5, where its steps have grown beyond the box: on plateaus
            break
    return Finish(Status.CONVERGED, "the generations of the evolution strategy differ no more")


def _strategy(first: FloatArray, size: int, rng: np.random.Generator) -> Any:
    """Return pycma's strategy, drawing from our generator: nothing global is seeded or drawn from."""
    import cma  # noqa: PLC0415  # an extra

    options = {
        "bounds": [0.0, 1.0],
        "popsize": size,
        "randn": lambda *shape: rng.standard_normal(shape),
        "seed": np.nan,  # pycma's word for: leave NumPy's global state alone
        "verbose": -9,
        "verb_log": 0,
    }
    return cma.CMAEvolutionStrategy(first, WIDTH, options)
