"""Single coordinates all over a box, in windows that shrink: for minima that lie along coordinates.

Luus & Jaakola, *Optimization by direct search and systematic reduction of the size of search region*, AIChE
Journal 19(4), 1973, coordinate by coordinate: of some values spread over a window around the present point,
the lowest is kept. Once all coordinates have had their turn, the windows are half as wide. While they are
wide, ripples that are narrower do no harm; where coordinates act mostly one by one, that takes a fraction of
what an evolution takes. It ends where windows are narrow: the last digits are bought more cheaply by whoever
goes down from there.
"""

from __future__ import annotations

import numpy as np

from gracezo.core.answers import lowest
from gracezo.core.asks import Ask, Moved, Point, Role, SparseRows, Steps
from gracezo.core.box import Box
from gracezo.core.keys import Key
from gracezo.core.places import replaced
from gracezo.core.result import Finish, Status

VALUES = 3
"""Of each coordinate, in each window; as many as go out together, where that is more."""
SHRINK = 0.5
"""Of its width, that a window keeps."""
NARROW = 1e-3
"""Of the width of the bounds: no window is as narrow."""


def zoom(box: Box, start: Point, size: int, noise: float, key: Key) -> Steps[Finish]:
    """Minimise in a box with finite bounds; tell each lower point as the iterate.

    Parameters
    ----------
    box
        The bounds.
    start
        Where it begins.
    size
        Values of a coordinate in one window.
    noise
        By how much a value has to be below another one to be lower.
    key
        Where the draws come from.
    """
    rng, at, window = key.generator(), start, 1.0
    width = box.upper - box.lower
    while window > NARROW:
        for i in rng.permutation(box.d).tolist():
            here, one = at.x[i], np.array([i])
            low = max(here - window * width[i], box.lower[i])
            high = min(here + window * width[i], box.upper[i])
            places = low + (high - low) * (np.arange(size) + rng.random(size)) / size
            moves = SparseRows.stack([SparseRows.single(one, np.array([place - here])) for place in places])
            values = yield Ask(at.x, moves, Role.TRIAL if noise else Role.STEP)
            best = lowest(values)
            if values[best] < at.value - noise:
                at = Point(replaced(at.x, one, places[best : best + 1]), float(values[best]))
                yield Moved(at)
        window *= SHRINK
    return Finish(Status.CONVERGED, "the windows are narrow")
