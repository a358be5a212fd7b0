"""The slopes of the support, measured again: what their prediction misses, the largest misses first.

The support is never searched by brute force. After a step the quadratic model
predicts its gradient, and a tree over the support (weights scaled by each
coordinate's own curvature, so that U² is twice the promised decrease) is asked for
what the prediction misses: one query when it misses nothing, the largest misses
first, and at most one query a coordinate when all of it is wrong. A coordinate
that has stopped to matter rests in an unopened set and costs nothing.

A coordinate whose curvature was guessed has, after a step, a slope that is as
uncertain as the guess. As soon as that may hide more than a query brings
elsewhere, it is asked alone, and tells the curvature: the model is wrong, and it
is known where. Where f is so much smaller than it was that curvatures may be, too,
they are measured anew.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gracezo.core.asks import Role
from gracezo.core.moves import Few
from gracezo.core.types import FloatArray, IntArray, record
from gracezo.core.walls import Walls
from gracezo.methods.auto import constants
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import EVERYWHERE, Change, Request, Room
from gracezo.methods.auto.support.coordinates import Support


@record
class Part:
    """A set, positions `start` to `stop`: what the prediction misses of its derivative, and the error."""

    start: int
    stop: int
    u: float = 0.0
    error: float = 0.0

    @property
    def size(self) -> int:
        """Number of positions."""
        return self.stop - self.start


@record
class RefreshTree:
    """What the sets of a refresh are made of, by position.

    Attributes
    ----------
    members
        Which coordinates of the support these are.
    order, weights
        The coordinates, and what multiplies their displacement.
    scale
        The square roots of their curvatures.
    effective
        The slopes that looks have to be long enough for.
    least
        ε that moves each far enough.
    limits
        The largest ε that bounds allow each of them, ahead and behind, where there are bounds.
    """

    members: IntArray
    order: IntArray
    weights: FloatArray
    scale: FloatArray
    effective: FloatArray
    least: FloatArray
    limits: tuple[FloatArray, FloatArray] | None

    def room(self, span: slice) -> Room:
        """Return the largest ε at which no coordinate of a slice leaves the bounds."""
        if self.limits is None:
            return EVERYWHERE
        ahead, behind = (float(limits[span].min()) for limits in self.limits)
        return Room(ahead, min(ahead, behind))


@dataclass(eq=False)
class Opened:
    """The open sets, by the sign of what they miss, the largest first; and the sum of the squares of that."""

    heaps: tuple[list[tuple[float, int, Part]], list[tuple[float, int, Part]]] = field(
        default_factory=lambda: ([], [])
    )
    mass: list[float] = field(default_factory=lambda: [0.0, 0.0])
    count: itertools.count[int] = field(default_factory=itertools.count)

    def push(self, part: Part) -> None:
        """Open a set."""
        side = int(part.u > 0)
        self.mass[side] += part.u**2
        heapq.heappush(self.heaps[side], (-abs(part.u), next(self.count), part))

    def top(self, side: int) -> Part | None:
        """Return the largest of one sign (0: negative, 1: positive)."""
        return self.heaps[side][0][2] if self.heaps[side] else None

    def pop(self, side: int) -> Part:
        """Take it out."""
        part = heapq.heappop(self.heaps[side])[2]
        self.mass[side] = self.mass[side] - part.u**2 if self.heaps[side] else 0.0
        return part


class Refresh:
    """Measures what the predicted slopes of a support miss, the largest misses first.

    Parameters
    ----------
    support
        The coordinates, whose slopes are corrected.
    differences, walls
        What the run has learned, and the bounds.
    """

    def __init__(self, support: Support, differences: Differences, walls: Walls) -> None:
        self.support = support
        """The coordinates."""
        self._differences = differences
        self._walls = walls
        self._tree: RefreshTree | None = None
        self._open = Opened()
        self._rooted = False
        self._unresolved = 0
        self.answers = 0
        """How many answers have told of slopes."""
        self.doubt = 0.0
        """The decrease that the slopes may hide as long as nothing of them has been measured."""

    def begin(self, rng: np.random.Generator, doubt: float, last: bool = False) -> None:
        """Take the slopes as mere predictions from now on, to be measured again; it may be for the last time.

        They may hide a decrease of `doubt`.
        At the best point along a step slopes cancel under the signs of that step. So signs are drawn where f
        is smooth as far as is known: with looks to both sides, and for the last time.
        """
        n, spread = len(self.support), constants.SPREAD
        self.doubt = doubt
        self._tree, self._open, self._rooted, self._unresolved = None, Opened(), False, 0
        if n == 0:
            return
        members = rng.permutation(n)
        if self._differences.pairs is not None or (last and not self.support.kinks.any):
            sides = rng.choice([-1.0, 1.0], n)
        else:
            sides = self._downhill
        self._tree = self._planned(members, rng.uniform(1.0 - spread, 1.0 + spread, n) * sides[members])

    @property
    def _downhill(self) -> FloatArray:
        """The downhill side: at a kink only that one counts. On a kink, the side that the slope is of."""
        support, kinks = self.support, self.support.kinks
        kinks.grow(len(support))
        return np.where(kinks.sides != 0.0, kinks.sides, np.where(support.slopes > 0.0, -1.0, 1.0))

    def _planned(self, members: IntArray, weights: FloatArray) -> RefreshTree:
        """Return what is asked of some, with such weights in the scale of their curvatures."""
        support, walls = self.support, self._walls
        kinks, n = support.kinks, len(members)
        kinks.grow(len(support))
        scale = np.sqrt(support.smooth)[members]
        weights = weights / scale
        order, slopes = support.indices[members], support.slopes[members]
        weights, limits = walls.aim(order, weights, self._differences.size(1.0, 0.0))
        # What a bound holds has a slope that will stay; it is not to make looks at the others longer.
        effective = np.where(walls.active_at_bounds(order, slopes), 0.0, slopes)
        far, least = np.maximum(walls.plainly(order), kinks.reach[members]), np.zeros(n)
        np.divide(far, np.abs(weights), out=least, where=weights != 0.0)
        return RefreshTree(members, order, weights, scale, effective, least, limits)

    @property
    def pending(self) -> bool:
        """Whether the prediction has not been measured at all."""
        return self._tree is not None and not self._rooted

    @property
    def promise(self) -> float:
        """The decrease that open sets may still hide."""
        if self._tree is None:
            return 0.0
        return 0.5 * sum(self._open.mass) + (0.0 if self._rooted else self.doubt)

    @property
    def left(self) -> int:
        """Queries that would resolve every open set."""
        if self._tree is None:
            return 0
        return self._unresolved if self._rooted else len(self._tree.order)

    def requests(self, limit: int) -> list[Request]:
        """Return up to `limit` queries, the most revealing first."""
        tree = self._tree
        if tree is None:
            return []
        if not self._rooted:
            # One sum over all; of a batch, as many partial sums at once.
            n = len(tree.order)
            cuts = np.linspace(0, n, min(limit, n) + 1).astype(np.int64).tolist()
            return [self._measure(tree, Part(*ends), ends[1]) for ends in itertools.pairwise(cuts)]
        wanted: list[Request] = []
        while len(wanted) < limit and (side := self._best_side(tree)) is not None:
            part = self._open.pop(side)
            wanted.append(self._measure(tree, part, (part.start + part.stop) // 2))
        return wanted

    def alone(self, limit: int, rate: float) -> list[Request]:
        """Return queries for single slopes that may hide more than a query brings elsewhere.

        It is known which these are: there is no need to search for them.
        """
        if not np.count_nonzero(np.isnan(self.support.curvatures)):
            return []
        hidden = self.support.hidden
        return [
            self._alone(member, math.sqrt(2.0 * hidden[member]))
            for member in self._dearest(hidden, limit, rate)
        ]

    def _alone(self, member: int, about: float) -> Request:
        """Ask the slope of one, of which about so much was not foreseen, in the scale of its curvature."""
        tree = self._planned(np.array([member]), self._downhill[member : member + 1])
        return self._asked(
            tree, Part(0, 1, about), 1, lambda u, error: self._spread(tree, Part(0, 1, u, error))
        )

    def bends(self, limit: int, rate: float) -> list[Request]:
        """Return queries for missing curvatures whose guesses may cost more than a query brings elsewhere."""
        support, varied = self.support, self._differences.curvatures.varied
        unknown = np.isnan(support.curvatures)
        if varied < constants.ALIKE or not np.count_nonzero(unknown):
            return []
        # One that comes to a wall before it comes so far goes to that wall, whatever its curvature.
        lengths = constants.CONFIRM * np.abs(support.slopes) / support.diagonal
        missing = unknown & (self._walls.rooms(support.indices, support.slopes) >= lengths)
        # With a curvature that is off by some share, a step loses the square of that of what it promised.
        lost = np.where(missing, 0.5 * varied * support.slopes**2 / support.diagonal, 0.0)
        return [self._bend(member) for member in self._dearest(lost, limit, rate)]

    def _bend(self, member: int) -> Request:
        """Ask the curvature of one whose slope is known, on its way down."""
        support = self.support
        length = constants.CONFIRM * abs(support.slopes[member]) / support.diagonal[member]
        return self._look(member, float(length), lambda curvature: support.bent(member, curvature))

    def lesser(self) -> list[Request]:
        """Return queries that show which curvatures are clearly less, now that f is of another size.

        Each looks so far that f would change by all of itself, were its curvature still what it was. It may
        be less by as many orders as f is, down to what is uncertain of a slope.
        """
        support, differences, walls = self.support, self._differences, self._walls
        support.kinks.grow(len(support))
        old, size = support.smooth, differences.values.magnitude
        lengths = np.sqrt(2.0 * size / old)
        least = 2.0 * constants.TRUST * math.sqrt(differences.rounding / size) * old
        free = np.isnan(support.kinks.places) & (walls.rooms(support.indices, support.slopes) >= lengths)

        def asked(member: int) -> Request:
            def absorb(curvature: float) -> None:
                if curvature < constants.CLEARLY * old[member]:
                    support.flatten(member, max(curvature, float(least[member])))

            return self._look(member, float(lengths[member]), absorb)

        return [asked(member) for member in np.flatnonzero(free).tolist()]

    def _look(self, member: int, length: float, absorb: Callable[[float], None]) -> Request:
        """Return the query that shows a curvature, so far downhill."""
        slope = float(self.support.slopes[member])

        def heard(change: Change) -> None:
            absorb(2.0 * (change.ahead + length * abs(slope)) / length**2)

        step = -float(np.copysign(length, slope))
        return Request(Few(self.support.indices[member : member + 1], np.array([step])), Role.CONFIRM, heard)

    def _dearest(self, lost: FloatArray, limit: int, rate: float) -> list[int]:
        """Return up to `limit` that may lose more than a query brings elsewhere, the dearest first."""
        (dear,) = (lost > max(rate, self._differences.negligible)).nonzero()
        dearest: list[int] = dear[np.argsort(-lost[dear], kind="stable")][:limit].tolist()
        return dearest

    def settle(self) -> None:
        """Close the refreshing: what is still open is spread over its set."""
        if self._tree is not None:
            for side in (0, 1):
                self._close(self._tree, side)
            self._tree = None

    def _close(self, tree: RefreshTree, side: int) -> None:
        while (part := self._open.top(side)) is not None:
            self._unresolved -= part.size - 1
            self._spread(tree, self._open.pop(side))

    def _best_side(self, tree: RefreshTree) -> int | None:
        best, chosen = 0.0, None
        for side in (0, 1):
            part = self._open.top(side)
            if part is not None and abs(part.u) <= constants.TRUST * part.error:
                self._close(tree, side)
            elif part is not None and abs(part.u) > best:
                best, chosen = abs(part.u), side
        return chosen

    def _measure(self, tree: RefreshTree, part: Part, stop: int) -> Request:
        """Ask what the prediction misses on the first part of a set; subtraction tells the rest."""

        def take(value: float, error: float) -> None:
            first = Part(part.start, stop, value, error)
            if stop == part.stop:
                self._rooted = True
                self._unresolved += part.size - 1
                self._take(tree, first)
                return
            self._unresolved -= 1
            self._take(tree, first)
            self._take(tree, Part(stop, part.stop, part.u - value, math.hypot(error, part.error)))

        return self._asked(tree, part, stop, take)

    def _asked(
        self, tree: RefreshTree, part: Part, stop: int, take: Callable[[float, float], None]
    ) -> Request:
        """Ask what the prediction misses on the first part of a set, up to `stop`."""
        span = slice(part.start, stop)
        order, weights = tree.order[span], tree.weights[span]
        # In the scale of the weights each coordinate has curvature one.
        curvature = float(np.add.reduce((weights * tree.scale[span]) ** 2))
        about = abs(part.u) + abs(float(weights @ tree.effective[span]))
        least = float(tree.least[span].max())
        look = self._differences.along(curvature, about, tree.room(span), least)
        # Foreseen for the step as it is rounded: then rounding blurs no more than what the prediction misses.
        step = self._walls.rounded(order, look.eps * weights)
        predicted = float(step @ self.support.slopes[tree.members[span]]) / look.eps

        def absorb(change: Change) -> None:
            self.answers += 1
            take(*self._differences.read(look, change, predicted))

        margin = constants.TRUST * look.error(part.u)
        return look.request(Few(order, weights), Role.REFRESH, absorb, predicted, margin)

    def _take(self, tree: RefreshTree, part: Part) -> None:
        if part.size == 1:
            self._spread(tree, part)
        else:
            self._open.push(part)

    def _spread(self, tree: RefreshTree, part: Part) -> None:
        """Give a set's miss to its coordinates: exact for one, the least change otherwise."""
        span = slice(part.start, part.stop)
        scale = tree.scale[span]
        raw = tree.weights[span] * scale
        seen = part.size == 1 or abs(part.u) <= constants.TRUST * part.error
        self.support.correct(tree.members[span], raw * scale * (part.u / float(raw @ raw)), seen)
