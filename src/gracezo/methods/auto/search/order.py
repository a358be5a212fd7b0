"""The order of coordinates that a search goes by, with weights; and labels, which tell positions.

A position is written into the length of a displacement: the labels of a group rise with it, from 0 to 1. If
one coordinate dominates the group, K/U is its label. Where looks go to both sides labels do, from −1 to 1:
they resolve twice as much then, and an error of U, of which K/U takes the share that the label has, does less
harm. (A single look stays on the side that the weights have chosen: behind it there may be a kink, or a
bound.) Within a window labels keep away from 0, so that a sum of 0 means that nothing is there.

Of very many coordinates the order is never written down (`core/shuffle.py`), and sums over large slices of it
are those of the mean square of a weight. What bounds make of the weights (`core/aims.py`) is decided anew for
each set; the room of a large slice is that of the whole order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from gracezo.core.bounded_shuffle import BoundedShuffle
from gracezo.core.moves import Few, Move, Wave
from gracezo.core.rest import Rest
from gracezo.core.shuffle import SAMPLE
from gracezo.core.types import BoolArray, FloatArray, IntArray
from gracezo.core.walls import Walls
from gracezo.methods.auto import constants
from gracezo.methods.auto.instrument.look import EVERYWHERE, Along, Room


@dataclass(frozen=True)
class Labels:
    """One way to label the positions 0, 1, … of a window.

    Attributes
    ----------
    least
        The least label by magnitude.
    both
        Whether labels are of both signs.
    """

    least: float
    both: bool

    def labels(self, span: int) -> FloatArray:
        """Return the labels of a window; the same ones are asked for several times in a row.

        >>> Labels(0.0, both=True).labels(4).tolist()
        [-0.75, -0.25, 0.25, 0.75]
        >>> Labels(0.5, both=False).labels(2).tolist()
        [0.625, 0.875]
        """
        return _labels(self, span)

    @property
    def mean_square(self) -> float:
        """The mean of their squares, over very many."""
        rest = 1.0 - self.least
        return self.least**2 + self.least * rest + rest**2 / 3.0

    def rising(self, rise: FloatArray) -> FloatArray:
        """Return the labels at shares of a window, written over them."""
        if self.both:
            rise *= 2.0
            rise -= 1.0
        if self.least != 0.0:
            least = np.copysign(self.least, rise)
            rise *= 1.0 - self.least
            rise += least
        return rise


@lru_cache(maxsize=2)
def _labels(labels: Labels, span: int) -> FloatArray:
    """Return the labels of a window, not to be written to."""
    rising = labels.rising((np.arange(span) + 0.5) / span)
    rising.setflags(write=False)
    return rising


def labelled(whole: bool, both: bool) -> Labels:
    """Return how to label a whole group, or a window in it."""
    return Labels(0.0 if whole else constants.CLEARLY, both)


@dataclass(eq=False)
class Order:
    """Coordinates in a random order, with weights.

    Attributes
    ----------
    coordinates
        By position.
    weights
        By position; zero for those that have been taken out.
    limits
        The largest ε that bounds allow each of them, ahead and behind, where there are bounds.
    """

    coordinates: IntArray
    weights: FloatArray
    limits: tuple[FloatArray, FloatArray] | None = None
    _sums: FloatArray = field(init=False)
    _moments: dict[tuple[int, int], tuple[float, float, float]] = field(default_factory=dict, init=False)
    refuted: set[int] = field(default_factory=set, init=False)
    """Positions that were looked at alone in vain."""

    def __post_init__(self) -> None:
        self._sums = np.concatenate([[0.0], np.cumsum(self.weights**2)])

    def __len__(self) -> int:
        return len(self.coordinates)

    def squares(self, start: int, stop: int) -> float:
        """Return the sum of squared weights of a slice, as it was at the beginning."""
        return float(self._sums[stop] - self._sums[start])

    def left(self, start: int, stop: int) -> float:
        """Return the same of those that have not been taken out."""
        weights = self.weights[start:stop]
        return float(weights @ weights)

    def room(self, start: int, stop: int) -> Room:
        """Return the largest ε at which no coordinate of a slice leaves the bounds."""
        if self.limits is None:
            return EVERYWHERE
        ahead, behind = (float(limits[start:stop].min()) for limits in self.limits)
        return Room(ahead, min(ahead, behind))

    @property
    def bounded(self) -> bool:
        """Whether a bound may be behind a weight."""
        return self.limits is not None

    @property
    def whole(self) -> Along:
        """All of it."""
        n = len(self)
        return Along(self.move(0, n), self.squares(0, n), self.room(0, n))

    def move(self, start: int, stop: int, labels: Labels | None = None) -> Move:
        """Return the displacement of a slice by its weights, times the labels of a window there."""
        weights = self.weights[start:stop]
        if labels is not None:
            weights = weights * labels.labels(stop - start)
        return Few(self.coordinates[start:stop], weights)

    def labelled(self, start: int, stop: int, labels: Labels) -> float:
        """Return the sum of squared weights of a slice, times the labels of a window there."""
        weights = self.weights[start:stop] * labels.labels(stop - start)
        return float(weights @ weights)

    def coordinate(self, position: int) -> int:
        """Return the coordinate at a position."""
        return int(self.coordinates[position])

    def weight(self, position: int) -> float:
        """Return its weight, zero if it has been taken out."""
        return float(self.weights[position])

    def gone(self, start: int, stop: int, step: int = 1) -> BoolArray:
        """Return which coordinates of a slice, at every so many positions, have been taken out."""
        return np.asarray(self.weights[start:stop:step] == 0.0)

    def count(self, start: int, stop: int) -> int:
        """Return how many coordinates of a slice have not been taken out."""
        return int(np.count_nonzero(self.weights[start:stop]))

    def written(self) -> Order:
        """Return the same, written down."""
        return self

    def squared(self, start: int, stop: int) -> tuple[FloatArray, FloatArray]:
        """Return positions in a slice, and squared weights that they stand for."""
        return np.arange(start, stop, dtype=np.float64), self.weights[start:stop] ** 2

    def moments(self, start: int, stop: int) -> tuple[float, float, float]:
        """Return Σw², Σw²p and Σw²p² over a slice, p the positions from its middle in half-lengths.

        They are asked for again and again until one is taken out.
        """
        moments = self._moments.get((start, stop))
        if moments is None:
            moments = self._moments[start, stop] = self._moments_of(start, stop)
        return moments

    def _moments_of(self, start: int, stop: int) -> tuple[float, float, float]:
        positions, squares = self.squared(start, stop)
        positions -= 0.5 * (start + stop - 1)
        positions /= 0.5 * (stop - start)
        weighted = squares * positions
        return float(np.add.reduce(squares)), float(np.add.reduce(weighted)), float(weighted @ positions)

    def second_moment(self, start: int, stop: int, about: float) -> float:
        """Return Σw²(k − about)² over a slice."""
        zeroth, first, second = self.moments(start, stop)
        half = 0.5 * (stop - start)
        off = (about - 0.5 * (start + stop - 1)) / half
        return half * half * max(second - 2.0 * off * first + off * off * zeroth, 0.0)

    def remove(self, position: int) -> float:
        """Take a coordinate out; return its weight."""
        weight = float(self.weights[position])
        self.weights[position] = 0.0
        self._moments.clear()
        return weight


@dataclass(frozen=True)
class Window:
    """Labels by position, of the window of `span` positions that begins at `start`."""

    start: int
    span: int
    labels: Labels

    @property
    def line(self) -> tuple[float, float] | None:
        """Slope and offset; None where labels keep away from 0."""
        slope, low = (2.0 / self.span, -1.0) if self.labels.both else (1.0 / self.span, 0.0)
        return (slope, low - slope * (self.start - 0.5)) if self.labels.least == 0.0 else None

    def __call__(self, positions: FloatArray) -> FloatArray:
        """Return the labels of positions, written over them."""
        positions -= self.start - 0.5
        positions *= 1.0 / self.span  # several times as fast as to divide
        return self.labels.rising(positions)


class LongOrder(Order):
    """Very many coordinates in a random order, with weights, which is never written down.

    Parameters
    ----------
    rest
        The coordinates.
    rng
        Where order and weights are drawn from.
    walls
        The bounds around the present point.
    reach
        The largest ε of one query to expect.
    """

    def __init__(
        self, rest: Rest, rng: np.random.Generator, walls: Walls | None = None, reach: float = 0.0
    ) -> None:
        self._shuffle = rest.shuffled(rng, drawn)
        self._bounded = None if walls is None else BoundedShuffle.around(self._shuffle, walls, reach)
        self._box = rest.box
        self._set_out(rest.without)
        self._at_start = self._gone, self._lost
        self._moments = {}
        self.refuted = set()
        self.limits = None

    def _set_out(self, coordinates: IntArray) -> None:
        """Leave coordinates out, ascending."""
        self._out = coordinates
        positions = self._shuffle.positions(coordinates)
        order = np.argsort(positions)
        self._gone: IntArray = positions[order]
        self._lost: FloatArray = self._aimed(coordinates)[order] ** 2

    def _aimed(self, coordinates: IntArray) -> FloatArray:
        """Return the weights of coordinates, whether they have been taken out or not."""
        if self._bounded is None:
            return self._shuffle.weights(coordinates)
        return self._bounded.aimed(coordinates)

    def __len__(self) -> int:
        return len(self._shuffle)

    def squares(self, start: int, stop: int) -> float:
        """Return the sum of squared weights of a slice, as it was at the beginning."""
        return self._sum(start, stop, *self._at_start)

    def left(self, start: int, stop: int) -> float:
        """Return the same of those that have not been taken out."""
        return self._sum(start, stop, self._gone, self._lost)

    def _sum(self, start: int, stop: int, gone: IntArray, lost: FloatArray) -> float:
        low, high = np.searchsorted(gone, [start, stop]).tolist()
        if high - low == stop - start:
            return 0.0
        order = self._shuffle if self._bounded is None else self._bounded
        return order.squares(start, stop) - float(lost[low:high].sum())

    @property
    def bounded(self) -> bool:
        """Whether a bound may be behind a weight, as near as looks go."""
        return self._bounded is not None and self._bounded.aim is not None

    def room(self, start: int, stop: int) -> Room:
        """Return the largest ε at which no coordinate of a slice leaves the bounds."""
        if self._bounded is None:
            return EVERYWHERE
        ahead, behind = self._bounded.room(start, stop)
        return Room(ahead, min(ahead, behind))

    def move(self, start: int, stop: int, labels: Labels | None = None) -> Move:
        """Return the displacement of a slice by its weights, times the labels of a window there."""
        if stop - start > SAMPLE:
            label = None if labels is None else Window(start, stop - start, labels)
            aim = None if self._bounded is None else self._bounded.aim
            return Wave(self._shuffle, start, stop, 1.0, label, 1.0, self._out, np.zeros(len(self._out)), aim)
        weights = self._weights(start, stop)
        if labels is not None:
            weights = weights * labels.labels(stop - start)
        return Few(self._shuffle.coordinates(start, stop), weights)

    def _weights(self, start: int, stop: int) -> FloatArray:
        weights = self._aimed(self._shuffle.coordinates(start, stop))
        weights[self._taken_out(start, stop)] = 0.0
        return weights

    def labelled(self, start: int, stop: int, labels: Labels) -> float:
        """Return the sum of squared weights of a slice, times the labels of a window there."""
        if stop - start > SAMPLE:
            return labels.mean_square * self.left(start, stop)
        positions, squares = self.squared(start, stop)
        return float(Window(start, stop - start, labels)(positions) ** 2 @ squares)

    def _moments_of(self, start: int, stop: int) -> tuple[float, float, float]:
        if stop - start <= SAMPLE:
            return super()._moments_of(start, stop)
        left = self.left(start, stop)
        return left, 0.0, left / 3.0

    def coordinate(self, position: int) -> int:
        """Return the coordinate at a position."""
        return int(self._shuffle.coordinates(position, position + 1)[0])

    def weight(self, position: int) -> float:
        """Return its weight, zero if it has been taken out."""
        return float(self._weights(position, position + 1)[0])

    def gone(self, start: int, stop: int, step: int = 1) -> BoolArray:
        """Return which coordinates of a slice, at every so many positions, have gone or cannot move."""
        gone = self._taken_out(start, stop)[::step]
        if self._box is not None and self._box.holds_some:
            for first in range(0, len(gone), SAMPLE):  # coordinates take many times the room of what is told
                begin = start + first * step
                some = self._shuffle.coordinates(begin, min(begin + SAMPLE * step, stop), step)
                gone[first : first + SAMPLE] |= ~self._box.moves(some)
        return gone

    def _taken_out(self, start: int, stop: int) -> BoolArray:
        gone = np.zeros(stop - start, np.bool_)
        low, high = np.searchsorted(self._gone, [start, stop]).tolist()
        gone[self._gone[low:high] - start] = True
        return gone

    def count(self, start: int, stop: int) -> int:
        """Return how many coordinates of a slice have not been taken out; of a large one, in the mean."""
        if stop - start <= SAMPLE:
            return int(np.count_nonzero(~self.gone(start, stop)))
        low, high = np.searchsorted(self._gone, [start, stop]).tolist()
        share = 1.0 if self._box is None else self._box.count / self._box.d
        return round(share * (stop - start)) - int(high - low)

    def squared(self, start: int, stop: int) -> tuple[FloatArray, FloatArray]:
        """Return positions in a slice, and squared weights that they stand for."""
        if stop - start <= SAMPLE:
            return np.arange(start, stop, dtype=np.float64), self._weights(start, stop) ** 2
        positions = start + np.floor((np.arange(SAMPLE) + 0.5) * ((stop - start) / SAMPLE))
        return positions, np.full(SAMPLE, self.left(start, stop) / SAMPLE)

    def remove(self, position: int) -> float:
        """Take a coordinate out; return its weight."""
        weight = self.weight(position)
        self._moments.clear()
        self._set_out(np.union1d(self._out, self._shuffle.coordinates(position, position + 1)))
        return weight

    def written(self) -> Order:
        """Return the same, written down: for those who measure each coordinate."""
        coordinates, weights = self._shuffle.coordinates(0, len(self)), self._weights(0, len(self))
        limits = None if self._bounded is None else self._bounded.limits(coordinates)
        return Order(coordinates, weights, limits)


def mean_square() -> float:
    """Return the square of a weight, in the mean."""
    return 1.0 + constants.SPREAD**2 / 3.0


def drawn(rng: np.random.Generator, count: int) -> FloatArray:
    """Return random weights: of either sign, and about one."""
    spread = constants.SPREAD
    return np.asarray(rng.uniform(1.0 - spread, 1.0 + spread, count) * rng.choice([-1.0, 1.0], count))
