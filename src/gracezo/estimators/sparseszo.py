"""SparseSZO: Gaussian directions, masked to the coordinates that are large.

Ohta, Berger, Sokolov & Riezler, *Sparse perturbations for improved convergence
in stochastic zeroth-order optimization*, LOD 2020.

The mask is all ones at first. From step `period` on, and renewed every
`period` steps, it has the s coordinates of largest |x_i|: those that the
steps before have moved most, or that were large to begin with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from gracezo.core.answers import answered
from gracezo.core.asks import Ask, Point, Role, Steps
from gracezo.core.keys import Key
from gracezo.core.result import GradientEstimate
from gracezo.core.types import IntArray
from gracezo.estimators.average import Average
from gracezo.estimators.rows import gaussian, placed
from gracezo.sparse.largest import largest
from gracezo.sparse.products import combined


@dataclass
class SparseSZO:
    """The estimator.

    Parameters
    ----------
    eps
        ε for step t = 1, 2, ….
    queries
        q, the number of rows.
    sparsity
        s, how many coordinates the mask keeps.
    period
        How many steps a mask is kept.
    """

    eps: Callable[[int], float]
    queries: int
    sparsity: int
    period: int
    _mask: IntArray | None = field(default=None, init=False)

    def estimate(self, at: Point, step: int, key: Key) -> Steps[GradientEstimate]:
        """Estimate the coordinates of the mask."""
        if step % self.period == 0:
            self._mask = largest(at.x, self.sparsity)
        if self._mask is None:
            return (yield from Average(gaussian, self.eps, self.queries).estimate(at, step, key))
        eps = self.eps(step)
        rows = gaussian(key.generator(), self.queries, len(self._mask))
        changes = (yield Ask(at.x, placed(rows, self._mask, eps), Role.PROBE)) - at.value
        # With every probe flat x stays, and with it the mask: there is nothing this method could still find.
        flat = not changes.any()  # a gap is not flat
        changes, rows = answered(changes, rows)
        if len(changes) == 0:
            return GradientEstimate.nothing(len(at.x))
        values = combined(changes, rows) / (len(changes) * eps)
        return GradientEstimate(len(at.x), self._mask, values, flat=flat)
