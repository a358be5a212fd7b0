"""Objectives that can price a change: f at a base that is kept, displaced, without touching all coordinates.

An object with `at(x)`, beside its `__call__`, is asked this way: `at` returns something with `value(parts)`,
f at x displaced by parts (indices, values), each coordinate in at most one of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from scipy.sparse import coo_array

from gracezo.core.asks import Ask, Role, SparseRows
from gracezo.core.box import ClippedMoves, SparsePoints
from gracezo.core.errors import EvaluationFailure, Irreparable
from gracezo.core.moves import PieceRows
from gracezo.core.places import Place
from gracezo.core.run import Outcome
from gracezo.core.shuffle import Piece
from gracezo.core.types import FloatArray
from gracezo.core.values import as_value, raised
from gracezo.evaluators.objective import Objective

ALIKE = 1e-6
"""Of |f|: by how much two ways to compute it may differ."""


class Base(Protocol):
    """What `at` returns."""

    def value(self, parts: Iterable[Piece]) -> Any:
        """Return f at the base displaced by parts (indices, values)."""
        ...


class Prices(Protocol):
    """An objective that can price a change."""

    def __call__(self, x: FloatArray, /, *args: Any) -> Any:
        """Return f at a point."""
        ...

    def at(self, x: Any, /, *args: Any) -> Base:
        """Keep what is needed to price changes of a base: an array, or a sparse vector where x0 is one."""
        ...


class Pricing:
    """Evaluates by prices, for one thread.

    Parameters
    ----------
    objective
        Its function can price changes.
    copy
        Whether `at` gets an array of its own.
    """

    def __init__(self, objective: Objective, copy: bool) -> None:
        self._objective = objective
        self._copy = copy
        self._base: FloatArray | None = None
        self._kept: Base | None = None

    def one(self, ask: Ask, row: int, shown: FloatArray | None) -> Outcome:
        """Evaluate one row; `shown` is the base, all of it, where x0 is dense."""
        fun: Any = self._objective.fun
        try:
            if ask.base is not self._base or self._kept is None:
                self._base = None
                self._kept = fun.at(self._given(ask.base, shown), *self._objective.args)
                self._base = ask.base
            outcome = as_value(self._kept.value(parts(ask, row)))
        except EvaluationFailure as told:  # an objective of ours, which says itself what went wrong
            return told
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # whatever else the user's code raises is a failed evaluation
            return raised(error)
        return outcome

    def needs(self, ask: Ask) -> bool:
        """Whether the next evaluation keeps another base, which it has to see."""
        return ask.base is not self._base

    def _given(self, base: FloatArray, shown: FloatArray | None) -> Any:
        if shown is None:
            assert isinstance(base, Place)
            return coo_array((base.values.copy(), (base.indices.copy(),)), shape=(len(base),))
        shaped = shown.reshape(self._objective.shape)
        return shaped.copy() if self._copy else shaped

    def checked(self, priced: Outcome, shown: FloatArray) -> Outcome:
        """Return the value at x0 if both ways to compute it agree; else the failure that says so."""
        called = self._objective.one(shown.copy() if self._copy else shown)
        if isinstance(priced, EvaluationFailure) or isinstance(called, EvaluationFailure):
            return called if isinstance(called, EvaluationFailure) else priced
        assert isinstance(priced, float)
        assert isinstance(called, float)
        if math.isclose(priced, called, rel_tol=ALIKE):
            return priced
        return Irreparable(
            f"fun(x0) is {called!r}, but fun.at(x0).value(()) is {priced!r}: these must agree, up to rounding"
        )


def prices(objective: Objective) -> bool:
    """Whether a function is asked for prices."""
    return not objective.many_outputs and callable(getattr(objective.fun, "at", None))


def sparse(base: FloatArray) -> bool:
    """Whether `at` gets a base as a sparse vector."""
    return isinstance(base, Place) and base.lean and base.origin[0] == 0.0


def starts(ask: Ask) -> bool:
    """Whether an ask is the one for f(x0)."""
    return ask.role is Role.START


def parts(ask: Ask, row: int) -> Iterator[Piece]:
    """Yield what displaces one row."""
    offsets, base = ask.offsets, ask.base
    if isinstance(offsets, SparseRows):
        where, values = offsets.row(row)
        if len(where):
            yield where, values - base[where] if isinstance(offsets, SparsePoints) else values
    elif isinstance(offsets, PieceRows):
        for where, values in offsets.rows[row].pieces(base):
            if isinstance(offsets, ClippedMoves):
                here = base[where]
                yield where, offsets.cut(where, here + values) - here
            else:
                yield where, values
    else:
        point = ask.point(row)
        point -= base
        yield slice(0, len(point)), point
