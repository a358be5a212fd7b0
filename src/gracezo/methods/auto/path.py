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

from gracezo.core.types import FloatArray, IntArray
from gracezo.methods.auto.model import Model
from gracezo.methods.auto.walls import BEYOND, Walls

_ROUNDS = 10  # in which coordinates may be found to meet a wall


@dataclass(frozen=True, eq=False)
class Path:
    """A direction from the present point, and what the model foresees along it.

    Attributes
    ----------
    direction
        The step of length one. Coordinates that meet a wall on it end there.
    wish
        The same step as the model would have it without the walls, when there are any.
    """

    walls: Walls
    indices: IntArray
    slopes: FloatArray
    direction: FloatArray
    wish: FloatArray | None = None

    @property
    def slope(self) -> float:
        """The slope at the beginning."""
        return float(self.slopes @ self.direction)

    @property
    def descends(self) -> bool:
        """Whether the model foresees a decrease."""
        return self.slope < 0.0 and self.foreseen(1.0) < 0.0

    def asked(self, t: float) -> FloatArray:
        """Return the step of length t as it is to be asked."""
        return self.walls.asked(self.indices, t * self.direction)

    def displacement(self, t: float) -> FloatArray:
        """Return the step of length t as the walls leave it."""
        return self.walls.displacement(self.indices, t * self.direction)

    def share(self, t: float) -> float:
        """Return how much of the linear prediction the walls leave of a step of length t."""
        if self.wish is None:
            return 1.0
        return float(self.slopes @ self.displacement(t)) / (self.slope * t)

    def foreseen(self, t: float) -> float:
        """Return the change of f that the model foresees for a step of length t."""
        if self.wish is None:
            return t * self.slope * (1.0 - 0.5 * t)
        return float(self.slopes @ (self.displacement(t) * (1.0 - 0.5 * self._done(t))))

    def expected(self, t: float) -> FloatArray:
        """Return how the model sees the slopes change over a step of length t: B·step = −t·g."""
        return -(t if self.wish is None else self._done(t)) * self.slopes

    def predicted(self, t: float, left: float) -> FloatArray:
        """Return the slopes after a step of length t, when f has shown what share of them is left."""
        if self.wish is None:
            return self.slopes * left
        done = self._done(t)
        return self.slopes * np.where(done < t, 1.0 - done, left)

    def _done(self, t: float) -> FloatArray:
        """Return which share of its wish each coordinate gets on a step of length t."""
        assert self.wish is not None
        done = np.zeros(len(self.wish))
        moving = self.wish != 0.0
        np.divide(self.displacement(t), self.wish, out=done, where=moving)
        return np.where((self.direction == self.wish) & (done > 0.999999 * t) & moving, t, done)


def newton_path(
    model: Model, walls: Walls, indices: IntArray, slopes: FloatArray, diagonal: FloatArray
) -> Path:
    """Return the way of a quasi-Newton step."""
    if walls.stops is None:
        return Path(walls, indices, slopes, model.direction(slopes, diagonal))
    free = ~walls.held(indices, slopes)
    step, wish = np.zeros(len(slopes)), np.zeros(len(slopes))
    for _ in range(_ROUNDS):
        step[free] = wish[free] = model.direction(slopes, diagonal, free)[free]
        ahead = walls.ahead(indices, step)
        through = free & (np.abs(step) > ahead)
        if not through.any():
            break
        step[through] = np.copysign(BEYOND * ahead[through], step[through])
        free &= ~through
    return Path(walls, indices, slopes, step, wish)
