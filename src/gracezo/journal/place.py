"""Where a journal is: a path means the file of that name, whatever signs are in it."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from urllib.parse import quote

from gracezo.journal.errors import JournalError
from gracezo.journal.schema import APPLICATION


def real(path: Path) -> Path:
    """Return the absolute path of the file itself, at the end of all links.

    SQLite takes ":memory:" and "file:..." for something else than a file, and looks for the log beside the
    name that it is given: an absolute path without links leaves nothing to be taken otherwise.
    """
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:  # links in a circle: a RuntimeError before Python 3.13
        raise JournalError(f"cannot read the journal {path}: its links lead in a circle") from error
    except ValueError as error:
        raise JournalError(f"a journal needs the path of a file; given: {str(path)!r} ({error})") from error


def address(path: Path, **parameters: str) -> str:
    """Return the address by which SQLite opens a real path with parameters."""
    said = "&".join(f"{name}={value}" for name, value in parameters.items())
    return f"file:{quote(os.fsencode(path))}?{said}"


def look(path: Path) -> None:
    """Refuse, before SQLite touches it, what is no file, no database, or another one's."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise JournalError(f"cannot read the journal {path}: Is a directory")
        if not stat.S_ISREG(status.st_mode):
            raise JournalError(f"cannot read the journal {path}: it is not a file")
        if status.st_nlink > 1:
            raise JournalError(
                f"{path} has {status.st_nlink} names (hard links), and SQLite would keep a log beside each: "
                f"leave it one"
            )
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
