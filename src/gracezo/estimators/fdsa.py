"""Finite differences along every coordinate: d queries a gradient.

Kiefer & Wolfowitz, *Stochastic estimation of the maximum of a regression
function*, Annals of Mathematical Statistics 23(3), 1952.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gracezo.core.answers import answered
from gracezo.core.asks import Ask, Point, Role, SparseRows, Steps
from gracezo.core.box import Box
from gracezo.core.keys import Key
from gracezo.core.result import GradientEstimate
from gracezo.core.types import IntArray


def differences(
    at: Point, coordinates: IntArray, eps: float, bounds: Box | None = None
) -> Steps[GradientEstimate]:
    """Measure the partial derivatives g_j = (f(x + ε·e_j) − f(x)) / ε, one query each.

    At a bound the difference is taken inward, and no longer than there is room.
    """
    if len(coordinates) == 0:
        return GradientEstimate(len(at.x), coordinates, np.zeros(0))
    steps = np.full(len(coordinates), eps)
    if bounds is not None:
        steps = bounds.inward(at.x, coordinates, steps)
    values = yield Ask(at.x, SparseRows.coordinates(coordinates, steps), Role.PROBE)
    changes, measured, steps = answered(values - at.value, coordinates, steps)
    return GradientEstimate(
        len(at.x),
        measured,
        changes / steps,
        confirmed=np.ones(len(measured), np.bool_),
        flat=len(measured) == len(coordinates) and not changes.any(),
    )


@dataclass(frozen=True)
class FDSA:
    """The estimator; `eps` gives ε for step t = 1, 2, …; coordinates that `bounds` fix are left out."""

    eps: Callable[[int], float]
    bounds: Box | None = None

    def estimate(self, at: Point, step: int, key: Key) -> Steps[GradientEstimate]:
        """Estimate every coordinate."""
        coordinates = np.arange(len(at.x)) if self.bounds is None else self.bounds.free
        return (yield from differences(at, coordinates, self.eps(step), self.bounds))
