"""The search: which coordinates of an unknown gradient are large, for the fewest queries.

Best first: the open set with the most to promise is asked next, and it is asked what brings
it nearest to a single confirmed coordinate (`questions.py`). Here is the root that measures
all of them together, the prices, and the queue.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gracezo.core.asks import Point, Role, Steps
from gracezo.core.types import FloatArray, IntArray
from gracezo.methods.auto.constants import FAR, Constants
from gracezo.methods.auto.density import Density, counted
from gracezo.methods.auto.difference import Differences
from gracezo.methods.auto.questions import Questions
from gracezo.methods.auto.request import Change, Request
from gracezo.methods.auto.root import FirstLook
from gracezo.methods.auto.tree import Node, Tree
from gracezo.methods.auto.walls import Walls
from gracezo.methods.auto.watch import Watch

_ALIKE = 2.0  # how far below the best price a single coordinate may be to be taken without a query
_WORTH = 256.0  # in a batch: how far below the best price a query may be to be asked; a sixteenth of its U
_USEFUL = 0.75  # in a batch: how likely a cut has to be of use


@dataclass
class _Cut:
    """A set that a batch cuts at once, into one part more than it has queries."""

    node: Node
    price: float
    queries: int = 1

    @property
    def gain(self) -> float:
        """The price of one more query: m parts tell log₂ m bits of where a coordinate is."""
        parts = self.queries + 1
        return self.price * math.log2((parts + 1) / parts) if parts < self.node.size else 0.0


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
    complete
        Whether the search is to go on until nothing is left.
    """

    def __init__(
        self,
        constants: Constants,
        differences: Differences,
        density: Density,
        found: Callable[[int, float, float, float], None],
        walls: Walls | None = None,
        complete: bool = False,
    ) -> None:
        self._constants = constants
        self._differences = differences
        self._density = density
        self._found = found
        self._walls = walls or Walls()
        self._complete = complete
        self._downhill = [(1.0, 1.0), (1.0, 1.0)]  # by sign of U: confirmed, and tried
        self._tries = [0, 0]  # the same, all that were ever made
        self.watch = Watch(constants)
        """Whether the tree is likely to be out of date."""
        self._sapling: tuple[Tree, float, float] | None = None  # and the sum over all of it, with its error
        self.tree: Tree | None = None
        self.kinks: list[int] = []  # coordinates that lead uphill on both sides
        self.thorough = False
        """Whether what falls by little behind a kink is wanted, too: where nothing else is left."""
        self.flat = True
        self.outdated = False
        """Whether a recheck has shown that the tree is to be planted anew."""
        self._is_rooted = False
        self._looked = False  # whether the first look at f has been taken
        self._last = 0.0
        self._most = 0.0
        self._unasked = 0
        self.floor = 0.0
        """Sets below this |U| are left alone."""

    # ------------------------------------------------------------ beginning

    def centre(self, at: Point) -> None:
        """Go on around another point; the values of the tree are taken as still true, a sapling's are not."""
        self._sapling = None
        self._differences.centre(self._walls.centre(at.x), at.value)

    def plant(self, coordinates: IntArray, rng: np.random.Generator) -> None:
        """Begin anew on these coordinates, in a fresh random order; with the sapling, if one was measured."""
        sapling = self._sapling if self.outdated else None
        self._sapling = None
        self.outdated = False
        self.watch.begin()
        if self.tree is not None:
            self._last = self.tree.unexplained
        self._is_rooted = False
        self._most = 0.0
        if len(coordinates) == 0:
            self.tree = None
        elif sapling is None:
            self.tree = self._planted(coordinates, rng)
        else:
            self.tree, value, error = sapling
            self.root(value, error)

    def _planted(self, coordinates: IntArray, rng: np.random.Generator) -> Tree:
        order = rng.permutation(coordinates)
        spread = self._constants.spread
        weights = rng.uniform(1.0 - spread, 1.0 + spread, len(order)) * rng.choice([-1.0, 1.0], len(order))
        aimed, limits = self._walls.aim(order, weights, self._reach(weights))
        return Tree(order, aimed, limits)

    def _reach(self, weights: FloatArray) -> float:
        """Return the largest ε of one query to expect: that of the root, or that of a set of one."""
        differences = self._differences
        root = differences.single(float(weights @ weights), self._last)
        return max(differences.single(1.0, self._last), root if self._looked else FAR * root)

    def begin(self, at: Point, noise: float | None) -> Steps[Point]:
        """Take the first look at f, along the first tree; return the point with the value of f beside it.

        That is another one where f jumps there.
        """
        self._looked = True
        if self.tree is None:
            return at
        look = FirstLook(self._constants, self._differences, self.tree)
        yield from look.take(at, noise)
        self.flat = look.flat
        self.root(look.value, look.error)
        return at if look.jump == 0.0 else Point(at.x, at.value + look.jump)

    @property
    def rooted(self) -> bool:
        """Whether the sum over all coordinates has been measured, if there are any."""
        return self.tree is None or self._is_rooted

    # ------------------------------------------------------------ prices

    def rate(self, side: int) -> float:
        """Return how often sets of one sign led to a descent."""
        # Failures in a row make a success unlikely, never impossible: after n of them, one in n + 2.
        return max(self._downhill[side][0] / self._downhill[side][1], 1.0 / (self._tries[side] + 2.0))

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
        """Return up to `limit` queries, the best sets first; none if coordinates were found without.

        In a batch, query after query goes to the set with the best price, or into a finer cut of one that has
        been taken, where it is worth more.
        """
        if self.tree is None:
            return []
        if not self._is_rooted:
            return [self._sum(self.tree, self.root)]
        questions = Questions(
            self._constants,
            self._differences,
            self._density,
            self.tree,
            self,
            self._walls,
            thorough=self.thorough,
            complete=self._complete,
            batch=limit,
        )
        top = self._top_price()
        least = top / (_ALIKE if limit == 1 else _WORTH)
        requests: list[Request] = []
        cuts: list[_Cut] = []
        aside: list[Node] = []
        room = limit
        while room > 0:
            finest = max(cuts, key=lambda cut: cut.gain, default=None)
            node = None if finest is not None and finest.gain >= self._top_price() else self._take(least)
            if node is None:
                if finest is None or finest.gain < least:
                    break
                finest.queries += 1
                room -= 1
                continue
            price = self.rate(int(node.u > 0)) * node.key
            request = questions.about(node)
            if request is not None:
                requests.append(request)
            elif not (requests or cuts or aside) or self._useful(price / top):
                cuts.append(_Cut(node, price))
            else:
                aside.append(node)
                continue
            room -= 1
        for node in aside:
            self.open(node)
        return requests + [request for cut in cuts for request in questions.cut(cut.node, cut.queries)]

    def _useful(self, share: float) -> bool:
        """Whether a cut in a batch is likely to be of use, at this share of the best price.

        It is, if the set has its turn before the next step, the more likely the nearer its price is to the
        best; or else if the tree outlasts that step. Cuts are guesses: what they cost more than halving,
        one after the other, is lost where nobody comes back to them.
        """
        return share + (1.0 if self._complete else self.watch.lasting) >= _USEFUL

    def _top_price(self) -> float:
        """Return the price of the best open set."""
        side = self._best_side()
        top = None if self.tree is None or side is None else self.tree.top(side)
        return 0.0 if top is None or side is None else self.rate(side) * top.key

    def _take(self, least: float) -> Node | None:
        """Take out the best set whose price is at least `least`; what needs no query is found on the way."""
        assert self.tree is not None
        while (side := self._best_side()) is not None and self._top_price() >= least:
            node = self.tree.pop(side)
            if node.size > 1 or not (self._shut(node, side) or self._alike(side)):
                return node
            # Its derivative is known by subtraction, its curvature well enough from the others.
            weight = float(self.tree.weights[node.start])
            slope = node.u / weight
            self.tree.remove(node, node.start, slope)
            self.found(int(self.tree.order[node.start]), slope, math.nan, node.error / abs(weight))
        return None

    def _sum(self, tree: Tree, take: Callable[[float, float], None]) -> Request:
        """Ask for the sum over all coordinates of a tree."""
        look = self._differences.across(
            tree.squares(0, len(tree.order)),
            0.0 if self._differences.pairs else self._last,
            room=tree.room(0, len(tree.order)),
        )

        def absorb(change: Change) -> None:
            self.flat = self.flat and change.ahead == 0.0
            take(*self._differences.read(look, change))

        return look.request(tree.order, tree.weights, Role.PROBE, absorb)

    def sapling(self, coordinates: IntArray, rng: np.random.Generator) -> Request:
        """Ask, along with a recheck, for the sum over a tree that is to be planted if that shows a change."""
        tree = self._planted(coordinates, rng)

        def take(value: float, error: float) -> None:
            self._sapling = tree, value, error

        return self._sum(tree, take)

    def root(self, value: float, error: float) -> None:
        """Take the sum over all coordinates."""
        assert self.tree is not None
        self._is_rooted = True
        self.tree.total, self.tree.error = value, error
        self.open(Node(0, len(self.tree.order), value, error))

    def recheck(self) -> Request:
        """Ask the sum over all open sets again: if it has changed, the tree is out of date."""
        self.watch.begin()
        tree = self.tree
        assert tree is not None
        squares = tree.squares(0, len(tree.order))
        look = self._differences.across(squares, tree.unexplained, room=tree.room(0, len(tree.order)))

        def allowed(error: float) -> float:
            uncertain = math.hypot(error, tree.error)
            return self._constants.trust * uncertain + self._constants.drift * tree.unexplained

        def absorb(change: Change) -> None:
            value, error = self._differences.read(look, change)
            changed = abs(value - tree.total) > allowed(error)
            self.watch.saw(changed)
            self.outdated = changed

        margin = allowed(look.error(tree.total))
        return look.request(tree.order, tree.weights, Role.PROBE, absorb, tree.total, margin)

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
        self._tries[side] += 1
