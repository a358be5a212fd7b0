"""A quadratic model on the support, and the way of a step that it gives, projected onto the box.

Limited-memory BFGS (Nocedal & Wright, Numerical Optimization, 2nd ed., algorithm
7.4), begun from the measured diagonal instead of a multiple of the identity as far as
the pairs bear it out, with Powell's damping (ibid., procedure 18.2), because differences
and kinks can make a pair violate the curvature condition.

The active set, which walls hold, stays where it is, and the direction is that of the others alone (the
two-metric projection of Bertsekas, *Projected Newton methods for optimization problems with simple
constraints*, SIAM Journal on Control and Optimization 20(2), 1982). Those that the step would carry
through a wall go up to it; the others are then asked again for a direction without them. Each trial is
the nearest point of the box, and the prediction is for the displacement that is left.
"""

from __future__ import annotations

import math

import numpy as np

from gracezo.core.types import BoolArray, FloatArray, IntArray, record
from gracezo.methods.auto import constants
from gracezo.methods.auto.here import BEYOND, Walls


class Model:
    """Inverse curvature on a support that may grow.

    Parameters
    ----------
    memory
        Pairs kept.
    """

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._count = 0
        # A pair a row, the oldest first; zero for coordinates that came later.
        self._steps: FloatArray = np.zeros((memory + 1, 0))
        self._changes: FloatArray = np.zeros((memory + 1, 0))

    def __len__(self) -> int:
        return self._count

    def direction(
        self, slopes: FloatArray, diagonal: FloatArray, free: BoolArray | None = None
    ) -> FloatArray:
        """Return −B⁻¹g, where B starts from `diagonal` (all positive); on the free coordinates alone."""
        n = len(slopes)
        self._make_room(n)
        steps, changes = self._steps[: self._count, :n], self._changes[: self._count, :n]
        if free is None or free.all():
            return _two_loops(steps, changes, _products(steps, changes), -slopes, diagonal)
        chosen = np.flatnonzero(free)
        steps, changes = steps.take(chosen, axis=1), changes.take(chosen, axis=1)
        curvatures = _products(steps, changes)
        # A pair that shows no curvature on the free coordinates is left out.
        shows = curvatures > constants.PRECISE * _products(np.abs(steps), np.abs(changes))
        if not shows.all():
            steps, changes, curvatures = steps[shows], changes[shows], curvatures[shows]
        direction = np.zeros(n)
        direction[chosen] = _two_loops(steps, changes, curvatures, -slopes[chosen], diagonal[chosen])
        return direction

    def learn(self, step: FloatArray, change: FloatArray, expected: FloatArray) -> None:
        """Note that along `step` the gradient changed by `change`, where B had `expected`."""
        model = float(step @ expected)
        if model <= 0.0:
            return
        actual = float(step @ change)
        if actual < 0.2 * model:
            share = 0.8 * model / (model - actual)
            change = share * change + (1.0 - share) * expected
        self._make_room(len(step))
        for rows, new in ((self._steps, step), (self._changes, change)):
            rows[self._count] = 0.0
            rows[self._count, : len(new)] = new
        self._count += 1
        if self._count > self._memory:
            self._count = self._memory
            for rows in (self._steps, self._changes):
                rows[:-1] = rows[1:]

    def forget(self) -> None:
        """Drop all pairs."""
        self._count = 0

    def _make_room(self, n: int) -> None:
        width = self._steps.shape[1]
        if n > width:
            more = np.zeros((self._memory + 1, max(n - width, width)))
            self._steps, self._changes = np.hstack([self._steps, more]), np.hstack([self._changes, more])


def _products(one: FloatArray, two: FloatArray) -> FloatArray:
    """Return the inner products of the rows."""
    return np.asarray(np.einsum("ij,ij->i", one, two))


def _fitted(
    steps: FloatArray, changes: FloatArray, curvatures: FloatArray, diagonal: FloatArray
) -> FloatArray:
    """Return the diagonal to begin from: a power of the measured one, in the scale of the last pair.

    A diagonal D explains a pair the better, the nearer (s·y)² / (s·Ds)(y·D⁻¹y) is to one: the cosine
    between D½s and D^−½y, squared. Measured curvatures may be out of date, some more than others; then all
    alike, or half way there, explain pairs better.
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        squares, changed = steps**2, changes**2
        logs = np.log(diagonal)
        most, chosen = -math.inf, diagonal
        for power in (1.0, 0.5, 0.0):  # as measured, half way, all alike
            candidate = diagonal if power == 1.0 else np.exp(power * logs + (1.0 - power) * logs.mean())
            cosines = curvatures**2 / ((squares @ candidate) * (changed @ (1.0 / candidate)))
            explained = float(np.log(cosines).sum()) + (1.0 if power == 1.0 else 0.0)
            if explained > most:
                most, chosen = explained, candidate
        along, across = squares[-1] * chosen, changed[-1] / chosen
        # Coupled coordinates bend f more than each alone (Oren & Luenberger's scaling in the metric of D).
        scale = float(np.sqrt(across.sum() / along.sum()))
    # What was measured alone is no more than what coupling adds to; one curvature for all is a guess.
    least = 1.0 if chosen is diagonal and float(np.ptp(logs)) > 0.0 else 0.0
    # Where one coordinate holds most of the change, as at a kink, the pair speaks of that one alone.
    if not least < scale < math.inf or 2.0 * float(across.max()) > float(across.sum()):
        return chosen
    return scale * chosen


def _two_loops(
    steps: FloatArray, changes: FloatArray, curvatures: FloatArray, q: FloatArray, diagonal: FloatArray
) -> FloatArray:
    """Return B⁻¹q."""
    if len(steps):
        diagonal = _fitted(
            steps[-constants.RECENT :],
            changes[-constants.RECENT :],
            curvatures[-constants.RECENT :],
            diagonal,
        )
    alphas = []
    for s, y, curvature in zip(steps[::-1], changes[::-1], curvatures[::-1], strict=True):
        alpha = float(s @ q) / curvature
        q = q - alpha * y
        alphas.append(alpha)
    r = q / diagonal
    for s, y, curvature, alpha in zip(steps, changes, curvatures, reversed(alphas), strict=True):
        r = r + (alpha - float(y @ r) / curvature) * s
    return r


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
        return np.where((self.direction == self.wish) & (done > 0.999999 * t) & moving, t, done)


def newton_path(
    model: Model, walls: Walls, indices: IntArray, slopes: FloatArray, diagonal: FloatArray
) -> Path:
    """Return the way of a quasi-Newton step."""
    if walls.stops is None:
        return Path(walls, indices, slopes, model.direction(slopes, diagonal))
    free = ~walls.active(indices, slopes)
    step, wish = np.zeros(len(slopes)), np.zeros(len(slopes))
    while True:
        step[free] = wish[free] = model.direction(slopes, diagonal, free)[free]
        ahead = walls.ahead(indices, step)
        through = free & (np.abs(step) > ahead)
        if not through.any():
            break
        step[through] = np.copysign(BEYOND * ahead[through], step[through])
        free &= ~through
    return Path(walls, indices, slopes, step, wish)
