"""SIGINT and SIGTERM: the first ends a run in good order, the second ends the process."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from gracezo.journal.settings import Journal

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def in_good_order(finish: Journal | None) -> Iterator[None]:
    """Turn the first signal into the end of the run within.

    Parameters
    ----------
    finish
        The journal of the run, if its running batch is to be finished first; else it is dropped.
    """

    def first(number: int, frame: FrameType | None) -> None:
        # The second signal must work even where Python cannot run, deep in the user's code.
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        if finish is None:
            raise KeyboardInterrupt
        print("finishing the running batch; interrupt again to stop at once", file=sys.stderr)
        finish.pause()

    before = {each: signal.signal(each, first) for each in _SIGNALS}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
