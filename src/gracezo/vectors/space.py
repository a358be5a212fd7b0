"""What a search may displace: which coordinates, how far, to which side; and the probes that do it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gracezo.core.asks import Ask, Point, Role, SparseRows, Steps
from gracezo.core.box import Box
from gracezo.core.keys import Key
from gracezo.core.types import FloatArray, IntArray, record
from gracezo.sparse.weights import Weights

_BESIDE = (
    1e-4  # the distance of a point near by: small for what it is to fit, and large beside that of probes
)
_LARGEST = 1.5  # weight
_STRETCH = 4e-2 * _LARGEST  # a coordinate nearer to a bound than this, in its scale, moves to one side only


def reach(x: FloatArray, scale: FloatArray | None, bounds: Box | None) -> FloatArray:
    """Return the typical change of each coordinate of x: as given, or of its own size, but at least 1.

    A displacement of 1e-8 must be seen in the sum with x, so a coordinate of 1e6 does not go by the scale 1.
    Where bounds are nearer to each other than that, their distance is the scale.
    """
    typical = np.maximum(1.0, np.abs(x)) if scale is None else scale
    return typical if bounds is None else np.minimum(typical, bounds.upper - bounds.lower)


@record
class Space:
    """Coordinates in random order: a position is a place in it, and sets of positions are intervals.

    Attributes
    ----------
    order : ndarray of int
        The coordinate at each position.
    reach : ndarray
        How far a weight of 1 displaces it at the distance 1.
    weights : Weights
        The weights of the positions.
    farthest : float
        The largest distance at which no coordinate leaves the bounds, or moves by more than its scale or so.
    """

    order: IntArray
    reach: FloatArray
    weights: Weights
    farthest: float = 1.0

    @classmethod
    def around(
        cls, x: FloatArray, scale: FloatArray | None, bounds: Box | None, leave: IntArray, key: Key
    ) -> Space:
        """Return the coordinates that are free to move at x, without those that are to be left alone."""
        taking_part = np.ones(len(x), np.bool_)
        taking_part[leave] = False
        if bounds is not None:
            taking_part &= bounds.lower < bounds.upper
        random = key.generator()
        order = random.permutation(np.flatnonzero(taking_part))
        length = reach(x, scale, bounds)[order]
        side, farthest = None, 1.0
        if bounds is not None:
            down, up = bounds.room(x, order)
            side = (down < _STRETCH * length).astype(np.int64) - (up < _STRETCH * length)
            room = np.where(side > 0, up, np.where(side < 0, down, np.minimum(down, up)))
            farthest = min(1.0, float(np.min(room / length, initial=np.inf)) / _LARGEST)
            side = side if side.any() else None
        return cls(order, length, Weights(len(order), int(random.integers(2**63)), side), farthest)

    def __len__(self) -> int:
        return len(self.order)

    @property
    def lopsided(self) -> bool:
        """Whether most weights have one sign: then the probes have something in common."""
        side = self.weights.side
        return side is not None and bool(np.count_nonzero(side) > len(side) / 2)

    def displaced(self, probe: int, start: int, stop: int, distance: float) -> SparseRows:
        """Return the displacement of the positions from `start` to `stop` by a probe."""
        values = self.weights.row(probe, start, stop) * self.reach[start:stop]
        return SparseRows.single(self.order[start:stop], distance * values)

    def combined(self, probes: IntArray, factors: FloatArray) -> FloatArray:
        """Return the sum of probes of all positions, each times its factor, by position."""
        total = np.zeros(len(self))
        for probe, factor in zip(probes.tolist(), factors.tolist(), strict=True):
            total += factor * self.weights.row(probe, 0, len(self))
        return total * self.reach


@dataclass(frozen=True)
class Probe:
    """One query: a row of weights, on a set of positions, at a distance."""

    number: int
    start: int
    stop: int
    distance: float


def answers_to(at: Point, space: Space, probes: Sequence[Probe]) -> Steps[FloatArray]:
    """Ask probes around a point; return the outputs, a row for each probe, NaN where it failed."""
    offsets = [space.displaced(one.number, one.start, one.stop, one.distance) for one in probes]
    return (yield Ask(at.x, SparseRows.stack(offsets), Role.PROBE))


def beside(at: Point, space: Space, number: int) -> Steps[Point | None]:
    """Ask at a point near by, where what has kinks at this one has slopes; None if that failed."""
    ask = Ask(at.x, space.displaced(number, 0, len(space), min(_BESIDE, space.farthest)), Role.PROBE)
    (outputs,) = yield ask
    return Point(ask.point(0), at.value, outputs=outputs) if np.isfinite(outputs).all() else None


def slopes(at: Point, space: Space, probes: Sequence[Probe]) -> Steps[FloatArray]:
    """Ask probes around a point; return the difference quotients, a column of m for each probe.

    Those of an evaluation that failed and was skipped are NaN.
    """
    assert at.outputs is not None
    answers = yield from answers_to(at, space, probes)
    distances = np.array([one.distance for one in probes])
    return np.asarray(((answers - at.outputs) / distances[:, None]).T)


def probed(at: Point, space: Space, numbers: IntArray, distance: float, batch: int) -> Steps[FloatArray]:
    """Ask probes of all positions, so many at a time; return the quotients, a column for each probe."""
    columns = []
    for first in range(0, len(numbers), batch):
        some = numbers[first : first + batch].tolist()
        columns.append((yield from slopes(at, space, [Probe(one, 0, len(space), distance) for one in some])))
    return np.column_stack(columns)
