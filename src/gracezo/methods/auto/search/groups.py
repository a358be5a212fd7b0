"""Groups of coordinates with additive sums: a cut costs one query, the other part comes by subtraction.

Coordinates stand in a random order with fixed random weights w; a group is a slice of that order. Measured:

    U(S) = Σ w_i·g_i          its directional derivative,
    K(S) = Σ k_i·w_i·g_i      the same with each coordinate labelled by its position k_i,

and rows V(C) with other labels on a part C of it. U and K are additive: U(B) = U(A∪B) − U(A), and so for K.
Groups that were cut after K was asked know K together only: they are a *family*.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

from gracezo.core.types import FloatArray


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
class Group:
    """An open group: positions `start` to `stop` of the order, U and its error.

    Attributes
    ----------
    squares
        Sum of the squared weights that are left in it.
    rows
        What was asked within it beyond U and K.
    streak
        Cuts in a row that left everything in this part.
    eps
        The length of the look by which its coordinates were measured.
    """

    start: int
    stop: int
    u: float
    error: float
    squares: float
    eps: float
    family: Family | None = None
    rows: tuple[Row, ...] = ()
    several: Several = Several.NO
    streak: int = 0

    @property
    def size(self) -> int:
        """Number of positions."""
        return self.stop - self.start

    @property
    def spread(self) -> float:
        """Positions over which its spikes may be scattered, after cuts that did not divide them."""
        return max(1.0, self.size / 2.0**self.streak)

    @property
    def direct(self) -> bool:
        """Whether K was asked of this very group."""
        return self.family is not None and self.family.asked is self

    @property
    def centre(self) -> float:
        """Its middle."""
        return 0.5 * (self.start + self.stop - 1)

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
        self.streak = streak
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
        self.rows, self.several, self.streak = (), Several.NO, 0

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
