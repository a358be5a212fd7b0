"""What was asked before: where a function answers the same again, no point of it is paid for twice.

The parts of a method know little of each other. One looks along a direction at lengths of its own, another
follows a line back to where a third has been, and of few coordinates there are few sums. So what was answered
is kept in one place, between all of them and whoever counts.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from gracezo.core.asks import Ask, Point, Role, SparseRows, Steps
from gracezo.core.box import Box
from gracezo.core.moves import Few, Moves
from gracezo.core.places import differing
from gracezo.core.steps import relayed
from gracezo.core.types import FloatArray, IntArray

R = TypeVar("R")
_WORD = 2**64
_ROUNDS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))  # Steele, Lea & Flood's SplitMix64, 2014
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Memory:
    """The values of a function at the points that were asked.

    A point is known by a number: a sum over its coordinates that differ from the start, each of which adds
    one that is drawn from its index and its value. So it takes no longer than what a query displaces.

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
            self._values.update(zip(names, values.tolist(), strict=False))
            if np.isnan(np.add.reduce(values)):  # one that failed may be asked again
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
        rows = ask.offsets
        if isinstance(rows, SparseRows):
            return self._displaced(ask.base, rows)
        if not isinstance(rows, Moves):
            return None
        base, names = self._at(ask.base), []
        for move in rows.rows:
            if isinstance(move, Few):
                names += self._displaced(ask.base, SparseRows.single(move.indices, move.values))
            else:
                own = hashlib.blake2b(move.name(), digest_size=8).digest()
                names.append((base + int.from_bytes(own, "little")) % _WORD)
        return names

    def _displaced(self, base: FloatArray, rows: SparseRows) -> list[int]:
        indices, before, bounds = rows.indices, base[rows.indices], self._bounds
        after = before + rows.values if bounds is None else bounds.place(base, indices, rows.values)
        drawn = _drawn(np.concatenate([indices, indices]), np.concatenate([after, before]))
        change = drawn[: len(indices)] - drawn[len(indices) :]
        name = self._name if base is self._base else self._at(base)
        if len(rows.indptr) == 2:  # one row, as usual
            return [(name + int(np.add.reduce(change))) % _WORD]
        sums = np.zeros(len(change) + 1, np.uint64)
        np.cumsum(change, out=sums[1:])
        return [(name + own) % _WORD for own in (sums[rows.indptr[1:]] - sums[rows.indptr[:-1]]).tolist()]

    def _at(self, base: FloatArray) -> int:
        """Return the number of a base."""
        if base is not self._base:
            where, _ = differing(self._base, base)
            change = _drawn(where, base[where]) - _drawn(where, self._base[where])
            self._base, self._name = base, (self._name + int(np.add.reduce(change))) % _WORD
        return self._name


def _drawn(indices: IntArray, values: FloatArray) -> npt.NDArray[np.uint64]:
    """Return numbers as if they were drawn for each coordinate and value of it."""
    mixed = (values + 0.0).view(np.uint64)  # 0 and −0 are one
    mixed += indices.astype(np.uint64) * _GOLDEN
    for shift, factor in _ROUNDS:
        mixed ^= mixed >> np.uint64(shift)
        mixed *= np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    return mixed
