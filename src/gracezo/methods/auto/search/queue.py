"""The open groups of one order, and their prices; the sums over all of it; and the inquiries under way."""

from __future__ import annotations

import heapq
import itertools
import math
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from gracezo.core.precision import TINY
from gracezo.core.types import record
from gracezo.methods.auto import constants
from gracezo.methods.auto.belief import Belief
from gracezo.methods.auto.instrument.look import Change, Request
from gracezo.methods.auto.search.groups import Group
from gracezo.methods.auto.search.inquiry import Inquiry, Outcome, Taken
from gracezo.methods.auto.search.order import Order


@dataclass(eq=False)
class Running:
    """An inquiry under way: what it wants to be asked, and what has been heard of that."""

    group: Group
    inquiry: Inquiry
    settle: Callable[[Running, Outcome], None]
    heard: list[Change] = field(default_factory=list)
    wanted: list[Request] = field(default_factory=list)

    def begin(self) -> None:
        """Go on to the first requests."""
        self.wanted = next(self.inquiry)

    def requests(self) -> list[Request]:
        """Return what it wants to be asked."""
        return [request.heard_by(self._absorb) for request in self.wanted]

    def _absorb(self, change: Change) -> None:
        self.heard.append(change)
        if len(self.heard) < len(self.wanted):
            return
        heard, self.heard = self.heard, []
        try:
            self.wanted = self.inquiry.send(heard)
        except StopIteration as stop:
            self.settle(self, stop.value)


@dataclass
class Cutting:
    """A group that a batch cuts at once, into one part more than it has queries."""

    group: Group
    at: int | None
    price: float
    queries: int = 1

    def refine(self) -> None:
        """Cut it into one part more."""
        self.queries += 1

    @property
    def gain(self) -> float:
        """The price of one more query: m parts tell log₂ m bits of where a coordinate is."""
        parts = self.queries + 1
        return self.price * math.log2((parts + 1) / parts) if parts < self.group.size else 0.0


@record
class Price:
    """What a group promises for a query, up to what all have in common.

    Attributes
    ----------
    group
        Which one.
    worth, cost
        What share of U² it realises, and for how many queries.
    rate
        The decrease, times the chance that it is there, over what it takes.
    """

    group: Group
    worth: float
    cost: float
    rate: float


def price(belief: Belief, group: Group) -> Price:
    """Return the price of a group.

    Either it holds a spike, which is found by cuts and labels; or it is background, of which each coordinate
    has its part, to be had by a query each.
    """
    u, size, worth, cost = group.u, group.size, 1.0, 1.0
    if size > 1 and not group.rows:
        chance = belief.holds(group)
        deviation = belief.tau * math.sqrt(group.squares)
        worth = chance * max(1.0 - (deviation / u) ** 2, 0.0) if u else 0.0
        cost = min(math.log2(size) + 1.0, 2.0 / max(belief.density.alone(group.spread), TINY))
        if not worth / cost > 1.0 / size:
            worth, cost = 1.0, float(size)
    return Price(group, worth, cost, belief.rate(int(u > 0)) * worth * u**2 / cost)


class Open:
    """The open groups, by price; and those left alone lately, which still tell of the background."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Group]] = []
        self._members: dict[Group, int] = {}
        self._left: deque[Group] = deque(maxlen=constants.WINDOW)
        self.mass = [0.0, 0.0]
        """Sum of U² over the open groups whose U is negative, and positive."""
        self.squares = 0.0
        """Sum of their squared weights."""
        self.version = 0
        """How often groups have come and gone."""
        self._best: tuple[int, int, Price | None] = -1, -1, None  # as of that version, and what was learned

    @property
    def groups(self) -> list[Group]:
        """All of them."""
        return list(self._members)

    @property
    def evidence(self) -> list[Group]:
        """The latest of them, and of those left alone."""
        return [*self._left, *itertools.islice(reversed(self._members), constants.WINDOW)]

    def push(self, price: Price) -> None:
        """Open a group."""
        self.version = number = self.version + 1
        group = price.group
        self._members[group] = number
        self.mass[int(group.u > 0)] += group.u**2
        self.squares += group.squares
        heapq.heappush(self._heap, (-price.rate, number, group))

    def best(
        self, learned: int, price: Callable[[Group], Price], spent: Callable[[Group], bool]
    ) -> Price | None:
        """Return the best price as it is now; a group that is spent is left alone.

        It is asked for again and again, and the same as long as nothing has been learned.
        """
        if self._best[0] != self.version or self._best[1] != learned:
            found = self._repriced(price, spent)
            self._best = self.version, learned, found
        return self._best[2]

    def _repriced(self, price: Callable[[Group], Price], spent: Callable[[Group], bool]) -> Price | None:
        heap = self._heap
        while heap:
            was, number, group = heap[0]
            if self._members.get(group) != number:
                heapq.heappop(heap)
            elif spent(group):
                self.leave(group)
            elif (now := price(group)).rate >= -(1.0 - constants.UNSEEN) * was:
                return now
            else:
                self.take(group)
                self.push(now)
        return None

    def take(self, group: Group) -> Group:
        """Take a group out."""
        self.version += 1
        del self._members[group]
        side = int(group.u > 0)
        self.mass[side] = max(self.mass[side] - group.u**2, 0.0) if self._members else 0.0
        self.squares = max(self.squares - group.squares, 0.0)
        return group

    def leave(self, group: Group) -> None:
        """Leave a group alone from now on."""
        self._left.append(self.take(group))

    @property
    def norm(self) -> float:
        """The norm of U over all of them."""
        return math.sqrt(sum(self.mass))


class Partition:
    """Coordinates in one order, in groups.

    Parameters
    ----------
    order
        The coordinates and their weights.
    about
        The norm that their derivatives are expected to have.
    past
        Groups under other weights, which tell of the background, too.
    """

    def __init__(self, order: Order, about: float = 0.0, past: Iterable[Group] = ()) -> None:
        self.order = order
        self.about = about
        self._past = list(past)[-2 * constants.WINDOW :]
        self.open = Open()
        self.rooted = False
        """Whether the sum over all coordinates has been measured."""
        self.total = self.error = 0.0
        """That, less what was taken out, and its error."""
        self.moment = math.nan, 0.0
        """K of all coordinates, less what was taken out, when it has been asked, and its error."""
        self._most = 0.0
        self._unasked = 0  # single coordinates since the last one that was asked

    def root(self, value: float, error: float, eps: float) -> Group:
        """Take the sum over all coordinates, by a look of length `eps`; return them as one group."""
        self.rooted = True
        self.total, self.error = value, error
        size = len(self.order)
        return Group(0, size, value, error, self.order.squares(0, size), eps)

    def take(self, taken: Taken) -> None:
        """Take a coordinate out of all sums."""
        self.total -= taken.share
        # Errors of U cancel in the sum over all groups; in K they do not.
        about, blur = self.moment
        self.moment = about - taken.position * taken.share, math.hypot(blur, taken.position * taken.error)

    def note(self, group: Group) -> None:
        """Note K of a group, if that is all of them, and asked for the first time."""
        if group.direct and group.family is not None:
            whole = group.size == len(self.order) and math.isnan(self.moment[0])
            self.moment = (group.family.total, group.family.blur) if whole else self.moment

    def spares(self, alike: bool) -> bool:
        """Whether a single coordinate is not asked, because it is like the others.

        Every fourth is asked all the same: those found first need not be like the others.
        """
        self._unasked += 1
        if alike and self._unasked < 4:
            return True
        self._unasked = 0
        return False

    @property
    def evidence(self) -> list[Group]:
        """The groups that tell of the background."""
        return [*self._past, *self.open.evidence]

    def exhausted(self, tau: float) -> bool:
        """Whether it has given up nearly all that it ever showed, but for a background τ.

        What cancelled under its weights is then larger than what is left, and only other weights show it.
        """
        self._most = max(self._most, self.open.norm)
        return self.open.norm < max(constants.LITTLE * self._most, math.sqrt(2.0 * self.open.squares) * tau)
