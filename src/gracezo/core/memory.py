"""What was asked before: where a function answers the same again, no point of it is paid for twice.

The parts of a method know little of each other. One looks along a direction at lengths of its own, another
follows a line back to where a third has been, and of few coordinates there are few sums. So what was answered
is kept in one place, between all of them and whoever counts.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from gracezo.core.asks import Ask, Point, Role, SparseRows, Steps
from gracezo.core.box import Box
from gracezo.core.moves import Few, Moves
from gracezo.core.places import Place, differing
from gracezo.core.steps import relayed
from gracezo.core.types import FloatArray, IntArray

R = TypeVar("R")
Numbers: TypeAlias = npt.NDArray[np.uint64]
_WORD = 2**64
# The rounds of Steele, Lea & Flood's SplitMix64, 2014, each a shift and a factor; and its last shift.
_ROUNDS = tuple(
    (np.uint64(shift), np.uint64(factor))
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
)
_LAST = np.uint64(31)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_BLOCK = 4096  # coordinates that stay in the cache while they go through the rounds


class Memory:
    """The values of a function at the points that were asked.

    A point is known by a number: a sum over its coordinates that differ from the start, each of which adds
    one that is drawn from its index and its value. So it takes no longer than what a query displaces. What
    the coordinates of a base add is drawn once, as long as there are not very many of them.

    Parameters
    ----------
    start
        A point whose value is known.
    bounds
        Where whoever answers takes points to, if they are outside.
    """

    def __init__(self, start: Point, bounds: Box | None = None) -> None:
        self._bounds = bounds
        self._base, self._name = start.x, 0  # the last base, and its number
        self._drawn: Numbers | None = None  # what each of its coordinates adds
        self._values = {0: start.value}
        self._told = 0  # how many were told again since something was bought

    def through(self, steps: Steps[R], exact: Callable[[], bool]) -> Steps[R]:
        """Run `steps`, and answer what they ask again, as long as the function is `exact`.

        What is asked again in order to see whether it is the same (`Role.AGAIN`) is bought. So is one more
        when as many as are known were told and none was bought: who turns in a circle is to come to an end.
        """

        def answered(ask: Ask) -> Steps[FloatArray]:
            if ask.role is Role.AGAIN or not exact() or (names := self._names(ask)) is None:
                return (yield ask)
            new: dict[int, int] = {}
            for row, name in enumerate(names):
                if name not in self._values or self._told > len(self._values):
                    new.setdefault(name, row)
            if len(new) == len(names):  # the usual case
                values, self._told = (yield ask), 0
            else:
                values = yield from self._part(ask, names, new)
            told = values.tolist()
            self._values.update(zip(names, told, strict=False))
            if any(map(math.isnan, told)):  # one that failed may be asked again
                self._values = {name: value for name, value in self._values.items() if not math.isnan(value)}
            return values

        return relayed(steps, answered)

    def _part(self, ask: Ask, names: list[int], new: dict[int, int]) -> Steps[FloatArray]:
        """Ask for what is new; return the values of all rows, up to one that was not answered."""
        bought: FloatArray = np.zeros(0)
        if new:
            bought = yield ask.take(np.array(list(new.values())))
            self._told = 0
        found = dict(zip(new, bought.tolist(), strict=False))
        values: list[float] = []
        for name in names:
            if name in new and name not in found:
                break
            self._told += name not in new
            values.append(found[name] if name in found else self._values[name])
        return np.array(values)

    def _names(self, ask: Ask) -> list[int] | None:
        """Return the numbers of the points of an ask; None for rows that are not told apart."""
        rows, base = ask.offsets, ask.base
        if isinstance(rows, SparseRows):
            if len(rows) > 1 and len(rows.indices) < _BLOCK:
                return self._short(base, rows)
            return [self._one(base, *rows.row(row)) for row in range(len(rows))]
        if not isinstance(rows, Moves):
            return None
        names = []
        for move in rows.rows:
            if isinstance(move, Few):
                names.append(self._one(base, move.indices, move.values))
            else:
                own = hashlib.blake2b(move.name(), digest_size=8).digest()
                names.append((self._at(base) + int.from_bytes(own, "little")) % _WORD)
        return names

    def _one(self, base: FloatArray, indices: IntArray, values: FloatArray) -> int:
        """Return the number of one point."""
        return (self._at(base) + int(np.add.reduce(self._change(base, indices, values)))) % _WORD

    def _short(self, base: FloatArray, rows: SparseRows) -> list[int]:
        """Return those of many that differ from a base in few coordinates each."""
        name, change = self._at(base), self._change(base, rows.indices, rows.values)
        sums = np.zeros(len(change) + 1, np.uint64)
        np.cumsum(change, out=sums[1:])
        return [(name + own) % _WORD for own in (sums[rows.indptr[1:]] - sums[rows.indptr[:-1]]).tolist()]

    def _change(self, base: FloatArray, indices: IntArray, values: FloatArray) -> Numbers:
        """Return what coordinates add where they are displaced, less what they add at the last base."""
        before, bounds = base[indices], self._bounds
        after = before + values if bounds is None else bounds.place(base, indices, values)
        change = _drawn(indices, after)
        change -= _drawn(indices, before) if isinstance(base, Place) else self._at_base[indices]
        return change

    @property
    def _at_base(self) -> Numbers:
        """What each coordinate of the last base adds."""
        if self._drawn is None:
            self._drawn = _drawn(np.arange(len(self._base), dtype=np.int64), self._base)
        return self._drawn

    def _at(self, base: FloatArray) -> int:
        """Return the number of a base."""
        if base is not self._base:
            where, _ = differing(self._base, base)
            new = _drawn(where, base[where])
            change = new - _drawn(where, self._base[where])
            self._base, self._name = base, (self._name + int(np.add.reduce(change))) % _WORD
            if self._drawn is not None:
                self._drawn[where] = new
        return self._name


def _drawn(indices: IntArray, values: FloatArray) -> Numbers:
    """Return numbers as if they were drawn for each coordinate and value of it."""
    drawn = (values + 0.0).view(np.uint64)  # 0 and −0 are one
    drawn += indices.view(np.uint64) * _GOLDEN
    for start in range(0, len(drawn), _BLOCK):
        block = drawn[start : start + _BLOCK]
        for shift, factor in _ROUNDS:
            block ^= block >> shift
            block *= factor
        block ^= block >> _LAST
    return drawn
