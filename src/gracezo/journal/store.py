"""What a journal holds, in words of a run.

- What is asked is a row of `asks`, committed before it is sent; each value is
  a row of `answers`, committed before the algorithm can see it.
- `moves` holds the iterates, each as the coordinates that changed since the
  last one that was kept. People read it; a replay does not need it. Where every
  step changes every coordinate, not all are kept: see `MOVE_BYTES`.
- Rows are only ever added; the latest of the same key is the one that counts.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from gracezo.core.errors import EvaluationFailure, Lost
from gracezo.core.result import Result
from gracezo.core.run import Answer, Outcome
from gracezo.core.types import FloatArray
from gracezo.journal import results
from gracezo.journal.file import JournalFile
from gracezo.journal.identity import Identity
from gracezo.journal.schema import COLUMNS
from gracezo.journal.values import recalled, stored

MOVE_BYTES = 64  # what iterates may take for each query, beside 8 bytes for each coordinate
_NO_END = 2**62


@dataclass(frozen=True)
class StoredAsk:
    """An ask as its latest row has it; its answers are among the entries from `entry` up to `until`."""

    id: int
    role: str
    rows: int
    digest: int
    at_once: int
    reasked: int
    curtailed: int | None
    aside: int
    entry: int
    until: int = _NO_END


@dataclass(frozen=True)
class Finished:
    """How a run ended; `late` if its time had passed, after so many `iterates`, x0 among them."""

    status: int
    message: str
    late: bool
    iterates: int


class Store:
    """The record of one run in a journal file."""

    def __init__(self, file: JournalFile) -> None:
        self.file = file
        self._asks = {} if file.empty else self._read_asks()  # all of them, those set aside too
        self._room = 0  # bytes that iterates may take beside those that queries earn
        self._kept: FloatArray | None = None  # the last iterate whose coordinates are in the file
        self._undone = 0  # how often writes had failed by then

    @classmethod
    def writing(cls, path: Path, durable: str) -> Store:
        """Open a journal for writing, or an empty file that is to become one."""
        return cls(JournalFile.writing(path, durable))

    @classmethod
    def reading(cls, path: Path) -> Store:
        """Open a journal for reading, while a run may be writing it."""
        return cls(JournalFile.reading(path))

    # ------------------------------------------------------------ the header

    def create(self, identity: Identity, others: dict[str, Any]) -> None:
        """Write schema and header, all or nothing."""
        x0 = np.ascontiguousarray(identity.x0, "<f8")
        self.file.create()
        self.put(
            **others,
            fingerprint=identity.fingerprint,
            parts=identity.parts,
            arguments=identity.arguments,
            shape=list(x0.shape),
            x0=x0.tobytes(),
        )
        self.file.begin_log()
        self._room = x0.nbytes
        self._kept = identity.x0.ravel()

    def put(self, **header: Any) -> None:
        """Write entries of the header, and commit: bytes as they are, anything else as JSON."""
        cells = {k: value if isinstance(value, bytes) else json.dumps(value) for k, value in header.items()}
        self.file.add("header", list(cells.items()))

    def header(self) -> dict[str, Any]:
        """Return the latest of each entry of the header."""
        latest = dict(self.file.rows("SELECT name, value FROM header ORDER BY entry"))
        with self.file.reporting_damage():
            return {k: cell if isinstance(cell, bytes) else json.loads(cell) for k, cell in latest.items()}

    def identity(self) -> Identity:
        """Return which run this is."""
        header = self.header()
        with self.file.reporting_damage():
            x0 = np.frombuffer(header["x0"], "<f8").astype(np.float64).reshape(header["shape"])
            return Identity(header["fingerprint"], x0, header["arguments"], header["parts"])

    def finish(self) -> Finished | None:
        """Return how the run ended, or None if it has not."""
        given = self.header().get("finish")
        with self.file.reporting_damage():
            known = [field.name for field in fields(Finished)]
            return None if given is None else Finished(**{name: given[name] for name in known})

    def put_finish(self, finish: Finished | None, result: Result | None) -> None:
        """Write how the run ended and with what result, or that it goes on."""
        told = None if finish is None else asdict(finish)
        packed = None if result is None else results.packed(result, self.identity().x0)
        if packed is None:
            self.put(finish=told, result=None)
        else:
            self.put(finish=told, result=packed[0], arrays=packed[1])

    def result(self) -> Result | None:
        """Return the result of the run as it was stored when the run ended."""
        header = self.header()
        if header.get("result") is None:
            return None
        with self.file.reporting_damage():
            return results.unpacked(header["result"], header["arrays"], self.identity().x0)

    # ------------------------------------------------------------ what is asked and answered

    def asks(self) -> list[StoredAsk]:
        """Return what was asked and is on the path of the run, in order."""
        path = [ask for ask in self._asks.values() if not ask.aside]
        nexts = [ask.entry for ask in path[1:]]
        return [replace(ask, until=until) for ask, until in zip(path, [*nexts, _NO_END], strict=False)]

    def _read_asks(self) -> dict[int, StoredAsk]:
        asks: dict[int, StoredAsk] = {}
        rows = self.file.rows(f"SELECT {', '.join(COLUMNS['asks'])}, entry FROM asks ORDER BY entry")
        with self.file.reporting_damage():
            for *cells, entry in rows:
                known = asks.get(cells[0])
                asks[cells[0]] = StoredAsk(*(*cells, entry if known is None else known.entry))
        return asks

    def answered(self) -> int:
        """Return how many values are recorded."""
        ((count,),) = self.file.rows("SELECT count(*) FROM queries WHERE failure IS NULL")
        return int(count)

    def answers(self, ask: StoredAsk) -> dict[int, Outcome]:
        """Return what is recorded for the rows of an ask: a value, or why there is none."""
        rows = self.file.rows(
            "SELECT row, value, failure, lost FROM answers "
            "WHERE entry > ? AND entry < ? AND ask = ? ORDER BY entry",
            ask.entry,
            ask.until,
            ask.id,
        )
        with self.file.reporting_damage():
            return {
                row: recalled(value) if failure is None else failed(failure, lost)
                for row, value, failure, lost in rows
            }

    def write_ask(self, role: str, rows: int, digest: int, at_once: int, curtailed: int | None) -> int:
        """Write what is about to be sent, and return its id."""
        number = len(self._asks) + 1
        self._state(StoredAsk(number, role, rows, digest, at_once, 0, curtailed, 0, self.file.entries + 1))
        return number

    def ask_again(self, ask: int, count: int, at_once: int) -> None:
        """Note that rows whose values were lost in flight are about to be sent again."""
        known = self._asks[ask]
        self._state(replace(known, reasked=known.reasked + count, at_once=at_once))

    def in_flight(self, ask: int, count: int) -> None:
        """Note how many rows of an ask are in flight, or about to be."""
        self._state(replace(self._asks[ask], at_once=count))

    def grow(self, ask: int, rows: int, digest: int) -> None:
        """Let an ask that the budget had cut short have all its rows; the new ones are not sent yet."""
        self._state(replace(self._asks[ask], rows=rows, digest=digest, at_once=0, curtailed=None))

    def set_aside(self, ask: int) -> None:
        """Take an ask and all after it off the path; their values stay in the file."""
        self._state(*(replace(known, aside=1) for known in self._asks.values() if known.id >= ask))

    def _state(self, *asks: StoredAsk) -> None:
        self.file.stay()
        self.file.add("asks", [tuple(getattr(ask, name) for name in COLUMNS["asks"]) for ask in asks])
        self._asks |= {ask.id: ask for ask in asks}

    def write_answers(self, ask: int, answers: Sequence[Answer]) -> None:
        """Write values that became known together."""
        now = time.time()
        self.file.add(
            "answers",
            [
                (ask, row, None, str(outcome), _lost(outcome), now)
                if isinstance(outcome, EvaluationFailure)
                else (ask, row, stored(outcome), None, 0, now)
                for row, outcome in answers
            ],
        )

    # ------------------------------------------------------------ the iterates

    def recall_moves(self, x0: FloatArray, budget: int | None) -> dict[int, bool]:
        """Get ready to write further iterates of a recorded run.

        Returns the steps that are recorded, x0 being step 0, less those that another budget has led to; and
        whether they have their coordinates.
        """
        ((used,),) = self.file.rows(
            "SELECT ifnull(sum(ifnull(length(indices), 0) + ifnull(length(coordinates), 0)), 0) FROM moves"
        )
        self._room = x0.nbytes - used
        self._kept = x0
        rows = self.file.rows(
            "SELECT step, coordinates IS NOT NULL, curtailed, max(entry) FROM moves GROUP BY step"
        )
        return {step: bool(kept) for step, kept, curtailed, _ in rows if curtailed in (None, budget)}

    def kept(self, x: FloatArray) -> None:
        """Note that a replay has come to an iterate whose coordinates are in the file."""
        self._kept = x

    def write_move(self, step: int, queries: int, value: float, curtailed: int | None, x: FloatArray) -> None:
        """Write an iterate; it is committed with the next write, before anything is sent.

        Its coordinates are written too if there is room for them: those that have changed since the last
        iterate that has them, or all.
        """
        assert self._kept is not None
        changed = np.flatnonzero(x != self._kept)
        sparse = self._undone == self.file.undone and 3 * len(changed) < 2 * len(x)
        size = 12 * len(changed) if sparse else 8 * len(x)
        if size <= self._room + MOVE_BYTES * queries:
            indices = changed.astype("<u4").tobytes() if sparse else None
            coordinates = (x[changed] if sparse else x).astype("<f8").tobytes()
            self._room -= size
            self._kept, self._undone = x, self.file.undone
        else:
            indices = coordinates = None
        self.file.add("moves", [(step, queries, float(value), curtailed, indices, coordinates)], commit=False)


_BLAMED, _BESIDE = 1, 2  # an evaluation was lost with the worker that it ended, or that another one did


def _lost(failure: EvaluationFailure) -> int:
    if not isinstance(failure, Lost):
        return 0
    return _BLAMED if failure.blamed else _BESIDE


def failed(why: str, lost: int) -> EvaluationFailure:
    """Return a failure as it was: one that was lost with its worker may be asked again."""
    return Lost(why, blamed=lost == _BLAMED) if lost else EvaluationFailure(why)
