"""What a page shows of a run: taken from a journal, from its replay, or from a result alone."""

from __future__ import annotations

import datetime
import platform
from collections import Counter
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

import numpy as np

from gracezo.core.names import Names
from gracezo.core.result import Result, changed
from gracezo.core.types import FloatArray, IntArray
from gracezo.journal.reading import Record
from gracezo.report import words
from gracezo.report.replay import Look, Replay

_NONE = np.zeros(0)


@dataclass(frozen=True, eq=False)
class View:
    """A run, ready to be drawn.

    Attributes
    ----------
    title, verdict, over
        Whose page it is, how the run ended in words, and whether it has ended.
    shape, names, x0, x
        The point; x0 is None where only the result is known.
    start, best, error
        f at x0 and at x, and the standard error of the latter.
    queries, answered, budget, steps, in_flight, seconds
        What it has cost: answers on record (failed ones too), those with a value, and so on.
    trace_queries, trace_values, trace_seconds, trace_lengths
        The iterates, x0 first: queries, f, seconds since the first answer, length of the step.
    roles
        Queries by role.
    failures
        The evaluations without a value: number and why.
    looks
        Slopes along single coordinates.
    probes
        Queries at which single coordinates were looked at, and by which steps.
    noise
        Queries at which a value was measured again, and the standard deviation known by then.
    settings
        What the run was told, and by which versions.
    missing
        Why something is not here.
    alone
        Whether it is a result without its journal: what of it is not here is not known, and not nothing.
    """

    title: str
    verdict: str
    over: bool
    shape: tuple[int, ...]
    names: Names
    x0: FloatArray | None
    x: FloatArray
    change: tuple[IntArray, FloatArray]
    start: float | None
    best: float | None
    error: float = 0.0
    queries: int = 0
    answered: int = 0
    budget: int | None = None
    steps: int = 0
    in_flight: int = 0
    seconds: float | None = None
    trace_queries: FloatArray = field(default_factory=lambda: _NONE)
    trace_values: FloatArray = field(default_factory=lambda: _NONE)
    trace_seconds: FloatArray = field(default_factory=lambda: _NONE)
    trace_lengths: FloatArray = field(default_factory=lambda: _NONE)
    roles: dict[str, int] = field(default_factory=dict)
    failures: list[tuple[int, str]] = field(default_factory=list)
    looks: dict[int, Look] = field(default_factory=dict)
    probes: tuple[FloatArray, FloatArray] = (_NONE, _NONE)
    noise: tuple[FloatArray, FloatArray] = (_NONE, _NONE)
    settings: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    alone: bool = False


def waiting(title: str) -> View:
    """Return the view of a journal that is not there yet."""
    nothing = np.zeros(0, np.int64), _NONE
    return View(title, f"Waiting for {title}", False, (0,), Names((0,)), None, _NONE, nothing, None, None)


def of_result(result: Result, title: str) -> View:
    """Return what a result alone tells."""
    values = result.trace.values
    return View(
        title=title,
        verdict=words.verdict(words.status(result), result.message, moved=bool(len(result.support))),
        over=True,
        shape=result.x.shape,
        names=result.names,
        x0=None,
        x=result.x.ravel(),
        change=result.change,
        start=float(values[0]) if len(values) else None,
        best=words.value_of(result),
        error=float(result.get("fun_error", 0.0)),
        queries=result.nfev,
        answered=result.nfev,
        steps=result.nit,
        trace_queries=result.trace.queries.astype(np.float64),
        trace_values=values,
        settings={"seed": str(result.seed), "rounds": f"{result.rounds:,}"} | _versions(),
        alone=True,
    )


def of_record(record: Record, title: str, replayed: Replay | None = None) -> View:
    """Return what a journal tells, and its replay where there is one."""
    x0 = record.identity.x0.ravel()
    steps, queries = record.steps, record.queries
    spent = np.array([step.queries for step in steps], dtype=np.int64)
    at = np.maximum.accumulate(np.array([query.at for query in queries], dtype=np.float64))
    seconds = at - at[0] if len(at) else _NONE
    start = float(steps[0].value) if steps else None
    kept = [(step.value, step.x) for step in steps if step.x is not None]
    best, x = min(kept, key=itemgetter(0), default=(start, x0))
    error = 0.0
    finish = record.finish
    answer = record.result
    if finish is not None and answer is not None:
        x, best, error = answer.x.ravel(), words.value_of(answer), float(answer.get("fun_error", 0.0))
    indices, change = changed(x0, x)
    message = "queries go out, or it was stopped by force" if finish is None else finish.message
    view = View(
        title=title,
        verdict=words.verdict(None if finish is None else finish.status, message, moved=bool(len(indices))),
        over=finish is not None,
        shape=record.identity.x0.shape,
        names=record.names,
        x0=x0,
        x=x,
        change=(indices, change),
        start=start,
        best=best,
        error=error,
        queries=len(queries),
        answered=sum(query.failure is None for query in queries),
        budget=(record.header.get("limits") or {}).get("max_queries"),
        steps=max(0, len(steps) - 1),
        in_flight=record.in_flight,
        seconds=float(seconds[-1]) if len(seconds) else None,
        trace_queries=spent.astype(np.float64),
        trace_values=np.array([step.value for step in steps], dtype=np.float64),
        trace_seconds=seconds[np.clip(spent, 1, len(seconds)) - 1] if len(seconds) else _NONE,
        trace_lengths=np.array([step.length for step in steps], dtype=np.float64),
        roles=dict(Counter(query.role for query in queries)),
        failures=[(query.query, query.failure) for query in queries if query.failure is not None],
        settings=_settings(record),
    )
    return view if replayed is None else _with(view, replayed)


def _with(view: View, replayed: Replay) -> View:
    """Add what only a replay knows."""
    return replace(
        view,
        looks=replayed.looks(),
        probes=replayed.probes(),
        noise=replayed.noise(),
        missing=[*view.missing, *([replayed.note] if replayed.note else [])],
    )


def _settings(record: Record) -> dict[str, str]:
    arguments = dict(record.identity.arguments)
    options = arguments.pop("options", None) or {}
    limits = record.header.get("limits") or {}
    told: dict[str, Any] = {"function": record.identity.fingerprint, "method": arguments.pop("method", None)}
    told |= {"x0": f"{record.identity.x0.size:,} coordinates, shape {record.identity.x0.shape}"}
    told |= {f"option {name}": value for name, value in options.items() if value is not None}
    rule = arguments.pop("on_failure", None)
    told |= {name: value for name, value in arguments.items() if value is not None}
    if rule is not None:
        told["on_failure"] = f"{rule[0]}, up to {rule[1]:,}"
    told |= {name: value for name, value in limits.items() if value is not None}
    created = record.header.get("created")
    if isinstance(created, int) and 0 <= created < 2**36:
        told["begun"] = f"{datetime.datetime.fromtimestamp(created, datetime.UTC):%Y-%m-%d %H:%M} UTC"
    told |= {"written by": f"gracezo {record.header.get('library')}"}
    return {name: _brief(value) for name, value in told.items()} | _versions()


def _versions() -> dict[str, str]:
    from gracezo import __version__  # noqa: PLC0415  # it is known only when the package is complete

    return {
        "page made by": f"gracezo {__version__}, Python {platform.python_version()}, NumPy {np.__version__}"
    }


def _brief(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 200 else text[:199] + "…"
