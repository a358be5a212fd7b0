"""The search: which coordinates of an unknown gradient are large, for the fewest queries.

Best first: the open group with the most to promise is asked next, and it is asked what brings it nearest to a
single confirmed coordinate (`inquiry.py`). Here is the sum over all of them that begins it, and who is next.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from gracezo.core.asks import Point, Role, Steps
from gracezo.core.rest import Rest
from gracezo.core.types import IntArray
from gracezo.core.walls import Walls
from gracezo.methods.auto import constants
from gracezo.methods.auto.belief import Belief
from gracezo.methods.auto.instrument.first_look import FirstLook
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import Change, Request
from gracezo.methods.auto.search.alone import Found
from gracezo.methods.auto.search.groups import Group
from gracezo.methods.auto.search.inquiry import Cut, Inquiries, Inquiry, Outcome, Taken
from gracezo.methods.auto.search.order import LongOrder, Order, drawn, mean_square
from gracezo.methods.auto.search.queue import Cutting, Partition, Price, Running, price
from gracezo.methods.kinks import KinksMet


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
        """What is believed of the gradient."""
        self._found = found
        self._walls = walls or Walls()
        self.partition: Partition | None = None
        """The groups; None if there is nothing to search."""
        self._next: tuple[Partition, Group] | None = None  # what is to come if this one is out of date
        self._running: list[Running] = []
        self.kinks = KinksMet()
        """Coordinates that lead uphill on both sides."""
        self.thorough = False
        """Whether what falls by little behind a kink is wanted, too: where nothing else is left."""
        self.flat = True
        """Whether no sum over all coordinates has changed f."""

    # ------------------------------------------------------------ beginning

    def centre(self, at: Point) -> None:
        """Go on around another point; sums are taken as still true, those of what is to come are not."""
        self._next = None
        self.abandon()  # what inquiries have heard was around another point
        self._differences.centre(self._walls.centre(at.x), at.value)

    def restart(self, coordinates: IntArray | Rest, rng: np.random.Generator) -> None:
        """Begin anew on these coordinates, in a fresh random order; with the next, if it was measured."""
        following = self._next if self.belief.drift.outdated else None
        past = self._clear()
        if following is not None and len(coordinates):
            self.partition, whole = following
            self.reopen(whole)
        else:
            self.partition = self._partitioned(coordinates, rng, past) if len(coordinates) else None

    def _clear(self) -> Partition | None:
        """Forget the groups; return what they were."""
        past, self.partition = self.partition, None
        self._next, self._running = None, []
        self.belief.drift.begin()
        if not self.complete:
            self.belief.begin()
        return past

    def begin(
        self, at: Point, noise: float | None, coordinates: IntArray | Rest, rng: np.random.Generator
    ) -> Steps[Point]:
        """Take the first look at f, in a fresh random order; return the point with the value of f beside it.

        That is another one where f jumps there.
        """
        past = self._clear()
        self.belief.forget()
        if not len(coordinates):
            return at
        self.partition = self._partitioned(coordinates, rng, past, 1.0 / constants.SMALL)
        look = FirstLook(self._differences, self.partition.order.whole)
        yield from look.take(at, noise)
        self.flat = look.flat
        self.root(look.value, look.error, 0.0)  # a parabola was fitted, whatever bends
        return at if look.jump == 0.0 else Point(at.x, at.value + look.jump)

    def _partitioned(
        self, coordinates: IntArray | Rest, rng: np.random.Generator, past: Partition | None, far: float = 1.0
    ) -> Partition:
        about = 0.0 if past is None else past.open.norm
        # The largest ε of one query to expect: that of the sum over all, or that of a group of one.
        single = self._differences.single
        evidence = past.evidence if past is not None and self.complete else ()
        if isinstance(coordinates, Rest):
            reach = max(single(1.0, about), far * single(len(coordinates) * mean_square(), about))
            return Partition(LongOrder(coordinates, rng, self._walls, reach), about, evidence)
        order = rng.permutation(coordinates)
        weights = drawn(rng, len(order))
        reach = max(single(1.0, about), far * single(float(weights @ weights), about))
        aimed, limits = self._walls.aim(order, weights, reach)
        return Partition(Order(order, aimed, limits), about, evidence)

    @property
    def order(self) -> Order | None:
        """The coordinates in their order; None if there are none."""
        return None if self.partition is None else self.partition.order

    @property
    def rooted(self) -> bool:
        """Whether the sum over all coordinates has been measured, if there are any."""
        return self.partition is None or self.partition.rooted

    def look_behind_kinks(self) -> None:
        """Want what falls by little behind a kink, too."""
        self.thorough = True
        self.kinks.let_in()

    # ------------------------------------------------------------ prices

    @property
    def exhausted(self) -> bool:
        """Whether the search has given up nearly all that it ever showed."""
        return self.partition is not None and self.partition.exhausted(self.belief.tau)

    @property
    def promise(self) -> float:
        """The decrease that all open groups together promise."""
        if self.partition is None:
            return 0.0
        groups = self.partition.open
        typical = 2.0 * self._differences.newton(groups.norm)
        return sum(self.belief.rate(side) * groups.mass[side] for side in (0, 1)) / typical

    @property
    def dense(self) -> float:
        """How much of what is open many coordinates share: as spikes that are many, or as background.

        As long as a spike is in sight, background is not what to go for.
        """
        spiked = self._running or (top := self._top()) is None or top.cost < top.group.size
        if spiked or self.partition is None:
            return self.belief.density.mean
        groups = self.partition.open
        background = self.belief.tau**2 * groups.squares
        if background <= (constants.TRUST * self.partition.error) ** 2:
            return self.belief.density.mean
        return max(self.belief.density.mean, min(background / max(groups.norm**2, background), 1.0))

    @property
    def best(self) -> tuple[float, float]:
        """Promise of the best open group, and the expected queries until it is found."""
        if self._running:
            return self._promise(self._running[0].group), 1.0
        top = self._top()
        return (0.0, 1.0) if top is None else (self._promise(top.group) * top.worth, top.cost)

    def _promise(self, group: Group) -> float:
        """Return the decrease that a group promises if it holds one spike."""
        return self.belief.rate(int(group.u > 0)) * self._differences.promise(group.u)

    def _top(self) -> Price | None:
        """Return the best price as it is now; what is spent is left out."""
        if self.partition is None:
            return None
        return self.partition.open.best(self.belief.learned, self._price, self._spent)

    def _price(self, group: Group) -> Price:
        return price(self.belief, group)

    def _spent(self, group: Group) -> bool:
        if abs(group.u) <= constants.TRUST * group.error:
            return True
        return (
            group.size == 1 and self.partition is not None and self.partition.order.weight(group.start) == 0.0
        )

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
        if self.partition is None:
            return []
        if not self.partition.rooted:
            return [self._sum(self.partition, self.root)]
        inquiries = Inquiries(
            self._differences,
            self.belief,
            self.partition.order,
            self._walls,
            complete=self.complete,
            thorough=self.thorough,
            batch=limit,
        )
        best = self._top()
        least = 0.0 if best is None or limit > 1 else best.rate
        cuts: list[Cutting] = []
        room = limit - sum(len(running.wanted) for running in self._running)
        while room > 0:
            finest = max(cuts, key=lambda cut: cut.gain, default=None)
            refined = finest is not None and finest.gain >= (0.0 if best is None else best.rate)
            taken = None if refined else self._take(least)
            if taken is not None:
                self._ask(taken, inquiries, cuts)
            elif finest is not None and finest.gain > 0.0:
                finest.refine()
            else:
                break
            room -= 1
            best = self._top() if room else None
        for cut in cuts:
            self._start(cut.group, inquiries.cut(cut.group, cut.at, cut.queries))
        return [request for running in self._running for request in running.requests()]

    def _ask(self, taken: Price, inquiries: Inquiries, cuts: list[Cutting]) -> None:
        """Begin the inquiry about a group; a cut is put off until it is known how fine it is to be."""
        group = taken.group
        if inquiries.faded(group):
            self._start(group, inquiries.again(group))
        elif not isinstance(plan := inquiries.plan(group), Cut):
            self._start(group, inquiries.begin(group, plan))
        else:
            cuts.append(Cutting(group, plan.at, taken.rate))

    def _start(self, group: Group, inquiry: Inquiry) -> None:
        running = Running(group, inquiry, self._settle)
        running.begin()
        self._running.append(running)

    def _settle(self, running: Running, outcome: Outcome) -> None:
        """Take what came of an inquiry."""
        self._running.remove(running)
        partition = self.partition
        assert partition is not None
        if outcome.taken is not None:
            partition.take(outcome.taken)
        if outcome.kink is not None:
            self.kinks.note(outcome.kink.coordinate, outcome.kink.uphill)
        if outcome.found is not None:
            self._take_out(outcome.found)
            self._found(outcome.found)
        for group in outcome.groups:
            self.reopen(group)
            partition.note(group)
        self._learn()

    def _learn(self) -> None:
        """Learn of the background."""
        if self.partition is not None:
            self.belief.learn(self.partition.evidence)

    def _take_out(self, found: Found) -> None:
        self.belief.meet(found.slope)
        if self.belief.sizes.stands_out(found.slope, self.belief.tau):
            self.belief.density.found()

    def _take(self, least: float) -> Price | None:
        """Take out the best group, at a price of `least` or more; what needs no query is found on the way."""
        partition = self.partition
        while partition is not None and (top := self._top()) is not None and top.rate >= least:
            group = partition.open.take(top.group)
            order = partition.order
            if group.size > 1 or not (self._shut(group, order) or partition.spares(self._alike(group))):
                return top
            # Its derivative is known by subtraction, its curvature well enough from the others.
            weight = order.remove(group.start)
            slope = group.u / weight
            partition.take(Taken(group.start, group.u, group.error))
            self.belief.meet(slope)
            coordinate, error = order.coordinate(group.start), group.error / abs(weight)
            self._found(Found(coordinate, slope, error, math.nan, slope, alone=False))
        return None

    def _sum(self, over: Partition, take: Callable[[float, float, float], None]) -> Request:
        """Ask for the sum over all coordinates."""
        whole = over.order.whole
        about = 0.0 if self._differences.pairs else over.about
        look = self._differences.across(whole.squares, about, room=whole.room)

        def absorb(change: Change) -> None:
            self.flat = self.flat and change.ahead == 0.0
            take(*self._differences.read(look, change), look.eps)

        return look.request(whole.move, Role.PROBE, absorb)

    def root(self, value: float, error: float, eps: float) -> None:
        """Take the sum over all coordinates, by a look of length `eps`."""
        assert self.partition is not None
        self.reopen(self.partition.root(value, error, eps))
        self._learn()

    def following(self, coordinates: IntArray | Rest, rng: np.random.Generator) -> Request:
        """Ask, along with a recheck, for the sum over an order that is to serve if that shows a change."""
        partition = self._partitioned(coordinates, rng, self.partition)

        def take(value: float, error: float, eps: float) -> None:
            self._next = partition, partition.root(value, error, eps)

        return self._sum(partition, take)

    def recheck(self) -> Request:
        """Ask the sum over all open groups again: if it has changed, the search is out of date.

        Asked together with the support, it may be taken for what it was if both come to what was predicted.
        Two changes may cancel: so where one is likely, no more than errors may be missed.
        """
        partition = self.partition
        assert partition is not None
        excused = 0.0 if self.belief.drift.likely else constants.LITTLE
        self.belief.drift.begin()
        whole, norm = partition.order.whole, partition.open.norm
        # What is below its own error is no size to be told from nothing: that would take any number of looks.
        about = norm if norm > partition.error else 0.0
        look = self._differences.across(whole.squares, about, room=whole.room)

        def allowed(error: float, share: float = constants.LITTLE) -> float:
            uncertain = math.hypot(error, partition.error)
            return constants.TRUST * uncertain + share * norm

        def absorb(change: Change) -> None:
            value, error = self._differences.read(look, change)
            self.belief.drift.saw(abs(value - partition.total) > allowed(error))

        margin = allowed(look.error(partition.total), excused)
        return look.request(whole.move, Role.PROBE, absorb, partition.total, margin)

    def _shut(self, group: Group, order: Order) -> bool:
        """Whether a wall shuts the way down for a single coordinate; it needs no query to be known."""
        slope = group.u / order.weight(group.start)
        room = self._walls.room(order.coordinate(group.start), slope)
        shut = room * abs(slope) <= constants.TRUST * self._differences.rounding
        if shut:
            self.belief.tried(int(group.u > 0), False)
        return shut

    def _alike(self, group: Group) -> bool:
        """Whether a single coordinate needs no query of its own: all those met were smooth and much alike."""
        smooth = self.belief.rate(int(group.u > 0)) > 1.0 - constants.RULED_OUT
        return smooth and self._differences.curvatures.varied < constants.ALIKE

    # ------------------------------------------------------------ what came of a group

    def reopen(self, group: Group) -> None:
        """Queue a group by its price."""
        assert self.partition is not None
        self.partition.open.push(price(self.belief, group))
