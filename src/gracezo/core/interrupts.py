"""When an interrupt is heard: in the user's code, and where nothing can be lost by it.

Python calls the handler of a signal between any two instructions, and the handler of Ctrl-C raises an
exception there: between the start of a thread and the note that it was started, or between a value and its
record. So while a run is driven, signals that have a handler of Python's wait: they are heard at once in the
user's function and callback (`listening`), and elsewhere when the answers that have come are recorded, a
tenth of a second later at most where workers evaluate. A second signal is heard at once, wherever we are.

Handlers are called in the main thread only; in any other nothing needs to wait.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class DelayedSignals:
    """Lets signals wait until they can be heard; a context manager, that hears at its end what has come."""

    _current: DelayedSignals | None = None  # the innermost one

    def __init__(self) -> None:
        self.nested = False
        """Whether it is within another one: a run in the function of a run."""
        self._outer: DelayedSignals | None = None
        self._handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}
        self._came: list[int] = []
        self._open = False
        self._thread = threading.get_ident()

    def __enter__(self) -> DelayedSignals:
        if threading.current_thread() is threading.main_thread():
            self._outer = DelayedSignals._current
            self.nested = self._outer is not None
            self._handlers = {
                each: handler for each in _SIGNALS if callable(handler := signal.getsignal(each))
            }
            try:
                for each in self._handlers:
                    signal.signal(each, self._handle)
                DelayedSignals._current = self
            except BaseException:  # a signal that did not have to wait yet
                self.let_go()
                raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.let_go()
        if kind is None:
            self.deliver()

    def let_go(self) -> None:
        """Give the handlers back, but for those that somebody has replaced meanwhile."""
        if DelayedSignals._current is self:
            DelayedSignals._current = self._outer
        self._give_back(list(self._handlers))

    def _give_back(self, signals: list[int]) -> None:
        if signals:
            try:
                if signal.getsignal(signals[0]) == self._handle:
                    signal.signal(signals[0], self._handlers[signals[0]])
            finally:  # its handler may raise at once
                self._give_back(signals[1:])

    def deliver(self) -> None:
        """Let the signals that have come be handled, which may raise an exception."""
        while self._came:
            self._handlers[self._came[0]](self._came.pop(0), None)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._open or self._came:
            self._handlers[number](number, frame)
        else:
            self._came.append(number)


class _Listening:
    """Where signals are heard at once: around the user's code, in the thread that drives the run."""

    def __enter__(self) -> None:
        delayed = DelayedSignals._current
        if delayed is not None and delayed._thread == threading.get_ident():
            delayed._open = True
            if delayed._came:
                delayed.deliver()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        delayed = DelayedSignals._current
        if delayed is not None and delayed._thread == threading.get_ident():
            delayed._open = False


listening = _Listening()


def _forget() -> None:
    """In a process that was forked: signals are handled as if there were no run."""
    while DelayedSignals._current is not None:
        DelayedSignals._current.let_go()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
