"""The open groups, by price, and the inquiries under way."""

from __future__ import annotations

import heapq
import itertools
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from gracezo.methods.auto.instrument.look import Change, Request
from gracezo.methods.auto.search.groups import Group
from gracezo.methods.auto.search.inquiry import Inquiry, Outcome

REMEMBERED = 32  # groups, the latest, that tell of the background


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
        return [replace(request, absorb=self._absorb) for request in self.wanted]

    def _absorb(self, change: Change) -> None:
        self.heard.append(change)
        if len(self.heard) < len(self.wanted):
            return
        heard, self.heard = self.heard, []
        try:
            self.wanted = self.inquiry.send(heard)
        except StopIteration as stop:
            self.settle(self, stop.value)


class Open:
    """The open groups, by price; and those left alone lately, which still tell of the background."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Group]] = []
        self._count = itertools.count()
        self._members: dict[Group, int] = {}
        self._left: deque[Group] = deque(maxlen=REMEMBERED)
        self.mass = [0.0, 0.0]
        """Sum of U² over the open groups whose U is negative, and positive."""
        self.squares = 0.0
        """Sum of their squared weights."""

    @property
    def groups(self) -> list[Group]:
        """All of them."""
        return list(self._members)

    @property
    def evidence(self) -> list[Group]:
        """The latest of them, and of those left alone."""
        return [*self._left, *itertools.islice(reversed(self._members), REMEMBERED)]

    def push(self, group: Group, price: float) -> None:
        """Open a group."""
        number = next(self._count)
        self._members[group] = number
        self.mass[int(group.u > 0)] += group.u**2
        self.squares += group.squares
        heapq.heappush(self._heap, (-price, number, group))

    def top(self) -> tuple[Group, float] | None:
        """Return the group with the best price, and that."""
        while self._heap and self._members.get(self._heap[0][2]) != self._heap[0][1]:
            heapq.heappop(self._heap)
        return (self._heap[0][2], -self._heap[0][0]) if self._heap else None

    def take(self, group: Group) -> Group:
        """Take a group out."""
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
