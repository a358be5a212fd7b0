"""Before a step: the kinks that slopes have shown are located, each for what it promises."""

from __future__ import annotations

from gracezo.core.asks import Point, Steps
from gracezo.core.types import FloatArray
from gracezo.methods.auto.corner import WORTH
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.support import Support

_SEARCH = 4.0  # queries that the search for a kink takes at the least


def pinned(
    at: Point, support: Support, differences: Differences, start: FloatArray, rate: float
) -> Steps[Point]:
    """Look for kinks where the slopes of the support say so.

    Parameters
    ----------
    at
        The present point, at which the slopes were measured.
    support, differences
        What the run has met and learned. Slopes and kinks of the support are brought up to date.
    start
        Where the run began.
    rate
        The decrease that a query brings elsewhere.

    Returns
    -------
    Point
        The present point, moved onto kinks where f fell.
    """
    kinks = support.kinks
    kinks.grow(len(support))
    kinks.update(at.x[support.indices], support.slopes)
    kinks.located[:] = False
    least = max(_SEARCH * rate, WORTH * differences.rounding)
    suspects = kinks.suspects(at.x[support.indices], support.slopes, support.smooth, differences.scale)
    for j in suspects.tolist():
        # Noise would blur what tells a kink from a bend.
        if differences.noise or kinks.rate * kinks.stakes[j] <= least:
            break
        coordinate = int(support.indices[j])
        best = yield from kinks.locate(
            at, coordinate, j, support.slopes, float(start[coordinate]), differences.rounding
        )
        if best is not at or kinks.located[j]:
            support.loosen(j)  # otherwise it goes no farther than it came
        if best is not at:
            at = best
            kinks.moved(at.x[support.indices], support.slopes)
    return at
