"""The search: which coordinates of an unknown gradient are large, for the fewest queries.

Best first: the open set with the most to promise is asked next, and it is
asked what brings it nearest to a single confirmed coordinate:

- labels (K), when the chance that they decode times log₂|S| exceeds one;
- a cut, otherwise: in halves, or where the labels say;
- labels within a window, when K/U is precise enough to exclude most of the set but not all;
- a confirming query on one coordinate alone, when K/U says which. It is long enough to
  give the curvature there as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from gracezo.core.asks import Point, Role
from gracezo.core.types import FloatArray, IntArray
from gracezo.methods.auto.constants import Constants
from gracezo.methods.auto.decode import SHARP, read
from gracezo.methods.auto.density import Density, counted
from gracezo.methods.auto.difference import Differences
from gracezo.methods.auto.request import Request
from gracezo.methods.auto.tree import Node, Tree, learn_moment, split

_FAR = 1000.0  # times ε, where the curvature of a set is measured
_PARTS = 7  # in a batch: how many queries may cut one set, when it is not known how much it holds
_WORTH = 4.0  # in a batch: how far below the best price a set may be


class Search:
    """The search over the coordinates outside the support.

    Parameters
    ----------
    constants, differences, density
        What the run has assumed and learned.
    found
        Called with (coordinate, derivative, curvature, error of the derivative) for each one found.
    """

    def __init__(
        self,
        constants: Constants,
        differences: Differences,
        density: Density,
        found: Callable[[int, float, float, float], None],
    ) -> None:
        self._constants = constants
        self._differences = differences
        self._density = density
        self._found = found
        self._downhill = [(1.0, 1.0), (1.0, 1.0)]  # by sign of U: confirmed, and tried
        self._drifted = (1.0, 1.0)  # rechecks: found changed, and made
        self._x: FloatArray = np.zeros(0)
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
        self._x = at.x
        self._differences.centre(at.x, at.value)

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
        self.tree = Tree(order, weights)
        self._root = []
        self._most = 0.0

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

    def _open(self, node: Node) -> None:
        """Queue a set by its promise per query, which goes with U²."""
        assert self.tree is not None
        self.tree.push(node, node.u**2 / self._cost(node))

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
            if node.size == 1 and self._alike(side):
                # Its derivative is known by subtraction, its curvature well enough from the others.
                weight = float(self.tree.weights[node.start])
                slope = node.u / weight
                self.tree.remove(node, node.start, slope)
                self._found(int(self.tree.order[node.start]), slope, math.nan, node.error / abs(weight))
                continue
            nodes.append(node)
        # A large batch on few sets cuts each into more parts at once.
        share = limit // max(len(nodes), 1)
        return [request for node in nodes for request in self._requests_for(node, share)]

    def _plant_requests(self, limit: int) -> list[Request]:
        tree = self.tree
        assert tree is not None
        curvature = self._differences.anonymous(tree.squares(0, len(tree.order)))
        small = self._differences.size(curvature, self._last)
        # The second distance is where curvature shows: far beyond the first.
        sizes = [small, _FAR * small][len(self._root) : self._wanted][:limit]
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
        eps = self._differences.size(curvature, tree.unexplained)

        def absorb(change: float) -> None:
            value = change / eps - 0.5 * eps * self._differences.density * squares
            error = self._differences.error(eps, curvature, value)
            drift = abs(value - tree.total)
            changed = drift > self._constants.trust * error + self._constants.drift * tree.unexplained
            self._drifted = counted(self._drifted, changed, self._constants.forget)
            if changed:
                tree.clear()
                self._open(Node(0, len(tree.order), value, error))

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
                self._open(Node(0, len(tree.order), value, self._differences.error(eps, guess, value)))
                return
            self._wanted = 1
            (near, first), (far, second) = sorted(self._root)
            curvature = 2.0 * (second - first) / (far - near)
            error = 4.0 * self._differences.rounding / (near * far)
            # The curvature of the whole set, or its bound when none shows.
            self._differences.density = max(abs(curvature), error) / max(squares, 1e-300)
            value = first - 0.5 * near * curvature
            self._open(
                Node(
                    0,
                    len(tree.order),
                    value,
                    self._differences.error(near, error + self._constants.curvature * abs(curvature), value),
                )
            )

        return absorb

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

    def _requests_for(self, node: Node, limit: int) -> list[Request]:
        if node.size == 1:
            node.candidate = node.start
        if node.candidate is None and node.moment is not None and not node.several:
            assert self.tree is not None
            read(node, self.tree.weights, self._constants.trust)
            if node.several:
                self._density.saw_labels(node.spread, False)
        if node.candidate is not None:
            return [self._confirm(node, node.candidate)]
        if node.window is not None and not node.several:
            return [self._labels(node, *node.window)]
        if node.moment is None and not node.several:
            gain = self._density.alone(node.spread) * math.log2(node.size)
            if gain > 1.0:
                return [self._labels(node, node.start, node.stop)]
        # Many parts pay when several of them are likely to matter; two levels at once otherwise.
        parts = max(_PARTS, round(self._density.number(node.spread)))
        return self._cut(node, min(limit, parts, node.size - 1))

    def _labels(self, node: Node, start: int, stop: int) -> Request:
        """Ask K: the weights of a slice times labels that rise from 0 to 1."""
        tree = self.tree
        assert tree is not None
        span = stop - start
        weights = tree.weights[start:stop] * (np.arange(1, span + 1) / span)
        curvature = self._differences.anonymous(tree.squares(start, stop) / 3.0)
        eps = self._differences.size(curvature, node.u)
        whole = start == node.start and stop == node.stop

        def absorb(change: float) -> None:
            value = change / eps - 0.5 * eps * self._differences.density * float(weights @ weights)
            error = self._differences.error(eps, curvature, value)
            moment, blur = span * value + (start - 1) * node.u, span * error
            if whole:
                learn_moment(node, moment, blur)
            else:
                node.moment, node.blur, node.window = moment, blur, (start, stop)
            self._open(node)

        return Request(tree.order[start:stop], eps * weights, Role.PROBE, absorb)

    def _cut(self, node: Node, count: int) -> list[Request]:
        """Ask for U of the first `count` of `count` + 1 parts; the last follows by subtraction."""
        bounds = np.linspace(node.start, node.stop, count + 2).astype(np.int64).tolist()[1:-1]
        informed = False
        if count == 1 and node.several and node.moment is not None and node.window is None:
            place = math.ceil(node.position[0])
            if node.start < place < node.stop:
                bounds, informed = [place], True
        rest = node
        parts: list[Node] = []

        def part(stop: int, last: bool) -> Request:
            assert self.tree is not None
            start = bounds[bounds.index(stop) - 1] if stop != bounds[0] else node.start
            weights = self.tree.weights[start:stop]
            curvature = self._differences.anonymous(self.tree.squares(start, stop))
            eps = self._differences.size(curvature, node.u)

            def absorb(change: float) -> None:
                nonlocal rest
                value = change / eps - 0.5 * eps * self._differences.density * float(weights @ weights)
                error = self._differences.error(eps, curvature, value)
                one, two = split(rest, stop, value, error)
                self._inherit(rest, one, two)
                parts.append(one)
                rest = two
                if last:
                    parts.append(two)
                    if not informed:
                        self._learn_from(node, parts)
                    for each in parts:
                        self._open(each)

            return Request(self.tree.order[start:stop], eps * weights, Role.PROBE, absorb)

        return [part(stop, stop == bounds[-1]) for stop in bounds]

    def _learn_from(self, whole: Node, parts: list[Node]) -> None:
        """Take a cut as evidence of how many coordinates matter."""
        *others, large = sorted(parts, key=lambda part: abs(part.u))
        one_sided = all(abs(part.u) <= self._constants.concentrated * abs(large.u) for part in others)
        self._density.saw_split(whole.spread, one_sided, len(parts))
        if one_sided:
            large.streak = whole.streak + round(math.log2(len(parts)))

    def _inherit(self, whole: Node, one: Node, two: Node) -> None:
        """Let a part that holds everything inherit what was known of the whole."""
        small, large = sorted((one, two), key=lambda node: abs(node.u))
        empty = abs(small.u) <= self._constants.trust * small.error
        # Labels too blurred for the whole are better asked anew on a part.
        if empty and whole.moment is not None and whole.window is None and whole.position[1] <= SHARP:
            large.moment, large.blur, large.several = whole.moment, whole.blur, whole.several
            large.family = large.sibling = small.family = small.sibling = None

    def _confirm(self, node: Node, position: int) -> Request:
        """Ask the candidate alone, on its way down, far enough to see its curvature."""
        tree, rules, differences = self.tree, self._constants, self._differences
        assert tree is not None
        coordinate = int(tree.order[position])
        slope = node.u / tree.weights[position]
        length = node.length or rules.confirm * abs(slope) / differences.newton(slope)
        side = int(node.u > 0)

        def absorb(change: float) -> None:
            linear = length * abs(slope)
            curvature, steepness = 2.0 * (change + linear) / length**2, abs(slope)
            if node.first is not None:
                # Two lengths on this side give its slope and its curvature.
                far, there = node.first
                curvature = 2.0 * (there / far - change / length) / (far - length)
                steepness = 0.5 * length * curvature - change / length
            if node.first is not None or change <= -rules.descend * linear:
                bent = node.first is None and 0.5 * curvature * length > 0.1 * abs(slope)
                if side and bent and differences.odd(curvature):
                    # Probed uphill, confirmed downhill: a kink may lie between, with another slope behind it.
                    node.first, node.length = (length, change), 0.5 * length
                    self._open(node)
                    return
                self._count(side, True)
                self._density.saw_labels(node.spread, True)
                error = node.error / abs(float(tree.weights[position]))
                tree.remove(node, position, slope)
                node.first, node.length = None, 0.0
                differences.meet(curvature)
                self._found(coordinate, math.copysign(steepness, slope), curvature, error)
            elif node.length == 0.0:
                # Too long a step, a kink, or the wrong coordinate: a shorter one tells.
                node.length = 0.5 * abs(slope) / curvature
            else:
                node.length = 0.0
                self._count(side, False)
                if node.size == 1 or change >= rules.descend * linear:
                    # Uphill on this side too: a kink. It is no use, but it is accounted for.
                    tree.remove(node, position, slope)
                    self.kinks.append(coordinate)
                else:
                    node.candidate, node.several, node.moment = None, True, None
                    self._density.saw_labels(node.spread, False)
            if node.size > 1 or node.length:
                self._open(node)

        step = -math.copysign(length, slope)
        return Request(np.array([coordinate]), np.array([step]), Role.CONFIRM, absorb)

    def _count(self, side: int, success: bool) -> None:
        self._downhill[side] = counted(self._downhill[side], success, self._constants.forget)
