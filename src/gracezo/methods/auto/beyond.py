"""Longer scales: before a run is called converged, whether f is all that small differences say.

Where steps as long as a good part of the scale have come out as foreseen, f is smooth so far, and nothing is
asked. Where none has, f is asked at such lengths, to both sides of where the run has come to. At a minimum
all of them are higher. If one is lower, the run has stopped in a ripple, and ripples are noise by another
name: their depth is measured as noise is, by equally spaced values, and the run goes on as on a noisy
function; or from the lower point, where no ripples show.

Along the coordinates that have never mattered f has no slope. That it does not curve down is seen on one
side, at lengths over more orders of magnitude: from a saddle point one of them leads lower. Halving tells
which coordinates do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gracezo.core.answers import lowest
from gracezo.core.asks import Ask, Point, Role, SparseRows, Steps
from gracezo.core.box import Box
from gracezo.core.types import FloatArray, IntArray, record
from gracezo.estimators.noise import POINTS, judge
from gracezo.methods.auto.constants import SMOOTH, STRIDE
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.support import Support
from gracezo.methods.auto.walls import Walls


@record
class Lower:
    """A lower value: which coordinates have moved there, by how much."""

    coordinates: IntArray
    steps: FloatArray
    value: float

    def point(self, at: Point, box: Box | None) -> Point:
        """Return where it is, seen from a point."""
        x = at.x.copy()
        x[self.coordinates] += self.steps
        return Point(x if box is None else box.clip(x), self.value)


BOTH_SIDES = tuple(side * 2.0**power * SMOOTH for power in (2, 1, 0, -1) for side in (1, -1))
"""Of the scale: how far is looked along coordinates that matter."""
ONE_SIDE = tuple(length**2 for length in BOTH_SIDES[::2])
"""The same along the others."""


def lower_beyond(
    at: Point,
    support: Support,
    rest: IntArray,
    walls: Walls,
    differences: Differences,
    rng: np.random.Generator,
    smooth: bool,
) -> Steps[tuple[Point, float] | None]:
    """Return a lower point at longer scales, and how deep the ripples are that hid it, if any is.

    Parameters
    ----------
    at
        Where the run has come to.
    support, rest
        The coordinates that have mattered, and the others.
    walls, differences
        The bounds, and what is known of f.
    rng
        Where directions are drawn from.
    smooth
        Whether steps have shown f to be smooth along the support.
    """

    def plainly(found: Lower | None) -> bool:
        return found is not None and at.value - found.value > differences.negligible

    found, level = None, 0.0
    if not smooth:
        met = support.indices[~walls.shut(support.indices, support.slopes)] if len(support) else rest
        found = yield from lower(at, met, BOTH_SIDES, walls.box, rng)
        if plainly(found):
            level = yield from depth(at, met, rng)
    if not plainly(found):
        found = yield from lower(at, rng.permutation(rest), ONE_SIDE, walls.box, rng)
        if plainly(found) and found is not None:
            found = yield from narrowed(at, found)
    if found is None or not plainly(found):
        return None
    ripples = STRIDE * differences.rounding < level < differences.scale  # no more: that is a wall
    return found.point(at, walls.box), level if ripples else 0.0


def lower(
    at: Point, coordinates: IntArray, lengths: Sequence[float], box: Box | None, rng: np.random.Generator
) -> Steps[Lower | None]:
    """Return the lowest point at longer scales along these coordinates, if it is lower.

    Parameters
    ----------
    at
        Where the run has come to.
    coordinates
        Those that move together.
    lengths
        How far, of the scale; each is one query, along a direction of its own. The opposite of a length goes
        the other way.
    box
        The bounds, if there are any.
    rng
        Where the direction of each length is drawn from.
    """
    ways = {abs(length): _direction(len(coordinates), rng) for length in lengths}
    steps = [length * ways[abs(length)] for length in lengths]
    if box is not None:
        steps = [box.place(at.x, coordinates, step) - at.x[coordinates] for step in steps]
    rows = [SparseRows.single(coordinates, step) for step in steps if step.any()]
    if not rows:
        return None
    values = yield Ask(at.x, SparseRows.stack(rows), Role.PROBE)
    row = lowest(values)
    return Lower(coordinates, rows[row].values, float(values[row])) if values[row] < at.value else None


def narrowed(at: Point, found: Lower) -> Steps[Lower]:
    """Return what is lower by at least half as much with as few of its coordinates as halving leaves."""
    while (n := len(found.coordinates)) > 1:
        enough = at.value + 0.5 * (found.value - at.value)
        for half in (slice(0, n // 2), slice(n // 2, n)):
            part = found.coordinates[half], found.steps[half]
            (value,) = yield Ask(at.x, SparseRows.single(*part), Role.PROBE)
            if value <= enough:
                found = Lower(*part, float(value))
                break
        else:
            break
    return found


def depth(at: Point, coordinates: IntArray, rng: np.random.Generator) -> Steps[float]:
    """Return how deep ripples are, as a standard deviation; 0 where f is smooth at these lengths."""
    way = SMOOTH / (POINTS - 1) * _direction(len(coordinates), rng)
    rows = [SparseRows.single(coordinates, place * way) for place in range(1, POINTS)]
    values = yield Ask(at.x, SparseRows.stack(rows), Role.CONFIRM)
    return 0.0 if np.isnan(values).any() else judge(np.insert(values, 0, at.value))[1]


def _direction(size: int, rng: np.random.Generator) -> FloatArray:
    return np.asarray(rng.uniform(0.5, 1.5, size) * rng.choice([-1.0, 1.0], size))
