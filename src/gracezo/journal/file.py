"""A journal as a file: SQLite in WAL mode, numbers and text only, rows that are only ever added.

- A write is committed, that is, in the hands of the operating system, when `add`
  returns: it outlives the process. With ``durable="power"`` it is on the disk.
- A file is used only if it says that it is a journal (`APPLICATION`), its
  schema is letter by letter the one in `schema` (there is no trigger, view or
  expression of a stranger that SQLite could run), and every sum fits.
- Whatever SQLite or the contents of a file can cause is one line: a
  `JournalError`, or a `JournalWriteError` with nothing half done.
"""

from __future__ import annotations

import heapq
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from operator import itemgetter
from pathlib import Path
from typing import Any

from gracezo.journal.chain import Broken, Cell, Chain, verify
from gracezo.journal.errors import JournalError, JournalWriteError
from gracezo.journal.place import address, look, real
from gracezo.journal.schema import APPLICATION, EARLIER, SCHEMA, SCHEMA_VERSION, TABLES

_SYNCHRONOUS = {"process": "NORMAL", "power": "FULL"}
_INSERT = {
    table: f"INSERT INTO {table} VALUES ({', '.join('?' * (len(columns) + 2))})"
    for table, columns in TABLES.items()
}


class JournalFile:
    """A journal file that is open: for one writer, or for reading only."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self.undone = 0  # how often a write has failed, and with it what waited for its commit
        self._connection = connection
        self._chain = Chain()
        self._place: tuple[Path, int, int] | None = None  # where it is, and which file that was

    # ------------------------------------------------------------ opening

    @classmethod
    def writing(cls, path: Path, durable: str) -> JournalFile:
        """Open a journal for writing, or an empty file that is to become one."""
        place = real(path)
        look(place)
        with _reading(path):
            file = cls(path, sqlite3.connect(place, isolation_level=None))
            try:
                file._examine()
                # One process writes and commits tiny transactions: a larger log is emptied more rarely.
                file._connection.execute("PRAGMA wal_autocheckpoint = 4000")
                file._connection.execute(f"PRAGMA synchronous = {_SYNCHRONOUS[durable]}")
                if not file.empty:
                    file._connection.execute("PRAGMA journal_mode = WAL")
                    file.verify()
            except BaseException:
                file.close()
                raise
        return file

    @classmethod
    def reading(cls, path: Path) -> JournalFile:
        """Open a journal for reading, while a run may be writing it."""
        place = real(path)
        if not place.exists():
            raise JournalError(f"there is no journal at {path}")
        look(place)
        with _reading(path):
            # Without a log beside it the file is complete, and can be read in a folder that is read-only.
            logged = place.with_name(place.name + "-wal").exists()
            where = address(place, mode="ro") if logged else address(place, mode="ro", immutable="1")
            file = cls(path, sqlite3.connect(where, uri=True, isolation_level=None))
            try:
                file._examine()
                if file.empty:
                    raise JournalError(f"{path} is empty")
            except BaseException:
                file.close()
                raise
        return file

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
            why = "it was written by a later gracezo" if version > SCHEMA_VERSION else EARLIER
            raise JournalError(
                f"{self.path} has journal format {version}, this gracezo reads format {SCHEMA_VERSION}: {why}"
            )
        if found != SCHEMA:
            raise JournalError(f"{self.path} is damaged: its tables are not those of a journal")
        (verdict,) = ask("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise JournalError(f"{self.path} is damaged: {' '.join(str(verdict).split())}")

    def close(self) -> None:
        """Close the file, with what waits for its commit."""
        with suppress(sqlite3.Error):
            if (
                self._connection.in_transaction and self._chain.entries
            ):  # tables without a header are no journal
                self._commit()
        self._connection.close()

    # ------------------------------------------------------------ writing

    def create(self) -> None:
        """Write the schema, to be committed with the first rows."""
        with self._writing():
            self._connection.execute("BEGIN")
            for statement in SCHEMA.values():
                self._connection.execute(statement)
            self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
            self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            self._connection.execute("INSERT INTO head VALUES (1, 0, 0)")

    def begin_log(self) -> None:
        """Write to a log beside the file from now on; until now it said itself what it is."""
        with self._writing():
            self._connection.execute("PRAGMA journal_mode = WAL")

    def stay(self) -> None:
        """Refuse to go on when the file is not in its place any more: what is written would be nowhere."""
        where = real(self.path) if self._place is None else self._place[0]
        try:
            status = os.stat(where)
        except OSError as error:
            raise self._moved(error.strerror or str(error)) from error
        if self._place is None:
            self._place = where, status.st_dev, status.st_ino
        elif self._place[1:] != (status.st_dev, status.st_ino):
            raise self._moved("another file is in its place")

    def _moved(self, how: str) -> JournalWriteError:
        return JournalWriteError(
            f"cannot write the journal {self.path} any more: it was removed or replaced while the run "
            f"went on ({how})"
        )

    @property
    def entries(self) -> int:
        """How many entries there are."""
        return self._chain.entries

    def add(self, table: str, rows: Sequence[tuple[Cell, ...]], *, commit: bool = True) -> None:
        """Add rows to a table, in one transaction with what waits for its commit."""
        connection, chain = self._connection, self._chain
        try:
            if not connection.in_transaction:
                connection.execute("BEGIN")
            connection.executemany(_INSERT[table], [chain.add(table, row) for row in rows])
            if commit:
                self._commit()
        except BaseException as error:  # an interrupt may come anywhere
            self._undo(error)
            raise

    def _commit(self) -> None:
        chain = self._chain
        self._connection.execute("UPDATE head SET entries = ?, sum = ?", (chain.entries, chain.sum))
        self._connection.commit()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            self._undo(error)
            raise

    def _undo(self, error: BaseException) -> None:
        """Leave nothing half done, and say in one line what SQLite says."""
        self.undone += 1
        with suppress(sqlite3.Error):
            self._connection.rollback()
            self._chain = Chain(*self._connection.execute("SELECT entries, sum FROM head").fetchone())
        if isinstance(error, sqlite3.Error):
            raise JournalWriteError(f"cannot write the journal {self.path}: {error}") from error

    # ------------------------------------------------------------ reading

    @property
    def empty(self) -> bool:
        """Whether nothing has been written yet."""
        with _reading(self.path):
            return self._connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None

    def verify(self) -> int:
        """Check every sum, and return how many entries there are."""
        with self.reporting_damage():
            heads = self._connection.execute("SELECT entries, sum FROM head").fetchall()
            if len(heads) != 1:
                raise JournalError(f"{self.path} is damaged: it does not say how many entries it has")
            try:
                self._chain = verify(self._in_order(), *heads[0])
            except Broken as broken:
                raise JournalError(f"{self.path} is damaged: {broken}") from broken
        return self.entries

    def _in_order(self) -> Iterator[tuple[str, tuple[Cell, ...]]]:
        """Yield every row of every table, in the order of writing."""

        def rows(table: str) -> Iterator[tuple[int, str, tuple[Cell, ...]]]:
            for row in self._connection.execute(f"SELECT * FROM {table} ORDER BY entry"):
                yield row[0], table, row

        for _, table, row in heapq.merge(*map(rows, TABLES), key=itemgetter(0)):
            yield table, row

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read all within from one moment of a file that another process is writing."""
        with _reading(self.path):
            self._connection.execute("BEGIN")
            yield
            self._connection.rollback()

    def rows(self, query: str, *values: Cell) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self.reporting_damage():
            return self._connection.execute(query, values).fetchall()

    @contextmanager
    def reporting_damage(self) -> Iterator[None]:
        """Turn whatever the contents of a file can cause into one line."""
        with _reading(self.path):
            try:
                yield
            except JournalError:
                raise
            except (KeyError, IndexError, TypeError, ValueError, OverflowError, RecursionError) as error:
                said = " ".join(str(error).split())[:200]
                raise JournalError(f"{self.path} is damaged: {type(error).__name__}, {said}") from error


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn what SQLite says about a file that it cannot read into one line."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise JournalError(f"cannot read the journal {path}: {error}") from error
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise JournalError(f"{path} is damaged: {error}") from error
