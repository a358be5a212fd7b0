"""The way of a step: the quasi-Newton direction, projected onto the box.

Coordinates that a wall holds stay where they are, and the direction is that of the others alone (the
two-metric projection of Bertsekas, *Projected Newton methods for optimization problems with simple
constraints*, SIAM Journal on Control and Optimization 20(2), 1982). Those that the step would carry
through a wall go up to it; the others are then asked again for a direction without them. Each trial is
the nearest point of the box, and what is foreseen is foreseen for the displacement that is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gracezo.core.types import BoolArray, FloatArray, IntArray
from gracezo.methods.auto.model import Model
from gracezo.methods.auto.walls import Walls

_ROUNDS = 10  # in which coordinates may be found to meet a wall
_BEYOND = 1.0 + 8.0 * float(np.finfo(np.float64).eps)  # so that the sum is not rounded short of the wall


@dataclass(frozen=True, eq=False)
class Path:
    """A direction from the present point, and what the model foresees along it.

    Attributes
    ----------
    direction
        The step of length one, before the walls cut it.
    stopped
        Coordinates that the step takes to a wall, or that are held by one.
    """

    walls: Walls
    indices: IntArray
    slopes: FloatArray
    diagonal: FloatArray
    direction: FloatArray
    stopped: BoolArray | None = None

    @property
    def slope(self) -> float:
        """The slope at the beginning."""
        return float(self.slopes @ self.direction)

    def displacement(self, t: float) -> FloatArray:
        """Return the step of length t as the walls leave it."""
        return self.walls.displacement(self.indices, t * self.direction)

    def share(self, t: float) -> float:
        """Return how much of the linear prediction the walls leave of a step of length t."""
        if self.stopped is None:
            return 1.0
        return float(self.slopes @ self.displacement(t)) / (self.slope * t)

    def foreseen(self, t: float) -> float:
        """Return the change of f that the model foresees for a step of length t."""
        if self.stopped is None:
            return t * self.slope * (1.0 - 0.5 * t)
        step = self.displacement(t)
        bent = np.where(self.stopped, 0.5 * self.diagonal * step**2, -0.5 * t * self.slopes * step)
        return float(self.slopes @ step + bent.sum())

    def expected(self, t: float) -> FloatArray:
        """Return how the model sees the slopes change over a step of length t: B·step = −t·g."""
        if self.stopped is None:
            return -t * self.slopes
        return np.where(self.stopped, self.diagonal * self.displacement(t), -t * self.slopes)

    def predicted(self, t: float, share: float) -> FloatArray:
        """Return the slopes after a step of length t, when f has shown that this share of them is left."""
        if self.stopped is None:
            return self.slopes * share
        # A coordinate that a wall has stopped keeps what its own curvature does not take away.
        return np.where(self.stopped, self.slopes + self.expected(t), self.slopes * share)


def newton_path(
    model: Model, walls: Walls, indices: IntArray, slopes: FloatArray, diagonal: FloatArray
) -> Path:
    """Return the way of a quasi-Newton step."""
    if walls.box is None:
        return Path(walls, indices, slopes, diagonal, model.direction(slopes, diagonal))
    free = ~walls.held(indices, slopes)
    step = np.zeros(len(slopes))
    for _ in range(_ROUNDS):
        step[free] = model.direction(slopes, diagonal, free)[free]
        ahead = walls.ahead(indices, step)
        through = free & (np.abs(step) > ahead)
        if not through.any():
            break
        step[through] = np.copysign(_BEYOND * ahead[through], step[through])
        free &= ~through
    return Path(walls, indices, slopes, diagonal, step, ~free)
