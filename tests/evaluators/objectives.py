"""Functions for tests with workers: they can be pickled, and count their calls in a file."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np


def value(x: np.ndarray) -> float:
    """A function of all coordinates, of which a few matter."""
    goal = np.zeros(x.size)
    goal[::40] = 1.0
    return float(np.log1p((x.ravel() - goal) ** 2).sum())


def many(points: np.ndarray) -> np.ndarray:
    """The same, of many points at once."""
    return np.array([value(x) for x in points])


def raises_value_error(x: np.ndarray) -> float:
    """Fail."""
    raise ValueError("no such thing")


@dataclass(frozen=True)
class Counted:
    """Writes one line a call into a file, whichever process the call is in: the point's digest."""

    log: Path

    def __call__(self, x: np.ndarray) -> float:
        with self.log.open("a") as log:
            log.write(f"{hash(x.tobytes())}\n")  # one short write with O_APPEND is atomic
        return value(x)

    def calls(self) -> int:
        """Return how often it was called."""
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0


@dataclass(frozen=True)
class Deadly(Counted):
    """Kills its process as soon as so many calls have been counted, once for each number given."""

    at: tuple[int, ...]

    def __call__(self, x: np.ndarray) -> float:
        result = super().__call__(x)
        calls = self.calls()
        for number in self.at:
            if number <= calls:
                with suppress(FileExistsError):  # of several processes, one makes the folder
                    self.log.with_suffix(f".{number}").mkdir()
                    os.kill(os.getpid(), signal.SIGKILL)
        return result

    def deaths(self) -> int:
        """Return how often it killed."""
        return len(list(self.log.parent.glob(f"{self.log.stem}.*")))


@dataclass(frozen=True)
class Poisonous:
    """Kills its process wherever one coordinate is displaced on its own."""

    coordinate: int

    def __call__(self, x: np.ndarray) -> float:
        if x[self.coordinate] != 0 and np.count_nonzero(x) == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return value(x)


@dataclass(frozen=True)
class Armed(Counted):
    """Kills its process at the next call after each `arm`."""

    @property
    def trigger(self) -> Path:
        return self.log.with_suffix(".armed")

    def arm(self) -> None:
        """Make the next call deadly."""
        self.trigger.touch()

    def __call__(self, x: np.ndarray) -> float:
        result = super().__call__(x)
        with suppress(FileNotFoundError):  # of several processes, one removes the trigger
            self.trigger.unlink()
            with self.log.with_suffix(".fired").open("a") as fired:
                fired.write("x")
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    def deaths(self) -> int:
        """Return how often it killed."""
        return len(self.log.with_suffix(".fired").read_text())


def suicidal(x: np.ndarray) -> float:
    """Kill the process at every call."""
    os.kill(os.getpid(), signal.SIGKILL)
    return value(x)


def slow(x: np.ndarray) -> float:
    """Take a minute."""
    time.sleep(60.0)
    return value(x)


def deserted(x: np.ndarray, scheduler: int) -> float:
    """Kill the scheduler at the first step, whose value then reaches nobody."""
    if np.count_nonzero(x) > 1:
        os.kill(scheduler, signal.SIGKILL)
    return value(x)
