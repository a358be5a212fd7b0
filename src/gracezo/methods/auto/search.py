"""The search: which coordinates of an unknown gradient are large, for the fewest queries.

Best first: the open set with the most to promise is asked next, and it is asked what brings
it nearest to a single confirmed coordinate (`questions.py`). Here is the root that measures
all of them together, the prices, and the queue.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from gracezo.core.asks import Point, Role
from gracezo.core.types import FloatArray, IntArray
from gracezo.methods.auto.constants import Constants
from gracezo.methods.auto.density import Density, counted
from gracezo.methods.auto.difference import Differences
from gracezo.methods.auto.questions import Questions
from gracezo.methods.auto.request import Request
from gracezo.methods.auto.tree import Node, Tree
from gracezo.methods.auto.walls import Walls

_FAR = 1000.0  # times ε, where the curvature of a set is measured
_WORTH = 4.0  # in a batch: how far below the best price a set may be


class Search:
    """The search over the coordinates outside the support.

    Parameters
    ----------
    constants, differences, density
        What the run has assumed and learned.
    found
        Called with (coordinate, derivative, curvature, error of the derivative) for each one found.
    walls
        The bounds around the present point.
    """

    def __init__(
        self,
        constants: Constants,
        differences: Differences,
        density: Density,
        found: Callable[[int, float, float, float], None],
        walls: Walls | None = None,
    ) -> None:
        self._constants = constants
        self._differences = differences
        self._density = density
        self._found = found
        self._walls = walls or Walls()
        self._downhill = [(1.0, 1.0), (1.0, 1.0)]  # by sign of U: confirmed, and tried
        self._drifted = (1.0, 1.0)  # rechecks: found changed, and made
        self.tree: Tree | None = None
        self.kinks: list[int] = []  # coordinates that lead uphill on both sides
        self.flat = True
        self._root: list[tuple[float, float]] = []
        self._wanted = 2  # distances at which the root is asked: the first time also for its curvature
        self._last = 0.0
        self._most = 0.0
        self._unasked = 0
        self.floor = 0.0
        """Sets below this |U| are left alone."""

    # ------------------------------------------------------------ beginning

    def centre(self, at: Point) -> None:
        """Go on around another point; the values of the tree are taken as still true."""
        self._differences.centre(self._walls.centre(at.x), at.value)

    def plant(self, coordinates: IntArray, rng: np.random.Generator) -> None:
        """Begin anew on these coordinates, in a fresh random order."""
        if self.tree is not None:
            self._last = self.tree.unexplained
        if len(coordinates) == 0:
            self.tree = None
            return
        order = rng.permutation(coordinates)
        spread = self._constants.spread
        weights = rng.uniform(1.0 - spread, 1.0 + spread, len(order)) * rng.choice([-1.0, 1.0], len(order))
        self.tree = Tree(order, *self._walls.aim(order, weights, self._reach(weights)))
        self._root = []
        self._most = 0.0

    def _reach(self, weights: FloatArray) -> float:
        """Return the largest ε to expect: that of the root, or that of a set of one."""
        differences = self._differences
        root = differences.size(differences.anonymous(float(weights @ weights)), self._last)
        single = differences.size(differences.anonymous(1.0), self._last)
        return max(single, root if self._wanted == 1 else _FAR * root)

    @property
    def rooted(self) -> bool:
        """Whether the sum over all coordinates has been measured, if there are any."""
        return self.tree is None or len(self._root) >= self._wanted

    # ------------------------------------------------------------ prices

    def rate(self, side: int) -> float:
        """Return how often sets of one sign led to a descent."""
        return self._downhill[side][0] / self._downhill[side][1]

    @property
    def drifting(self) -> float:
        """How often a recheck found the tree out of date."""
        return self._drifted[0] / self._drifted[1]

    @property
    def unexplained(self) -> float:
        """The norm of what is open; unknown until the sum over all is measured."""
        if not self.rooted:
            return math.nan
        return 0.0 if self.tree is None else self.tree.unexplained

    @property
    def exhausted(self) -> bool:
        """Whether the tree has given up nearly all that it ever showed.

        What cancelled under its weights is then larger than what is left, and only other weights show it.
        """
        if self.tree is None:
            return False
        self._most = max(self._most, self.tree.unexplained)
        return self.tree.unexplained < self._constants.drift * self._most

    @property
    def promise(self) -> float:
        """The decrease that all open sets together promise."""
        if self.tree is None:
            return 0.0
        typical = 2.0 * self._differences.newton(self.tree.unexplained)
        return sum(self.rate(side) * self.tree.mass[side] for side in (0, 1)) / typical

    @property
    def best(self) -> tuple[float, float]:
        """Promise of the best open set, and the expected queries until it is redeemed."""
        side = self._best_side()
        if side is None or self.tree is None:
            return 0.0, 1.0
        node = self.tree.top(side)
        assert node is not None
        return self.rate(side) * self._differences.promise(node.u), self._cost(node)

    def _cost(self, node: Node) -> float:
        if node.size == 1 or node.candidate is not None:
            return 1.0
        bisect = math.log2(node.size) + 1.0
        return min(bisect, 2.0 / max(self._density.alone(node.spread), 1e-3))

    def _best_side(self) -> int | None:
        if self.tree is None:
            return None
        best, chosen = 0.0, None
        for side in (0, 1):
            while (node := self.tree.top(side)) is not None and self._spent(node):
                self.tree.pop(side)
            if node is not None and (bid := self.rate(side) * node.key) > best:
                best, chosen = bid, side
        return chosen

    def _spent(self, node: Node) -> bool:
        assert self.tree is not None
        taken = node.size == 1 and self.tree.weights[node.start] == 0.0
        return taken or abs(node.u) <= max(self._constants.trust * node.error, self.floor)

    # ------------------------------------------------------------ requests

    def requests(self, limit: int) -> list[Request]:
        """Return up to `limit` queries, the best sets first; none if coordinates were found without."""
        if self.tree is None:
            return []
        if len(self._root) < self._wanted:
            return self._plant_requests(limit)
        nodes: list[Node] = []
        worth = 0.0
        while len(nodes) < limit and (side := self._best_side()) is not None:
            top = self.tree.top(side)
            assert top is not None
            price = self.rate(side) * top.key
            if price < worth:
                break  # it may well never be asked: no use in asking it now
            worth = max(worth, price / _WORTH)
            node = self.tree.pop(side)
            if node.size == 1 and (self._shut(node, side) or self._alike(side)):
                # Its derivative is known by subtraction, its curvature well enough from the others.
                weight = float(self.tree.weights[node.start])
                slope = node.u / weight
                self.tree.remove(node, node.start, slope)
                self.found(int(self.tree.order[node.start]), slope, math.nan, node.error / abs(weight))
                continue
            nodes.append(node)
        # A large batch on few sets cuts each into more parts at once.
        share = limit // max(len(nodes), 1)
        questions = Questions(self._constants, self._differences, self._density, self.tree, self, self._walls)
        return [request for node in nodes for request in questions.about(node, share)]

    def _plant_requests(self, limit: int) -> list[Request]:
        tree = self.tree
        assert tree is not None
        curvature = self._differences.anonymous(tree.squares(0, len(tree.order)))
        small = min(self._differences.size(curvature, self._last), tree.most(0, len(tree.order)))
        # The second distance is where curvature shows: far beyond the first.
        sizes = [small, min(_FAR * small, tree.most(0, len(tree.order)))][len(self._root) : self._wanted][
            :limit
        ]
        return [
            Request(tree.order, eps * tree.weights, Role.PROBE, self._rooting(eps, curvature))
            for eps in sizes
        ]

    def recheck(self) -> Request:
        """Ask the sum over all open sets again: if it has changed, it is the root of a new tree."""
        tree = self.tree
        assert tree is not None
        squares = tree.squares(0, len(tree.order))
        curvature = self._differences.anonymous(squares)
        eps = min(self._differences.size(curvature, tree.unexplained), tree.most(0, len(tree.order)))

        def absorb(change: float) -> None:
            value = change / eps - 0.5 * eps * self._differences.density * squares
            error = self._differences.error(eps, curvature, value)
            drift = abs(value - tree.total)
            changed = drift > self._constants.trust * error + self._constants.drift * tree.unexplained
            self._drifted = counted(self._drifted, changed, self._constants.forget)
            if changed:
                tree.clear()
                self.open(Node(0, len(tree.order), value, error))

        return Request(tree.order, eps * tree.weights, Role.PROBE, absorb)

    def _rooting(self, eps: float, guess: float) -> Callable[[float], None]:
        def absorb(change: float) -> None:
            tree = self.tree
            assert tree is not None
            self.flat = self.flat and change == 0.0
            self._root.append((eps, change / eps))
            if not self.rooted:
                return
            squares = tree.squares(0, len(tree.order))
            if self._wanted == 1:
                value = change / eps - 0.5 * eps * self._differences.density * squares
                self.open(Node(0, len(tree.order), value, self._differences.error(eps, guess, value)))
                return
            self._wanted = 1
            (near, first), (far, second) = sorted(self._root)
            curvature = 2.0 * (second - first) / (far - near)
            error = 4.0 * self._differences.rounding / (near * far)
            # The curvature of the whole set, or its bound when none shows.
            self._differences.density = max(abs(curvature), error) / max(squares, 1e-300)
            value = first - 0.5 * near * curvature
            self.open(
                Node(
                    0,
                    len(tree.order),
                    value,
                    self._differences.error(near, error + self._constants.curvature * abs(curvature), value),
                )
            )

        return absorb

    def _shut(self, node: Node, side: int) -> bool:
        """Whether a wall shuts the way down for a single coordinate; it needs no query to be known."""
        assert self.tree is not None
        slope = node.u / float(self.tree.weights[node.start])
        room = self._walls.room(int(self.tree.order[node.start]), slope)
        shut = room * abs(slope) <= self._constants.trust * self._differences.rounding
        if shut:
            self.tried(side, False)
        return shut

    def _alike(self, side: int) -> bool:
        """Whether a single coordinate needs no query of its own: all those met were smooth and much alike."""
        # Every fourth is asked all the same: those found first need not be like the others.
        self._unasked += 1
        alike = (
            self._differences.varied < self._constants.alike and self.rate(side) > 1.0 - self._constants.alike
        )
        if alike and self._unasked < 4:
            return True
        self._unasked = 0
        return False

    # ------------------------------------------------------------ what came of a set

    def open(self, node: Node) -> None:
        """Queue a set by its promise per query, which goes with U²."""
        assert self.tree is not None
        self.tree.push(node, node.u**2 / self._cost(node))

    def found(self, coordinate: int, slope: float, curvature: float, error: float) -> None:
        """Hand on a coordinate found."""
        self._found(coordinate, slope, curvature, error)

    def kink(self, coordinate: int) -> None:
        """Note a coordinate that leads uphill on both sides."""
        self.kinks.append(coordinate)

    def tried(self, side: int, success: bool) -> None:
        """Note whether a set of one sign led to a descent."""
        self._downhill[side] = counted(self._downhill[side], success, self._constants.forget)
