"""Where each query of a journal was asked: a replay finds it again, until it leaves the record."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gracezo.core.errors import EvaluationError
from gracezo.core.run import Answer
from gracezo.core.types import FloatArray, IntArray
from gracezo.journal.digest import Digest
from gracezo.journal.reading import Record
from gracezo.journal.store import failed
from gracezo.report.replay import begun


class Asked(NamedTuple):
    """Queries that have a value, by their numbers: the points, one a row, and the values."""

    queries: IntArray
    points: FloatArray
    values: FloatArray


def asked(record: Record) -> Asked:
    """Return all queries of a run whose points its method asks for again; no function is called.

    Those after the first that this version of the method would ask elsewhere are left out: nothing says where
    they were. For a function that takes a seed, each point is there as often as it was asked.

    Examples
    --------
    >>> import gracezo, tempfile
    >>> from gracezo.journal.reading import read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = folder + "/run.db"
    ...     result = gracezo.minimize(sum, [1.0, 2.0], method="fdsa", max_queries=4, journal=journal)
    ...     queries, points, values = asked(read(journal))
    >>> queries.tolist(), points[1].tolist(), [sum(x) for x in points] == values.tolist()
    ([1, 2, 3, 4], [1.000001, 2.0], True)
    """
    return max((_followed(record, random) for random in (False, True)), key=lambda found: len(found.queries))


def _followed(record: Record, random: bool) -> Asked:
    """Replay as a run of a function that takes a seed, or of one that does not: the record does not say."""
    run, digest = begun(record, random, lambda run, to: None), Digest()
    points: list[FloatArray] = []
    found: list[int] = []
    values: list[float | list[float]] = []
    place = 0
    for recorded in record.digests:
        ask = run.next()
        if ask is None or digest(ask) != recorded:
            break
        given = record.queries[place : place + len(ask)]
        place += len(ask)
        if len(given) < len(ask) or given[-1].query != place:
            break  # some have no answer
        answers: list[Answer] = []
        for row, query in enumerate(given):
            if query.value is None:
                answers.append((row, failed(query.failure or "failed", query.lost)))
                continue
            answers.append((row, np.array(query.value) if isinstance(query.value, list) else query.value))
            found.append(query.query)
            points.append(ask.point(row))
            values.append(query.value)
        try:
            run.record(answers)
        except EvaluationError:
            break
    size = record.identity.x0.size
    return Asked(np.array(found, np.int64), np.array(points).reshape(len(points), size), np.array(values))
