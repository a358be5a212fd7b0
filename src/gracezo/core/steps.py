"""Small tools over algorithms: pieces that turn one generator into another."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from gracezo.core.asks import Ask, Moved, OutOfQueries, Point, Role, Steps
from gracezo.core.box import Box
from gracezo.core.keys import Key
from gracezo.core.method import Method
from gracezo.core.result import Finish, Status
from gracezo.core.types import FloatArray

R = TypeVar("R")


def reserving(steps: Steps[R], queries: int) -> Steps[R]:
    """Run `steps` with a larger reserve: what they ask is of no use without `queries` more at the end."""
    try:
        said = next(steps)
        while True:
            if isinstance(said, Ask):
                said = Ask(said.base, said.offsets, said.role, said.reserve + queries)
            try:
                answer = yield said
            except OutOfQueries as spent:
                said = steps.throw(spent)
            else:
                said = steps.send(answer)
    except StopIteration as end:
        result: R = end.value
        return result


def in_batches(steps: Steps[R], most: int) -> Steps[R]:
    """Run `steps` with asks of at most so many rows: a larger one goes out in parts, one after the other.

    The first part goes out only if the budget reaches for all of them, unless a part is of use by itself.
    """
    try:
        said = next(steps)
        while True:
            parts = _parts(said, most) if isinstance(said, Ask) and len(said) > most else None
            try:
                answer = (yield said) if parts is None else (yield from parts)
            except OutOfQueries as spent:
                said = steps.throw(spent)
            else:
                said = steps.send(answer)
    except StopIteration as end:
        result: R = end.value
        return result


def _parts(ask: Ask, most: int) -> Steps[FloatArray]:
    answers: list[FloatArray] = []
    for start in range(0, len(ask), most):
        stop = min(start + most, len(ask))
        rest = 0 if ask.role.divisible else len(ask) - stop
        try:
            part = yield Ask(ask.base, ask.offsets.part(start, stop), ask.role, ask.reserve + rest)
        except OutOfQueries:
            if answers and ask.role.divisible:
                break
            raise
        answers.append(part)
    return np.concatenate(answers)


def valued(x: FloatArray, value: float | None) -> Steps[Point]:
    """Return the point at `x`, asking for its value only when it is not known."""
    if value is None:
        (value,) = yield Ask.at(x, Role.START)
    return Point(x, float(value))


def whole_run(
    method: Method, x0: FloatArray, f0: float | None, key: Key, bounds: Box | None = None
) -> Steps[Finish]:
    """Run a method from x0, the first query being f(x0)."""
    start = yield from valued(x0, f0)
    yield Moved(start)
    if bounds is not None and len(bounds.free) == 0:
        return Finish(Status.NOTHING_TO_FIND, "nothing to find: the bounds fix every coordinate")
    return (yield from method.run(start, key))
