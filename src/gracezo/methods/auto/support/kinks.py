"""Kinks in single coordinates: found where slopes jump, and then treated as walls.

A quasi-Newton model cannot hold a slope that jumps: each step crosses the kink, and what the slope on either
side promises is not there. So a kink is suspected where a coordinate has shown slopes of both signs, farther
apart than its curvature explains, and where a step was cut short before one that had promised much. The
suspicion is priced as everything else: by what it promises, by how often there was something behind it, and
by what a query brings elsewhere. `Corner` then looks for the kink.

From then on steps end at it. A coordinate that stands there, uphill on both sides, is *fixed*: it takes no
part in steps, as if at a wall. The smooth rest of f adds the same to both of its slopes, so that one of them
is refreshed, and the other follows by the jump. When either leads downhill, it is let go.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gracezo.core.asks import Ask, OutOfQueries, Point, Role, SparseRows, Steps
from gracezo.core.precision import ULP
from gracezo.core.types import BoolArray, FloatArray, IntArray
from gracezo.methods.auto import constants
from gracezo.methods.auto.belief import counted


class Suspect(NamedTuple):
    """A member of the support that may have a kink on its way down.

    Attributes
    ----------
    member
        Which one.
    far
        A place before which the kink may lie.
    depth
        How deep below it may lie: half of what the slope promises.
    """

    member: int
    far: float
    depth: float


class Kinks:
    """What is known of kinks, coordinate by coordinate of a support that may grow.

    Slopes are those of the support: they are taken, and returned as kinks change them.
    """

    def __init__(self) -> None:
        self._record = (1.0, 1.0)  # searches that brought something, and all
        # Columns: where the slope was last negative, that slope; the same where it was positive.
        self._seen: FloatArray = np.full((0, 4), math.nan)
        self.places: FloatArray = np.zeros(0)
        """Where the kink is; NaN where none is known."""
        self._jumps: FloatArray = np.zeros(0)
        self.located: BoolArray = np.zeros(0, np.bool_)
        """Which kinks were located since slopes were measured."""
        self._ahead: FloatArray = np.zeros(0)  # where a kink may lie before; NaN where nothing says so
        self.sides: FloatArray = np.zeros(0)
        """Of those that stand on a kink: the side that their slope is of. Zero for the others."""
        self._blurs: FloatArray = np.zeros(0)  # how far from its place the kink may be
        self.fixed: BoolArray = np.zeros(0, np.bool_)
        """Which coordinates stand on a kink, uphill on both sides."""

    @property
    def any(self) -> bool:
        """Whether any kink is known."""
        return not np.logical_and.reduce(np.isnan(self.places))

    @property
    def reach(self) -> FloatArray:
        """How far each coordinate has to go to show the slope of one side: beyond the kink it stands on."""
        return np.where(self.sides != 0.0, self._blurs, 0.0)

    @property
    def rate(self) -> float:
        """How often the search behind a suspicion brought a kink, or at least a decrease."""
        return self._record[0] / self._record[1]

    def grow(self, n: int) -> None:
        """Make room for a support of n coordinates."""
        more = n - len(self.places)
        if more > 0:
            self._seen = np.concatenate([self._seen, np.full((more, 4), math.nan)])
            self.places = np.concatenate([self.places, np.full(more, math.nan)])
            self._jumps = np.concatenate([self._jumps, np.zeros(more)])
            self.sides = np.concatenate([self.sides, np.zeros(more)])
            self._blurs = np.concatenate([self._blurs, np.zeros(more)])
            self.located = np.concatenate([self.located, np.zeros(more, np.bool_)])
            self.fixed = np.concatenate([self.fixed, np.zeros(more, np.bool_)])
            self._ahead = np.concatenate([self._ahead, np.full(more, math.nan)])

    # ------------------------------------------------------------ slopes at a kink

    def update(self, x: FloatArray, slopes: FloatArray) -> FloatArray:
        """Take slopes measured at x: pin what stands on a kink, or let it go, and note the others."""
        slopes = slopes.copy()
        for j in np.flatnonzero(self.sides).tolist():
            slopes[j] = self._stand(j, float(slopes[j] + self._jumps[j] * (self.sides[j] < 0.0)))
        for column, signed in ((0, slopes < 0.0), (2, slopes > 0.0)):
            seen = signed & (self.sides == 0.0)
            self._seen[seen, column] = x[seen]
            self._seen[seen, column + 1] = slopes[seen]
        self.located[:] = False
        return slopes

    def moved(self, x: FloatArray, slopes: FloatArray) -> FloatArray:
        """Note where the coordinates are, and predict the slopes of those that have come to their kink."""
        self.grow(len(x))
        slopes, away = slopes.copy(), x != self.places
        self.sides[away] = 0.0
        self.fixed[away] = False
        for j in np.flatnonzero(~away & (self.sides == 0.0)).tolist():
            # It came downhill: a negative slope was that on the left.
            slopes[j] = self._stand(j, float(slopes[j] + self._jumps[j] * (slopes[j] < 0.0)))
        return slopes

    def _stand(self, j: int, right: float) -> float:
        """Decide what becomes of a coordinate on its kink, given its slope to the right; return its slope."""
        left = right - self._jumps[j]
        self.fixed[j] = left < 0.0 < right
        if self.fixed[j]:
            # Each side in its turn, so that a jump that has changed does not stay hidden.
            self.sides[j] = -1.0 if self.sides[j] > 0.0 else 1.0
        else:
            self.sides[j] = 1.0 if right <= 0.0 else -1.0
        return float(right if self.sides[j] > 0.0 else left)

    # ------------------------------------------------------------ finding kinks

    def blame(self, culprits: IntArray, places: FloatArray) -> None:
        """Suspect a kink before these places: a step there did not bring what these coordinates promised."""
        self._ahead[:] = math.nan
        self._ahead[culprits] = places

    def suspects(
        self, x: FloatArray, slopes: FloatArray, curvatures: FloatArray, most: float
    ) -> list[Suspect]:
        """Return the members that may have a kink on their way down, the largest depth first.

        None is looked for farther than a decrease of `most` would take it.
        """
        low, down, high, up = self._seen.T
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            jumped = (up - down > constants.LIKELY * curvatures * (high - low)) & (high > low)
            # The present place is one of the two, or it says nothing.
            jumped &= np.where(slopes < 0.0, low, high) == x
            blamed = ((self._ahead - x) * slopes < 0.0) & (self._ahead != self.places)
            (chosen,) = ((jumped | blamed) & ~self.fixed).nonzero()
            if len(chosen) == 0:  # the usual case
                return []
            far = np.where(jumped, np.where(slopes < 0.0, high, low), np.where(blamed, self._ahead, x))
            reach = most / np.abs(slopes)
            far = np.where(jumped, far, np.clip(far, x - reach, x + reach))
            beyond = np.where(jumped, np.where(slopes < 0.0, up, down), math.nan)
        depths = 0.5 * np.fmin(np.abs(slopes), np.abs(beyond)) * np.abs(far - x)
        ranked = chosen[np.argsort(-depths[chosen], kind="stable")]
        return [Suspect(j, float(far[j]), float(depths[j])) for j in ranked.tolist()]

    def locate(
        self, at: Point, coordinate: int, suspect: Suspect, slope: float, start: float, rounding: float
    ) -> Steps[tuple[Point, float]]:
        """Look for the kink of one suspect, given its slope; return the best point met, and the slope there.

        Where the run began is tried first: that is where penalties on a change have their kinks.
        """
        j = suspect.member
        self._seen[j] = self._ahead[j] = math.nan
        corner = Corner(at, coordinate, slope, suspect.far, rounding=rounding)
        found = yield from corner.find(start)
        if math.isfinite(corner.slope):  # beside it an evaluation may have failed
            slope = corner.slope
        success = found is not None or corner.best is not at
        self._record = counted(self._record, success, constants.FORGET)
        if found is not None:
            left, right = found
            self.places[j], self._jumps[j] = corner.best.x[coordinate], right - left
            self.sides[j], self.located[j], self._blurs[j] = 0.0, True, corner.blur
            slope = self._stand(j, right)
        return corner.best, slope


@dataclass(frozen=True)
class Tangent:
    """f and its slope at a place, and how it bends there."""

    place: float
    value: float
    slope: float
    curvature: float = 0.0

    def at(self, place: float) -> float:
        """Return the value predicted at another place."""
        way = place - self.place
        return self.value + self.slope * way + 0.5 * self.curvature * way**2

    def slope_at(self, place: float) -> float:
        """Return the slope predicted at another place."""
        return self.slope + self.curvature * (place - self.place)

    def nearer(self, other: Tangent) -> Tangent:
        """Return another one on the same side, with the curvature that both show."""
        return replace(other, curvature=(other.slope - self.slope) / (other.place - self.place))

    def meets(self, other: Tangent) -> float:
        """Return at which share of the way to the other they meet; NaN if they do not.

        >>> Tangent(0.0, 0.0, -1.0).meets(Tangent(4.0, 2.0, 2.0))
        0.5
        """
        low, high = 0.0, 1.0
        if not self.value > other.at(self.place) or not self.at(other.place) < other.value:
            return math.nan
        while low < (middle := 0.5 * (low + high)) < high:
            place = self.place + middle * (other.place - self.place)
            low, high = (middle, high) if self.at(place) > other.at(place) else (low, middle)
        return high


class Corner:
    """One search for a kink along one coordinate, by tangents from both sides.

    From its place, where f falls, to another that lies beyond, where f has risen. What is known of each side
    is its nearest tangent, with the curvature that the last two have shown. The next place asked is where
    both meet: the kink itself, if f is a parabola on either side. Each place costs two queries, for f and its
    slope ahead; a third, behind, makes sure of a kink. Where both slopes come together in proportion to the
    distance, f bends and has none.

    Parameters
    ----------
    at
        The present point.
    coordinate
        The coordinate that is moved.
    slope
        Its slope, which leads downhill towards `there`.
    there
        A place before which a kink may lie.
    rounding
        The error of a difference of f.
    """

    LEAST = 4
    """Queries that it takes at the least: f and its slope beyond the kink, and where tangents meet."""

    def __init__(
        self,
        at: Point,
        coordinate: int,
        slope: float,
        there: float,
        *,
        rounding: float,
    ) -> None:
        self._at = at
        self._coordinate = coordinate
        self._there = there
        self._least = rounding / (constants.PRECISE * abs(slope)) + ULP / constants.PRECISE * max(
            abs(float(at.x[coordinate])), abs(there)
        )
        self._near = Tangent(float(at.x[coordinate]), at.value, slope)
        self._far: Tangent | None = None
        self._width = abs(there - self._near.place)
        self._side = math.copysign(1.0, there - self._near.place)
        self.best, self.slope = at, slope
        """The best point met, and its slope."""

    def find(self, likely: float) -> Steps[tuple[float, float] | None]:
        """Search; return the slopes on the left and on the right of the kink at `best`, if it is one.

        A place that is likely to be one is tried first, if it lies between.
        """
        found = None
        if min(self._near.place, self._there) < likely < max(self._near.place, self._there):
            found = yield from self._draw_near(likely, likely=True)
        if found is None and self._far is None:
            yield from self._go_there()
        if found is None and self._far is not None:
            found = yield from self._follow_tangents(self._far)
        if found is None or not all(map(math.isfinite, found)):
            return None
        return found if self._side > 0.0 else found[::-1]

    def _go_there(self) -> Steps[None]:
        other = yield from self._try(self._there)
        if other.value <= self._near.value + (1.0 - constants.UNSEEN) * self._near.slope * (
            self._there - self._near.place
        ):
            self._keep(other, self._near.slope)
            return
        inside = yield from self._try(self._there - self._step)  # there itself may be another kink
        self._far = Tangent(self._there, other.value, self._slope(inside, other))
        self._keep(other, self._far.slope)

    def _follow_tangents(self, far: Tangent) -> Steps[tuple[float, float] | None]:
        stretch = 1.0
        for _ in range(constants.DRAWN):
            near, jump = self._near, far.slope - self._near.slope
            self._width = abs(far.place - near.place)
            share = stretch * near.meets(far)
            if not constants.NEGLIGIBLE < share < 1.0 - constants.NEGLIGIBLE:
                if far.slope * self._side <= 0.0:
                    return None
                if near.value == self._at.value and (around := (yield from self._look_around())):
                    return around if self._stands(*around) else None
                share = constants.UNSEEN  # the other side is too far off and bends
            place = near.place + share * (far.place - near.place)
            if place in (near.place, far.place):
                break  # nothing lies between, in the precision of x
            found = yield from self._draw_near(place)
            if found is not None or self._far is None:
                return found
            stretch = 1.0 if self._near is near else 2.0  # the other side is better known from nearer
            near, far = self._near, self._far
            width = abs(far.place - near.place)
            if (far.slope - near.slope) / jump < (1.0 + constants.CLEARLY) * width / self._width:
                return None  # the slopes come together: f bends there, and does not break
            if width <= self.blur:
                return near.slope, far.slope
        return None

    def _draw_near(self, place: float, likely: bool = False) -> Steps[tuple[float, float] | None]:
        """Take the tangent at a place between; return the slopes before and after it if it is a kink."""
        point, beyond = yield from self._tries(place, place + self._step)
        after = self._slope(point, beyond)
        self._keep(point, after)
        here = Tangent(place, point.value, after)
        if after * self._side < 0.0:
            self._near = self._near.nearer(here)
            return None
        over = (point.value - self._near.at(place)) / ((after - self._near.slope_at(place)) * self._side)
        if self.best is point and (likely or over <= constants.PRECISE * abs(place - self._near.place)):
            behind = yield from self._try(place - 2.0 * self._step)
            before = self._slope(behind, point)
            if self._stands(before, after):
                return before, after
        self._far = here if self._far is None else self._far.nearer(here)
        return None

    def _look_around(self) -> Steps[tuple[float, float] | None]:
        """Measure the slope where the search began, which may be out of date.

        If f does not fall there, the place may itself be a kink: return the slopes before and after it.
        """
        beyond = yield from self._try(self._near.place + self._step)
        after = self._slope(self._at, beyond)
        self._near = replace(self._near, slope=after)
        if after * self._side < 0.0:
            return None
        behind = yield from self._try(self._near.place - self._step)
        before = self._slope(behind, self._at)
        if self.best is self._at:
            self.slope = after if self._stands(before, after) else before
        return before, after

    @property
    def blur(self) -> float:
        """How far from `best` the kink may lie."""
        return constants.TRUST * abs(self._step)

    def _stands(self, before: float, after: float) -> bool:
        """Whether slopes before and after a place lead uphill on both sides."""
        return before * self._side < 0.0 <= after * self._side

    @property
    def _step(self) -> float:
        return self._side * max(constants.NEGLIGIBLE * self._width, self._least)

    def _try(self, place: float) -> Steps[Point]:
        """Ask with the coordinate at another place."""
        (point,) = yield from self._tries(place)
        return point

    def _tries(self, *places: float) -> Steps[list[Point]]:
        """Ask with the coordinate at other places, all at once."""
        moved = np.full(len(places), self._coordinate)
        rows = SparseRows.coordinates(moved, np.array(places) - self._at.x[self._coordinate])
        ask = Ask(self._at.x, rows, Role.STEP)
        values = yield ask
        if len(values) < len(places):
            raise OutOfQueries
        known = np.where(np.isnan(values), math.inf, values)
        return [Point(ask.point(row), float(value)) for row, value in enumerate(known)]

    def _slope(self, one: Point, two: Point) -> float:
        return (two.value - one.value) / float(two.x[self._coordinate] - one.x[self._coordinate])

    def _keep(self, point: Point, slope: float) -> None:
        if point.value < self.best.value and math.isfinite(slope):  # beside it an evaluation may have failed
            self.best, self.slope = point, slope
