"""Groups of coordinates with additive sums: a cut costs one query, the other part comes by subtraction.

Coordinates stand in a random order with fixed random weights w; a group is a slice of that order. Measured:

    U(S) = Σ w_i·g_i          its directional derivative,
    K(S) = Σ k_i·w_i·g_i      the same with each coordinate labelled by its position k_i,

and rows V(C) with other labels on a part C of it. U and K are additive: U(B) = U(A∪B) − U(A), and so for K.
Groups that were cut after K was asked know K together only: they are a *family*.

**One spike?** How well a single large coordinate explains all that was measured of a group, by its position.
For the rows L asked of a group (U, K, and V on parts of it) with values y, background has the covariance

    Σ = τ²·L·diag(w²)·Lᵀ + diag(e²).

A spike at position k adds a·L_k. With the amplitude a fitted (generalised least squares), χ²_k tells how well
that explains y. The positions within a few of the best are the candidates.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, field
from operator import mul

import numpy as np

from gracezo.core.places import LARGE
from gracezo.core.precision import SHOWN, TINY
from gracezo.core.shuffle import SAMPLE
from gracezo.core.types import FloatArray, IntArray, record
from gracezo.methods.auto.belief import Belief
from gracezo.methods.auto.search.order import Order


class Several(enum.Enum):
    """Whether one spike alone is ruled out: by its labels, surely; or by a candidate that was not it."""

    NO = 0
    UNSURE = 1
    SURE = 2


@dataclass(frozen=True, eq=False)
class Row:
    """An answer about a part of a group: labels on the positions from `start`, their sum, its error.

    It was asked for the sake of one spike, which says `tau` of the background.
    """

    start: int
    labels: FloatArray
    value: float
    error: float
    tau: float


@dataclass(eq=False)
class Family:
    """Groups whose K is known in total: of which it was asked, and in which parts it lies now."""

    asked: Group
    total: float
    blur: float
    members: list[Group]

    def cut(self, whole: Group, parts: list[Group]) -> None:
        """Let parts stand for a member."""
        self.members = [group for group in self.members if group is not whole] + parts

    def leave(self, group: Group, moment: float, blur: float) -> None:
        """Go on without a member whose own K has become known."""
        self.members = [other for other in self.members if other is not group]
        self.total, self.blur = self.total - moment, math.hypot(self.blur, blur)

    def take(self, moment: float, blur: float) -> None:
        """Take a coordinate out."""
        self.total, self.blur = self.total - moment, math.hypot(self.blur, blur)


@dataclass(eq=False)
class Slice:
    """Positions of the order, from `start` up to, not including, `stop`: how many, and where their middle is.

    Both are asked for dozens of times a query: they are written down.
    """

    start: int
    stop: int
    size: int = field(init=False)
    centre: float = field(init=False)

    def __post_init__(self) -> None:
        self.size = self.stop - self.start
        self.centre = 0.5 * (self.start + self.stop - 1)


@dataclass(eq=False)
class Group(Slice):
    """An open group: a slice of the order, U and its error.

    Attributes
    ----------
    squares
        Sum of the squared weights that are left in it.
    rows
        What was asked within it beyond U and K.
    streak
        Cuts in a row that left everything in this part.
    spread
        Positions over which its spikes may be scattered, after cuts that did not divide them.
    eps
        The length of the look by which its coordinates were measured.
    """

    u: float
    error: float
    squares: float
    eps: float
    family: Family | None = None
    rows: tuple[Row, ...] = ()
    several: Several = Several.NO
    streak: int = 0
    spread: float = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._go_on(self.streak)

    def _go_on(self, streak: int) -> None:
        """Count the cuts that left everything in this part."""
        self.streak = streak
        self.spread = max(1.0, self.size / 2.0**streak)

    @property
    def direct(self) -> bool:
        """Whether K was asked of this very group."""
        return self.family is not None and self.family.asked is self

    def label(self, moment: float, blur: float) -> None:
        """Take K of this group."""
        if self.family is not None:
            self.family.leave(self, moment, blur)
        self.family = Family(self, moment, blur, [self])

    def join(self, family: Family | None) -> None:
        """Belong to a family, or to none."""
        self.family = family

    def hear(self, row: Row) -> None:
        """Take an answer about a part of it."""
        self.rows = (*self.rows, row)

    def again(self, u: float, error: float, eps: float) -> None:
        """Take U once more."""
        self.u, self.error, self.eps = u, error, max(self.eps, eps)

    def refute(self, several: Several) -> None:
        """Rule one spike out; labels that were asked for its sake have had their say."""
        if self.several is Several.NO:
            self.several = several
        self.rows = ()

    def inherit(self, streak: int, several: Several) -> None:
        """Take over what was known of a whole of which this part holds everything."""
        self._go_on(streak)
        self.several = several if several is Several.SURE or streak < 2 else Several.NO
        if several is not self.several and self.family is not None:
            self.family.cut(self, [])
            self.family = None  # several were read into it

    def doubt(self) -> None:
        """Forget K and its rows: it came by subtraction, perhaps of what was not empty."""
        if self.family is not None:
            for group in list(self.family.members):
                group.join(None)
        self.rows = ()

    def take(self, position: int, share: float, error: float, square: float) -> None:
        """Take out a coordinate whose share of U is known."""
        self.u -= share
        self.error = math.hypot(self.error, error)
        self.squares = max(self.squares - square, 0.0) if self.size > 1 else 0.0
        if self.family is not None:
            self.family.take(position * share, abs(position - self.centre) * error)
        self.rows, self.several = (), Several.NO
        self._go_on(0)

    def parts(self, cuts: list[tuple[int, float, float, float]], squares: list[float]) -> list[Group]:
        """Return its parts, given where each but the last ends, its U, the error of that, and ε."""
        parts: list[Group] = []
        start, rest, error = self.start, self.u, self.error
        for stop, value, blur, eps in cuts:
            parts.append(Group(start, stop, value, blur, squares[len(parts)], eps))
            start, rest, error = stop, rest - value, math.hypot(error, blur)
        parts.append(Group(start, self.stop, rest, error, squares[len(parts)], self.eps))
        if self.family is not None:
            for part in parts:
                part.join(self.family)
            self.family.cut(self, parts)
        return parts


# ---------------------------------------------------------------- one spike?


@record
class Explanation:
    """How one spike explains a group.

    Attributes
    ----------
    first, last
        The candidates: positions from `first` up to and including `last`.
    best
        The likeliest of them.
    share, error
        Its part of U, and the standard deviation of that.
    misfit
        χ² of the best, a degree of freedom.
    """

    first: int
    last: int
    best: int
    share: float
    error: float
    misfit: float

    @property
    def number(self) -> int:
        """How many candidates there are."""
        return self.last - self.first + 1


def moment(group: Group, order: Order, belief: Belief) -> tuple[float, float] | None:
    """Return K of a group about its centre, over its half-length, and the error of that; None if unknown.

    What other members of its family hold is subtracted, as far as they look like background.
    """
    family = group.family
    if family is None or group.size < 2:
        return None
    centre, half = group.centre, 0.5 * group.size
    total, variance = family.total, family.blur**2
    for other in family.members:
        if other is group:
            continue
        if belief.holds(other) > 0.5:
            return None
        total -= other.centre * other.u
        spread = order.second_moment(other.start, other.stop, other.centre)
        variance += belief.tau**2 * spread + ((other.centre - centre) * other.error) ** 2
    return (total - centre * group.u) / half, math.sqrt(variance) / half


def place(group: Group, about: tuple[float, float]) -> tuple[float, float]:
    """Return K/U, a position, and its error, given the moment."""
    half = 0.5 * group.size
    blur = math.hypot(about[1], about[0] / group.u * group.error)
    return group.centre + half * about[0] / group.u, half * blur / abs(group.u)


def explain(
    group: Group, order: Order, belief: Belief, tau: float, met: float, likely: float
) -> Explanation | None:
    """Return how one spike explains a group, at that background; None if no position is left for it.

    Errors are bounds, of which the share `met` has been met so far. Candidates are the positions within
    `likely` standard deviations of the best.
    """
    about = moment(group, order, belief)
    low, high = group.start, group.stop
    if about is not None:
        where, blur = place(group, about)
        second = order.second_moment(group.start, group.stop, where)
        deviation = math.hypot(tau * math.sqrt(second) / abs(group.u), met * blur)
        reach = 2.0 * likely * deviation + 1.0
        low, high = max(low, math.floor(where - reach)), min(high, math.ceil(where + reach) + 1)
    for row in group.rows:
        low, high = max(low, row.start), min(high, row.start + len(row.labels))
    if low >= high:
        return None
    return _fit(group, order, about, tau, met, likely, low, high)


def _fit(
    group: Group,
    order: Order,
    about: tuple[float, float] | None,
    tau: float,
    met: float,
    likely: float,
    low: int,
    high: int,
) -> Explanation | None:
    """Fit one spike at each of the positions from `low` up to, not including, `high`."""
    # Of very many candidates some are looked at.
    stride = 1 if group.size <= LARGE else max(1, (high - low) // SAMPLE)
    asked = [(group.u, group.error)] if about is None else [(group.u, group.error), about]
    asked += [(row.value, row.error) for row in group.rows]
    covariance = _covariance(group, order, about is not None, tau)
    for i, (value, error) in enumerate(asked):
        covariance[i][i] += (met * error) ** 2 + (SHOWN * value) ** 2 + TINY
    whitening = np.array(_whitening(covariance))
    y = whitening @ [value for value, _ in asked]
    gone = order.gone(low, high, stride)
    labels = _labels(group, about is not None, np.arange(low, high, stride))
    some = bool(np.count_nonzero(gone))
    if some:
        labels[:, gone] = 0.0
    columns = whitening @ labels
    squares = np.multiply(columns, columns, out=labels)  # which have been read
    norms = np.maximum(np.add.reduce(squares, axis=0), TINY)
    amplitude = (y @ columns) / norms
    columns *= amplitude
    columns -= y[:, None]
    columns *= columns
    chi = np.add.reduce(columns, axis=0)
    if some:
        chi[gone] = np.inf
    best = int(chi.argmin())
    least = float(chi[best])
    if not math.isfinite(least):
        return None
    (near,) = (chi <= least + likely**2).nonzero()
    return Explanation(
        max(low, low + stride * (int(near[0]) - 1) + 1),
        min(high - 1, low + stride * (int(near[-1]) + 1) - 1),
        low + stride * best,
        float(amplitude[best]),
        1.0 / math.sqrt(float(norms[best])),
        least / max(len(asked) - 1, 1),
    )


def _labels(group: Group, moment: bool, positions: IntArray) -> FloatArray:
    """Return the labels of positions in what was asked: U, K about the centre if it is known, the rows."""
    labels = np.ones((1 + moment + len(group.rows), len(positions)))
    if moment:
        np.subtract(positions, group.centre, out=labels[1])
        labels[1] /= 0.5 * group.size
    for i, row in enumerate(group.rows, 1 + moment):
        labels[i] = row.labels[positions - row.start]
    return labels


def _covariance(group: Group, order: Order, moment: bool, tau: float) -> list[list[float]]:
    """Return τ²·L·diag(w²)·Lᵀ, its lower half."""
    zeroth, first, second = order.moments(group.start, group.stop)
    covariance = [[zeroth], [first, second]] if moment else [[zeroth]]
    for i, row in enumerate(group.rows):
        stop = row.start + len(row.labels)
        positions, squares = order.squared(row.start, stop)
        weighted = row.labels[(positions - row.start).astype(np.int64)] * squares
        line = [float(np.add.reduce(weighted))]
        if moment:
            line.append(float(weighted @ (positions - group.centre)) / (0.5 * group.size))
        line += [_overlap(row, other, order) for other in group.rows[: i + 1]]
        covariance.append(line)
    return [[tau * tau * value for value in line] for line in covariance]


def _overlap(one: Row, two: Row, order: Order) -> float:
    """Return Σw² over what two rows have in common, times the labels of both."""
    start = max(one.start, two.start)
    stop = min(one.start + len(one.labels), two.start + len(two.labels))
    if start >= stop:
        return 0.0
    positions, squares = order.squared(start, stop)
    places = positions.astype(np.int64)
    return float((one.labels[places - one.start] * two.labels[places - two.start]) @ squares)


def _whitening(covariance: list[list[float]]) -> list[list[float]]:
    """Return the inverse of the Cholesky root of a matrix, given its lower half.

    The matrix is of two or three rows: in numbers that takes a fifth of the time. Of one coordinate, the rows
    of an exact f are multiples of each other: of each at least a little is taken for its own.

    >>> _whitening([[4.0], [2.0, 2.0]])
    [[0.5, 0.0], [-0.5, 1.0]]
    """
    n = len(covariance)
    root: list[list[float]] = []
    inverse: list[list[float]] = []
    for i, line in enumerate(covariance):
        own: list[float] = []
        for j in range(i):
            own.append((line[j] - sum(map(mul, own, root[j]))) / root[j][j])
        pivot = math.sqrt(max(line[i] - sum(map(mul, own, own)), SHOWN * line[i]))
        inverse.append(
            [-sum(own[k] * inverse[k][j] for k in range(j, i)) / pivot for j in range(i)]
            + [1.0 / pivot]
            + [0.0] * (n - i - 1)
        )
        root.append([*own, pivot])
    return inverse
