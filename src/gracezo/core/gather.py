"""Independent searches around one base point, advanced in lockstep: one batch a round."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from gracezo.core.asks import Ask, SparseRows, Steps
from gracezo.core.moves import Moves, stacked

R = TypeVar("R")


def gather(*searches: Steps[R]) -> Steps[list[R]]:
    """Run searches side by side and return what each returned, in their order.

    Each search yields sparse asks, all around the same base. What the
    unfinished ones want at a moment goes out as one ask; each receives its
    own rows of the answer. A search that ends early leaves the others alone.
    """
    results: dict[int, R] = {}
    wanted: dict[int, Ask] = {}

    def advance(place: int, answer: np.ndarray | None) -> None:
        try:
            said = searches[place].send(answer)  # type: ignore[arg-type]  # None starts a generator
        except StopIteration as end:
            results[place] = end.value
            return
        if not isinstance(said, Ask):
            raise TypeError("a gathered search may only ask")
        wanted[place] = said

    for place in range(len(searches)):
        advance(place, None)
    while wanted:
        asks = list(wanted.items())
        wanted.clear()
        answer = yield _joined([ask for _, ask in asks])
        start = 0
        for place, ask in asks:
            stop = start + len(ask.offsets)
            advance(place, answer[start:stop])
            start = stop
    return [results[place] for place in range(len(searches))]


def _joined(asks: list[Ask]) -> Ask:
    first = asks[0]
    parts = []
    for ask in asks:
        if ask.base is not first.base or ask.role is not first.role:
            raise ValueError("gathered searches must ask around one base, in one role at a time")
        if not isinstance(ask.offsets, (SparseRows, Moves)):
            raise TypeError("gathered searches ask for sparse rows")
        parts.append(ask.offsets)
    return Ask(first.base, stacked(parts), first.role, sum(ask.reserve for ask in asks))
