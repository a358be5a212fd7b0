"""One look at f: how far, to which sides, how often, what its answer is worth; and a round of them, asked.

Two looks may share a query, to make sure that the gradient is as predicted outside the support and on it.
Displaced by both at once, f changes by the sum of what they show, and if that is the sum of what is
predicted, one query has answered for two. If it is not, one of them is asked alone, and the other is the
difference: no more than both would have cost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum
from typing import NamedTuple, TypeVar

import numpy as np

from gracezo.core.answers import lowest
from gracezo.core.asks import MARGIN, Ask, Point, Role, SparseRows, Steps
from gracezo.core.box import Box
from gracezo.core.moves import Few, Move, Moves, Wave, beside, moved, rows_of
from gracezo.core.steps import translated
from gracezo.core.types import FloatArray, record
from gracezo.methods.auto import constants

R = TypeVar("R")

_ONCE = [1.0]


class Stencil(Enum):
    """The difference that a look takes: where it asks f, in multiples of the displacement."""

    FORWARD = (1.0,)
    CENTRAL = (1.0, -1.0)
    CHECKED = (1.0, -1.0, 0.5)
    """Central, and near: half way, to see how f bends."""

    def __init__(self, *multiples: float) -> None:
        self.shares = multiples


NEAR = Stencil.CHECKED.shares[-1]
"""Where near is."""


@record
class Change:
    """By how much f changed at a displacement, at the opposite one and near, as far as they were asked.

    Where that was asked several times, it is the mean; `noise` is the variance of f that the single ones
    show, and `degrees` how many of them are left to tell it.
    """

    ahead: float
    behind: float = math.nan
    near: float = math.nan
    noise: float = math.nan
    degrees: int = 0

    @property
    def odd(self) -> float:
        """What goes with the slope: free of curvature when both sides were asked."""
        return self.ahead if math.isnan(self.behind) else 0.5 * (self.ahead - self.behind)

    @property
    def even(self) -> float:
        """What goes with the curvature, when both sides were asked."""
        return 0.5 * (self.ahead + self.behind)

    @property
    def left(self) -> float:
        """By how much near lies off the parabola through the others: what a cubic term or a kink leaves."""
        return self.near - NEAR * self.odd - NEAR**2 * self.even

    def less(self, other: Change) -> Change:
        """Return what is left of it without another one."""
        return Change(self.ahead - other.ahead, self.behind - other.behind, self.near - other.near)


def unheard(change: Change) -> None:
    """Let nobody absorb a change: whoever yields requests is sent their changes."""


@record
class Request:
    """A displacement from the present point, the difference to take along it, and who absorbs the change.

    Where it only has to be made sure of what is predicted: the change to expect, and by how much it may be
    off.
    """

    move: Move
    role: Role
    absorb: Callable[[Change], None] = unheard
    stencil: Stencil = Stencil.FORWARD
    repeats: int = 1
    expected: float = math.nan
    allowed: float = 0.0

    def heard_by(self, absorb: Callable[[Change], None]) -> Request:
        """Return the same for somebody else."""
        return Request(self.move, self.role, absorb, self.stencil, self.repeats, self.expected, self.allowed)


class Room(NamedTuple):
    """How far the bounds let a set go: ahead, and to both sides."""

    ahead: float
    both: float


EVERYWHERE = Room(math.inf, math.inf)


@record
class Along:
    """Coordinates to move together, by their weights: the sum of the squares of those, and the room left."""

    move: Move
    squares: float
    room: Room


@record
class Look:
    """How to measure the directional derivative of a set.

    Attributes
    ----------
    eps
        The distance.
    stencil
        The difference that it takes.
    fixed, relative
        The error of the derivative: a part of its own, and one in proportion to it.
    bias
        What is known of the curvature's share in the difference quotient.
    repeats
        How often.
    """

    eps: float
    stencil: Stencil
    fixed: float
    relative: float
    bias: float = 0.0
    repeats: int = 1

    def request(
        self,
        along: Move,
        role: Role,
        absorb: Callable[[Change], None] = unheard,
        predicted: float = math.nan,
        allowed: float = 0.0,
    ) -> Request:
        """Return the request for this look along weights; if its derivative is predicted, and how well."""
        expected = self.eps * (predicted + self.bias)
        return Request(
            along.times(self.eps),
            role,
            absorb,
            self.stencil,
            self.repeats,
            expected,
            self.eps * allowed,
        )

    def derivative(self, change: Change) -> float:
        """Return the derivative that a change shows."""
        return change.odd / self.eps - self.bias

    def error(self, value: float) -> float:
        """Return the error of a derivative of that value."""
        return math.hypot(self.fixed, value * self.relative)


@record
class Heard:
    """The lowest value that a round of requests met, and where; whether that moves a whole set."""

    move: Move
    value: float
    whole: bool = False


@record
class Lower:
    """A lower value, and how to get there."""

    move: Move
    value: float

    def point(self, at: Point, box: Box | None) -> Point:
        """Return where it is, seen from a point."""
        x = moved(at.x, self.move)
        return Point(x if box is None else box.clip(x), self.value)

    def halves(self) -> tuple[Move, Move]:
        """Return both halves of what has moved."""
        move = self.move
        if isinstance(move, Wave):
            middle = (move.start + move.stop) // 2
            return move.part(move.start, middle), move.part(middle, move.stop)
        assert isinstance(move, Few)
        half = len(move) // 2
        indices, values = move.indices, move.values
        return Few(indices[:half], values[:half]), Few(indices[half:], values[half:])


class LowestMet:
    """The lowest point that was met between two steps, as long as it is below where the method is.

    A look is made to learn something, not to go there. But its value is paid for, and where kinks make a step
    fail, a confirming look along one coordinate may well have been lower than all that the step has tried.
    Then the method moves there, without a query.
    """

    def __init__(self) -> None:
        self._base: FloatArray = np.zeros(0)
        self.move: Move = Few(np.zeros(0, np.int64), np.zeros(0))
        """Where it is, from the point around which it was met."""
        self.value = math.inf

    def note(self, at: Point, heard: Heard, fallen: float = 0.0) -> None:
        """Take in what a round of looks around a point has met, to which f has fallen by so much.

        A whole set of coordinates, most of which do not matter, is to be clearly lower, as for the answer.
        """
        least = MARGIN * fallen if heard.whole else 0.0
        if heard.value < min(self.value, at.value - least):
            self._base, self.move, self.value = at.x, heard.move, heard.value

    def overhearing(self, at: Point, steps: Steps[R]) -> Steps[R]:
        """Run looks around a point, and note the lowest that they meet."""

        def heard(ask: Ask, values: FloatArray) -> FloatArray:
            if len(values) and isinstance(ask.offsets, SparseRows):
                move = Few(*ask.offsets.row(row := lowest(values)))
                self.note(at, Heard(move, float(values[row])))
            return values

        return translated(steps, heard=heard)

    def met_from(self, x: FloatArray) -> bool:
        """Whether it was met around this point."""
        return self._base is x

    def point(self, bounds: Box | None) -> Point:
        """Return the point."""
        x = moved(self._base, self.move)
        return Point(x if bounds is None else bounds.clip(x), self.value)


def answered(at: Point, requests: Sequence[Request]) -> Steps[Heard]:
    """Ask all requests, let each absorb its change of f, and return the lowest value met.

    One whose evaluation failed and was skipped is asked again a little shorter, until it has an answer:
    sets are known by what their parts leave, so that none can be left out.
    """
    role = requests[0].role
    if any(request.role is not role for request in requests):
        role = Role.PROBE  # a mixed ask goes out as probes
    moves = [
        request.move.times(scale * share)
        for request in requests
        for scale in _scales(request)
        for share in request.stencil.shares
    ]
    found, values = yield from asked_all(at, rows_of(moves), role)
    low, start = lowest(values), 0
    for request in requests:
        stop = start + request.repeats * len(request.stencil.shares)
        request.absorb(_change(found[start:stop], request))
        start = stop
    return Heard(moves[low], float(values[low]), role is Role.PROBE)


def asked_all(
    at: Point, rows: SparseRows | Moves, role: Role, reserve: int = 0
) -> Steps[tuple[FloatArray, FloatArray]]:
    """Return the change of f at each row, and the values that were answered.

    A row whose evaluation failed and was skipped is asked again a little shorter, until it has an answer; its
    change is that of the whole length, as far as f is straight.
    """
    values = yield Ask(at.x, rows, role, reserve)
    found, share = values - at.value, 1.0
    if len(found) == 1 and not math.isnan(found[0]):  # the usual case
        return found, values
    while len(missing := np.flatnonzero(np.isnan(found))):
        share *= 1.0 - constants.PRECISE
        shorter = rows.take(missing).times(share)
        found[missing] = ((yield Ask(at.x, shorter, role, reserve)) - at.value) / share
    return found, values


def _change(found: FloatArray, request: Request) -> Change:
    """Return the mean of repeated looks."""
    if request.repeats == 1:  # the usual case
        return Change(*found.tolist())
    scales = np.array(_scales(request))
    changes = found.reshape(len(scales), -1) / scales[:, np.newaxis]
    change = Change(*changes.mean(axis=0).tolist())
    if changes.shape[1] < len(Stencil.CENTRAL.shares):
        return change
    odd = 0.5 * (changes[:, 0] - changes[:, 1])  # has half the variance of f
    return replace(change, noise=2.0 * float(odd.var(ddof=1)), degrees=len(changes) - 1)


def _scales(request: Request) -> list[float]:
    """Where a look is repeated: never at the same point, which might answer the same."""
    if request.repeats == 1:
        return _ONCE
    return [1.0 - constants.UNSEEN * k / request.repeats for k in range(request.repeats)]


def together(first: Request, second: Request, follow: Callable[[Request], None]) -> Request | None:
    """Return one request for both, if they look alike; `follow` is called with one to be asked next.

    A small miss is put down to the second.
    """
    if first.stencil is not second.stencil or first.stencil is Stencil.CHECKED:
        return None

    def absorb(change: Change) -> None:
        missed = change.odd - first.expected - second.expected
        if abs(missed) <= first.allowed + second.allowed:
            first.absorb(_predicted(first))
            second.absorb(change.less(_predicted(first)))
            return

        def part(own: Change) -> None:
            second.absorb(own)
            first.absorb(change.less(own))

        follow(replace(second, absorb=part))

    return Request(
        beside(first.move, second.move),
        Role.PROBE,
        absorb,
        first.stencil,
        max(first.repeats, second.repeats),
    )


def _predicted(request: Request) -> Change:
    expected = request.expected
    return Change(expected, -expected) if request.stencil is Stencil.CENTRAL else Change(expected)
