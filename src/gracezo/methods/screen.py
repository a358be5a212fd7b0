"""Screening as a recipe: for functions with one output or many, called by `gracezo.screen`."""

from __future__ import annotations

import numpy as np

from gracezo.core.method import Problem, uses
from gracezo.core.types import FloatArray
from gracezo.sensitivity.recipe import Screen

_LEAVE = 1e-3  # of the squared effects over a box: a coordinate with a thirtieth of the effect of all
_LEAVE_HERE = 1e-6  # and at one point: with a thousandth, because one slope may be much above its mean


@uses("bounds", "noise", "scale", "tol", "groups")
def screen(
    problem: Problem,
    *,
    points: int | None = None,
    further: FloatArray | None = None,
    interactions: bool = False,
) -> Screen:
    """Screening: which coordinates matter, at one point or over the box.

    Parameters
    ----------
    problem
        What is known.
    points
        How many points; None: as many as it takes.
    further
        The points after the first, one a row, where they are given.
    interactions
        Whether pairs that act together are looked for.
    """
    widths = np.ones(problem.d) if problem.scale is None else problem.scale
    if problem.bounds is not None:
        between = problem.bounds.upper - problem.bounds.lower
        widths = np.where(np.isfinite(between), between, widths)
    leave = _LEAVE_HERE if points == 1 else _LEAVE
    return Screen(problem, widths, points, further, problem.tol or leave, interactions)
