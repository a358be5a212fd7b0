"""What is said while a run goes on: to a callback of the user's, and by a line that lives.

The line is text made of the state of a run (`Line`), shown in one of three ways: renewed in place in a
terminal, renewed in place in a notebook, or printed now and then where neither is (a file, a pipe).
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import OptimizeResult

from gracezo.core.asks import Point
from gracezo.core.errors import CallbackError
from gracezo.core.interrupts import listening
from gracezo.core.places import dense, differing
from gracezo.core.result import Status
from gracezo.core.run import Run
from gracezo.core.types import FloatArray

_LONG = 2.0  # seconds after which an evaluation is said to take long
_SHARE = 0.1  # where lines are printed, the next comes when so large a share of the time has passed again,
_RARELY = 60.0  # but after so many seconds at the latest

if TYPE_CHECKING:
    from rich.console import Console


def notify(callback: Callable[[OptimizeResult], object]) -> Callable[[Run, Point], None]:
    """Return what a run calls at each iterate so that the callback hears of each step."""

    def on_move(run: Run, to: Point) -> None:
        if run.nit == 0:  # x0 is no step
            return
        x = np.array(dense(to.x)).reshape(run.x0.shape)
        try:
            with listening:
                callback(OptimizeResult(x=x, fun=to.value, nit=run.nit, nfev=run.nfev))
        except (StopIteration, KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # whatever else the user's code raises
            message = f"the callback raised {type(error).__name__}: {error}"
            run.stop(Status.STOPPED, message)
            raise CallbackError(message, run.result()) from error

    return on_move


class Line:
    """The state of a run in one line; made when the run begins, asked when it is shown."""

    def __init__(self, run: Run) -> None:
        self._run = run
        # Queries and seconds from which on the rate is counted: a replay of a journal is none of it.
        self._base: tuple[int, float] | None = (0, 0.0) if run.seconds > 0.0 else None
        self._seen = -1  # queries at the last look,
        self._since = time.monotonic()  # and since when there have been so many
        self._best: FloatArray | None = None
        self._found = 0

    def text(self, width: int = 200) -> str:
        """Return the line, in words that fit the width."""
        parts = self._parts()
        forms = [
            " · ".join(long for long, _ in parts.values()),
            "  ".join(short for _, short in parts.values()),
        ]
        for dropped in ("", "rate", "x", "steps", "waiting", "time"):
            parts.pop(dropped, None)
            forms.append("  ".join(short for _, short in parts.values()))
        return next((form for form in forms if len(form) <= width), forms[-1][:width])

    def _parts(self) -> dict[str, tuple[str, str]]:
        """Return what there is to say, each in words and in short."""
        run, budget, nfev = self._run, self._run.limits.max_queries, self._run.nfev
        parts = {"queries": (f"{nfev:,} queries", f"{nfev:,} q")}
        if budget is not None:
            parts["queries"] = f"{nfev:,} of {budget:,} queries", f"{_short(nfev)}/{_short(budget)} q"
        if run.best is not None:
            value, found = run.best.value, self._changed(run.best.x)
            parts["f"] = f"best f {value:.6g}", f"f {_brief(value)}"
            parts["steps"] = _counted(run.nit, "step"), f"{_short(run.nit)} st"
            parts["x"] = _counted(found, "coordinate"), f"{_short(found)} x"
        return parts | self._times(nfev)

    def _times(self, nfev: int) -> dict[str, tuple[str, str]]:
        run, now, passed = self._run, time.monotonic(), self._run.seconds
        if nfev != self._seen:
            self._seen, self._since = nfev, now
        if passed <= 0.0 or not math.isfinite(passed):  # a replay, which takes no time of the run's
            return {}
        if self._base is None:
            self._base = nfev, passed
        said = {}
        asked, since = nfev - self._base[0], passed - self._base[1]
        rate = asked / since if since > 0.0 else 0.0
        over = run.finish is not None
        if not over and now - self._since >= _LONG:
            age = _clock(now - self._since)
            said["waiting"] = f"this one takes {age}", f"now {age}"
        elif rate > 0.0:
            said["rate"] = (
                f"{rate:,.0f} a second" if rate >= 100.0 else f"{rate:.3g} a second",
                f"{rate:.2g}/s" if rate < 100 else f"{_short(round(rate))}/s",
            )
        left = None if over else self._left(nfev, rate, passed)
        said["time"] = f"{_clock(passed)} passed", _clock(passed)
        if left is not None:
            said["time"] = (
                f"{_clock(passed)} passed, {_clock(left)} left",
                f"{_clock(passed)} +{_clock(left)}",
            )
        return said

    def _left(self, nfev: int, rate: float, passed: float) -> float | None:
        """Return the seconds until the budget or the time is spent, whichever comes first."""
        limits, ends = self._run.limits, []
        if limits.max_queries is not None and rate > 0.0:
            ends.append((limits.max_queries - nfev) / rate)
        if limits.max_seconds is not None:
            ends.append(max(0.0, limits.max_seconds - passed))
        return min(ends, default=None)

    def _changed(self, x: FloatArray) -> int:
        if x is not self._best:  # a look at all coordinates, when there is something new
            self._best, self._found = x, len(differing(self._run.start, x)[0])
        return self._found


# ---------------------------------------------------------------- where it is shown


@contextmanager
def live_line(run: Run, console: Console | None = None) -> Iterator[None]:
    """Show the line of a run on standard error, or in the notebook; its last state stays."""
    from rich.console import Console  # noqa: PLC0415 - rich is loaded when something is shown
    from rich.live import Live  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = console or Console(stderr=True)
    line = Line(run)
    if console.is_jupyter:
        with _in_a_notebook(line):
            yield
    elif console.is_terminal:
        with Live(
            get_renderable=lambda: Text(line.text(console.width - 1), no_wrap=True),
            console=console,
            refresh_per_second=5,
        ):
            yield
    else:
        with _printed(line, console):
            yield


@contextmanager
def _in_a_notebook(line: Line) -> Iterator[None]:
    from IPython import display  # noqa: PLC0415  # in a notebook it is installed

    show_first: Any = display.display
    handle = show_first({"text/plain": line.text()}, raw=True, display_id=True)

    def show() -> None:
        handle.update({"text/plain": line.text()}, raw=True)

    with _every(lambda: 0.5, show):
        yield


@contextmanager
def _printed(line: Line, console: Console) -> Iterator[None]:
    began = time.monotonic()

    def show() -> None:
        console.file.write(line.text() + "\n")
        console.file.flush()

    with _every(lambda: min(max(_LONG, _SHARE * (time.monotonic() - began)), _RARELY), show):
        yield


@contextmanager
def _every(pause: Callable[[], float], show: Callable[[], None]) -> Iterator[None]:
    """Call `show` in a thread, with these pauses, and once more at the end."""
    over = threading.Event()

    def tick() -> None:
        while not over.wait(pause()):
            show()

    thread = threading.Thread(target=tick, name="gracezo progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        show()


@contextmanager
def whole_lines(console: Console) -> Iterator[None]:
    """End a live display with a line break where no terminal shows it: in a file, rich leaves it out."""
    try:
        yield
    finally:
        if not console.is_terminal and not console.is_jupyter:
            console.line()


# ---------------------------------------------------------------- small things


def _clock(seconds: float) -> str:
    """Return a time as a clock shows it; days where it is long.

    Examples
    --------
    >>> _clock(7.9), _clock(425), _clock(4 * 3600 + 62), _clock(1e6)
    ('7 s', '7:05', '4:01:02', '11.6 days')
    """
    whole = int(min(seconds, sys.maxsize))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02}"
    if whole < 100 * 3600:
        return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"
    return f"{seconds / 86400:.3g} days"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _short(count: int) -> str:
    """Return a count in at most six characters.

    Examples
    --------
    >>> _short(1_204), _short(10_000), _short(123_456), _short(25_000_000)
    ('1,204', '10k', '123k', '25M')
    """
    for unit, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if count >= 10 * size:
            return f"{count / size:.3g}{unit}" if count < 1000 * size else f"{count // size}{unit}"
    return f"{count:,}"


def _brief(value: float) -> str:
    """Return a number in about nine characters."""
    return f"{value:.4g}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")
