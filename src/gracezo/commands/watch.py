"""``gracezo watch``: the page of a run, live."""

from __future__ import annotations

import argparse
import os
import webbrowser
from pathlib import Path
from typing import Any

from gracezo.commands.errors import Failed
from gracezo.report.server import Server

_DESCRIPTION = """\
Show the page of `gracezo report` in the browser, and follow the run as its
queries arrive. The journal is only read; the run does not notice. The page is
for this machine alone: it is served on 127.0.0.1, and refuses requests that
other sites or other hosts' names lead here. The journal need not be there yet,
and may end while somebody looks.
"""
_EXAMPLES = """\
examples:
  gracezo watch run.db                 prints the address; Ctrl-C ends it
  gracezo watch run.db --port 8080 --open
  ssh -L 8080:127.0.0.1:8080 cluster   then: watch there with --port 8080, look here
"""


def add(subparsers: Any, name: str) -> None:
    """Describe the words of the command."""
    parser = subparsers.add_parser(
        name,
        help="show a run in the browser while it goes on",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("journal", type=Path, metavar="FILE", help="the journal")
    parser.add_argument("--port", type=int, default=0, metavar="N", help="default: one that is free")
    parser.add_argument("--open", action="store_true", help="open it in the browser")
    parser.set_defaults(run=run)


def run(words: argparse.Namespace) -> int:
    """Serve until interrupted."""
    try:
        server = Server(words.journal, words.port)
    except (OSError, OverflowError) as error:
        raise Failed(f"--port {words.port}: {getattr(error, 'strerror', None) or error}") from error
    if hasattr(os, "nice"):
        os.nice(10)  # the run goes first, where both want the processor
    with server:
        print(f"{words.journal} at {server.address} (Ctrl-C ends)", flush=True)
        if words.open:
            webbrowser.open(server.address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return 0
    return 0
