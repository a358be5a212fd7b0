"""Finished runs on disk: one small file a run, complete or not there.

A folder belongs to the version of the library that made its first run: figures of two versions are
never mixed. Files are written beside their place and renamed, so a reader meets no torn file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any
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
            if mark.exists():
                _check_version(folder, mark.read_text(encoding="utf-8"))
            else:
                if (folder / "runs").exists():
                    raise FolderError(
                        f"{folder}: there are runs here, but no {_MARK} that says which version made them; "
                        "choose another folder with --out"
                    )
                self.write(_MARK, json.dumps({"gracezo": gracezo.__version__}) + "\n")
            # An old mark says nothing about the right to write now.
            self.write(_MARK, mark.read_text(encoding="utf-8"))
        except OSError as error:
            raise FolderError(f"{folder}: cannot be written: {error.strerror or error}") from error

    def get(self, job: Job) -> Record | None:
        """Return the record of a run, or None if it is still to be made."""
        name = job.name
        if name not in self._known:
            path = self._path(job)
            if not path.exists():
                return None
            try:
                self._known[name] = _read(path, job)
            except (OSError, ValueError, KeyError, BadZipFile) as error:
                raise FolderError(f"{path}: not a record of a run; delete it to repeat the run") from error
        return self._known[name]

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
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with temporary.open("wb") as file:
                np.savez_compressed(
                    file, about=np.array(json.dumps(about)), queries=record.queries, values=record.values
                )
            _into_place(temporary, path)
        except OSError as error:
            raise FolderError(f"{path}: cannot be written: {error.strerror or error}") from error
        self._known[record.job.name] = record

    def write(self, name: str, text: str) -> Path:
        """Write a text file into the folder."""
        path = self.folder / name
        temporary = path.with_name(f".{name}.{os.getpid()}")
        temporary.write_text(text, encoding="utf-8")
        _into_place(temporary, path)
        return path

    def _path(self, job: Job) -> Path:
        return self.folder / "runs" / f"{job.name}.npz"


def _into_place(temporary: Path, path: Path) -> None:
    """Make a file durable, then visible."""
    try:
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _check_version(folder: Path, text: str) -> None:
    try:
        said: Any = json.loads(text)
    except ValueError:
        said = None
    made_by = said.get("gracezo") if isinstance(said, Mapping) else None
    if made_by != gracezo.__version__:
        whose = f"gracezo {made_by}" if isinstance(made_by, str) else "something else"
        raise FolderError(
            f"{folder}: these results were made by {whose}, this is gracezo {gracezo.__version__}; "
            "choose another folder with --out"
        )


def _read(path: Path, job: Job) -> Record:
    with np.load(path, allow_pickle=False) as arrays:
        about = json.loads(str(arrays["about"]))
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
