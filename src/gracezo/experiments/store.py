"""Finished runs on disk: one small file a run, complete or not there.

A folder belongs to the version of the library that made its first run: figures of two versions are
never mixed. Files are written beside their place and renamed, so a reader meets no torn file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import BadZipFile

import numpy as np

import gracezo
from gracezo.experiments.runs import Job, Record

_MARK = "gracezo-results.json"


class FolderError(RuntimeError):
    """A results folder that cannot be used; the message is one line for people."""


class Store:
    """A results folder.

    Parameters
    ----------
    folder
        Where it is; made when it is not there.

    Raises
    ------
    FolderError
        It cannot be written, or another version of the library made it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[str, Record] = {}
        mark = folder / _MARK
        try:
            folder.mkdir(parents=True, exist_ok=True)
            said = mark.read_text(encoding="utf-8") if mark.exists() else _said(folder)
            _check_version(folder, said)
            self.write(_MARK, said)  # also tells whether the folder can be written now
        except OSError as error:
            raise FolderError(f"{folder}: cannot be written: {error.strerror or error}") from error

    def get(self, job: Job) -> Record | None:
        """Return the record of a run, or None if it is still to be made."""
        name = job.name
        if name not in self._known:
            path = self._path(job)
            if not path.exists():
                return None
            self._known[name] = _read(path, job)
        return self._known[name]

    def about(self) -> Iterator[dict[str, Any]]:
        """Yield what every run in the folder says about itself, without its trace."""
        for path in sorted(self.folder.glob("runs/*/*/*.npz")):
            yield _about(path)

    def put(self, record: Record) -> None:
        """Keep a finished run."""
        path = self._path(record.job)
        about = {
            "job": asdict(record.job),
            "nfev": record.nfev,
            "nit": record.nit,
            "status": record.status,
            "message": record.message,
            "seconds": record.seconds,
            "made_with": record.made_with,
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        with _in_one_piece(path) as file:
            np.savez_compressed(
                file, about=np.array(json.dumps(about)), queries=record.queries, values=record.values
            )
        self._known[record.job.name] = record

    def write(self, name: str, text: str) -> Path:
        """Write a text file into the folder."""
        path = self.folder / name
        with _in_one_piece(path) as file:
            file.write(text.encode())
        return path

    def _path(self, job: Job) -> Path:
        return self.folder / "runs" / f"{job.name}.npz"


@contextmanager
def _in_one_piece(path: Path) -> Iterator[BinaryIO]:
    """Give a file that takes its place only when it is complete and durable."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _said(folder: Path) -> str:
    """Return the mark of a folder that has none yet."""
    unknown = (folder / "runs").exists()
    return json.dumps({"gracezo": None if unknown else gracezo.__version__}) + "\n"


def _check_version(folder: Path, text: str) -> None:
    try:
        said: Any = json.loads(text)
    except ValueError:
        said = None
    made_by = said.get("gracezo") if isinstance(said, Mapping) else None
    if made_by != gracezo.__version__:
        whose = f"gracezo {made_by}" if isinstance(made_by, str) else "an unknown version"
        raise FolderError(
            f"{folder}: these results were made by {whose}, this is gracezo {gracezo.__version__}; "
            "choose another folder with --out"
        )


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            yield arrays
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise FolderError(f"{path}: not a record of a run; delete it to repeat the run") from error


def _about(path: Path) -> dict[str, Any]:
    with _opened(path) as arrays:
        about: dict[str, Any] = json.loads(str(arrays["about"]))
        return about


def _read(path: Path, job: Job) -> Record:
    about = _about(path)
    with _opened(path) as arrays:
        return Record(
            job=job,
            queries=arrays["queries"],
            values=arrays["values"],
            nfev=about["nfev"],
            nit=about["nit"],
            status=about["status"],
            message=about["message"],
            seconds=about["seconds"],
            made_with=about["made_with"],
        )
