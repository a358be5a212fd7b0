"""Descent along estimated gradients: any estimator with any update.

Qiu & Tong (ICML 2024), Algorithm 2: x_{t+1} = x_t − η·g_t, one query for
f(x_{t+1}); the answer is the best iterate.

Where failed evaluations are skipped and f(x_{t+1}) is such a one, the step is
halved until there is a value, a few times; then the method stays where it is
and makes another estimate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from gracezo.core.asks import Ask, Moved, Point, Role, Steps
from gracezo.core.box import Box
from gracezo.core.keys import Key
from gracezo.core.method import Estimator
from gracezo.core.places import midpoint, same
from gracezo.core.result import Finish, Status
from gracezo.core.steps import reserving
from gracezo.core.types import FloatArray
from gracezo.updates import Update

_HALVINGS = 4


@dataclass(frozen=True)
class Descent:
    """Estimate, update, look where that led; for ever."""

    estimator: Estimator
    update: Update
    bounds: Box | None = None

    def run(self, start: Point, key: Key) -> Steps[Finish]:
        """Minimise from `start`."""
        at = start
        step = 0
        keys = key.children()
        while True:
            step += 1
            gradient = yield from reserving(self.estimator.estimate(at, step, next(keys)), queries=1)
            if gradient.flat:
                return Finish(Status.NOTHING_TO_FIND, f"every probe of step {step:,} left f unchanged")
            x = self.update(at.x, gradient)
            del gradient  # its memory serves the next one
            if self.bounds is not None:  # the projected step
                x = self.bounds.clip(x)
            if not same(x, at.x):  # the value at the same point is known
                at = yield from _moved(at, x)
            yield Moved(at)


def _moved(at: Point, x: FloatArray) -> Steps[Point]:
    """Return the new point with its value, or a nearer one, or the old one when none of them has a value."""
    for _ in range(_HALVINGS + 1):
        value = float((yield Ask.at(x, Role.STEP))[0])
        if not math.isnan(value):
            return Point(x, value)
        x = midpoint(at.x, x)
    return at
