"""Memory: the coordinates met so far, and what is known of them at the present point.

The support is never searched by brute force. After a step the quadratic model
predicts its gradient, and a tree over the support (weights scaled by each
coordinate's own curvature, so that U² is twice the promised decrease) is asked for
what the prediction misses: one query when it misses nothing, the largest misses
first, and at most one query a coordinate when all of it is wrong. A coordinate
that has stopped to matter rests in an unopened set and costs nothing.
"""

from __future__ import annotations

import heapq
import itertools
import math
from dataclasses import dataclass, field

import numpy as np

from gracezo.core.asks import Point, Role, Steps
from gracezo.core.moves import Few
from gracezo.core.types import FloatArray, IntArray, record
from gracezo.methods.auto import constants
from gracezo.methods.auto.here import Walls
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import EVERYWHERE, Change, Request, Room
from gracezo.methods.auto.support.kinks import Kinks, Suspect

_TINY = float(np.finfo(np.float64).tiny)


class Support:
    """Coordinates, slopes and curvatures.

    Parameters
    ----------
    differences
        What the run has learned.
    walls
        The bounds around the present point.
    """

    def __init__(self, differences: Differences, walls: Walls | None = None) -> None:
        self._differences = differences
        self._walls = walls or Walls()
        self.indices: IntArray = np.zeros(0, np.int64)
        self.slopes: FloatArray = np.zeros(0)
        self.curvatures: FloatArray = np.zeros(0)
        self._stiff: FloatArray = np.zeros(0)
        self.kinks = Kinks()
        self.refresh = Refresh(self, differences, self._walls)
        """The refreshing of the slopes."""

    def __len__(self) -> int:
        return len(self.indices)

    def add(self, coordinate: int, slope: float, curvature: float, error: float = 0.0) -> None:
        """Take in a coordinate; its slope is measured again before long, so its error does not matter."""
        self.indices = np.append(self.indices, coordinate)
        self.slopes = np.append(self.slopes, slope)
        self.curvatures = np.append(self.curvatures, curvature)
        self._stiff = np.append(self._stiff, 0.0)

    @property
    def diagonal(self) -> FloatArray:
        """Positive curvatures, with a stand-in where the measured one is not."""
        return np.maximum(self.smooth, self._stiff)

    @property
    def smooth(self) -> FloatArray:
        """The same, of f between kinks."""
        curvatures, differences = self.curvatures, self._differences
        positive = curvatures > 0.0
        if np.logical_and.reduce(positive):  # the usual case
            return curvatures
        floor = np.maximum(self.slopes**2 / (2.0 * differences.scale), differences.curvatures.typical)
        return np.where(positive, curvatures, np.maximum(floor, _TINY))

    @property
    def known(self) -> float:
        """The decrease that its slopes promise, coordinate by coordinate."""
        return self._walls.promise(self.indices, self.slopes, self.diagonal)

    @property
    def held_back(self) -> float:
        """The decrease that they promise beyond what steps that were cut short have left of it."""
        return self.promise_of(self.slopes) - self.known

    def promise_of(self, slopes: FloatArray) -> float:
        """Return what such slopes would promise, as far as f is smooth."""
        return self._walls.promise(self.indices, slopes, self.smooth)

    def stiffen(self, direction: FloatArray, t: float, brought: float, ahead: float) -> None:
        """Take coordinates that alone promised more than the whole step brought no further than they came.

        That is how a kink ahead shows: the slope in front of it promises what is not there. It may lie
        before the place where the step of length `ahead` would have led.
        """
        promised = 0.5 * np.abs(self.slopes * direction)
        most = 0.5 * float(promised.max())
        culprits = np.flatnonzero(promised > min(max(brought, 0.0), most))
        self._stiff[culprits] = np.abs(self.slopes[culprits] / (t * direction[culprits]))
        if brought <= 0.0:
            culprits = np.flatnonzero(promised > most)
        self.kinks.grow(len(self))
        self.kinks.blame(culprits, self._walls.ends(self.indices, ahead * direction)[culprits])

    def loosen(self, member: int | None = None) -> None:
        """Give a coordinate its own curvature back, or all of them theirs."""
        self._stiff[slice(None) if member is None else member] = 0.0

    def relax(self) -> None:
        """Let stiffened coordinates return by and by to the curvature measured on them."""
        self._stiff *= 0.5

    def lengths(self) -> FloatArray:
        """Return how far each coordinate has to go to show its slope; on a kink, that of one side."""
        self.kinks.grow(len(self))
        return np.maximum(self._differences.size(1.0, 0.0) / np.sqrt(self.smooth), self.kinks.reach)

    def correct(self, members: IntArray, misses: FloatArray) -> None:
        """Add to slopes what their prediction has missed."""
        self.slopes[members] += misses

    def foresee(self, slopes: FloatArray) -> None:
        """Take what a model says of the slopes after a step, until they are measured."""
        self.slopes = slopes

    def arrive(self, x: FloatArray) -> None:
        """Foresee the slopes of the coordinates that have come to their kink at x."""
        self.slopes = self.kinks.moved(x[self.indices], self.slopes)

    def suspects(self, at: Point) -> list[Suspect]:
        """Take the slopes as those of a point; return where they show that there may be kinks."""
        x, kinks = at.x[self.indices], self.kinks
        kinks.grow(len(self))
        self.slopes = kinks.update(x, self.slopes)
        return kinks.suspects(x, self.slopes, self.smooth, self._differences.scale)

    def locate(self, at: Point, suspect: Suspect, start: FloatArray) -> Steps[Point]:
        """Look for the kink of a suspect of a run that began at `start`; return the best point met."""
        j, coordinate = suspect.member, int(self.indices[suspect.member])
        best, slope = yield from self.kinks.locate(
            at,
            coordinate,
            suspect,
            float(self.slopes[j]),
            float(start[coordinate]),
            self._differences.rounding,
        )
        self.slopes[j] = slope
        if best is not at or self.kinks.located[j]:
            self.loosen(j)  # otherwise it goes no farther than it came
        if best is not at:
            self.arrive(best.x)
        return best

    def carry(self, ways: FloatArray) -> None:
        """Foresee the slopes after a move by their own curvatures."""
        self.slopes = self.slopes + self.smooth * ways

    def give_up(self) -> FloatArray:
        """Give all slopes up, because no step along them brings anything; return them."""
        given_up, self.slopes = self.slopes, np.zeros(len(self))
        return given_up

    def bend(self, limit: int) -> list[Request]:
        """Return queries for missing curvatures, while they leave much of the step's promise to guesswork."""
        if self._differences.curvatures.varied < constants.ALIKE:
            return []
        # One that comes to a wall before it comes so far goes to that wall, whatever its curvature.
        lengths = constants.CONFIRM * np.abs(self.slopes) / self.diagonal
        missing = np.isnan(self.curvatures) & (self._walls.rooms(self.indices, self.slopes) >= lengths)
        promised = self.slopes**2 / self.diagonal
        guessed = np.where(missing, promised, 0.0)
        if float(guessed.sum()) <= constants.UNSEEN * float(promised.sum()):
            return []
        largest = np.argsort(-guessed, kind="stable")[: min(limit, int(missing.sum()))]
        return [self._curvature(int(j)) for j in largest]

    def _curvature(self, member: int) -> Request:
        slope = float(self.slopes[member])
        length = constants.CONFIRM * abs(slope) / float(self.diagonal[member])

        def absorb(change: Change) -> None:
            curvature = 2.0 * (change.ahead + length * abs(slope)) / length**2
            self.curvatures[member] = curvature
            self._differences.curvatures.meet(curvature)

        step = -float(np.copysign(length, slope))
        return Request(Few(self.indices[member : member + 1], np.array([step])), Role.CONFIRM, absorb)


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
    felt
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
    felt: FloatArray
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
        self._support = support
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
        support, walls = self._support, self._walls
        n, kinks = len(support), support.kinks
        self.doubt = doubt
        self._tree, self._open, self._rooted, self._unresolved = None, Opened(), False, 0
        if n == 0:
            return
        members = rng.permutation(n)
        kinks.grow(n)
        if self._differences.pairs is not None or (last and not kinks.any):
            sides = rng.choice([-1.0, 1.0], n)
        else:
            # Downhill side first: at a kink only that side counts. On a kink, the side that the slope is of.
            downhill = np.where(support.slopes > 0.0, -1.0, 1.0)
            sides = np.where(kinks.sides != 0.0, kinks.sides, downhill)
        scale, spread = np.sqrt(support.smooth)[members], constants.SPREAD
        weights = rng.uniform(1.0 - spread, 1.0 + spread, n) * sides[members] / scale
        order, slopes = support.indices[members], support.slopes[members]
        weights, limits = walls.aim(order, weights, self._differences.size(1.0, 0.0))
        # What a bound holds has a slope that will stay; it is not to make looks at the others longer.
        felt = np.where(walls.shut(order, slopes), 0.0, slopes)
        far, least = np.maximum(walls.plainly(order), kinks.reach[members]), np.zeros(n)
        np.divide(far, np.abs(weights), out=least, where=weights != 0.0)
        self._tree = RefreshTree(members, order, weights, scale, felt, least, limits)

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
        """Ask what the prediction misses on the first part of a set, up to `stop`."""
        span = slice(part.start, stop)
        order, weights = tree.order[span], tree.weights[span]
        # In the scale of the weights each coordinate has curvature one.
        curvature = float(np.add.reduce((weights * tree.scale[span]) ** 2))
        about = abs(part.u) + abs(float(weights @ tree.felt[span]))
        least = float(tree.least[span].max())
        look = self._differences.along(curvature, about, tree.room(span), least)
        # Foreseen for the step as it is rounded: then rounding blurs no more than what the prediction misses.
        step = self._walls.rounded(order, look.eps * weights)
        predicted = float(step @ self._support.slopes[tree.members[span]]) / look.eps

        def absorb(change: Change) -> None:
            self.answers += 1
            value, error = self._differences.read(look, change, predicted)
            first = Part(part.start, stop, value, error)
            if stop == part.stop:
                self._rooted = True
                self._unresolved += part.size - 1
                self._take(tree, first)
                return
            self._unresolved -= 1
            self._take(tree, first)
            self._take(tree, Part(stop, part.stop, part.u - value, math.hypot(error, part.error)))

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
        self._support.correct(tree.members[span], raw * scale * (part.u / float(raw @ raw)))
