"""Moves to the far end of the box: where f is straight, or saturates, slopes tell little and bounds much.

A set of n coordinates, drawn at random, is set outright to the bounds that are farther away; what is lower is
kept. If slopes are background, N(0, τ²), and curvatures H, such a move of reach r changes f by N(m, σ²) with
m = ½·H·n·r² and σ = τ·r·√n, and what is kept brings

    σ·φ(m/σ) − m·Φ(−m/σ)

a query (the expected improvement: Mockus, *On Bayesian methods for seeking the extremum*, 1974). That is what
the way offers. Where curvature outweighs slopes within the box it is nothing, and the way is tried only if
the sparse one has brought nothing either. The score of a classifier, whose slopes vanish where it is sure, is
moved over its boundary this way (as by Croce et al., *Sparse-RS*, AAAI 2022, for a given number of pixels).

The sets have √d coordinates, so that √d of them are as many as all. Every other one should be lower if slopes
are all that there is. When `TRUST` in a row are not, the model is wrong, and the way has nothing more to
offer; or, if some were, sets are too large by now, and halved: the more were kept, the more may fail in a
row. No coordinate is moved twice, and none tried twice from one point with sets of one size.
"""

from __future__ import annotations

import math

import numpy as np

from gracezo.core.answers import lowest
from gracezo.core.asks import Ask, Point, Role, SparseRows, Steps
from gracezo.core.places import replaced
from gracezo.core.types import IntArray
from gracezo.methods.auto import constants
from gracezo.methods.auto.search.order import Rest, written
from gracezo.methods.auto.ways import Offer
from gracezo.methods.auto.ways.sparse import Sparse

_NONE: IntArray = np.zeros(0, np.int64)


def improvement(mean: float, deviation: float) -> float:
    """Return by how much a change N(mean, deviation²) lowers f on average, if it is kept only when it does.

    >>> round(improvement(0.0, 1.0), 4), improvement(1e3, 1.0), improvement(1.0, 0.0)
    (0.3989, 0.0, 0.0)
    """
    if deviation == 0.0:
        return max(-mean, 0.0)
    ratio = mean / deviation
    density = math.exp(-0.5 * ratio * ratio) / math.sqrt(2.0 * math.pi)
    return deviation * density - mean * 0.5 * math.erfc(ratio / math.sqrt(2.0))


class Far:
    """Sets of coordinates, moved to their farther bounds.

    Parameters
    ----------
    sparse
        What is known of slopes, curvatures and bounds.
    batch
        Sets that are tried at once.
    rng
        Where they are drawn from.
    """

    name = "of sets of coordinates to the far end of the box"

    def __init__(self, sparse: Sparse, batch: int, rng: np.random.Generator) -> None:
        self._sparse = sparse
        self._batch = batch
        self._rng = rng
        free = sparse.free
        self._size = 0 if isinstance(free, Rest) else math.isqrt(len(free))  # too many are not written down
        self._kept = 0  # sets
        self._left = free  # what was not moved yet
        self._order: IntArray = _NONE  # what of it was not tried yet from the present point, in random order

    def offer(self, here: Point) -> Offer | None:
        """Return what all sets promise; None where there is no far end, or sets were tried in vain."""
        sparse, n, reach = self._sparse, self._size, self._sparse.walls.reach
        if n < 2 or sparse.noise or math.isinf(reach):
            return None
        mean = 0.5 * sparse.differences.curvatures.mean * n * reach**2
        sets = math.ceil(sparse.size / n)
        return Offer(sets * improvement(mean, sparse.background * reach * math.sqrt(n)), sets)

    def leg(self, here: Point) -> Steps[Point]:
        """Try sets until one is kept; return the present point."""
        self._order = self._rng.permutation(written(self._left))
        for _ in range(round(constants.TRUST) + self._kept):
            if len(self._order) < self._batch * self._size:
                break
            moved = yield from self._tried(here)
            if moved.value < here.value:
                return moved
        self._size = self._size // 2 if self._kept else 0
        return here

    def _tried(self, at: Point) -> Steps[Point]:
        """Move some sets, each by itself; return where the best of them leads."""
        box = self._sparse.walls.box
        assert box is not None, "it has offered nothing without bounds"
        n = self._batch * self._size
        drawn, self._order = self._order[:n], self._order[n:]
        sets = np.sort(drawn.reshape(self._batch, self._size))
        steps = [np.where(up >= down, up, -down) for down, up in (box.room(at.x, some) for some in sets)]
        rows = SparseRows.stack([SparseRows.single(*move) for move in zip(sets, steps, strict=True)])
        values = yield Ask(at.x, rows, Role.STEP)
        best = lowest(values)
        some, value = sets[best], float(values[best])
        if value < at.value:
            self._kept += 1
            self._left = np.setdiff1d(written(self._left), some, assume_unique=True)
        ends = np.where(steps[best] >= 0.0, box.upper[some], box.lower[some])
        return Point(replaced(at.x, some, ends), math.inf if math.isnan(value) else value)
