"""One writer at a time.

The lock is a POSIX record lock (on Windows, a byte-range lock) on a file of
its own beside the journal. The operating system drops it when the process
dies, however it dies; worker processes that were forked meanwhile and outlive
it do not inherit it. It is not on the journal itself, since a process that
closes any handle of a file loses its record locks there, SQLite's included.
Record locks do not exclude the process that holds them, and are lost when any
handle of the file is closed there: hence `_LOCKED`, which is asked first.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from pathlib import Path

from gracezo.core.interrupts import DelayedSignals
from gracezo.journal.errors import JournalError
from gracezo.journal.place import real

_LOCKED: set[Path] = set()
_HOLDING = threading.Lock()


class WriterLock:
    """The right to write a journal, held until `release`, or until nobody knows of it any more.

    (An interrupt can come between its making and whoever would release it.)
    """

    def __init__(self, journal: Path) -> None:
        place = real(journal)
        self._path = place.with_name(place.name + "-lock")
        self._handle: int | None = None
        self._process = os.getpid()
        with DelayedSignals():
            with _HOLDING:
                if self._path in _LOCKED:
                    raise JournalError(f"{journal} is being written by another run of this process")
                _LOCKED.add(self._path)
            try:
                self._handle = self._locked(journal)
            finally:
                if self._handle is None:
                    _LOCKED.discard(self._path)

    def _locked(self, journal: Path) -> int:
        while True:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
            if not _try_lock(handle):
                os.close(handle)
                raise JournalError(f"{journal} is being written by another process")
            if self._current(handle):
                return handle
            os.close(handle)  # its last owner removed the file after we had opened it

    def _current(self, handle: int) -> bool:
        try:
            return os.path.samestat(os.fstat(handle), self._path.stat())
        except FileNotFoundError:
            return False

    @property
    def inherited(self) -> bool:
        """Whether another process holds it, of which this one is a fork."""
        return os.getpid() != self._process

    def release(self) -> None:
        """Let others write."""
        with DelayedSignals():
            if self._handle is None or self.inherited:
                return
            if sys.platform != "win32":  # there, an open file cannot be removed; it stays, and harms nobody
                with suppress(OSError):  # nor does it elsewhere, in a folder that has become read-only
                    self._path.unlink()
            os.close(self._handle)
            self._handle = None
            _LOCKED.discard(self._path)  # at last: another thread that opened the file now would end the lock

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.release()


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
