"""How a thread is told that nobody waits any more for what it evaluates.

A thread cannot be stopped from outside, but a program that it runs can. One who hands an evaluation to a
thread gives it a `Cancellation`; whoever starts something there that can be stopped says how.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Cancellation:
    """Whether one evaluation is given up, and what to stop then."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cancelled = False
        self._stops: list[Callable[[], None]] = []

    def cancel(self) -> None:
        """Give the evaluation up, and stop what can be stopped of it."""
        with self._lock:
            self._cancelled = True
            stops = list(self._stops)
        for stop in stops:
            stop()

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Let what is called within, in this thread, say what can be stopped."""
        _current.cancellation = self
        try:
            yield
        finally:
            _current.cancellation = None

    @contextmanager
    def _stopped_by(self, stop: Callable[[], None]) -> Iterator[None]:
        with self._lock:
            self._stops.append(stop)
            late = self._cancelled
        if late:
            stop()
        try:
            yield
        finally:
            with self._lock:
                self._stops.remove(stop)


_current = threading.local()


@contextmanager
def stopped_by(stop: Callable[[], None]) -> Iterator[None]:
    """Have `stop` called, from another thread, if the evaluation within is given up."""
    cancellation: Cancellation | None = getattr(_current, "cancellation", None)
    if cancellation is None:
        yield
    else:
        with cancellation._stopped_by(stop):
            yield
