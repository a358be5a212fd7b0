"""Ctrl-C at a random line of this thread's work: all is counted, nothing is lost, and the run can go on."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import gracezo
from faults.common import Counted, Dice, case, expected, same
from faults.evaluations import running
from faults.pools import pool_of
from gracezo.testing import Valley

POOLS = (*("none",) * 5, "rows", "map", "threads", "ours", "one", "pool")
_PLACES = ("gracezo", "concurrent/futures", "threading.py", "multiprocessing")


class AtLine:
    """Interrupts this process before the so many-th line that its main thread comes to, in code of ours."""

    def __init__(self, line: int, ready: Callable[[], None]) -> None:
        self._left = line
        self._ready = ready
        self._process = os.getpid()

    def __enter__(self) -> None:
        sys.settrace(self._called)

    def __exit__(self, *error: object) -> None:
        sys.settrace(None)

    def _called(self, frame: FrameType, event: str, argument: object) -> Any:
        return self._line if any(place in frame.f_code.co_filename for place in _PLACES) else None

    def _line(self, frame: FrameType, event: str, argument: object) -> Any:
        self._left -= event == "line"
        if self._left == 0 and event == "line":
            sys.settrace(None)
            if os.getpid() == self._process:  # and not a child of it
                self._ready()
                signal.raise_signal(signal.SIGINT)
        return self._line


def interrupts(dice: Dice, folder: Path) -> None:
    """An interrupt of a function, or of a program."""
    (_program if dice.random() < 0.3 else _function)(dice, folder)


def _function(dice: Dice, folder: Path) -> None:
    arguments = case(dice, most=30)
    whole = expected(arguments)
    kind = dice.choice(POOLS)
    calls, journal = Counted(folder / "calls"), folder / "run.db"
    line = dice.size("lines", 1, 60 * whole.nfev)
    result = None
    with pool_of("none" if kind in ("rows", "map") else kind) as workers:
        words: dict[str, Any] = {"workers": map if kind == "map" else workers, **arguments}
        fun: Any = calls
        if kind == "rows":
            words["vectorized"], fun = True, _Rows(calls)
        with suppress(KeyboardInterrupt), AtLine(line, lambda: None):  # it comes before the run, or after it
            result = gracezo.minimize(fun, Valley().x0, **words, journal=journal)
        if result is not None:
            most = {"none": 1, "rows": 4}.get(kind, 8)  # that were just about to be called
            assert 0 <= result.nfev - calls.calls() <= most * (result.status == 2), (
                kind,
                calls.calls(),
                result.nfev,
            )
            assert result.status == 2 or result.nfev == whole.nfev, result.message
        again = gracezo.minimize(fun, Valley().x0, **words, journal=journal)
    same(again, whole)
    assert 0 <= calls.calls() - again.nfev <= again.reasked, (kind, calls.calls(), again.nfev, again.reasked)


class _Rows:
    """The function for many points at once."""

    fingerprint = Counted.fingerprint

    def __init__(self, counted: Counted) -> None:
        self._counted = counted

    def __call__(self, points: np.ndarray) -> list[float]:
        return [self._counted(point) for point in points]


def _program(dice: Dice, folder: Path) -> None:
    """The program waits for ever: where the interrupt comes, it is running if it was started."""
    mark = f"gracezo-fault-{os.getpid()}-{dice.randrange(10**9)}"
    begun = folder / "begun"
    script = f": {mark}; echo >{begun}; exec sleep 600"

    def ready() -> None:
        until = time.monotonic() + 5.0
        threads = ("gracezo", "ThreadPool")
        while any(thread.name.startswith(threads) for thread in threading.enumerate()):
            if begun.exists() or time.monotonic() > until:
                break
            time.sleep(0.005)

    command = gracezo.Command(shlex.join(["sh", "-c", script, "{input}"]))
    kind = dice.choice(["none", "threads"])
    result = None
    line = dice.size("lines", 1, 1500)
    # It comes before the run.
    with pool_of(kind) as workers, suppress(KeyboardInterrupt), AtLine(line, ready):
        result = gracezo.minimize(command, Valley().x0, method="fdsa", max_queries=9, workers=workers)
    assert not running(mark), f"{kind}: the program is left"
    assert result is None or result.nfev >= begun.exists(), (kind, result)
    assert result is None or result.status == 2
