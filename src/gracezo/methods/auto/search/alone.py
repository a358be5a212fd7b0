"""Derivatives of single coordinates: what was found of them, and looks at each of them alone.

Plain differences are such looks at all coordinates. What a search has bought by then is not bought again: the
sum of a group gives its last coordinate by subtraction.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from gracezo.core.asks import Point, Role, Steps
from gracezo.core.moves import Few, Move
from gracezo.core.shuffle import SAMPLE
from gracezo.core.types import BoolArray, FloatArray, IntArray, record
from gracezo.core.walls import Walls
from gracezo.methods.auto.instrument.central import Pairs
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import Change, Request, Room, answered
from gracezo.methods.auto.search.groups import Group
from gracezo.methods.auto.search.order import Order


@record
class Candidate:
    """A coordinate to be looked at alone.

    Attributes
    ----------
    coordinate, weight
        Which one, and its weight in the sums that have led to it.
    slope, error
        Its derivative by these sums, if it is the one, and the standard deviation of that.
    room
        How far it can go along its weight.
    single
        Whether it is alone in its group.
    doubtful
        Whether it explains its group none too well.
    again
        Whether it was looked at before, farther away, and did not seem to be the one.
    """

    coordinate: int
    weight: float
    slope: float
    error: float
    room: Room
    single: bool = False
    doubtful: bool = False
    again: bool = False

    @property
    def side(self) -> int:
        """The sign of its sum: 0 where its weight led downhill, 1 uphill."""
        return int(self.weight * self.slope > 0.0)

    @property
    def along(self) -> Move:
        """It alone, by its weight."""
        return Few(np.array([self.coordinate]), np.array([self.weight]))

    def move(self, length: float) -> Move:
        """Return a displacement on its way down."""
        return Few(np.array([self.coordinate]), np.array([-math.copysign(length, self.slope)]))


@dataclass(frozen=True)
class Found:
    """A confirmed coordinate: its derivative, the error of that, and its curvature, NaN if unknown.

    `taken` is the derivative that its group has shown, `blur` the error that is left when it is taken out.
    """

    coordinate: int
    slope: float
    error: float
    curvature: float
    taken: float
    blur: float = 0.0
    alone: bool = True
    """Whether it was asked alone; or else its derivative is what subtraction has left."""
    others: float = 0.0
    """Norm of the other weights in the sum that its derivative was read from, over its own."""
    length: float = 0.0
    """How far the look at it alone went that its derivative was read from, if its curvature was not seen."""


@dataclass(frozen=True)
class Kink:
    """A coordinate of no use: uphill on both sides, or else level; and the slope that its group showed."""

    coordinate: int
    taken: float
    blur: float = 0.0
    uphill: bool = True


@dataclass(frozen=True)
class Wrong:
    """It is not the one."""


@dataclass(frozen=True)
class Slope:
    """A derivative, its standard error, and whether its coordinate was asked alone.

    It was read from a sum in which the weights of `others` have that norm over its own, or by a look at it
    alone of that `length`, whose error is right if it bends as those that were met do.
    """

    value: float
    error: float
    alone: bool
    others: float = 0.0
    length: float = 0.0
    curvature: float = math.nan


class Slopes:
    """The derivatives found.

    Parameters
    ----------
    differences
        How f is looked at.
    walls
        The bounds around the present point.
    found
        Those that are known before.
    """

    def __init__(
        self, differences: Differences, walls: Walls, found: Mapping[int, Slope] | None = None
    ) -> None:
        self.differences = differences
        self.walls = walls
        self.found: dict[int, Slope] = dict(found or {})
        """By coordinate."""
        self._outside = math.nan  # squared norm of all others

    def __len__(self) -> int:
        return len(self.found)

    def take(self, found: Found) -> None:
        """Take in a coordinate that a search has found."""
        self.found[found.coordinate] = Slope(
            found.slope, found.error, found.alone, found.others, found.length, found.curvature
        )

    @property
    def squares(self) -> float:
        """Their squared norm."""
        return sum(slope.value**2 for slope in self.found.values())

    @property
    def share(self) -> float:
        """The share of the squared norm that is outside of them; NaN if it is not known."""
        return self._outside / (self._outside + self.squares) if self._outside else 0.0

    def leave(self, square: float, least: bool = False) -> None:
        """Leave so much of the squared norm outside; or so much at the `least`."""
        self._outside = max(self._outside, square) if least else square

    def listed(self, unmet: float) -> tuple[IntArray, FloatArray, FloatArray, BoolArray]:
        """Return the coordinates, ascending, their derivatives, errors, and which were asked alone.

        Half the curvature of a coordinate that was not asked for its own may be `unmet`.
        """
        slopes = sorted(self.found.items())
        return (
            np.array([j for j, _ in slopes], dtype=np.int64),
            np.array([slope.value for _, slope in slopes]),
            np.array([math.hypot(slope.error, unmet * slope.length) for _, slope in slopes]),
            np.array([slope.alone for _, slope in slopes], np.bool_),
        )

    # ------------------------------------------------------------ looks at some

    def measure(self, at: Point, coordinates: IntArray, about: float) -> Steps[None]:
        """Look at some coordinates, each alone; one whose evaluation failed is not known."""
        pairs = self.differences.pairs
        for start in range(0, len(coordinates), SAMPLE):
            some = coordinates[start : start + SAMPLE].tolist()
            self.found |= dict.fromkeys(some, Slope(about, math.nan, True))
            if pairs is not None:
                yield from self.refine(at, pairs, some)
            near = [j for j in some if math.isnan(self.found[j].error)]
            yield from self.look_again(at, near)
            self.found = {j: slope for j, slope in self.found.items() if not math.isnan(slope.error)}

    def blurred(self, tau: float) -> list[int]:
        """Return those whose derivative was read from a sum that may hold more than was known.

        A background τ blurs it by more; or another spike is in it, which a look far away took for a curvature
        that is unlike all others.
        """
        odd = self.differences.curvatures.odd
        return sorted(
            j
            for j, slope in self.found.items()
            if tau * slope.others > 2.0 * slope.error or (slope.others and odd(abs(slope.curvature)))
        )

    def look_again(self, at: Point, which: Sequence[int]) -> Steps[None]:
        """Look at some alone, near by."""
        if requests := [request for j in which if (request := self._near(j)) is not None]:
            yield from answered(at, requests)

    def _near(self, coordinate: int) -> Request | None:
        """Return the look at a coordinate near by, on its way down if there is room; None between walls."""
        differences, slope = self.differences, self.found[coordinate]
        sides = (-math.copysign(1.0, slope.value), math.copysign(1.0, slope.value))
        rooms = [self.walls.room(coordinate, -side) for side in sides]
        side, room = (sides[0], rooms[0]) if rooms[0] > 0.0 else (sides[1], rooms[1])
        look = differences.across(1.0, slope.value, room=Room(room, min(rooms)))
        if not look.eps > 0.0:
            return None

        def absorb(change: Change) -> None:
            value, error = differences.read(look, change)
            bias = 0.5 * look.eps * differences.curvatures.largest
            self.found[coordinate] = Slope(side * value, math.hypot(error, bias), True, length=look.eps)

        return look.request(Few(np.array([coordinate]), np.array([side])), Role.CONFIRM, absorb)

    def refine(self, at: Point, pairs: Pairs, which: Iterable[int]) -> Steps[None]:
        """Look at coordinates alone, to both sides, as far as noise and cubic term balance."""
        requests = [request for j in sorted(which) if (request := self._both(j, pairs)) is not None]
        if requests:
            yield from answered(at, requests)

    def _both(self, coordinate: int, pairs: Pairs) -> Request | None:
        """Return the look at a coordinate to both sides; None at a wall."""
        slope = self.found[coordinate].value
        room = min(self.walls.room(coordinate, slope), self.walls.room(coordinate, -slope))
        look = pairs.look(min(self.differences.length(1.0), room), slope)
        if look.eps <= 0.0:
            return None

        def absorb(change: Change) -> None:
            self.found[coordinate] = Slope(*pairs.read(look, change), True)

        return look.request(Few(np.array([coordinate]), np.ones(1)), Role.PROBE, absorb)

    # ------------------------------------------------------------ all of them

    def complete(
        self, at: Point, bought: Order, groups: Sequence[Group], about: float, twice: int, batch: int
    ) -> Steps[None]:
        """Measure all of an order that was not found, each alone; the last of a group by subtraction.

        Not of one that something was taken out of: what is wrong of that would be found in the last one. If
        few have shown how f bends, up to `twice` are looked at twice. Those of the first group come first,
        and each batch counts if queries run out.
        """
        order = bought.written()
        known = np.isin(order.coordinates, list(self.found)) | (order.weights == 0.0)
        alone = ~known
        last = deque(group for group in groups if not known[group.start : group.stop].any())
        alone[[group.stop - 1 for group in last]] = False
        positions = _first(groups, np.flatnonzero(alone))
        some = positions[: min(self.differences.curvatures.wanting, twice)].tolist()
        bends = [self._bend(order, i, about) for i in some]
        if bends:
            yield from answered(at, list(chain.from_iterable(bends)))
        for start in range(len(bends), len(positions), batch):
            self._subtract(order, last)
            some = positions[start : start + batch].tolist()
            yield from answered(at, [self._single(order, i, about) for i in some])
        self._subtract(order, last)

    def _subtract(self, order: Order, groups: deque[Group]) -> None:
        """Take the last coordinate of groups from their sums, until others of the next one are not known."""
        while groups:
            names = order.coordinates[groups[0].start : groups[0].stop].tolist()
            if not all(name in self.found for name in names[:-1]):
                return
            group = groups.popleft()
            weights = order.weights[group.start : group.stop]
            known = [self.found[j] for j in names[:-1]]
            rest = group.u - float(weights[:-1] @ [slope.value for slope in known])
            blur = math.hypot(group.error, float(np.linalg.norm(weights[:-1] * [one.error for one in known])))
            weight = float(weights[-1])
            self.found[names[-1]] = Slope(rest / weight, blur / abs(weight), False)

    def _bend(self, order: Order, position: int, about: float) -> tuple[Request, Request]:
        """Return two looks: one for the slope, the other half way to where f is another, by magnitude."""
        differences = self.differences
        weight, room = float(order.weights[position]), order.room(position, position + 1)
        look = differences.forward(weight**2, weight * about, weight**2, room)
        far = min(math.sqrt(look.eps * max(differences.length(weight**2), look.eps)), room.ahead)
        near: list[Change] = []

        def absorb(change: Change) -> None:
            slope, curvature = parabola((far * weight, change.ahead), (look.eps * weight, near[0].ahead))
            error = look.error(weight * slope) / abs(weight)
            self.found[order.coordinate(position)] = Slope(slope, error, True)
            differences.bend(curvature, abs(far * weight), error)

        along = order.move(position, position + 1)
        return look.request(along, Role.REFRESH, near.append), Request(along.times(far), Role.REFRESH, absorb)

    def _single(self, order: Order, position: int, about: float) -> Request:
        weight, room = float(order.weights[position]), order.room(position, position + 1)
        look = self.differences.forward(weight**2, weight * about, weight**2, room)

        def absorb(change: Change) -> None:
            value, error = self.differences.read(look, change)
            self.found[order.coordinate(position)] = Slope(value / weight, error / abs(weight), True)

        return look.request(order.move(position, position + 1), Role.REFRESH, absorb)


def _first(groups: Iterable[Group], positions: IntArray) -> IntArray:
    """Return ascending positions in another order: those of the first group, of the next, then all others."""
    ends = [np.searchsorted(positions, [group.start, group.stop]).tolist() for group in groups]
    rank = np.full(len(positions), len(ends))
    for place, (start, stop) in enumerate(ends):
        rank[start:stop] = place
    return positions[np.argsort(rank, kind="stable")]


def parabola(one: tuple[float, float], two: tuple[float, float]) -> tuple[float, float]:
    """Return slope and curvature of a parabola, given two lengths and by how much it has changed there.

    >>> parabola((2.0, -2.0), (1.0, -2.0))
    (-3.0, 2.0)
    """
    (far, there), (near, here) = one, two
    curvature = 2.0 * (there / far - here / near) / (far - near)
    return here / near - 0.5 * near * curvature, curvature


def behind_a_kink(
    one: tuple[float, float], two: tuple[float, float], least: float
) -> tuple[float, float] | None:
    """Return how steep f falls on the other side of a kink, and how far to look; None if by `least` or less.

    That is said by the parabola through two lengths and by how much f has changed there.

    >>> behind_a_kink((4.0, 8.0), (2.0, 0.0), 1e-9)
    (2.0, 1.0)
    """
    slope, curvature = parabola(one, two)
    if slope >= 0.0 or not 0.5 * slope**2 > least * curvature > 0.0:
        return None
    return -slope, -slope / curvature


def bent(near: Found, curvature: float) -> Found:
    """Return what was found near by with its curvature, which was seen farther away."""
    error = math.hypot(near.error, 0.5 * near.length * curvature)
    return near if math.isnan(curvature) else replace(near, curvature=curvature, error=error, length=0.0)
