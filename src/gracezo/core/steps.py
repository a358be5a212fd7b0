"""Small tools over algorithms: pieces that turn one generator into another."""

from __future__ import annotations

from typing import TypeVar

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
