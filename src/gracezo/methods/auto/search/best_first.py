"""The search: which coordinates of an unknown gradient are large, for the fewest queries.

Best first: the open group with the most to promise is asked next, and it is asked what brings it nearest to a
single confirmed coordinate (`inquiry.py`). Here is the sum over all of them that begins it, and the prices.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gracezo.core.asks import Point, Role, Steps
from gracezo.core.types import FloatArray, IntArray
from gracezo.methods.auto import constants
from gracezo.methods.auto.belief import Belief, Watch
from gracezo.methods.auto.here import Walls
from gracezo.methods.auto.instrument.first_look import FirstLook
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import Change, Request
from gracezo.methods.auto.search.confirm import Found
from gracezo.methods.auto.search.groups import Group, Order
from gracezo.methods.auto.search.inquiry import Cut, Inquiries, Inquiry, Outcome
from gracezo.methods.auto.search.queue import REMEMBERED, Open, Running


@dataclass
class _Cut:
    """A group that a batch cuts at once, into one part more than it has queries."""

    group: Group
    at: int | None
    price: float
    queries: int = 1

    @property
    def gain(self) -> float:
        """The price of one more query: m parts tell log₂ m bits of where a coordinate is."""
        parts = self.queries + 1
        return self.price * math.log2((parts + 1) / parts) if parts < self.group.size else 0.0


class Search:
    """The search over the coordinates outside the support.

    Parameters
    ----------
    differences, belief
        What the run has learned.
    found
        Called with each coordinate found.
    walls
        The bounds around the present point.
    """

    complete = False
    """Whether the search is to go on until nothing is left."""

    def __init__(
        self,
        differences: Differences,
        belief: Belief,
        found: Callable[[Found], None],
        walls: Walls | None = None,
    ) -> None:
        self._differences = differences
        self.belief = belief
        self._found = found
        self._walls = walls or Walls()
        self.watch = Watch()
        """Whether the search is likely to be out of date."""
        self._sapling: tuple[Order, float, float, float] | None = (
            None  # and the sum over all of it, with its error
        )
        self.order: Order | None = None
        self.total = self.error = 0.0
        """U of all coordinates together, less what was taken out, and its error."""
        self.moment = math.nan, 0.0
        """K of all coordinates, less what was taken out, when it has been asked, and its error."""
        self.open = Open()
        self._dived = False
        self._running: list[Running] = []
        self.kinks: list[int] = []  # coordinates that lead uphill on both sides
        self.thorough = False
        """Whether what falls by little behind a kink is wanted, too: where nothing else is left."""
        self.flat = True
        self.outdated = False
        """Whether a recheck has shown that the search is to begin anew."""
        self._is_rooted = False
        self._looked = False  # whether the first look at f has been taken
        self._last = 0.0
        self._most = 0.0
        self._unasked = 0
        self._past: list[Group] = []  # groups under other weights
        self._surveyed: tuple[list[Group], FloatArray, FloatArray] | None = None  # what chances are now
        self.floor = 0.0
        """Groups below this |U| are left alone."""

    # ------------------------------------------------------------ beginning

    def centre(self, at: Point) -> None:
        """Go on around another point; sums are taken as still true, those of a sapling are not."""
        self._sapling = None
        self.abandon()  # what inquiries have heard was around another point
        self._differences.centre(self._walls.centre(at.x), at.value)

    def plant(self, coordinates: IntArray, rng: np.random.Generator) -> None:
        """Begin anew on these coordinates, in a fresh random order; with the sapling, if one was measured."""
        sapling = self._sapling if self.outdated else None
        self._sapling = None
        self.outdated = False
        self.watch.begin()
        if self.order is not None:
            self._last = self.open.norm
        self._is_rooted = False
        self._most = 0.0
        self._running = []
        self._past = [*self._past, *self.open.evidence][-2 * REMEMBERED :] if self.complete else []
        self._surveyed = None
        self.open = Open()
        self.moment = math.nan, 0.0
        if not self.complete:
            self.belief.begin()
        if len(coordinates) == 0:
            self.order = None
        elif sapling is None:
            self.order = self._planted(coordinates, rng)
        else:
            self.order, value, error, eps = sapling
            self.root(value, error, eps)

    def _planted(self, coordinates: IntArray, rng: np.random.Generator) -> Order:
        order = rng.permutation(coordinates)
        spread = constants.SPREAD
        weights = rng.uniform(1.0 - spread, 1.0 + spread, len(order)) * rng.choice([-1.0, 1.0], len(order))
        aimed, limits = self._walls.aim(order, weights, self._reach(weights))
        return Order(order, aimed, limits)

    def _reach(self, weights: FloatArray) -> float:
        """Return the largest ε of one query to expect: that of the root, or that of a group of one."""
        differences = self._differences
        root = differences.single(float(weights @ weights), self._last)
        return max(differences.single(1.0, self._last), root if self._looked else constants.FAR * root)

    def begin(self, at: Point, noise: float | None) -> Steps[Point]:
        """Take the first look at f, along the first order; return the point with the value of f beside it.

        That is another one where f jumps there.
        """
        self._looked = True
        if self.order is None:
            return at
        look = FirstLook(self._differences, self.order.whole)
        yield from look.take(at, noise)
        self.flat = look.flat
        self.root(look.value, look.error, 0.0)  # a parabola was fitted, whatever bends
        return at if look.jump == 0.0 else Point(at.x, at.value + look.jump)

    @property
    def rooted(self) -> bool:
        """Whether the sum over all coordinates has been measured, if there are any."""
        return self.order is None or self._is_rooted

    # ------------------------------------------------------------ prices

    @property
    def unexplained(self) -> float:
        """The norm of what is open; unknown until the sum over all is measured."""
        if not self.rooted:
            return math.nan
        return 0.0 if self.order is None else self.open.norm

    @property
    def exhausted(self) -> bool:
        """Whether the search has given up nearly all that it ever showed.

        What cancelled under its weights is then larger than what is left, and only other weights show it.
        """
        if self.order is None:
            return False
        self._most = max(self._most, self.open.norm)
        return self.open.norm < constants.DRIFT * self._most

    @property
    def promise(self) -> float:
        """The decrease that all open groups together promise."""
        if self.order is None:
            return 0.0
        typical = 2.0 * self._differences.newton(self.open.norm)
        return sum(self.belief.rate(side) * self.open.mass[side] for side in (0, 1)) / typical

    @property
    def dense(self) -> float:
        """How much of what is open many coordinates share: as spikes that are many, or as background.

        As long as a spike is in sight, background is not what to go for.
        """
        background = self.belief.tau**2 * self.open.squares
        spiked = self._running or (top := self._top()) is None or self._worth(top[0])[1] < top[0].size
        if spiked or background <= (constants.TRUST * self.error) ** 2:
            return self.belief.density.mean
        return max(self.belief.density.mean, min(background / max(self.open.norm**2, background), 1.0))

    @property
    def best(self) -> tuple[float, float]:
        """Promise of the best open group, and the expected queries until it is redeemed."""
        if self._running:
            group = self._running[0].group
            return self.belief.rate(int(group.u > 0)) * self._differences.promise(group.u), 1.0
        top = self._top()
        if top is None:
            return 0.0, 1.0
        group, _ = top
        promise = self.belief.rate(int(group.u > 0)) * self._differences.promise(group.u)
        worth, cost = self._worth(group)
        return promise * worth, cost

    def _worth(self, group: Group) -> tuple[float, float]:
        """Return what share of U² a group redeems, and for how many queries.

        Either it holds a spike, which is found by cuts and labels; or it is background, of which each
        coordinate has its part, to be had by a query each.
        """
        if group.size == 1 or group.rows:
            return 1.0, 1.0
        chance = self.belief.holds(group)
        deviation = self.belief.deviation(group.squares, 0.0)
        spike = chance * max(1.0 - (deviation / group.u) ** 2, 0.0) if group.u else 0.0
        cost = math.log2(group.size) + 1.0
        cost = min(cost, 2.0 / max(self.belief.density.alone(group.spread), 1e-3))
        return (spike, cost) if spike / cost > 1.0 / group.size else (1.0, float(group.size))

    def _price(self, group: Group) -> float:
        """Return the promise of a group per query, up to what all have in common."""
        worth, cost = self._worth(group)
        return self.belief.rate(int(group.u > 0)) * worth * group.u**2 / cost

    def _top(self) -> tuple[Group, float] | None:
        """Return the group with the best price as it is now, and that; what is spent is left out."""
        while (top := self.open.top()) is not None:
            group, price = top
            if self._spent(group):
                self.open.leave(group)
                continue
            now = self._price(group)
            if now >= 0.9 * price:
                return group, now
            self.open.push(self.open.take(group), now)
        return None

    def _spent(self, group: Group) -> bool:
        assert self.order is not None
        taken = group.size == 1 and self.order.weights[group.start] == 0.0
        return taken or abs(group.u) <= max(constants.TRUST * group.error, self.floor)

    # ------------------------------------------------------------ requests

    def abandon(self) -> None:
        """Give up all inquiries."""
        for running in self._running:
            self.reopen(running.group)
        self._running = []

    def requests(self, limit: int) -> list[Request]:
        """Return up to `limit` queries, the best groups first; none if coordinates were found without.

        In a batch, query after query goes to the group with the best price, or into a finer cut of one that
        has been taken, where it is worth more.
        """
        if self.order is None:
            return []
        if not self._is_rooted:
            return [self._sum(self.order, self.root)]
        inquiries = Inquiries(
            self._differences,
            self.belief,
            self.order,
            self._walls,
            complete=self.complete,
            thorough=self.thorough,
            batch=limit,
        )
        best = self._top()
        least = 0.0 if best is None or limit > 1 else best[1]
        cuts: list[_Cut] = []
        room = limit - sum(len(running.wanted) for running in self._running)
        while room > 0:
            finest = max(cuts, key=lambda cut: cut.gain, default=None)
            best = self._top()
            ahead = 0.0 if best is None else best[1]
            group = None if finest is not None and finest.gain >= ahead else self._take(least)
            if group is not None:
                self._ask(group, inquiries, cuts)
            elif finest is not None and finest.gain > 0.0:
                finest.queries += 1
            else:
                break
            room -= 1
        for cut in cuts:
            self._start(cut.group, inquiries.cut(cut.group, cut.at, cut.queries))
        return [request for running in self._running for request in running.requests()]

    def _ask(self, group: Group, inquiries: Inquiries, cuts: list[_Cut]) -> None:
        """Begin the inquiry about a group; a cut is put off until it is known how fine it is to be."""
        price = self._price(group)
        if inquiries.faded(group):
            self._start(group, inquiries.again(group))
        elif not isinstance(plan := inquiries.plan(group), Cut):
            self._start(group, inquiries.begin(group, plan))
        else:
            cuts.append(_Cut(group, plan.at, price))

    def _start(self, group: Group, inquiry: Inquiry) -> None:
        running = Running(group, inquiry, self._settle)
        running.begin()
        self._running.append(running)

    def _settle(self, running: Running, outcome: Outcome) -> None:
        """Take what came of an inquiry."""
        self._running.remove(running)
        if (taken := outcome.taken) is not None:
            self._dived = True
            self.total -= taken.share
            # Errors of U cancel in the sum over all groups; in K they do not.
            about, blur = self.moment
            self.moment = about - taken.position * taken.share, math.hypot(blur, taken.position * taken.error)
        if outcome.kink is not None:
            self.kinks.append(outcome.kink.coordinate)
        if outcome.found is not None:
            found = outcome.found
            self._take_out(found)
            self._found(found)
        for group in outcome.groups:
            self.reopen(group)
            self._dived = self._dived or group.size == 1
            if group.direct and group.family is not None and self.order is not None:
                whole = group.size == len(self.order) and math.isnan(self.moment[0])
                self.moment = (group.family.total, group.family.blur) if whole else self.moment
        self.belief.learn([*self._past, *self.open.evidence])
        self._surveyed = None

    def _take_out(self, found: Found) -> None:
        self.belief.meet(found.slope)
        if abs(found.slope) > 5.0 * self.belief.tau:
            self.belief.density.found()

    def _take(self, least: float) -> Group | None:
        """Take out the best group, at a price of `least` or more; what needs no query is found on the way."""
        assert self.order is not None
        while (top := self._top()) is not None and top[1] >= least:
            group = self.open.take(top[0])
            self._surveyed = None
            side = int(group.u > 0)
            if group.size > 1 or not (self._shut(group, side) or self._alike(side)):
                return group
            # Its derivative is known by subtraction, its curvature well enough from the others.
            weight = self.order.remove(group.start)
            slope = group.u / weight
            self.total -= group.u
            self.belief.meet(slope)
            coordinate, error = int(self.order.coordinates[group.start]), group.error / abs(weight)
            self._found(Found(coordinate, slope, error, math.nan, slope, alone=False))
        return None

    def _sum(self, order: Order, take: Callable[[float, float, float], None]) -> Request:
        """Ask for the sum over all coordinates of an order."""
        look = self._differences.across(
            order.squares(0, len(order)),
            0.0 if self._differences.pairs else self._last,
            room=order.room(0, len(order)),
        )

        def absorb(change: Change) -> None:
            self.flat = self.flat and change.ahead == 0.0
            take(*self._differences.read(look, change), look.eps)

        return look.request(order.coordinates, order.weights, Role.PROBE, absorb)

    def sapling(self, coordinates: IntArray, rng: np.random.Generator) -> Request:
        """Ask, along with a recheck, for the sum over an order that is to serve if that shows a change."""
        order = self._planted(coordinates, rng)

        def take(value: float, error: float, eps: float) -> None:
            self._sapling = order, value, error, eps

        return self._sum(order, take)

    def root(self, value: float, error: float, eps: float) -> None:
        """Take the sum over all coordinates, by a look of length `eps`."""
        assert self.order is not None
        self._is_rooted = True
        self.total, self.error = value, error
        size = len(self.order)
        self.reopen(Group(0, size, value, error, self.order.squares(0, size), eps))
        self.belief.learn([*self._past, *self.open.evidence])
        self._surveyed = None

    def recheck(self) -> Request:
        """Ask the sum over all open groups again: if it has changed, the search is out of date."""
        self.watch.begin()
        order = self.order
        assert order is not None
        squares = order.squares(0, len(order))
        look = self._differences.across(squares, self.open.norm, room=order.room(0, len(order)))

        def allowed(error: float) -> float:
            uncertain = math.hypot(error, self.error)
            return constants.TRUST * uncertain + constants.DRIFT * self.open.norm

        def absorb(change: Change) -> None:
            value, error = self._differences.read(look, change)
            changed = abs(value - self.total) > allowed(error)
            self.watch.saw(changed)
            self.outdated = changed

        margin = allowed(look.error(self.total))
        return look.request(order.coordinates, order.weights, Role.PROBE, absorb, self.total, margin)

    def _shut(self, group: Group, side: int) -> bool:
        """Whether a wall shuts the way down for a single coordinate; it needs no query to be known."""
        assert self.order is not None
        slope = group.u / float(self.order.weights[group.start])
        room = self._walls.room(int(self.order.coordinates[group.start]), slope)
        shut = room * abs(slope) <= constants.TRUST * self._differences.rounding
        if shut:
            self.belief.tried(side, False)
        return shut

    def _alike(self, side: int) -> bool:
        """Whether a single coordinate needs no query of its own: all those met were smooth and much alike."""
        # Every fourth is asked all the same: those found first need not be like the others.
        self._unasked += 1
        alike = self._differences.varied < constants.ALIKE and self.belief.rate(side) > 1.0 - constants.ALIKE
        if alike and self._unasked < 4:
            return True
        self._unasked = 0
        return False

    # ------------------------------------------------------------ what came of a group

    def reopen(self, group: Group) -> None:
        """Queue a group by its price."""
        self.open.push(group, self._price(group))
