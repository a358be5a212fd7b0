"""The answer on a noisy function: the value at the last point, measured anew.

The value that made a method move there is no fair one: it was chosen because it was low.
"""

from __future__ import annotations

import contextlib
import math

from gracezo.core.asks import Ask, OutOfQueries, Point, Role, Steps

ANSWERS = 4
"""How often the last point is asked again, if the budget reaches for it."""


def measured_again(at: Point, noise: float) -> Steps[Point]:
    """Return a point with its value measured anew, and the error of that value.

    A function that answers the same again is rounded, not random: its value there is what it is.
    """
    try:
        (first,) = yield Ask.at(at.x, Role.AGAIN)
    except OutOfQueries:
        return Point(at.x, at.value, noise)
    values = [float(first)]
    if first != at.value:
        with contextlib.suppress(OutOfQueries):
            values += (yield Ask.at(at.x, Role.AGAIN, ANSWERS - 1)).tolist()
    there = [value for value in values if not math.isnan(value)]  # a failed one may be skipped
    if not there:
        return Point(at.x, at.value, noise)
    return Point(at.x, sum(there) / len(there), noise / math.sqrt(len(there)))
