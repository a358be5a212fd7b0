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


class HeldBack:
    """Lets signals wait until they can be heard; a context manager, that hears at its end what has come."""

    _current: HeldBack | None = None  # the innermost one

    def __init__(self) -> None:
        self.nested = False
        """Whether it is within another one: a run in the function of a run."""
        self._outer: HeldBack | None = None
        self._handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}
        self._came: list[int] = []
        self._open = False
        self._thread = threading.get_ident()

    def __enter__(self) -> HeldBack:
        if threading.current_thread() is threading.main_thread():
            self._outer = HeldBack._current
            self.nested = self._outer is not None
            self._handlers = {
                each: handler for each in _SIGNALS if callable(handler := signal.getsignal(each))
            }
            try:
                for each in self._handlers:
                    signal.signal(each, self._handle)
                HeldBack._current = self
            except BaseException:  # a signal that did not have to wait yet
                self.let_go()
                raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.let_go()
        if kind is None:
            self.hear()

    def let_go(self) -> None:
        """Give the handlers back, but for those that somebody has replaced meanwhile."""
        if HeldBack._current is self:
            HeldBack._current = self._outer
        self._give_back(list(self._handlers))

    def _give_back(self, signals: list[int]) -> None:
        if signals:
            try:
                if signal.getsignal(signals[0]) == self._handle:
                    signal.signal(signals[0], self._handlers[signals[0]])
            finally:  # its handler may raise at once
                self._give_back(signals[1:])

    def hear(self) -> None:
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
        held = HeldBack._current
        if held is not None and held._thread == threading.get_ident():
            held._open = True
            if held._came:
                held.hear()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        held = HeldBack._current
        if held is not None and held._thread == threading.get_ident():
            held._open = False


listening = _Listening()


def _forget() -> None:
    """In a process that was forked: signals are handled as if there were no run."""
    while HeldBack._current is not None:
        HeldBack._current.let_go()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
