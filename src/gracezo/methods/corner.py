"""The search for a kink along one coordinate: where the tangents from both sides meet."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gracezo.core.asks import Ask, OutOfQueries, Point, Role, SparseRows, Steps
from gracezo.core.precision import ULP
from gracezo.methods.auto import constants


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
        return [Point(ask.reached(row), float(value)) for row, value in enumerate(known)]

    def _slope(self, one: Point, two: Point) -> float:
        return (two.value - one.value) / float(two.x[self._coordinate] - one.x[self._coordinate])

    def _keep(self, point: Point, slope: float) -> None:
        if point.value < self.best.value and math.isfinite(slope):  # beside it an evaluation may have failed
            self.best, self.slope = point, slope
