"""One writer at a time.

The lock is a POSIX record lock (on Windows, a byte-range lock) on a file of
its own beside the journal. The operating system drops it when the process
dies, however it dies; worker processes that were forked meanwhile and outlive
it do not inherit it. It is not on the journal itself, since a process that
closes any handle of a file loses its record locks there, SQLite's included.
Record locks do not exclude the process that holds them, hence `_HELD`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from gracezo.journal.errors import JournalError

_HELD: set[Path] = set()


class WriterLock:
    """The right to write a journal, held until `release`."""

    def __init__(self, journal: Path) -> None:
        real = journal.resolve()
        self._path = real.with_name(real.name + "-lock")
        if self._path in _HELD:
            raise JournalError(f"{journal} is being written by another run of this process")
        while True:
            self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
            if not _try_lock(self._handle):
                os.close(self._handle)
                raise JournalError(f"{journal} is being written by another process")
            if self._current():
                break
            os.close(self._handle)  # its last owner removed the file after we had opened it
        _HELD.add(self._path)

    def _current(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._handle), self._path.stat())
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Let others write."""
        _HELD.discard(self._path)
        if sys.platform != "win32":  # there, an open file cannot be removed; it stays, and harms nobody
            self._path.unlink(missing_ok=True)
        os.close(self._handle)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        return True
