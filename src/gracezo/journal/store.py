"""The file of a journal: SQLite in WAL mode, numbers and text only.

- What is asked is a row of `asks`, committed before it is sent; each value is
  a row of `answers`, committed before the algorithm can see it. A commit is
  in the hands of the operating system, so it outlives the process; with
  ``durable="power"`` it is on the disk.
- `moves` holds the iterates, each as the coordinates that changed since the
  one before. People read it; a replay does not need it.
- A file is used only if it says that it is a journal (`APPLICATION`) and its
  schema is letter by letter the one below: there is no trigger, view or
  expression of a stranger that SQLite could run.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from gracezo.core.errors import EvaluationFailure
from gracezo.core.run import Answer
from gracezo.core.types import FloatArray
from gracezo.journal.errors import JournalError, JournalWriteError
from gracezo.journal.identity import Identity
from gracezo.journal.values import recalled, stored

APPLICATION = 0x67726365  # "grce"
SCHEMA_VERSION = 2
SCHEMA = {
    "header": "CREATE TABLE header (name TEXT PRIMARY KEY, value) WITHOUT ROWID",
    # at_once: how many rows may be in flight; curtailed: the budget that had refused something before;
    # aside: paid for, but not on the path of a run with the larger budget that came later.
    "asks": "CREATE TABLE asks (id INTEGER PRIMARY KEY, role TEXT, rows INTEGER, digest INTEGER, "
    "at_once INTEGER, reasked INTEGER, curtailed INTEGER, aside INTEGER)",
    # value: see values.py; at: when it was known, in seconds since 1970.
    "answers": "CREATE TABLE answers (ask INTEGER, row INTEGER, value REAL, failure TEXT, at REAL, "
    "PRIMARY KEY (ask, row)) WITHOUT ROWID",
    "moves": "CREATE TABLE moves (step INTEGER PRIMARY KEY, queries INTEGER, value REAL, curtailed INTEGER, "
    "indices BLOB, coordinates BLOB)",
    "queries": "CREATE VIEW queries AS SELECT before + row + 1 AS query, role, value, failure, at "
    "FROM answers JOIN (SELECT id, role, sum(rows) OVER (ORDER BY id) - rows AS before FROM asks "
    "WHERE aside = 0) ON id = ask ORDER BY query",
}
_SYNCHRONOUS = {"process": "NORMAL", "power": "FULL"}


@dataclass(frozen=True)
class StoredAsk:
    """One row of `asks`."""

    id: int
    rows: int
    digest: int
    at_once: int
    reasked: int
    curtailed: int | None


@dataclass(frozen=True)
class Finished:
    """How a run ended; `late` if its time had passed, after so many `iterates`, x0 among them."""

    status: int
    message: str
    late: bool
    iterates: int


class Store:
    """A journal file that is open: for one writer, or for reading only."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._last_ask = 0

    # ------------------------------------------------------------ opening

    @classmethod
    def writing(cls, path: Path, durable: str) -> Store:
        """Open a journal for writing, or an empty file that is to become one."""
        _look(path)
        with _reading(path):
            store = cls(path, sqlite3.connect(path, isolation_level=None))
            try:
                store._prepare(_SYNCHRONOUS[durable])
            except BaseException:
                store.close()
                raise
        return store

    @classmethod
    def reading(cls, path: Path) -> Store:
        """Open a journal for reading, while a run may be writing it."""
        if not path.is_file():
            raise JournalError(f"there is no journal at {path}")
        _look(path)
        with _reading(path):
            # Without a log beside it the file is complete, and can be read in a folder that is read-only.
            settled = "" if path.with_name(path.name + "-wal").exists() else "&immutable=1"
            address = f"file:{quote(str(path.resolve()))}?mode=ro{settled}"
            store = cls(path, sqlite3.connect(address, uri=True, isolation_level=None))
            try:
                store._examine()
                if store.empty:
                    raise JournalError(f"{path} is empty")
            except BaseException:
                store.close()
                raise
        return store

    def _prepare(self, synchronous: str) -> None:
        self._examine()
        # One process writes and commits tiny transactions: a larger log is emptied more rarely.
        self._connection.execute("PRAGMA wal_autocheckpoint = 4000")
        self._connection.execute(f"PRAGMA synchronous = {synchronous}")
        if not self.empty:
            self._connection.execute("PRAGMA journal_mode = WAL")
            (last,) = self._connection.execute("SELECT max(id) FROM asks").fetchone()
            self._last_ask = last or 0

    def _examine(self) -> None:
        """Refuse what is not a journal, before anything is written or believed."""
        ask = self._connection.execute
        ask("PRAGMA trusted_schema = OFF")
        ask("PRAGMA cell_size_check = ON")
        found = dict(ask("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall())
        if not found:
            return
        (version,) = ask("PRAGMA user_version").fetchone()
        if version != SCHEMA_VERSION:
            raise JournalError(
                f"{self.path} has journal format {version}; this gracezo reads format {SCHEMA_VERSION}"
            )
        if found != SCHEMA:
            raise JournalError(f"{self.path} is damaged: its tables are not those of a journal")
        (verdict,) = ask("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise JournalError(f"{self.path} is damaged: {' '.join(str(verdict).split())}")

    def close(self) -> None:
        """Close the file, with what waits for its commit."""
        with suppress(sqlite3.Error):
            self._connection.commit()
        self._connection.close()

    # ------------------------------------------------------------ the header

    @property
    def empty(self) -> bool:
        """Whether nothing has been written yet."""
        return self._connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None

    def create(self, identity: Identity, others: dict[str, Any]) -> None:
        """Write schema and header, all or nothing."""
        x0 = np.ascontiguousarray(identity.x0, "<f8")
        header = others | {"fingerprint": identity.fingerprint, "arguments": identity.arguments}
        with _writing(self.path, self._connection):
            self._connection.execute("BEGIN")
            for statement in SCHEMA.values():
                self._connection.execute(statement)
            self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
            self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            self._connection.execute("INSERT INTO header VALUES ('x0', ?)", (x0.tobytes(),))
        self.put(**header, shape=list(x0.shape))
        with _writing(self.path, self._connection):
            # Only now: so the file itself, and not its log, says from the start what it is.
            self._connection.execute("PRAGMA journal_mode = WAL")

    def put(self, **header: Any) -> None:
        """Write entries of the header, and commit."""
        entries = [(name, json.dumps(value)) for name, value in header.items()]
        self._write("INSERT OR REPLACE INTO header VALUES (?, ?)", entries)

    def header(self) -> dict[str, Any]:
        """Return the header but x0."""
        with self._believing():
            rows = self._connection.execute("SELECT name, value FROM header WHERE name != 'x0'").fetchall()
            return {name: json.loads(value) for name, value in rows}

    def finish(self) -> Finished | None:
        """Return how the run ended, or None if it has not."""
        given = self.header().get("finish")
        with self._believing():
            return None if given is None else Finished(**given)

    def identity(self) -> Identity:
        """Return which run this is."""
        header = self.header()
        with self._believing():
            (blob,) = self._connection.execute("SELECT value FROM header WHERE name = 'x0'").fetchone()
            x0 = np.frombuffer(blob, "<f8").astype(np.float64).reshape(header["shape"])
            name, arguments = header["fingerprint"], header["arguments"]
            if not isinstance(name, str) or not isinstance(arguments, dict) or not isinstance(blob, bytes):
                raise TypeError("an entry of the header is of the wrong kind")
            if isinstance(arguments["seed"], bool) or not isinstance(arguments["seed"], int):
                raise TypeError("the seed is not a whole number")
            return Identity(name, x0, arguments)

    # ------------------------------------------------------------ what is asked and answered

    def asks(self) -> list[StoredAsk]:
        """Return what was asked, in order."""
        columns = "id, rows, digest, at_once, reasked, curtailed"
        with self._believing():
            rows = self._connection.execute(
                f"SELECT {columns} FROM asks WHERE aside = 0 ORDER BY id"
            ).fetchall()
            for row in rows:
                if not all(isinstance(value, int) for value in row[:5]) or row[1] < 1:
                    raise TypeError("a row of asks is not made of whole numbers")
            return [StoredAsk(*row) for row in rows]

    def answered(self) -> int:
        """Return how many values are recorded."""
        ((count,),) = self.rows("SELECT count(*) FROM queries WHERE failure IS NULL")
        return int(count)

    def answers(self, ask: StoredAsk) -> list[tuple[int, float | FloatArray]]:
        """Return the values recorded for an ask, by row."""
        with self._believing():
            found: list[tuple[int, object]] = self._connection.execute(
                "SELECT row, value FROM answers WHERE ask = ? AND failure IS NULL ORDER BY row", (ask.id,)
            ).fetchall()
            for row, value in found:
                if not 0 <= row < ask.rows:
                    raise TypeError(f"the value {value!r} at row {row} of {ask.rows}")
            return [(row, recalled(value)) for row, value in found]

    def failures(self, ask: StoredAsk) -> dict[int, str]:
        """Return why rows of an ask have no value, where the record says so."""
        with self._believing():
            found = dict(
                self._connection.execute(
                    "SELECT row, failure FROM answers WHERE ask = ? AND failure IS NOT NULL ORDER BY row",
                    (ask.id,),
                ).fetchall()
            )
            for row, failure in found.items():
                if not 0 <= row < ask.rows or not isinstance(failure, str):
                    raise TypeError(f"the failure {failure!r} at row {row} of {ask.rows}")
            return found

    def write_ask(self, role: str, rows: int, digest: int, at_once: int, curtailed: int | None) -> int:
        """Write what is about to be sent, and return its id."""
        self._last_ask += 1
        row = (self._last_ask, role, rows, digest, at_once, 0, curtailed, 0)
        self._write("INSERT INTO asks VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [row])
        return self._last_ask

    def ask_again(self, ask: int, count: int, at_once: int) -> None:
        """Note that rows whose values were lost in flight are about to be sent again."""
        row = (count, at_once, ask)
        self._write("UPDATE asks SET reasked = reasked + ?, at_once = ? WHERE id = ?", [row])

    def nothing_in_flight(self, ask: int) -> None:
        """Note that what an ask still lacks was never sent."""
        self._write("UPDATE asks SET at_once = 0 WHERE id = ?", [(ask,)])

    def grow(self, ask: int, rows: int, digest: int) -> None:
        """Let an ask that the budget had cut short have all its rows; the new ones are not sent yet."""
        row = (rows, digest, ask)
        self._write("UPDATE asks SET rows = ?, digest = ?, at_once = 0, curtailed = NULL WHERE id = ?", [row])

    def set_aside(self, ask: int) -> None:
        """Take an ask and all after it off the path; their values stay in the file."""
        self._write("UPDATE asks SET aside = 1 WHERE id >= ?", [(ask,)])

    def write_answers(self, ask: int, answers: Sequence[Answer]) -> None:
        """Write values that became known together."""
        now = time.time()
        rows = [
            (ask, row, None, str(outcome), now)
            if isinstance(outcome, EvaluationFailure)
            else (ask, row, stored(outcome), None, now)
            for row, outcome in answers
        ]
        self._write("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)", rows)

    # ------------------------------------------------------------ the iterates

    def steps(self, budget: int | None) -> int:
        """Return how many iterates are recorded, x0 among them, that another budget has not led to."""
        with self._believing():
            (count,) = self._connection.execute(
                "SELECT count(*) FROM moves WHERE curtailed IS NULL OR curtailed IS ?", (budget,)
            ).fetchone()
            return int(count)

    def forget_moves(self, budget: int | None) -> None:
        """Remove the iterates that another budget than this one has led to."""
        self._write("DELETE FROM moves WHERE curtailed IS NOT NULL AND curtailed IS NOT ?", [(budget,)])

    def write_move(
        self, step: int, queries: int, value: float, curtailed: int | None, before: FloatArray, x: FloatArray
    ) -> None:
        """Write an iterate as what changed; it is committed with the next write, before anything is sent."""
        changed = np.flatnonzero(x != before)
        indices = changed.astype("<u4").tobytes() if 3 * len(changed) < 2 * len(x) else None
        coordinates = (x if indices is None else x[changed]).astype("<f8").tobytes()
        row = (step, queries, value, curtailed, indices, coordinates)
        self._write("INSERT OR REPLACE INTO moves VALUES (?, ?, ?, ?, ?, ?)", [row], commit=False)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read all within from one moment of a file that another process is writing."""
        with _reading(self.path):
            self._connection.execute("BEGIN")
            yield
            self._connection.rollback()

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self._believing():
            return self._connection.execute(query).fetchall()

    # ------------------------------------------------------------ inside

    def _write(self, statement: str, rows: Sequence[tuple[object, ...]], *, commit: bool = True) -> None:
        """Run one statement for each row, in one transaction with what waits for its commit."""
        connection = self._connection
        with _writing(self.path, connection):
            if not connection.in_transaction and (len(rows) > 1 or not commit):
                connection.execute("BEGIN")
            connection.executemany(statement, rows)
            if commit:
                connection.commit()

    @contextmanager
    def _believing(self) -> Iterator[None]:
        """Turn whatever the contents of a file can cause into one line."""
        with _reading(self.path):
            try:
                yield
            except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
                said = " ".join(str(error).split())[:200]
                raise JournalError(f"{self.path} is damaged: {type(error).__name__}, {said}") from error


class _writing:  # a class, since it stands in the way of every value
    """Turn what SQLite says about a file that cannot be written into one line, with nothing half done."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, sqlite3.Error):
            with suppress(sqlite3.Error):
                self._connection.rollback()
            raise JournalWriteError(f"cannot write the journal {self._path}: {error}") from error


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn what SQLite says about a file that it cannot read into one line."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise JournalError(f"cannot read the journal {path}: {error}") from error
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise JournalError(f"{path} is damaged: {error}") from error


def _look(path: Path) -> None:
    """Refuse, before SQLite touches it, a file that is no database or another one's."""
    try:
        with path.open("rb") as file:
            start = file.read(100)
    except FileNotFoundError:
        return
    except OSError as error:
        raise JournalError(f"cannot read the journal {path}: {error.strerror}") from error
    if not start:
        return
    if len(start) < 100 or not start.startswith(b"SQLite format 3\0"):
        raise JournalError(f"{path} is not a journal of gracezo")
    if int.from_bytes(start[68:72], "big") != APPLICATION:
        raise JournalError(f"{path} is a database, but not a journal of gracezo")
