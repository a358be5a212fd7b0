"""Ask and tell: the entry point for those who evaluate the points themselves."""

from __future__ import annotations

import operator
import os
import weakref
from collections.abc import Callable, Generator, Mapping, Sequence
from numbers import Integral
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from gracezo import logs
from gracezo.api import minimize
from gracezo.conduct import Call, begun
from gracezo.core.asks import Ask
from gracezo.core.drive import Evaluator
from gracezo.core.errors import EvaluationFailure
from gracezo.core.keys import SeedLike
from gracezo.core.result import Result
from gracezo.core.run import Answer, Outcome
from gracezo.core.types import FloatArray, IntArray
from gracezo.core.values import as_outputs, as_value, raised
from gracezo.documented import like
from gracezo.journal.settings import Journal
from gracezo.setup import Setup


@like(minimize)
class Optimizer:
    """Ask and tell: for those who evaluate the points themselves.

    Gives the same points, trace and count as `minimize` with the same arguments, whatever the order in which
    values are told.

    Parameters
    ----------
    journal
        A file that keeps every value before the method sees it; a path or a `Journal`. A loop that died
        goes on with the same arguments and the same file. Points that were handed out and have no value yet
        are handed out again, and counted in `result.reasked`.

    Attributes
    ----------
    ids : ndarray of int
        What names the points of the last `ask`, for `tell`.

    Examples
    --------
    >>> import gracezo
    >>> optimizer = gracezo.Optimizer([1.0, 2.0], method="fdsa", max_queries=10, options={"step_size": 0.1})
    >>> while len(points := optimizer.ask()):
    ...     optimizer.tell([float(x @ x) for x in points])
    >>> optimizer.result.nfev, optimizer.result.status
    (10, 1)
    """

    def __init__(
        self,
        x0: npt.ArrayLike,
        method: str = "auto",
        *,
        dim: int | None = None,
        bounds: object = None,
        sparsity: int | None = None,
        support: npt.ArrayLike | None = None,
        f0: float | None = None,
        known: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
        noise: float | None = None,
        names: Sequence[object] | None = None,
        groups: object = None,
        scale: npt.ArrayLike | None = None,
        tol: float | None = None,
        max_queries: int | None = None,
        max_steps: int | None = None,
        max_seconds: float | None = None,
        target: float | None = None,
        batch: int = 1,
        on_failure: str | tuple[str, int] = "raise",
        seed: SeedLike | None = None,
        rng: SeedLike | None = None,
        journal: str | os.PathLike[str] | Journal | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        setup = Call(locals()).setup()
        self.ids: IntArray = np.zeros(0, np.int64)
        self._latest = self.ids  # of the last ask that gave points
        self._read: Callable[[object], Outcome] = as_outputs if setup.many_outputs else as_value
        self._hand = _ByHand()
        self._session: Any = None
        self._close: weakref.finalize[..., Any] | None = None
        self._answers: Generator[Sequence[Answer], None, None] | None = None
        self._last = 0  # the latest id
        self._flying: dict[int, int] = {}  # ids that have been asked and not told, and their rows
        self._evaluate: Evaluator = self._hand
        if journal is None:
            self._run = setup.run(logs.steps())
        else:
            self._keep(setup, Journal.of(journal))

    def _keep(self, setup: Setup, journal: Journal) -> None:
        """Go on with the run of a journal, or begin it."""
        from gracezo.journal.session import Session  # noqa: PLC0415 - SQLite is loaded for journals only

        identity = setup.identity(journal.fingerprint or "by ask and tell")
        session = Session(journal)
        self._close = weakref.finalize(self, session.__exit__, None, None, None)
        try:
            setup = begun(session, setup, identity)
        except BaseException:
            self._close()
            raise
        self._session = session
        self._run = setup.run(session.on_move(logs.steps()), session.elapsed)
        self._evaluate = session.evaluator(self._run, self._hand)
        if session.result is not None:
            self._close()

    def ask(self, limit: int | None = None) -> FloatArray:
        """Return points whose values are wanted now and that were not handed out before, (k, *x0.shape).

        At most `limit` of them; `ids` names them. There are none while all that is wanted has been handed
        out, and when the run is over: it is over if there are none and none is in flight.
        """
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, Integral) or limit < 1):
            raise ValueError(f"limit must be a whole number of at least 1; given: {limit!r}")
        self._go_on()
        ask, first = self._hand.ask, self._hand.given
        count = 0 if ask is None else len(ask) - first
        if limit is not None:
            count = min(count, limit)
        self.ids = np.arange(self._last + 1, self._last + 1 + count)
        if ask is None or count == 0:
            return np.empty((0, *self._run.x0.shape))
        if self._session is not None:
            self._session.in_flight(len(self._flying) + count)
        self._latest = self.ids
        self._hand.given += count
        self._last += count
        self._flying |= dict(zip(self.ids.tolist(), range(first, first + count), strict=True))
        points = np.stack([ask.point(first + row) for row in range(count)])
        return points.reshape(count, *self._run.x0.shape)

    def tell(
        self, values: Sequence[object] | npt.ArrayLike, ids: Sequence[int] | IntArray | None = None
    ) -> None:
        """Give values of points that were asked: those of the last `ask`, in their order, or those named.

        Values that come when the run is over already are not needed, and ignored.

        Parameters
        ----------
        values
            One a point. NaN, or an exception, is an evaluation that failed.
        ids
            Which points; some of them, in any order, from any `ask`. If not given: all of the last one.

        Raises
        ------
        EvaluationError
            When an evaluation failed, and `on_failure` does not make up for it; the run is over then.
        """
        told = _listed(values)
        named = self._named(ids)
        if len(told) != len(named):
            raise ValueError(f"tell() needs one value a point: {len(named)} were asked, {len(told)} given")
        rows = [self._flying.pop(one) for one in named]
        if not self._over:
            self._hand.inbox += [(row, self._outcome(value)) for row, value in zip(rows, told, strict=True)]
            self._go_on()
            if self._session is not None and self._flying and not self._over:
                self._session.in_flight(len(self._flying))

    def _outcome(self, value: object) -> Outcome:
        if isinstance(value, EvaluationFailure):
            return value
        return raised(value) if isinstance(value, Exception) else self._read(value)

    def _named(self, ids: Sequence[int] | IntArray | None) -> list[int]:
        """Return the ids that are told, all of them in flight."""
        if ids is None and len(self._latest) == 0:
            raise RuntimeError("tell() follows ask(): nothing is being asked")
        try:
            named = [operator.index(one) for one in (self._latest if ids is None else ids)]
        except TypeError as error:
            raise TypeError(f"ids must be those of points that were asked; given: {ids!r}") from error
        if len(set(named)) < len(named):
            twice = next(one for one in named if named.count(one) > 1)
            raise ValueError(f"ids must be distinct; {twice} is there more than once")
        for one in named:
            if one not in self._flying:
                known = 1 <= one <= self._last
                raise ValueError(f"id {one} has been told already" if known else f"id {one} was never asked")
        return named

    @property
    def _over(self) -> bool:
        return self._run.finish is not None or (self._close is not None and not self._close.alive)

    def _go_on(self) -> None:
        """Let the run have what is known, until it wants something that is not."""
        if self._over:
            self._hand.ask = None
            return
        try:
            while self._run.finish is None:
                if self._answers is None:
                    wanted = self._run.next()
                    if wanted is None:
                        break
                    self._answers = self._evaluate(wanted)
                known = next(self._answers, None)
                if known is None:
                    self._answers = None
                    continue
                if known:
                    self._run.record(known)
                if self._run.stop_if_late() or not known:
                    break
        finally:
            if self._run.finish is not None:
                self._end()

    def _end(self) -> None:
        self._hand.ask = None
        if self._answers is not None:
            self._answers.close()
            self._answers = None
        if self._close is not None:
            self._close()

    @property
    def result(self) -> Result:
        """The result so far."""
        if self._session is not None and self._session.result is not None:
            told: Result = self._session.result
            return told
        return self._run.result()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "an Optimizer cannot be pickled: its method is in the middle of its work. Give it a journal, "
            "Optimizer(..., journal='run.db'), and make it anew from the same arguments and file"
        )


class _ByHand:
    """The evaluator of one who evaluates himself: hands rows out, and passes on what is told."""

    def __init__(self) -> None:
        self.ask: Ask | None = None
        self.given = 0  # rows of it that have been handed out
        self.inbox: list[Answer] = []

    def at_once(self, count: int) -> int:
        """Return how many rows are in flight before any was handed out."""
        return 0

    def __call__(self, ask: Ask) -> Generator[Sequence[Answer], None, None]:
        self.ask, self.given, self.inbox = ask, 0, []
        told = 0
        while told < len(ask):
            answers, self.inbox = self.inbox, []
            told += len(answers)
            yield answers
        self.ask = None


def _listed(values: object) -> list[Any]:
    """Return the values, one a point."""
    if isinstance(values, (str, bytes, set, frozenset, Mapping)) or getattr(values, "ndim", 0) > 1:
        raise TypeError(f"tell() takes numbers, one a point; given: {values!r:.60}")
    try:
        told: list[Any] = list(values)  # type: ignore[call-overload]  # anything that can be iterated
    except TypeError as error:
        raise TypeError(f"tell() takes a sequence of values, one a point; given: {values!r:.60}") from error
    return told
