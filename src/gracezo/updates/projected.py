"""The path of a quasi-Newton step, projected onto the box.

The active set, which walls hold, stays where it is, and the direction is that of the others alone (the
two-metric projection of Bertsekas, *Projected Newton methods for optimization problems with simple
constraints*, SIAM Journal on Control and Optimization 20(2), 1982). Those that the step would carry
through a wall stay there. The others go on, or are asked again for a direction without them: that of the
two ways is taken which the model sees fall more. Each trial is the nearest point of the box, and the
prediction is for the displacement that is left.
"""

from __future__ import annotations

import math

import numpy as np

from gracezo.core.precision import ROOT
from gracezo.core.types import FloatArray, IntArray, record
from gracezo.core.walls import BEYOND, Walls
from gracezo.updates.quasi_newton import LBFGS


@record
class Path:
    """A direction from the present point, and what the model predicts along it.

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
        """Whether the model predicts a decrease."""
        return self.slope < 0.0 and self.predicted(1.0) < 0.0

    def asked(self, t: float) -> FloatArray:
        """Return the step of length t as it is to be asked."""
        return self.walls.asked(self.indices, t * self.direction)

    def displacement(self, t: float) -> FloatArray:
        """Return the step of length t as the walls leave it."""
        return self.walls.displacement(self.indices, t * self.direction)

    @property
    def end(self) -> float:
        """The length beyond which walls let nothing go farther; zero if something meets none."""
        moving = np.flatnonzero(self.direction)
        step = self.direction[moving]
        length = float((self.walls.ahead(self.indices[moving], step) / np.abs(step)).max(initial=0.0))
        return length if math.isfinite(length) else 0.0

    def share(self, t: float) -> float:
        """Return how much of the linear prediction the walls leave of a step of length t."""
        if self.wish is None:
            return 1.0
        return float(self.slopes @ self.displacement(t)) / (self.slope * t)

    def predicted(self, t: float) -> float:
        """Return the change of f that the model predicts for a step of length t."""
        if self.wish is None:
            return t * self.slope * (1.0 - 0.5 * t)
        return float(self.slopes @ (self.displacement(t) * (1.0 - 0.5 * self._done(t))))

    def value(self, model: LBFGS, diagonal: FloatArray) -> float:
        """Return the model's change of f for the step of length one, its coordinates together."""
        step = self.displacement(1.0)
        return float(self.slopes @ step) + 0.5 * model.bend(step, diagonal)

    def expected(self, t: float) -> FloatArray:
        """Return how the model sees the slopes change over a step of length t: B·step = −t·g."""
        return -(t if self.wish is None else self._done(t)) * self.slopes

    def predicted_slopes(self, t: float, left: float) -> FloatArray:
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
        whole = (self.direction == self.wish) & (done > (1.0 - ROOT) * t)
        return np.where(whole & moving, t, done)


def newton_path(
    model: LBFGS, walls: Walls, indices: IntArray, slopes: FloatArray, diagonal: FloatArray
) -> Path:
    """Return the way of a quasi-Newton step; where walls cut it, the better one of two, by the model."""
    if walls.stops is None:
        return Path(walls, indices, slopes, model.direction(slopes, diagonal))
    free = ~walls.active(indices, slopes)
    first = model.direction(slopes, diagonal, free)
    step, wish = first.copy(), first.copy()
    while True:
        ahead = walls.ahead(indices, step)
        through = free & (np.abs(step) > ahead)
        if not through.any():
            break
        step[through] = np.copysign(BEYOND * ahead[through], step[through])
        free &= ~through
        step[free] = wish[free] = model.direction(slopes, diagonal, free)[free]
    path = Path(walls, indices, slopes, step, wish)
    if np.array_equal(step, first):
        return path
    projected = Path(walls, indices, slopes, first, first)
    return min((path, projected), key=lambda way: way.value(model, diagonal))
