"""A tree of sets with additive values: splitting costs one query, the sibling comes by subtraction.

Coordinates stand in a random order with fixed random weights w; a set is a
slice of that order. Two things are measured on a set S:

    U(S) = Σ w_i·g_i          its directional derivative,
    K(S) = Σ k_i·w_i·g_i      the same with each coordinate labelled by its position k_i.

Both are additive, so U(B) = U(A∪B) − U(A) and K(B) = K(A∪B) − K(A). When one
coordinate dominates S, K/U is its position. When two of one sign do, K/U lies
between them and is the place to cut.
"""

from __future__ import annotations

import heapq
import itertools
import math
from dataclasses import dataclass, field

import numpy as np

from gracezo.core.types import FloatArray, IntArray
from gracezo.methods.auto.instrument.look import EVERYWHERE, Room


@dataclass(eq=False)
class Node:
    """A set: positions `start` to `stop` of the order."""

    start: int
    stop: int
    u: float
    error: float
    moment: float | None = None
    """K(S), when it is known."""
    blur: float = 0.0
    """Error of `moment`, as far as it moves K/U: that of U moves both."""
    window: tuple[int, int] | None = None
    """Where labels are to be asked again, because `moment` says that what dominates is there."""
    inner: tuple[float, float] | None = None
    """K within the window and its error, when it has been asked."""
    several: bool = False
    """Labels have shown that no single coordinate dominates."""
    sibling: Node | None = None
    family: tuple[float, float] | None = None
    """K and its error for this set and its sibling together."""
    candidate: int | None = None
    """Position to be confirmed."""
    doubtful: bool = False
    """Whether the candidate may be an integer by chance, while several coordinates are there."""
    remeasured: bool = False
    """Whether U has been asked again, because noise had added up."""
    streak: int = 0
    """Splits in a row that left nearly everything in this part."""
    key: float = 0.0
    """Its place in the queue."""
    length: float = 0.0
    """Length of the next confirming query, when another is needed."""
    failed: tuple[float, float] | None = None
    """Length and change of the last one that did not show a descent."""
    longer: int = 0
    """How often that was made longer."""
    first: tuple[float, float] | None = None
    """Length and change of the first one, when both are to be combined."""

    @property
    def size(self) -> int:
        """Number of positions."""
        return self.stop - self.start

    @property
    def spread(self) -> float:
        """Positions over which what matters may be scattered, after the splits that did not divide it."""
        return max(1.0, self.size / 2.0**self.streak)

    @property
    def position(self) -> tuple[float, float]:
        """K/U and its error."""
        assert self.moment is not None
        moment, blur = self.inner or (self.moment, self.blur)
        return moment / self.u, blur / abs(self.u)


@dataclass(eq=False)
class Tree:
    """The open sets over one order of coordinates.

    Attributes
    ----------
    order
        The coordinates, by position.
    weights
        Their weights, by position; zero for those that have been taken out.
    limits
        The largest ε that bounds allow each of them, ahead and behind, where there are bounds.
    """

    order: IntArray
    weights: FloatArray
    limits: tuple[FloatArray, FloatArray] | None = None
    _heaps: tuple[list[tuple[float, int, Node]], list[tuple[float, int, Node]]] = field(
        default_factory=lambda: ([], [])
    )
    _count: itertools.count[int] = field(default_factory=itertools.count)
    mass: list[float] = field(default_factory=lambda: [0.0, 0.0])
    """Sum of U² over the open sets whose U is negative, and positive."""
    total: float = 0.0
    """U of all coordinates together, less what was taken out."""
    error: float = 0.0
    """Its error."""
    moment: float = math.nan
    """K of all coordinates, less what was taken out, when it has been asked."""
    blur: float = 0.0
    """Its error."""

    def __post_init__(self) -> None:
        self._squares = np.concatenate([[0.0], np.cumsum(self.weights**2)])

    def squares(self, start: int, stop: int) -> float:
        """Return the sum of squared weights of a slice, as it was at the beginning."""
        return float(self._squares[stop] - self._squares[start])

    def room(self, start: int, stop: int) -> Room:
        """Return the largest ε at which no coordinate of a slice leaves the bounds."""
        if self.limits is None:
            return EVERYWHERE
        ahead, behind = (float(limits[start:stop].min()) for limits in self.limits)
        return Room(ahead, min(ahead, behind))

    def push(self, node: Node, key: float) -> None:
        """Open a set; the one with the largest key is on top."""
        side = int(node.u > 0)
        node.key = key
        self.mass[side] += node.u**2
        heapq.heappush(self._heaps[side], (-key, next(self._count), node))

    def top(self, side: int) -> Node | None:
        """Return the open set with the largest key, of one sign of U (0: negative, 1: positive)."""
        return self._heaps[side][0][2] if self._heaps[side] else None

    def pop(self, side: int) -> Node:
        """Take out the open set with the largest key, of one sign of U."""
        node = heapq.heappop(self._heaps[side])[2]
        self.mass[side] = self.mass[side] - node.u**2 if self._heaps[side] else 0.0
        return node

    @property
    def unexplained(self) -> float:
        """The norm of U over all open sets."""
        return float(np.sqrt(max(sum(self.mass), 0.0)))

    def remove(self, node: Node, position: int, value: float, error: float = 0.0) -> None:
        """Take one coordinate of known derivative out of a set; the set goes on without it."""
        share, error = self.weights[position] * value, abs(self.weights[position]) * error
        self.weights[position] = 0.0
        self.total -= share
        # Errors of U cancel in the sum over all sets; in K they do not.
        self.moment -= position * share
        self.blur = math.hypot(self.blur, position * max(error, node.error))
        node.u -= share
        node.error, node.blur = math.hypot(node.error, error), math.hypot(node.blur, node.size * error)
        if node.moment is not None:
            node.moment -= position * share
        node.window = node.inner = None
        if node.family is not None:
            node.family = (node.family[0] - position * share, node.family[1])
            if node.sibling is not None:
                node.sibling.family = node.family
        node.candidate = None
        node.several = False


def split(node: Node, at: int, left: float, error: float) -> tuple[Node, Node]:
    """Return the two parts of a set cut at a position, given U of the left one.

    >>> first, second = split(Node(0, 8, 5.0, 0.0), 4, 3.0, 0.0)
    >>> second.u, second.size
    (2.0, 4)
    """
    one = Node(node.start, at, left, error)
    two = Node(at, node.stop, node.u - left, math.hypot(error, node.error))
    if node.moment is not None:
        one.family = two.family = (node.moment, node.blur)
    one.sibling, two.sibling = two, one
    return one, two


def learn_moment(node: Node, moment: float, blur: float) -> None:
    """Note K of a set; when that of both siblings together is known, the sibling's follows."""
    node.moment, node.blur = moment, blur
    other = node.sibling
    if node.family is not None and other is not None and other.moment is None:
        # Positions count from the beginning of both: errors of U weigh as much as both are long.
        parent = (node.size + other.size) * math.hypot(node.error, other.error)
        other.moment, other.blur = node.family[0] - moment, math.hypot(node.family[1], blur, parent)
    node.family = node.sibling = None
    if other is not None:
        other.family = other.sibling = None
