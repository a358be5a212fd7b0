"""GLD: gradientless descent, a search over step lengths.

Golovin, Karro, Kochanski, Lee, Song & Zhang, *Gradientless descent:
high-dimensional zeroth-order optimization*, ICLR 2020, Algorithm 1. A step
tries K Gaussian displacements of scale η, η/2, η/4, … and goes to the best of
them, or stays. The value at the winner is known, so a step costs K queries.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gracezo.core.answers import lowest
from gracezo.core.asks import Ask, DenseRows, Moved, Point, Role, Steps
from gracezo.core.box import Box, Clipped
from gracezo.core.keys import Key
from gracezo.core.method import Problem, uses
from gracezo.core.result import Finish, Status
from gracezo.estimators.rows import gaussian
from gracezo.methods.options import positive, whole


@dataclass(frozen=True)
class GLD:
    """The search; `scales` are the standard deviations of the K displacements of a step.

    With bounds, each trial is the nearest point of the box.
    """

    scales: tuple[float, ...]
    bounds: Box | None = None

    def run(self, start: Point, key: Key) -> Steps[Finish]:
        """Minimise from `start`."""
        at = start
        step = 0
        keys = key.children()
        scales = np.array(self.scales, np.float32)[:, None]
        while True:
            step += 1
            rows = gaussian(next(keys).generator(), len(scales), len(at.x))
            rows *= scales
            offsets = DenseRows(rows)
            ask = Ask(at.x, offsets if self.bounds is None else Clipped(offsets, self.bounds), Role.STEP)
            values = yield ask  # fewer than asked when the budget ends
            if np.all(values == at.value) and not self._cornered(ask):
                return Finish(Status.NOTHING_TO_FIND, f"every trial of step {step:,} left f unchanged")
            best = lowest(values)
            if values[best] < at.value:
                x = ask.point(best)
                x.flags.writeable = False
                at = Point(x, float(values[best]))
            yield Moved(at)

    def _cornered(self, ask: Ask) -> bool:
        """Whether the bounds brought every trial back to where it began."""
        return self.bounds is not None and all(
            np.array_equal(ask.point(row), ask.base) for row in range(len(ask))
        )


@uses("bounds")
def gld(problem: Problem, *, step_size: float | None = None, queries: int = 4) -> GLD:
    """GLD: goes to the best of a few Gaussian steps of halving scale, or stays.

    Parameters
    ----------
    problem
        What is known of the problem.
    step_size
        η, the largest scale, a standard deviation in each coordinate; 0.1/√d by default.
    queries
        K, the displacements of a step.
    """
    largest = 0.1 / problem.d**0.5 if step_size is None else positive("step_size", step_size)
    return GLD(tuple(largest * 0.5**k for k in range(whole("queries", queries))), problem.bounds)
