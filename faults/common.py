"""What the attempts share: a function that counts its calls in a file, and what "the same run" means."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import gracezo
from gracezo.testing import Case, Valley, assert_same


class Dice(random.Random):
    """What an attempt is drawn with. Its sizes can be held down, so that what fails is found smaller.

    Parameters
    ----------
    seed
        What it draws depends on this alone,
    at_most
        and on how large each size may be, by its name.
    """

    def __init__(self, seed: str, at_most: Mapping[str, int] | None = None) -> None:
        super().__init__(seed)
        self._at_most = dict(at_most or {})
        self.sizes: dict[str, int] = {}
        """The sizes that were drawn; of one that was drawn several times, the largest."""

    def size(self, name: str, low: int, high: int) -> int:
        """Draw how large something is: queries, mutations, kills."""
        drawn = min(self.randint(low, high), max(1, self._at_most.get(name, high)))
        self.sizes[name] = max(drawn, self.sizes.get(name, 0))
        return drawn


Attempt: TypeAlias = Callable[[Dice, Path], None]

ERRORS = (gracezo.JournalError, gracezo.JournalWriteError)
METHODS = ("auto", "grace", "fdsa", "gld", "zoro", "rs")


def case(dice: Dice, most: int = 120) -> dict[str, Any]:
    """Return a small run, as keywords of `minimize`."""
    method, queries = dice.choice(METHODS), dice.size("queries", min(most, 20), most)
    return Case(method, max_queries=queries, seed=dice.randrange(1000)).arguments(batch=dice.choice([1, 4]))


def expected(arguments: dict[str, Any]) -> gracezo.Result:
    """Return the run that nothing happens to."""
    valley = Valley()
    return gracezo.minimize(valley, valley.x0, **arguments)


def same(result: gracezo.Result, other: gracezo.Result) -> None:
    """Assert that it is the same run, bit for bit."""
    assert_same(result, other, "after a fault")


@dataclass(frozen=True)
class Counted:
    """The valley; each call is a byte in a file. With some probability a call ends its process."""

    log: Path
    deadly: float = 0.0
    seconds: float = 0.0
    fingerprint = "the valley, counted"

    def __call__(self, x: np.ndarray) -> float:
        with self.log.open("ab") as file:
            file.write(b".")
            file.flush()
            number = os.fstat(file.fileno()).st_size
        if random.Random(number * 7919).random() < self.deadly:
            os._exit(3)
        if self.seconds:
            time.sleep(self.seconds)
        return Valley().value(x)

    def calls(self) -> int:
        """Return how often it was called."""
        with suppress(FileNotFoundError):
            return self.log.stat().st_size
        return 0


@dataclass(frozen=True)
class Interrupted:
    """A counted function that interrupts the run after so many calls."""

    counted: Counted
    after: int
    fingerprint = Counted.fingerprint

    def __call__(self, x: np.ndarray) -> float:
        if self.counted.calls() == self.after:
            raise KeyboardInterrupt
        return self.counted(x)


@dataclass(frozen=True)
class Hanging:
    """The valley, which returns at the start only, and elsewhere when a folder has gone."""

    folder: Path

    def __call__(self, x: np.ndarray) -> float:
        while x.any() and self.folder.exists():
            time.sleep(0.1)
        return Valley().value(x)
