"""A live line in the terminal while a run goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from rich.console import Console
from rich.live import Live
from rich.text import Text

from gracezo.core.run import Run


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
    console = console or Console(stderr=True)
    with Live(get_renderable=lambda: Text(line(run)), console=console, refresh_per_second=8):
        yield
