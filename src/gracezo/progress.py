"""What is said while a run goes on: to a callback of the user's, and by a live line in the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import OptimizeResult

from gracezo.core.asks import Point
from gracezo.core.run import Run

if TYPE_CHECKING:
    from rich.console import Console


def notify(callback: Callable[[OptimizeResult], object]) -> Callable[[Run, Point], None]:
    """Return what a run calls at each iterate so that the callback hears of each step."""

    def on_move(run: Run, to: Point) -> None:
        if run.nit == 0:  # x0 is no step
            return
        x = to.x.reshape(run.x0.shape).copy()
        callback(OptimizeResult(x=x, fun=to.value, nit=run.nit, nfev=run.nfev))

    return on_move


def line(run: Run) -> str:
    """Return the state of a run in one line."""
    budget = run.limits.max_queries
    queries = f"{run.nfev:,}" if budget is None else f"{run.nfev:,} of {budget:,}"
    parts = [f"{queries} queries"]
    if run.best is not None:
        found = np.count_nonzero(run.best.x != run.x0.ravel())
        parts += [f"best f {run.best.value:.6g}", f"{run.nit:,} steps", f"{found:,} coordinates"]
    return " · ".join(parts)


@contextmanager
def live_line(run: Run, console: Console | None = None) -> Iterator[None]:
    """Show the line on standard error, renewed some times a second; the last state stays."""
    from rich.console import Console  # noqa: PLC0415 - rich is loaded when something is shown
    from rich.live import Live  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = console or Console(stderr=True)
    with (
        whole_lines(console),
        Live(get_renderable=lambda: Text(line(run)), console=console, refresh_per_second=8),
    ):
        yield


@contextmanager
def whole_lines(console: Console) -> Iterator[None]:
    """End a live display with a line break where no terminal shows it: in a file, rich leaves it out."""
    try:
        yield
    finally:
        if not console.is_terminal and not console.is_jupyter:
            console.line()
