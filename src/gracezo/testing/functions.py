"""Small functions that tell what was asked of them: a valley, within bounds, with failures."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import scipy.optimize

from gracezo.core.types import FloatArray


class Valley:
    """A small function with a sparse gradient that stays finite wherever a method may run to.

    f(x) = Σ w_i·log(1 + (x_i − goal_i)²); `points` remembers what was asked.
    """

    def __init__(self, d: int = 60, s: int = 3, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        self.weights = 0.5 + random.random(d)
        self.goal = np.zeros(d)
        self.goal[random.choice(d, s, replace=False)] = 1.0 + random.random(s)
        self.x0 = np.zeros(d)
        self.s = s
        self.points: list[bytes] = []

    @property
    def fingerprint(self) -> str:
        """What a journal knows it by: not by the points that were asked."""
        return f"gracezo.testing:{type(self).__name__}"

    def value(self, x: FloatArray) -> float:
        """Return f without remembering."""
        return float((self.weights * np.log1p((x.ravel() - self.goal) ** 2)).sum())

    def __call__(self, x: FloatArray) -> float:
        """Return f and remember the point."""
        self.points.append(x.tobytes())
        return self.value(x)

    def many(self, points: FloatArray) -> FloatArray:
        """Return f at each row, exactly as one by one."""
        return np.array([self(x) for x in points])


class Walled(Valley):
    """A valley in a box that cuts its minimum off, begins at x0 and fixes every seventh coordinate."""

    def __init__(self, lowest: float = -np.inf) -> None:
        super().__init__()
        self.lower = np.where(np.arange(60) % 2, 0.0, lowest)
        self.upper = np.where(np.arange(60) % 7, 0.7, 0.0)
        self.lower[::7] = 0.0
        self.bounds = scipy.optimize.Bounds(self.lower, self.upper)
        self.outside = 0

    def __call__(self, x: FloatArray) -> float:
        """Return f, remember the point and whether it was outside."""
        self.outside += not (np.all(x >= self.lower) and np.all(x <= self.upper))
        return super().__call__(x)


class Failing(Valley):
    """A valley in which about one point in seven has no value, and x0 has one."""

    def __call__(self, x: FloatArray) -> float:
        """Return f, or NaN, and remember the point."""
        value = super().__call__(x)
        return np.nan if x.any() and crc32(x.tobytes()) % 7 == 0 else value


class Noisy(Valley):
    """A valley that fails at a few calls and answers when asked again."""

    fails_at = (1, 2, 5, 11, 12, 30)

    def __call__(self, x: FloatArray) -> float:
        """Return f, or NaN, and remember the point."""
        value = super().__call__(x)
        return np.nan if len(self.points) in self.fails_at else value
