"""A map-like callable of the user's: called as ``workers(function, points)``, with whole points."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any

from gracezo.core.asks import Ask
from gracezo.core.errors import WorkersLost
from gracezo.core.interrupts import listening
from gracezo.core.run import Answer
from gracezo.core.sampling import seeds_of
from gracezo.core.types import FloatArray
from gracezo.evaluators import memory
from gracezo.evaluators.objective import Objective
from gracezo.evaluators.report import Report


@dataclass(frozen=True)
class _Reported:
    """The function that is mapped: gives a report, which can travel."""

    objective: Objective

    def __call__(self, x: FloatArray | tuple[FloatArray, int]) -> Report:
        outcome = self.objective.one(*x) if isinstance(x, tuple) else self.objective.one(x)
        return Report([outcome], 0.0)


@dataclass(eq=False)
class Mapped:
    """Evaluate by a map; it may be lazy, and need not be.

    A large ask goes out in several calls, since a map may want all points at once in memory.
    """

    objective: Objective
    mapping: Callable[..., Iterable[Any]]
    most_bytes: int = memory.USUAL
    unfinished: int = 0  # evaluations that may have been begun when the run ended, without an answer

    def __call__(self, ask: Ask) -> Generator[list[Answer], None, None]:
        """Yield the answers in the order of the rows, as the map gives them."""
        most, seeds = max(1, self.most_bytes // (8 * len(ask.base))), seeds_of(ask)
        for start in range(0, len(ask), most):
            rows = range(start, min(start + most, len(ask)))
            results = self._results(
                [ask.point(row) if seeds is None else (ask.point(row), seeds[row]) for row in rows]
            )
            self.unfinished = len(rows)
            for row in rows:
                with listening:
                    report = next(results, None)
                if not isinstance(report, Report):
                    raise WorkersLost(
                        "the map given as workers must return an iterable of what the function returned "
                        f"for each point, in order; for point {row - start + 1} of {len(rows)} "
                        f"it gave {report!r:.60}"
                    )
                self.unfinished -= 1
                yield [(row, report.outcomes[0])]
            del results  # with its points, before the next ones are made

    def _results(self, points: list[FloatArray | tuple[FloatArray, int]]) -> Generator[object, None, None]:
        try:
            yield from self.mapping(_Reported(self.objective), points)
        except Exception as error:  # whatever the user's map raises
            raise WorkersLost(
                f"the map given as workers cannot go on: {type(error).__name__}: {error}"
            ) from error
