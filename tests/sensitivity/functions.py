"""Functions that other processes can import."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np

import gracezo
from gracezo.core.types import FloatArray

BOX = [(0.0, 1.0)] * 200
MATTER = [3, 50, 120, 199]


def bent(x: FloatArray) -> float:
    """Four of 200 coordinates matter, two of them together."""
    return float(10.0 * np.sin(np.pi * x[3] * x[50]) + 6.0 * x[120] + np.exp(2.0 * x[199]))


def many(points: FloatArray) -> FloatArray:
    """The same of many points at once."""
    return np.array([bent(x) for x in points])


def steps(x: FloatArray) -> float:
    """The same in whole numbers: no small step shows anything."""
    return float(np.floor(bent(x)))


def three(x: FloatArray) -> FloatArray:
    """Three outputs, one of them constant."""
    return np.array([bent(x), 1e6 * x[120] * x[199], 7.0])


class Counted:
    """A function, each call a byte in a file; the process is killed at one of them."""

    fingerprint = "bent, counted"

    def __init__(self, folder: Path, last: int | None = None) -> None:
        self.file = folder / "calls"
        self.last = last

    @property
    def calls(self) -> int:
        """How often it was called, in all processes."""
        return self.file.stat().st_size

    def __call__(self, x: FloatArray) -> float:
        with self.file.open("ab") as file:
            file.write(b".")
        if self.calls == self.last:
            os.kill(os.getpid(), signal.SIGKILL)
        return bent(x)


def screened(folder: Path, last: int | None = None) -> gracezo.Screening:
    """Screen with a journal in the folder, from where it is."""
    return gracezo.screen(Counted(folder, last), bounds=BOX, journal=folder / "screen.db", seed=3, batch=4)


def searched(folder: Path, last: int | None = None) -> gracezo.Result:
    """Search the box with a journal in the folder, from where it is."""
    return gracezo.minimize(
        Counted(folder, last),
        np.full(200, 0.7),
        method="global",
        bounds=BOX,
        max_queries=150,
        journal=folder / "global.db",
        seed=3,
        batch=4,
    )
