"""Where a run begins, given what the user has paid for already."""

from __future__ import annotations

import numpy as np

from gracezo.core.asks import Point
from gracezo.core.method import Problem


def best_known(problem: Problem, start: Point) -> Point:
    """Return the best of the start and the known points, those outside the bounds left out."""
    if problem.known is None:
        return start
    points, values = problem.known
    if problem.bounds is not None:
        values = np.where(problem.bounds.inside(points), values, np.inf)
    row = int(np.argmin(values))
    return Point(points[row], float(values[row])) if values[row] < start.value else start
