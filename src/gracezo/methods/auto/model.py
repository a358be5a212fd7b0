"""A quadratic model on the support: measured curvatures, bent by the steps made.

Limited-memory BFGS (Nocedal & Wright, Numerical Optimization, 2nd ed., algorithm
7.4), begun from the measured diagonal instead of a multiple of the identity, with
Powell's damping (ibid., procedure 18.2), because differences and kinks can make a
pair violate the curvature condition.
"""

from __future__ import annotations

import numpy as np

from gracezo.core.types import BoolArray, FloatArray

_CURVED = 0.01  # cosine between step and change of the gradient below which a pair is left out


class Model:
    """Inverse curvature on a support that may grow.

    Parameters
    ----------
    memory
        Pairs kept.
    """

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._pairs: list[tuple[FloatArray, FloatArray, float]] = []

    def direction(
        self, slopes: FloatArray, diagonal: FloatArray, free: BoolArray | None = None
    ) -> FloatArray:
        """Return −B⁻¹g, where B starts from `diagonal` (all positive); on the free coordinates alone."""
        n = len(slopes)
        pairs = [(_grown(s, n), _grown(y, n), rho) for s, y, rho in self._pairs]
        q = -slopes
        if free is not None and not free.all():
            q = np.where(free, q, 0.0)
            pairs = [part for s, y, _ in pairs if (part := _restricted(s, y, free)) is not None]
        alphas = []
        for s, y, rho in reversed(pairs):
            alpha = rho * float(s @ q)
            q = q - alpha * y
            alphas.append(alpha)
        r = q / diagonal
        for (s, y, rho), alpha in zip(pairs, reversed(alphas), strict=True):
            r = r + (alpha - rho * float(y @ r)) * s
        return np.asarray(r)

    def learn(self, step: FloatArray, change: FloatArray, expected: FloatArray) -> None:
        """Note that along `step` the gradient changed by `change`, where B had `expected`."""
        model = float(step @ expected)
        if model <= 0.0:
            return
        actual = float(step @ change)
        if actual < 0.2 * model:
            share = 0.8 * model / (model - actual)
            change = share * change + (1.0 - share) * expected
            actual = float(step @ change)
        self._pairs.append((step, change, 1.0 / actual))
        del self._pairs[: -self._memory]

    def forget(self) -> None:
        """Drop all pairs."""
        self._pairs.clear()


def _grown(v: FloatArray, n: int) -> FloatArray:
    return v if len(v) == n else np.concatenate([v, np.zeros(n - len(v))])


def _restricted(s: FloatArray, y: FloatArray, free: BoolArray) -> tuple[FloatArray, FloatArray, float] | None:
    """Return a pair on the free coordinates alone, unless it shows no curvature there."""
    s, y = np.where(free, s, 0.0), np.where(free, y, 0.0)
    curvature = float(s @ y)
    if curvature <= _CURVED * float(np.sqrt((s @ s) * (y @ y))):
        return None
    return s, y, 1.0 / curvature
