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
from gracezo.core.keys import Key
from gracezo.core.result import GradientEstimate
from gracezo.core.types import IntArray


def differences(at: Point, coordinates: IntArray, eps: float) -> Steps[GradientEstimate]:
    """Measure the partial derivatives g_j = (f(x + ε·e_j) − f(x)) / ε, one query each."""
    if len(coordinates) == 0:
        return GradientEstimate(len(at.x), coordinates, np.zeros(0))
    rows = SparseRows.coordinates(coordinates, np.full(len(coordinates), eps))
    values = yield Ask(at.x, rows, Role.REFRESH)
    changes, measured = answered(values - at.value, coordinates)
    return GradientEstimate(
        len(at.x),
        measured,
        changes / eps,
        confirmed=np.ones(len(measured), np.bool_),
        flat=len(measured) == len(coordinates) and not changes.any(),
    )


@dataclass(frozen=True)
class FDSA:
    """The estimator; `eps` gives ε for step t = 1, 2, …."""

    eps: Callable[[int], float]

    def estimate(self, at: Point, step: int, key: Key) -> Steps[GradientEstimate]:
        """Estimate every coordinate."""
        return (yield from differences(at, np.arange(len(at.x)), self.eps(step)))
