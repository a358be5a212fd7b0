"""Which coordinates act together: mixed differences over pairs, tested by sets.

With y(S) = f where the coordinates of S have moved, each by its δ, the interaction of two sets is

    I(A, B) = y(A ∪ B) − y(A) − y(B) + y(∅),

for two single coordinates the second-order elementary effect, times δ_i·δ_j (Campolongo & Braddock, *The use
of graph theory in the sensitivity analysis of the model output: a second order screening method*, Reliability
Engineering & System Safety 64, 1999). It is zero for a sum of functions of the sets, whatever these are. To
ask all pairs of k coordinates takes k·(k − 1)/2 queries at a point, and k for the coordinates alone. Here:

1. The coordinates alone, the pairs known from other points, and y of all: I over all pairs at once. If that
   is what is known of pairs, there is nothing more: k + 1 queries.
2. If not, all nodes of a tree of halves, k − 2 queries: I(A, B) of the two halves of each.
3. From a node that answers, down: A or B is halved as long as the halves answer, to single pairs. What is
   found above is taken out of what is asked below.

So p pairs of k take about 2k + 2p·log₂ k queries at a point, and p + k + 1 at further ones.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from gracezo.core.asks import Ask, OutOfQueries, Point, Role, SparseRows, Steps
from gracezo.core.box import Box
from gracezo.core.keys import Key
from gracezo.core.types import FloatArray, IntArray
from gracezo.sensitivity.table import RATE, Effects, Table
from gracezo.sensitivity.trajectories import strides
from gracezo.vectors.estimate import outputs_of

Members = tuple[int, ...]
_UNIT = 4.0 * 2.0**-52  # rounding error of f, of |f|: a few last digits
_TINY = np.finfo(np.float64).tiny


class Corners:
    """The points around one, at which coordinates have moved, and what f was there.

    Parameters
    ----------
    at
        The point.
    coordinates
        What may move: places in x. They are named by their numbers here, from 0 on.
    steps, deltas
        By how much, and that of their widths.
    """

    def __init__(self, at: Point, coordinates: IntArray, steps: FloatArray, deltas: FloatArray) -> None:
        self._at, self._coordinates, self._steps = at, coordinates, steps
        self._deltas = deltas
        self._outputs: dict[Members, FloatArray] = {(): outputs_of(at)}

    def __len__(self) -> int:
        return len(self._coordinates)

    def ask(self, sets: Iterable[Members]) -> Steps[None]:
        """Ask f where these have moved, unless that is known."""
        new = [some for some in dict.fromkeys(sets) if some not in self._outputs]
        if not new:
            return
        rows = [SparseRows.single(self._coordinates[list(some)], self._steps[list(some)]) for some in new]
        answers = yield Ask(self._at.x, SparseRows.stack(rows), Role.PROBE)
        self._outputs |= dict(zip(new, np.asarray(answers).reshape(len(new), -1), strict=True))

    def interaction(self, one: Members, other: Members) -> FloatArray:
        """Return I of two sets; NaN where an evaluation has failed and was skipped."""
        y = self._outputs
        return y[_union(one, other)] - y[one] - y[other] + y[()]

    def together(self) -> FloatArray:
        """Return I over all pairs at once: what all have changed, less what each has alone."""
        y, every = self._outputs, range(len(self))
        alone = sum((y[j,] - y[()] for j in every), np.zeros(len(y[()])))
        return np.asarray(y[tuple(every)] - y[()] - alone)

    @property
    def squares(self) -> FloatArray:
        """The squared changes by the coordinates alone, of each output."""
        y = self._outputs
        return np.asarray(np.nansum([(y[j,] - y[()]) ** 2 for j in range(len(self)) if (j,) in y], axis=0))

    @property
    def size(self) -> FloatArray:
        """The largest magnitude of each output."""
        return np.asarray(np.nanmax(np.abs(list(self._outputs.values())), axis=0))

    def effect(self, pair: Members) -> FloatArray:
        """Return the interaction of two coordinates, per width of both."""
        one, other = pair
        return np.asarray(self.interaction((one,), (other,)) / (self._deltas[one] * self._deltas[other]))

    def per(self, pair: Members) -> float:
        """Return what an interaction is divided by to be per width of both."""
        return float(abs(self._deltas[pair[0]] * self._deltas[pair[1]]))


def _union(one: Members, other: Members) -> Members:
    return tuple(sorted(one + other))


@dataclass(frozen=True)
class Pairs:
    """Looks for pairs of coordinates that act together.

    Attributes
    ----------
    noise
        The standard deviation of each output; zero where it is exact.
    leave
        Share of the squared changes by single coordinates that an interaction is not worth a query with.
    """

    noise: FloatArray
    leave: float

    def look(self, corners: Corners, known: Iterable[Members]) -> Steps[Effects]:
        """Return the interactions of the pairs known, and of others that show some; named by `code`."""
        every, known = tuple(range(len(corners))), list(known)
        seen: dict[Members, FloatArray] = {}
        try:
            yield from corners.ask([*((j,) for j in every), *known, every])
            seen |= {pair: corners.interaction(pair[:1], pair[1:]) for pair in known}
            left = corners.together() - _sum(seen.values(), corners)
            if self._significant(corners, left):
                nodes = _halves(every)
                yield from corners.ask(part for both in nodes for part in both)
                for one, other in nodes:
                    yield from self._follow(corners, one, other, seen)
        except OutOfQueries:
            pass
        return self.effects(corners, seen)

    def measure(self, corners: Corners, pairs: Iterable[Members]) -> Steps[Effects]:
        """Return the interactions of some pairs."""
        pairs = list(pairs)
        yield from corners.ask([*((j,) for pair in pairs for j in pair), *pairs])
        return self.effects(corners, {pair: corners.interaction(pair[:1], pair[1:]) for pair in pairs})

    def _follow(
        self, corners: Corners, one: Members, other: Members, seen: dict[Members, FloatArray]
    ) -> Steps[None]:
        """Go down from two sets that may act together to the pairs that do."""
        yield from corners.ask([one, other, _union(one, other)])
        left = corners.interaction(one, other) - _sum(_across(one, other, seen), corners)
        if not self._significant(corners, left):
            return
        if len(one) == len(other) == 1:
            seen[_union(one, other)] = corners.interaction(one, other)
            return
        if len(one) < len(other):
            one, other = other, one
        for half in (one[: len(one) // 2], one[len(one) // 2 :]):
            yield from self._follow(corners, half, other, seen)

    def _significant(self, corners: Corners, change: FloatArray) -> bool:
        """Whether an interaction is more than noise, and worth it; or not known, as an evaluation failed."""
        if not np.isfinite(change).all():
            return True
        k = len(corners)
        z = -ndtri(0.5 * RATE / (k * (k - 1) / 2))
        plainly = np.abs(change) > z * self._error(corners)
        return bool((plainly & (change**2 > self.leave * corners.squares)).any())

    def _error(self, corners: Corners) -> FloatArray:
        """Return the standard error of I: four values."""
        return np.asarray(2.0 * np.hypot(self.noise, _UNIT * corners.size) + _TINY)

    def effects(self, corners: Corners, seen: Mapping[Members, FloatArray]) -> Effects:
        """Return interactions per width of both."""
        k, error = len(corners), self._error(corners)
        there = [pair for pair, change in seen.items() if np.isfinite(change).all()]
        nothing = np.zeros(len(error))
        return Effects(
            {code(pair, k): corners.effect(pair) for pair in there},
            {code(pair, k): error / corners.per(pair) for pair in there},
            nothing,
            nothing,
        )


class Mixed:
    """The interactions of some coordinates, at all points of a screening.

    Parameters
    ----------
    box
        The bounds, all of them finite.
    """

    def __init__(self, box: Box) -> None:
        self._box = box
        self._coordinates: IntArray = np.zeros(0, np.int64)
        self._table = Table(0)

    def run(self, coordinates: IntArray, points: Sequence[Point], pairs: Pairs, key: Key) -> Steps[None]:
        """Look at one point after the other, and back at the earlier ones for what was found late."""
        k = len(coordinates)
        if k < 2:
            return
        self._coordinates, self._table = coordinates, Table(k * (k - 1) // 2)
        seen: list[Corners] = []
        for number, at in enumerate(points):
            moves = strides(self._box, at.x, self._coordinates, key.child(number).generator())
            corners = Corners(at, self._coordinates, *moves)
            known = self._table.known
            found = yield from pairs.look(corners, [pair_of(name, k) for name in known.tolist()])
            self._table.add(found.plain(known))
            seen.append(corners)
            for row, earlier in enumerate(seen):
                if len(missing := self._table.missing(row)):
                    late = [pair_of(name, k) for name in missing.tolist()]
                    self._table.rows[row].take((yield from pairs.measure(earlier, late)))

    def fields(self) -> dict[str, Any]:
        """Return what was seen, the pairs as coordinates."""
        fields = self._table.fields()
        k = max(len(self._coordinates), 1)
        pairs = np.array([pair_of(name, k) for name in fields["indices"].tolist()], np.int64).reshape(-1, 2)
        return fields | {
            "indices": np.sort(self._coordinates[pairs], axis=1),
            "coordinates": self._coordinates,
        }

    def __len__(self) -> int:
        """Return how many pairs were found."""
        return len(self._table.known)


def code(pair: Members, k: int) -> int:
    """Return the number of a pair of k coordinates; `pair_of` is the way back."""
    return pair[0] * k + pair[1]


def pair_of(number: int, k: int) -> Members:
    """Return the pair of a number.

    >>> pair_of(code((2, 5), 7), 7)
    (2, 5)
    """
    return divmod(number, k)


def _halves(members: Members) -> list[tuple[Members, Members]]:
    """Return the two halves of a set, of its halves, and so on.

    >>> _halves((0, 1, 2))
    [((0,), (1, 2)), ((1,), (2,))]
    """
    if len(members) < 2:
        return []
    one, other = members[: len(members) // 2], members[len(members) // 2 :]
    return [(one, other), *_halves(one), *_halves(other)]


def _across(one: Members, other: Members, seen: Mapping[Members, FloatArray]) -> list[FloatArray]:
    """Return the interactions seen of pairs that have a member in each of two sets."""
    both = {_union((i,), (j,)) for i, j in itertools.product(one, other)}
    return [change for pair, change in seen.items() if pair in both]


def _sum(changes: Iterable[FloatArray], corners: Corners) -> FloatArray:
    """Return the sum of interactions, those that are not known as zero."""
    return sum((np.nan_to_num(change) for change in changes), np.zeros_like(corners.size))
