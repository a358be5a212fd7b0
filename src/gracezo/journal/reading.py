"""A journal as people read it: what the run is, its queries, its steps. It may be read at any time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gracezo.core.names import Names
from gracezo.core.types import FloatArray
from gracezo.journal.errors import JournalError
from gracezo.journal.identity import Identity
from gracezo.journal.store import Finished, Store


@dataclass(frozen=True)
class Query:
    """One evaluation, known `at` (seconds since 1970). `value` is None if it failed, `failure` says why.

    Of a function with many outputs, `value` is the list of them.
    """

    query: int
    role: str
    value: float | list[float] | None
    failure: str | None
    at: float


@dataclass(frozen=True, eq=False)
class Step:
    """One iterate, x0 first: after how many queries, f there, and x itself (flat)."""

    step: int
    queries: int
    value: float
    x: FloatArray


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
        All else that is known of the run: `library`, `created` (seconds since 1970), `limits`.
    finish : Finished or None
        How the run ended, or None while it has not.
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

    Examples
    --------
    >>> import gracezo, tempfile
    >>> from gracezo.journal.reading import read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = folder + "/run.db"
    ...     result = gracezo.minimize(sum, [1.0, 2.0], method="fdsa", max_queries=4, journal=journal)
    ...     record = read(journal)
    >>> [query.role for query in record.queries], [step.queries for step in record.steps]
    (['start', 'refresh', 'refresh', 'step'], [1, 4])
    """

    identity: Identity
    names: Names
    header: dict[str, Any]
    finish: Finished | None
    queries: list[Query]
    steps: list[Step]
    in_flight: int
    reasked: int
    aside: int


def read(path: str | os.PathLike[str]) -> Record:
    """Return what a journal holds, also while a run is writing it."""
    store = Store.reading(Path(path))
    try:
        with store.snapshot():
            identity = store.identity()
            columns = "query, role, value, failure, at"
            queries = [
                Query(query, role, _shown(value), failure, at)
                for query, role, value, failure, at in store.rows(f"SELECT {columns} FROM queries")
            ]
            ((asked, again),) = store.rows(
                "SELECT ifnull(sum(rows), 0), ifnull(sum(reasked), 0) FROM asks WHERE aside = 0"
            )
            ((aside,),) = store.rows("SELECT count(*) FROM answers JOIN asks ON id = ask WHERE aside != 0")
            header = store.header()
            goes_on = "on_failure" in identity.arguments  # the rule, when failures do not end the run
            return Record(
                identity=identity,
                names=_names(header.get("names"), identity.x0, store.path),
                header={name: value for name, value in header.items() if name in _SHOWN},
                finish=store.finish(),
                queries=queries,
                steps=list(_steps(store, identity.x0.ravel())),
                in_flight=asked
                - (len(queries) if goes_on else sum(query.failure is None for query in queries)),
                reasked=again,
                aside=aside,
            )
    finally:
        store.close()


_SHOWN = ("library", "created", "limits")


def _names(given: object, x0: FloatArray, path: Path) -> Names:
    if given is None:
        return Names(x0.shape)
    if isinstance(given, list) and len(given) == x0.size and all(isinstance(name, str) for name in given):
        return Names(x0.shape, given)
    raise JournalError(f"{path} is damaged: it does not have one name a coordinate")


def _shown(value: Any) -> Any:
    """Return a value as numbers."""
    return np.frombuffer(value, "<f8").tolist() if isinstance(value, bytes) else value


def _steps(store: Store, x0: FloatArray) -> Iterator[Step]:
    x = x0.copy()
    columns = "step, queries, value, indices, coordinates"
    for step, queries, value, indices, coordinates in store.rows(
        f"SELECT {columns} FROM moves ORDER BY step"
    ):
        try:
            where = slice(None) if indices is None else np.frombuffer(indices, "<u4")
            x[where] = np.frombuffer(coordinates, "<f8")
        except (TypeError, ValueError, IndexError) as error:
            raise JournalError(f"{store.path} is damaged: step {step} is unreadable") from error
        yield Step(step, queries, value, x.copy())
