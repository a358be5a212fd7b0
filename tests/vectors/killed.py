"""A fit that kills its process: `python -m tests.vectors.killed FOLDER CALL`, at so many calls in all."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import numpy as np
from tests.vectors.outputs import decays

import gracezo
from gracezo.core.types import FloatArray


class Counted:
    """The decays, each call a byte in a file; the process is killed at one of them."""

    fingerprint = "the decays, counted"

    def __init__(self, folder: Path, last: int | None = None) -> None:
        self.file = folder / "calls"
        self.last = last

    @property
    def calls(self) -> int:
        """How often it was called, in all processes."""
        return self.file.stat().st_size

    def __call__(self, x: FloatArray) -> FloatArray:
        with self.file.open("ab") as file:
            file.write(b".")
        if self.calls == self.last:
            os.kill(os.getpid(), signal.SIGKILL)
        return decays(x)


def fit(folder: Path, last: int | None = None) -> gracezo.Result:
    """Fit with a journal in the folder, from where it is."""
    return gracezo.least_squares(
        Counted(folder, last), np.zeros(300), journal=folder / "fit.db", seed=3, batch=4
    )


if __name__ == "__main__":
    fit(Path(sys.argv[1]), int(sys.argv[2]))
