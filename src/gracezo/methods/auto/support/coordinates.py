"""Memory: the coordinates met so far, and what is known of them at the present point.

The support is never searched by brute force. After a step the quadratic model
predicts its gradient, and a tree over the support (weights scaled by each
coordinate's own curvature, so that U² is twice the promised decrease) is asked for
what the prediction misses: one query when it misses nothing, the largest misses
first, and at most one query a coordinate when all of it is wrong. A coordinate
that has stopped to matter rests in an unopened set and costs nothing.
"""

from __future__ import annotations

import itertools

import numpy as np

from gracezo.core.asks import Role
from gracezo.core.moves import Few
from gracezo.core.types import FloatArray, IntArray
from gracezo.methods.auto import constants
from gracezo.methods.auto.here import Walls
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import Change, Request
from gracezo.methods.auto.support.kinks import Kinks
from gracezo.methods.auto.tree import Node, Tree, split


class Support:
    """Coordinates, slopes and curvatures; and the refreshing of the slopes.

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
        self.kinks = Kinks(constants.FORGET)
        self._tree: Tree | None = None
        self._members: IntArray = np.zeros(0, np.int64)  # positions in the support, in the tree's order
        self._scale: FloatArray = np.zeros(0)
        self._felt: FloatArray = np.zeros(0)  # the slopes that looks have to be long enough for
        self._least: FloatArray = np.zeros(0)  # ε that moves each far enough
        self._rooted = False
        self._unresolved = 0
        self.answers = 0
        """How many answers have told of slopes."""
        self.doubt = 0.0
        """The decrease that the slopes may hide as long as nothing of them has been measured."""

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
        differences = self._differences
        floor = np.maximum(self.slopes**2 / (2.0 * differences.scale), differences.curvatures.typical)
        return np.where(self.curvatures > 0.0, self.curvatures, np.maximum(floor, np.finfo(np.float64).tiny))

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

    # ------------------------------------------------------------ refreshing

    def plant(self, rng: np.random.Generator, doubt: float, last: bool = False) -> None:
        """Take the slopes as mere predictions from now on, to be measured again; it may be for the last time.

        They may hide a decrease of `doubt`.
        At the best point along a step slopes cancel under the signs of that step. So signs are drawn where f
        is smooth as far as is known: with looks to both sides, and for the last time.
        """
        n = len(self)
        self.doubt = doubt
        if n == 0:
            self._tree = None
            return
        self._members = rng.permutation(n)
        spread = constants.SPREAD
        self.kinks.grow(n)
        if self._differences.pairs is not None or (last and not self.kinks.any):
            sides = rng.choice([-1.0, 1.0], n)
        else:
            # Downhill side first: at a kink only that side counts. On a kink, the side that the slope is of.
            downhill = np.where(self.slopes > 0.0, -1.0, 1.0)
            sides = np.where(self.kinks.sides != 0.0, self.kinks.sides, downhill)
        self._scale = np.sqrt(self.smooth)[self._members]
        weights = rng.uniform(1.0 - spread, 1.0 + spread, n) * sides[self._members] / self._scale
        order = self.indices[self._members]
        tree = Tree(order, *self._walls.aim(order, weights, self._differences.size(1.0, 0.0)))
        least = np.maximum(self._walls.plainly(order), self.kinks.reach[self._members])
        # What a bound holds has a slope that will stay; it is not to make looks at the others longer.
        self._felt = np.where(
            self._walls.shut(order, self.slopes[self._members]), 0.0, self.slopes[self._members]
        )
        self._least = np.zeros(n)
        np.divide(least, np.abs(tree.weights), out=self._least, where=tree.weights != 0.0)
        self._tree = tree
        self._rooted = False
        self._unresolved = 0

    @property
    def pending(self) -> bool:
        """Whether the prediction has not been measured at all."""
        return self._tree is not None and not self._rooted

    @property
    def promise(self) -> float:
        """The decrease that open sets may still hide."""
        if self._tree is None:
            return 0.0
        return 0.5 * sum(self._tree.mass) + (0.0 if self._rooted else self.doubt)

    @property
    def open(self) -> int:
        """Queries that would resolve every open set."""
        if self._tree is None:
            return 0
        return len(self._tree.order) if not self._rooted else self._unresolved

    def _best_side(self) -> int | None:
        best, chosen = 0.0, None
        if self._tree is not None:
            for side in (0, 1):
                node = self._tree.top(side)
                if node is not None and abs(node.u) <= constants.TRUST * node.error:
                    while (shut := self._tree.top(side)) is not None:
                        self._unresolved -= shut.size - 1
                        self._spread(self._tree.pop(side))
                    node = None
                if node is not None and abs(node.u) > best:
                    best, chosen = abs(node.u), side
        return chosen

    def requests(self, limit: int) -> list[Request]:
        """Return up to `limit` queries, the most revealing first."""
        tree = self._tree
        if tree is None:
            return []
        if not self._rooted:
            # One sum over all; of a batch, as many partial sums at once.
            n = len(tree.order)
            cuts = np.linspace(0, n, min(limit, n) + 1).astype(np.int64).tolist()
            return [
                self._measure(Node(start, stop, 0.0, 0.0), stop) for start, stop in itertools.pairwise(cuts)
            ]
        wanted: list[Request] = []
        while len(wanted) < limit and (side := self._best_side()) is not None:
            node = tree.pop(side)
            wanted.append(self._measure(node, (node.start + node.stop) // 2))
        return wanted

    def _measure(self, node: Node, stop: int) -> Request:
        """Ask what the prediction misses on the first part of a set, up to `stop`."""
        tree = self._tree
        assert tree is not None
        span = slice(node.start, stop)
        weights = tree.weights[span]
        # In the scale of the weights each coordinate has curvature one.
        curvature = float(np.sum((weights * self._scale[span]) ** 2))
        room = tree.room(node.start, stop)
        about = abs(node.u) + abs(float(weights @ self._felt[span]))
        look = self._differences.along(curvature, about, room, float(self._least[span].max()))
        # Foreseen for the step as it is rounded: then rounding blurs no more than what the prediction misses.
        step = self._walls.rounded(tree.order[span], look.eps * weights)
        predicted = float(step @ self.slopes[self._members[span]]) / look.eps

        def absorb(change: Change) -> None:
            self.answers += 1
            value, error = self._differences.read(look, change, predicted)
            if stop == node.stop:
                self._rooted = True
                self._unresolved += node.size - 1
                self._open(Node(node.start, stop, value, error))
                return
            self._unresolved -= 1
            for part in split(node, stop, value, error):
                self._open(part)

        margin = constants.TRUST * look.error(node.u)
        return look.request(Few(tree.order[span], weights), Role.REFRESH, absorb, predicted, margin)

    def _open(self, node: Node) -> None:
        assert self._tree is not None
        if node.size == 1:
            self._spread(node)
        else:
            self._tree.push(node, abs(node.u))

    def _spread(self, node: Node) -> None:
        """Give a set's miss to its coordinates: exact for one, the least change otherwise."""
        assert self._tree is not None
        span = slice(node.start, node.stop)
        raw = self._tree.weights[span] * self._scale[span]
        members = self._members[span]
        self.slopes[members] += raw * self._scale[span] * (node.u / float(raw @ raw))

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

    def settle(self) -> None:
        """Close the refreshing: what is still open is spread over its set."""
        if self._tree is not None:
            for side in (0, 1):
                while self._tree.top(side) is not None:
                    self._spread(self._tree.pop(side))
            self._tree = None
