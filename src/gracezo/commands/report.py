"""``gracezo report``: a page about a run, in one file."""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path
from typing import Any

from gracezo.commands.errors import Failed, UsageError
from gracezo.commands.outcome import print_json
from gracezo.journal.errors import JournalError
from gracezo.report.page import REPLAY_SECONDS, report

_DESCRIPTION = """\
Write one HTML file about the run that a journal holds: how it ended, how f fell,
where the queries went, which coordinates matter, step sizes and noise, failures,
settings. It needs no network and no other file, and may be made while the run
goes on.

What a journal does not hold (slopes along coordinates, steps of differences,
noise) comes from replaying it, which calls no function.
"""
_EXAMPLES = """\
examples:
  gracezo report run.db                     writes run.html
  gracezo report run.db --out page.html --open
  gracezo report run.db --replay 60         for a run whose method takes long to think
"""


def add(subparsers: Any, name: str) -> None:
    """Describe the words of the command."""
    parser = subparsers.add_parser(
        name,
        help="write a page about a run that is kept in a journal",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("journal", type=Path, metavar="FILE", help="the journal")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="where to (default: the journal's name with .html, here)"
    )
    parser.add_argument(
        "--replay",
        type=float,
        default=REPLAY_SECONDS,
        metavar="SECONDS",
        help=f"replay for at most so long; 0: not at all (default: {REPLAY_SECONDS:g})",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of words")
    parser.add_argument("--open", action="store_true", help="open it in the browser")
    parser.set_defaults(run=run)


def run(words: argparse.Namespace) -> int:
    """Write the page."""
    out = words.out or Path(words.journal.with_suffix(".html").name)
    try:
        written = report(words.journal, out, replay=words.replay)
    except JournalError as error:
        raise Failed(str(error)) from error
    except ValueError as error:
        raise UsageError(f"--out: {error}") from error
    except OSError as error:
        raise Failed(f"--out {out}: {error.strerror or error}") from error
    if words.json:
        print_json({"out": str(written), "bytes": written.stat().st_size})
    else:
        print(f"wrote {written}")
    if words.open:
        webbrowser.open(written.resolve().as_uri())
    return 0
