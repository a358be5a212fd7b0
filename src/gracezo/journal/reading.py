"""A journal as people read it: what the run is, its queries, its steps. It may be read at any time."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from gracezo.core.names import Names
from gracezo.core.result import Result
from gracezo.core.types import FloatArray
from gracezo.journal.errors import JournalError
from gracezo.journal.file import JournalFile
from gracezo.journal.identity import Identity
from gracezo.journal.store import Finished, Store, StoredAsk


@dataclass(frozen=True)
class Query:
    """One evaluation, known `at` (seconds since 1970). `value` is None if it failed, `failure` says why.

    Of a function with many outputs, `value` is the list of them. `lost` is not 0 if it was lost with its
    worker, and asked again.
    """

    query: int
    role: str
    value: float | list[float] | None
    failure: str | None
    at: float
    lost: int = 0


@dataclass(frozen=True, eq=False)
class Step:
    """One iterate, x0 first.

    Attributes
    ----------
    step, queries, value
        Its number, after how many queries it was reached, and f there.
    x : ndarray or None
        The point, flat; None if it is not kept.
    length : float
        How far it is from the last one that is kept; NaN if it is not.
    """

    step: int
    queries: int
    value: float
    x: FloatArray | None
    length: float


@dataclass(frozen=True, eq=False)
class Record:
    """What a journal holds.

    Attributes
    ----------
    identity : Identity
        The function's name, x0, and the arguments that the path depends on.
    names : Names
        What the coordinates are called.
    header : dict
        All else that is known of the run: `library`, `created` (seconds since 1970), `limits`, and
        `overridden`: in what the function has changed while the user said that it is the same.
    finish : Finished or None
        How the run ended, or None while it has not.
    result : Result or None
        What it returned then.
    queries : list of Query
        The evaluations whose answers are recorded, in the order of asking.
    steps : list of Step
        The iterates, x0 first.
    in_flight : int
        Queries that were asked and have no value yet; a failed one counts if it ended the run.
    reasked : int
        Queries that were asked again because their values were lost.
    aside : int
        Queries paid for that a larger budget has made useless.
    digests : list of int
        Of each ask in order, so that a replay knows whether it asks the same.

    Examples
    --------
    >>> import gracezo, tempfile
    >>> from gracezo.journal.reading import read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = folder + "/run.db"
    ...     result = gracezo.minimize(sum, [1.0, 2.0], method="fdsa", max_queries=4, journal=journal)
    ...     record = read(journal)
    >>> [query.role for query in record.queries], [step.queries for step in record.steps]
    (['start', 'probe', 'probe', 'step'], [1, 4])
    """

    identity: Identity
    names: Names
    header: dict[str, Any]
    finish: Finished | None
    result: Result | None
    queries: list[Query]
    steps: list[Step]
    in_flight: int
    reasked: int
    aside: int
    digests: list[int]

    def known(self) -> tuple[FloatArray, FloatArray]:
        """Return points and their values, to begin another run with: `known=` of `minimize`.

        All iterates whose coordinates are kept, and the answer of a run that has ended. (The points of
        probes are not in a journal: a replay finds them again.)
        """
        pairs = [(step.x, step.value) for step in self.steps if step.x is not None]
        ended = self.result
        if ended is not None and np.ndim(ended.fun) == 0 and math.isfinite(ended.fun):
            answer = ended.x.ravel(), ended.fun
            if not any(value == ended.fun and np.array_equal(x, answer[0]) for x, value in pairs):
                pairs.append(answer)
        size = self.identity.x0.size
        points = np.array([x for x, _ in pairs]).reshape(len(pairs), size)
        return points, np.array([value for _, value in pairs])


def read(path: str | os.PathLike[str], *, points: bool = True) -> Record:
    """Return what a journal holds, also while a run is writing it; its sums are checked.

    Parameters
    ----------
    path
        The journal.
    points
        Whether to have x of every iterate that is kept, or of the lowest alone, which takes less memory.
    """
    file = JournalFile.reading(Path(path))
    try:
        with file.snapshot():
            file.verify()
            store = Store(file)
            identity, header, asks = store.identity(), store.header(), store.asks()
            lost = _lost(file, asks)
            queries = [
                Query(query, role, _shown(value), failure, at, lost.get(query, 0))
                for query, role, value, failure, at in file.rows(f"SELECT {_QUERY} FROM queries")
            ]
            ((answers,),) = file.rows("SELECT count(*) FROM (SELECT DISTINCT ask, row FROM answers)")
            budget = header["limits"].get("max_queries")
            goes_on = "on_failure" in identity.arguments  # the rule, when failures do not end the run
            open_rows = len(queries) if goes_on else sum(query.failure is None for query in queries)
            return Record(
                identity=identity,
                names=_names(header.get("names"), identity.x0, file.path),
                header={name: value for name, value in header.items() if name in _SHOWN},
                finish=store.finish(),
                result=store.result(),
                queries=queries,
                steps=_listed(_steps(file, identity.x0.ravel(), budget), points),
                in_flight=sum(ask.rows for ask in asks) - open_rows,
                reasked=sum(ask.reasked for ask in asks),
                aside=answers - len(queries),
                digests=[ask.digest for ask in asks],
            )
    finally:
        file.close()


_QUERY = "query, role, value, failure, at"
_SHOWN = ("library", "created", "limits", "overridden")


def _names(given: object, x0: FloatArray, path: Path) -> Names:
    if given is None:
        return Names(x0.shape)
    if isinstance(given, list) and len(given) == x0.size and all(isinstance(name, str) for name in given):
        return Names(x0.shape, given)
    raise JournalError(f"{path} is damaged: it does not have one name a coordinate")


def _lost(file: JournalFile, asks: list[StoredAsk]) -> dict[int, int]:
    """Return the queries that were lost with their workers, and how."""
    if not file.rows("SELECT 1 FROM answers WHERE lost > 0 LIMIT 1"):
        return {}
    upto = accumulate((ask.rows for ask in asks), initial=0)
    before = {ask.id: count for ask, count in zip(asks, upto, strict=False)}
    rows = file.rows("SELECT ask, row, lost, max(entry) FROM answers GROUP BY ask, row HAVING lost > 0")
    return {before[ask] + row + 1: how for ask, row, how, _ in rows if ask in before}


def _shown(value: Any) -> Any:
    """Return a value as numbers."""
    return np.frombuffer(value, "<f8").tolist() if isinstance(value, bytes) else value


def _listed(steps: Iterator[Step], points: bool) -> list[Step]:
    """Return the iterates, with all their points or with the lowest one's."""
    listed: list[Step] = []
    lowest: int | None = None
    for step in steps:
        listed.append(step)
        if points or step.x is None:
            continue
        last, lower = len(listed) - 1, lowest is None or step.value < listed[lowest].value
        dropped = lowest if lower else last
        lowest = last if lower else lowest
        if dropped is not None:
            listed[dropped] = replace(listed[dropped], x=None)
    return listed


def _steps(file: JournalFile, x0: FloatArray, budget: int | None) -> Iterator[Step]:
    """Yield the iterates, less those that another budget has led to."""
    x = x0.copy()
    columns = "step, queries, value, curtailed, indices, coordinates, max(entry)"
    for step, queries, value, curtailed, indices, coordinates, _ in file.rows(
        f"SELECT {columns} FROM moves GROUP BY step ORDER BY step"
    ):
        if curtailed not in (None, budget):
            continue
        if coordinates is None:
            yield Step(step, queries, value, None, math.nan)
            continue
        with file.reporting_damage():
            where = slice(None) if indices is None else np.frombuffer(indices, "<u4")
            new = np.frombuffer(coordinates, "<f8")
            length = float(np.linalg.norm(new - x[where]))
            x[where] = new
        yield Step(step, queries, value, x.copy(), length)
