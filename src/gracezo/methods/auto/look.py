"""One look along a set: how far, to which sides, how often, and what its answer is worth."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from gracezo.core.asks import Role
from gracezo.core.types import FloatArray, IntArray
from gracezo.methods.auto.request import Change, Request, unheard


class Room(NamedTuple):
    """How far the bounds let a set go: ahead, and to both sides."""

    ahead: float
    both: float


EVERYWHERE = Room(math.inf, math.inf)


@dataclass(frozen=True)
class Look:
    """How to measure the directional derivative of a set.

    Attributes
    ----------
    eps
        The distance.
    shares
        At which multiples of it.
    fixed, relative
        The error of the derivative: a part of its own, and one in proportion to it.
    bias
        What is known of the curvature's share in the difference quotient.
    repeats
        How often.
    """

    eps: float
    shares: tuple[float, ...]
    fixed: float
    relative: float
    bias: float = 0.0
    repeats: int = 1

    def request(
        self,
        indices: IntArray,
        weights: FloatArray,
        role: Role,
        absorb: Callable[[Change], None] = unheard,
        foreseen: float = math.nan,
        allowed: float = 0.0,
    ) -> Request:
        """Return the request for this look along a set; if its derivative is foreseen, and how well."""
        expected = self.eps * (foreseen + self.bias)
        return Request(
            indices,
            self.eps * weights,
            role,
            absorb,
            self.shares,
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
