"""The page: one file that holds all it needs, for a report and for the live view."""

from __future__ import annotations

import base64
import hashlib
import os
from functools import lru_cache
from html import escape
from importlib.resources import files
from pathlib import Path

from gracezo.core.result import Result
from gracezo.journal.reading import read
from gracezo.report import view as views
from gracezo.report.parts import PARTS
from gracezo.report.replay import Replay
from gracezo.report.view import View

REPLAY_SECONDS = 4.0
"""So long a report may replay a run to find what the journal does not hold."""


def report(
    journal: str | os.PathLike[str], out: str | os.PathLike[str], *, replay: float = REPLAY_SECONDS
) -> Path:
    """Write the report of a journal; replay it for at most so many seconds.

    Examples
    --------
    >>> import gracezo, tempfile
    >>> from gracezo.report.page import report
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = folder + "/run.db"
    ...     result = gracezo.minimize(sum, [1.0, 2.0], method="fdsa", max_queries=4, journal=journal)
    ...     report(journal, folder + "/run.html").name
    'run.html'
    """
    record = read(journal, points=False)
    replayed = None
    if replay > 0.0:
        replayed = Replay(record)
        replayed.follow(record, replay)
    return _written(out, views.of_record(record, Path(journal).name, replayed))


def result_report(
    result: Result, out: str | os.PathLike[str], journal: str | os.PathLike[str] | None = None
) -> Path:
    """Write the report of a result, with what its journal holds if it has one."""
    if journal is not None:
        return report(journal, out)
    return _written(out, views.of_result(result, Path(out).stem))


def html(view: View, *, live: bool = False) -> str:
    """Return the page of a run."""
    style, script = _file("page.css"), _file("page.js")
    policy = (
        f"default-src 'none'; style-src 'sha256-{_hash(style)}'; script-src 'sha256-{_hash(script)}'; "
        f"img-src data:; base-uri 'none'; form-action 'none'" + ("; connect-src 'self'" if live else "")
    )
    filled = {
        "policy": policy,
        "title": escape(title(view)),
        "style": style,
        "script": script,
        "live": "yes" if live else "no",
    } | parts(view)
    pieces = _file("page.html").split("{{")
    whole = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}}")
        whole += [filled[name], rest]
    return "".join(whole)


def parts(view: View) -> dict[str, str]:
    """Return the parts of the page, by name."""
    return {name: draw(view) for name, draw in PARTS.items()}


def title(view: View) -> str:
    """Return what the browser's tab says."""
    return f"{view.title} · gracezo"


def _written(out: str | os.PathLike[str], view: View) -> Path:
    path = Path(out)
    if path.suffix not in (".html", ".htm"):
        raise ValueError(f"a report is a page: its name must end in .html; given: {path}")
    path.write_text(html(view), encoding="utf-8", errors="replace")
    return path


@lru_cache
def _file(name: str) -> str:
    return files("gracezo.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
