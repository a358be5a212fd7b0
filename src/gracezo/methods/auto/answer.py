"""The answer: where f is exact, the lowest value paid for; where it is noisy, the last point measured anew.

A look at coordinates that were found is as good an answer as a step, if it is lower; a look at a whole set
of them, if it is clearly lower. Not so with noise. The value that made a method move there is no fair one: it
was chosen because it was low. Nor is that of the one draw for which a function of a seed was minimised.
"""

from __future__ import annotations

import contextlib
import math
from typing import TypeVar

import numpy as np

from gracezo.core.asks import Ask, Moved, OutOfQueries, Point, Role, Steps
from gracezo.core.steps import relayed
from gracezo.core.types import FloatArray
from gracezo.methods.auto.constants import ANSWERS

R = TypeVar("R")
_EXACT = {Role.PROBE: Role.SET, Role.TRIAL: Role.STEP}
_NOISY = {Role.CONFIRM: Role.PROBE, Role.REFRESH: Role.PROBE}

DRAWS = 2 * ANSWERS
"""How many other draws judge the last point of a function of a seed."""


def answering(steps: Steps[R], exact: bool) -> Steps[R]:
    """Run `steps`, their looks asked in roles that may answer where f is exact, and not where it is noisy."""
    roles = _EXACT if exact else _NOISY

    def asked(ask: Ask) -> Steps[FloatArray]:
        role = roles.get(ask.role)
        return (yield ask if role is None else Ask(ask.base, ask.offsets, role, ask.reserve))

    def moved(said: Moved) -> Moved:
        return Moved(Point(said.to.x, said.to.value)) if exact and said.to.error else said

    return relayed(steps, asked, moved)


def measured_again(at: Point, noise: float) -> Steps[Point]:
    """Return a point with its value measured anew, and the error of that value.

    A function that answers the same again is rounded, not random: its value there is what it is.
    """
    first = yield from _values(at, 1)
    if len(first) and first[0] == at.value:
        return Point(at.x, at.value, noise)
    values = np.append(first, (yield from _values(at, ANSWERS - 1)))
    if not len(values):
        return Point(at.x, at.value, noise)
    return Point(at.x, float(values.mean()), noise / math.sqrt(len(values)))


def drawn_again(at: Point) -> Steps[tuple[Point, int]]:
    """Return a point with its mean over other draws and the error of that, and how many draws these are."""
    values = yield from _values(at, DRAWS)
    if len(values) < 2:
        return at, 0
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    return Point(at.x, float(values.mean()), error), len(values)


def _values(at: Point, times: int) -> Steps[FloatArray]:
    """Return so many new values at a point, as far as they can be had."""
    values = np.zeros(0)
    with contextlib.suppress(OutOfQueries):
        values = yield Ask.at(at.x, Role.AGAIN, times)
    return values[~np.isnan(values)]  # a failed one may be skipped
