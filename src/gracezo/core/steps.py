"""Small tools over algorithms: pieces that turn one generator into another."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from gracezo.core.asks import Ask, Moved, OutOfQueries, Point, Role, Steps
from gracezo.core.box import Box
from gracezo.core.keys import Key
from gracezo.core.method import Method
from gracezo.core.outputs import reads_outputs
from gracezo.core.result import Finish, Status
from gracezo.core.types import FloatArray

R = TypeVar("R")


def reserving(steps: Steps[R], queries: int) -> Steps[R]:
    """Run `steps` with a larger reserve: what they ask is of no use without `queries` more at the end."""

    def larger(ask: Ask) -> Ask:
        return Ask(ask.base, ask.offsets, ask.role, ask.reserve + queries)

    return translated(steps, larger)


def in_batches(steps: Steps[R], most: int) -> Steps[R]:
    """Run `steps` with asks of at most so many rows: a larger one goes out in parts, one after the other.

    The first part goes out only if the budget reaches for all of them, unless a part is of use by itself.
    """
    return relayed(steps, lambda ask: _parts(ask, most))


def at_most(steps: Steps[R], queries: int) -> Steps[R]:
    """Run `steps` as if there were no more than so many queries left."""
    left = queries

    def asked(ask: Ask) -> Steps[FloatArray]:
        nonlocal left
        if len(ask) + ask.reserve > left:
            raise OutOfQueries
        left -= len(ask)
        return (yield ask)

    return relayed(steps, asked)


def noting(steps: Steps[R], note: Callable[[int], None]) -> Steps[R]:
    """Run `steps`, and say of each of their asks how many queries were answered."""

    def heard(ask: Ask, values: FloatArray) -> FloatArray:
        note(len(values))
        return values

    return translated(steps, heard=heard)


def translated(
    steps: Steps[R],
    asked: Callable[[Ask], Ask] | None = None,
    heard: Callable[[Ask, FloatArray], FloatArray] | None = None,
    moved: Callable[[Moved], Moved] | None = None,
) -> Steps[R]:
    """Run `steps`, each ask and iterate told as `asked` and `moved` have it, its values as `heard` has them.

    Each stays as it is where there is none of them. `heard` is given the ask as `steps` made it. What is
    made of an ask is one ask: `relayed` is for what may take several, or none, and takes a generator for
    each.
    """
    try:
        said = next(steps)
        while True:
            try:
                if isinstance(said, Ask):
                    answer = yield said if asked is None else asked(said)
                    if heard is not None:
                        answer = heard(said, answer)
                else:
                    answer = yield said if moved is None or not isinstance(said, Moved) else moved(said)
            except OutOfQueries as spent:
                said = steps.throw(spent)
            else:
                said = steps.send(answer)
    except StopIteration as end:
        result: R = end.value
        return result


def relayed(steps: Steps[R], through: Callable[[Ask], Steps[FloatArray]]) -> Steps[R]:
    """Run `steps`, each of their asks answered by what is made of it."""
    try:
        said = next(steps)
        while True:
            try:
                answer = (yield from through(said)) if isinstance(said, Ask) else (yield said)
            except OutOfQueries as spent:
                said = steps.throw(spent)
            else:
                said = steps.send(answer)
    except StopIteration as end:
        result: R = end.value
        return result


def _parts(ask: Ask, most: int) -> Steps[FloatArray]:
    if len(ask) <= most:
        return (yield ask)
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


def valued(x: FloatArray, value: float | FloatArray | None, reader: object = None) -> Steps[Point]:
    """Return the point at `x`, asking for its value, or for the outputs that `reader` reads, if not known."""
    if value is None:
        (value,) = yield Ask.at(x, Role.START)
    if reads_outputs(reader):
        outputs = np.asarray(value)
        return Point(x, reader.cost(outputs), outputs=outputs)
    return Point(x, float(value))


def whole_run(
    method: Method, x0: FloatArray, f0: float | FloatArray | None, key: Key, bounds: Box | None = None
) -> Steps[Finish]:
    """Run a method from x0, the first query being f(x0)."""
    start = yield from valued(x0, f0, method)
    yield Moved(start)
    if bounds is not None and bounds.count == 0:
        return Finish(Status.NOTHING_TO_FIND, "nothing to find: the bounds fix every coordinate")
    return (yield from method.run(start, key))
