"""Runs on disk, one file each: what was run is never run again, and a stopped profile goes on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Job:
    """One run that the profile wants: a problem, a method, one of its settings."""

    problem: str
    method: str
    setting: str

    def file(self, folder: Path) -> Path:
        """Return where its record is kept."""
        return folder / self.problem / f"{self.method}@{self.setting}.json"


@dataclass(frozen=True)
class Record:
    """What came of one run.

    Attributes
    ----------
    job
        What was run.
    d, s, budget, floor
        The problem and what the method could spend on it.
    queries
        What it spent.
    reached
        The query at which each of `meter.LEVELS` was first reached, as far as they were.
    best
        The least value of any call.
    seconds, inside
        Processor time in all, and inside the function.
    ended
        What ended it: "target", "budget", "itself", or an error.
    """

    job: Job
    d: int
    s: int
    budget: int
    floor: float
    queries: int
    reached: list[int]
    best: float
    seconds: float
    inside: float
    ended: str

    def save(self, folder: Path) -> None:
        """Write the record; it is there whole or not at all."""
        file = self.job.file(folder)
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(".tmp")
        draft.write_text(json.dumps(asdict(self)), encoding="utf-8")
        os.replace(draft, file)


def load(file: Path) -> Record:
    """Read one record."""
    content = json.loads(file.read_text(encoding="utf-8"))
    return Record(**{**content, "job": Job(**content["job"])})


def load_all(folder: Path) -> Iterator[Record]:
    """Read all records of a folder."""
    for file in sorted(folder.glob("*/*.json")):
        yield load(file)
