"""Steps on the surrogate: its minimum in a trust region, which grows and shrinks with what steps bring.

The region is a box in units of the effects of the coordinates, cut by the bounds. The subproblem is itself
a small least-squares problem, with a Jacobian that costs nothing. Slopes that err by a share δ make the
residual at a step u larger by δ²|u|² in the mean, in units of the effects: a term of the problem (a ridge,
Levenberg's, but with its size known). SciPy's trust-region reflective method
(Branch, Coleman & Li, SIAM Journal on Scientific Computing 21, 1999) solves it, losses included.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares, lsq_linear

from gracezo.core.types import FloatArray
from gracezo.vectors.losses import Loss
from gracezo.vectors.surrogate import Surrogate

_GOOD, _POOR, _BAD = 0.5, 0.25, 0.1  # shares of the decrease predicted that a step has brought
_FAR = 10.0  # scales of a coordinate: farther, to either side, only after a good step that far to that side
_LEARN = 3.0  # by so much the error of the slopes is less after a good step, and more after a bad one
_INNER = 50  # evaluations of the surrogate a step
_EXACT = 1e-14  # of the squared residual: what the solution of a linear problem may leave
_NARROW = 1e-12  # what has no room is not asked


@dataclass(frozen=True)
class Step:
    """Where to go, and by how much the cost should fall."""

    to: FloatArray
    predicted: float


class Region:
    """The trust region of a fit.

    Parameters
    ----------
    loss
        What of a residual counts.
    limits, lengths
        The bounds of the coordinates, and their scales.
    """

    def __init__(self, loss: Loss, limits: tuple[FloatArray, FloatArray], lengths: FloatArray) -> None:
        self._loss = loss
        self._limits, self._lengths = limits, lengths
        self._far = np.full((2, len(lengths)), _FAR)  # down and up, in scales of the coordinates
        self._radius: float | None = None  # None: as the first step has it, twice
        self._reach = 0.0  # of the last step
        self._cut = np.zeros((2, len(lengths)), np.bool_)  # where it went as far down or up as scales allow
        self._doubt: float | None = None  # the relative error of the slopes; None: as the model says

    def step(self, model: Surrogate, z: FloatArray, cost: float) -> Step:
        """Return the minimum of the model within the region around z."""
        effects = model.effects
        if self._radius is None:
            newton = self.newton(model, z, doubtful=True)
            self._radius = 2.0 * float(np.abs((newton.to - z) * effects).max(initial=0.0))
        far = self._far * self._lengths
        down, up = np.minimum(self._radius / effects, far)
        lower, upper = np.maximum(z - down, self._limits[0]), np.minimum(z + up, self._limits[1])
        room = upper - lower > _NARROW * np.maximum(np.abs(z), np.minimum(down, up))
        if not room.any() or self._radius == 0.0:
            return Step(z, 0.0)

        def whole(part: FloatArray) -> FloatArray:
            point = z.copy()
            point[room] = part
            return point

        doubt = self._doubt = model.error if self._doubt is None else self._doubt
        rows = doubt * np.diag(effects)[:, room]
        unit = np.sqrt(2.0 * cost)  # the tolerances of the method within are those of residuals of size 1
        found = least_squares(
            lambda part: np.concatenate([model.at(whole(part)), rows @ (part - z[room])]) / unit,
            np.clip(z[room], lower[room], upper[room]),
            lambda part: np.vstack([model.slopes(whole(part))[:, room], rows]) / unit,
            (lower[room], upper[room]),
            loss=self._loss.given,
            f_scale=self._loss.margin / unit,
            x_scale=1.0 / effects[room],
            ftol=1e-12,
            xtol=1e-12,
            gtol=1e-15,
            max_nfev=_INNER,
        )
        to = self._snapped(whole(found.x), np.minimum(down, up))
        self._reach = float(np.abs((to - z) * effects).max())
        self._cut = np.stack([z - to, to - z]) >= 0.9 * far
        predicted = cost - self._loss.cost(model.at(to))
        return Step(to, predicted) if self._reach > 0.0 and predicted > 0.0 else Step(z, 0.0)

    def newton(self, model: Surrogate, z: FloatArray, *, doubtful: bool = False) -> Step:
        """Return the Gauss-Newton step within the bounds alone: what the slopes at z promise."""
        outputs, slopes, effects = model.at(z), model.slopes(z), model.effects
        root = np.sqrt(self._loss.weights(outputs))
        matrix, right = (slopes / effects) * root[:, None], -outputs * root
        doubt = model.error * np.eye(len(z)) if doubtful else np.zeros((0, len(z)))
        matrix, right = np.vstack([matrix, doubt]), np.concatenate([right, np.zeros(len(doubt))])
        lower, upper = ((limit - z) * effects for limit in self._limits)
        if np.isinf(lower).all() and np.isinf(upper).all():
            step = np.linalg.lstsq(matrix, right, rcond=1e-10)[0]
        else:
            unit = float(np.linalg.norm(right)) or 1.0  # the method's tolerances are absolute
            tiny = 1e-15 * np.maximum(1.0, np.abs(z * effects))
            bounds = (lower - tiny) / unit, (upper + tiny) / unit
            step = unit * lsq_linear(matrix, right / unit, bounds, tol=_EXACT).x
        predicted = 0.5 * float(right @ right - np.sum((matrix @ step - right) ** 2))
        return Step(np.clip(z + step / effects, *self._limits), predicted)

    def judge(self, brought: float, predicted: float, *, farther: bool = True) -> bool:
        """Note by how much the cost fell, and how much was predicted; return whether that was poor.

        `farther`: whether a good step as far as scales allow lets the next one go ten times as far.
        """
        assert self._radius is not None
        share = brought / predicted if predicted > 0.0 else -1.0
        if self._doubt is not None:
            factor = 1.0 / _LEARN if share > _GOOD else _LEARN if share < _BAD else 1.0
            self._doubt = min(1.0, factor * self._doubt)
        if share > _GOOD:
            self._far[self._cut] *= _FAR if farther else 1.0
            self._radius = max(self._radius, 2.0 * self._reach)
        elif share < _BAD:
            self._radius = 0.3 * (self._reach or self._radius)
        elif share < _POOR:
            self._radius = 0.7 * self._reach
        return share < _POOR

    def renew(self, limits: tuple[FloatArray, FloatArray], lengths: FloatArray) -> None:
        """Begin anew, with a Jacobian that was measured; the limits may be those of more coordinates."""
        self._radius, self._doubt = None, None
        self._limits, self._lengths = limits, lengths
        new = len(lengths) - self._far.shape[1]
        self._far = np.pad(self._far, ((0, 0), (0, new)), constant_values=_FAR)

    def _snapped(self, z: FloatArray, half: FloatArray) -> FloatArray:
        """Put on a bound what has come very near to it: the method within stays inside."""
        lower, upper = self._limits
        near = 1e-6 * half
        z = np.where(z - lower < near, lower, z)
        return np.where(upper - z < near, upper, z)
