"""Which point of a run is its answer, with which value.

It is, where f is exact, the lowest value paid for; where it is noisy, the last point measured anew.
A look at coordinates that were found is as good an answer as a step, if it is lower; a look at a whole set of
them, if it is clearly lower. Not so with noise. The value that made a method move there is no fair one: it
was chosen because it was low. Nor is that of the one draw for which a function of a seed was minimised.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from gracezo.core.answers import lowest
from gracezo.core.asks import MARGIN, Ask, Moved, OutOfQueries, Point, Role, Steps
from gracezo.core.box import Box
from gracezo.core.steps import translated
from gracezo.core.types import FloatArray, record
from gracezo.methods.auto import constants

R = TypeVar("R")
_EXACT = {Role.PROBE: Role.SET, Role.TRIAL: Role.STEP}
_NOISY = {Role.CONFIRM: Role.PROBE, Role.REFRESH: Role.PROBE}


class Lowest:
    """The lowest value paid for, and where: no run has converged beside a lower one.

    Parameters
    ----------
    bounds
        Where points have to lie.
    """

    def __init__(self, bounds: Box | None) -> None:
        self._bounds = bounds
        self._ask: Ask | None = None
        self._row = 0
        self.value = math.inf

    def note(self, ask: Ask, values: FloatArray) -> None:
        """Take in answers."""
        if (n := len(values)) == 1 and not values[0] < self.value:
            return  # the usual case
        if n and values[row := lowest(values)] < self.value:
            self._ask, self._row, self.value = ask, row, float(values[row])

    def below(self, at: Point, plainly: float, fallen: float) -> Point | None:
        """Return the point, if it is plainly lower; one of a whole set, if it is clearly lower."""
        least = plainly if self._ask is None or self._ask.role is not Role.PROBE else MARGIN * fallen
        if self._ask is None or not at.value - self.value > max(plainly, least):
            return None
        x = self._ask.reached(self._row)
        return Point(x if self._bounds is None else self._bounds.clip(x), self.value)


def answering(steps: Steps[R], exact: bool, note: Callable[[Ask, FloatArray], None]) -> Steps[R]:
    """Run `steps`, their looks asked in roles that may answer where f is exact, and not where it is noisy.

    Who is to `note` answers is told them.
    """
    roles = _EXACT if exact else _NOISY

    def asked(ask: Ask) -> Ask:
        role = roles.get(ask.role)
        return ask if role is None else Ask(ask.base, ask.offsets, role, ask.reserve)

    def heard(ask: Ask, values: FloatArray) -> FloatArray:
        note(ask, values)
        return values

    def moved(said: Moved) -> Moved:
        return Moved(Point(said.to.x, said.to.value)) if exact and said.to.error else said

    return translated(steps, asked, heard, moved)


def remembered(steps: Steps[R]) -> Steps[R]:
    """Run `steps`, and let what they ask again be told by whoever remembers it: f answers the same again."""

    def asked(ask: Ask) -> Ask:
        return Ask(ask.base, ask.offsets, Role.STEP, ask.reserve) if ask.role is Role.AGAIN else ask

    return translated(steps, asked)


@record
class Again:
    """A point whose value was measured anew, with its error; and the standard deviation that this showed.

    That is NaN where too few values tell, or f answers the `same` again: it is rounded then, or rough, not
    random, and its value is what it is.
    """

    at: Point
    deviation: float = math.nan
    same: bool = False


def measured_again(at: Point, noise: float) -> Steps[Again]:
    """Measure the value of a noisy f at a point anew.

    The noise may be another one here, and what was taken for it comes of few values: the larger of what was
    assumed and what shows is the deviation of one value.
    """
    first = yield from _values(at, 1)
    if len(first) and first[0] == at.value:
        return Again(Point(at.x, at.value, noise), same=True)
    values = np.append(first, (yield from _values(at, constants.ANSWERS - 1)))
    if not len(values):
        return Again(Point(at.x, at.value, noise))
    deviation = float(values.std(ddof=1)) if len(values) >= constants.FEW else math.nan
    error = np.fmax(noise, deviation) / math.sqrt(len(values))
    return Again(Point(at.x, float(values.mean()), float(error)), deviation)


def drawn_again(at: Point) -> Steps[tuple[Point, int]]:
    """Return a point with its mean over other draws and the error of that, and how many draws these are."""
    values = yield from _values(at, 2 * constants.ANSWERS)
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
