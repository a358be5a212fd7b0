"""The live page: a journal that is being written, shown to whoever looks, on this machine only.

The rules of this file:

- Nothing is written and nothing can be told to the run: GET and HEAD are all there is.
- It listens on 127.0.0.1. A request under another host's name (DNS rebinding), of another origin, or fetched
  by another site's page is refused.
- The journal is read when somebody looks, at most once a second however many look, and for at most a tenth
  of the time.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from gracezo.journal.errors import JournalError
from gracezo.journal.reading import Record, read
from gracezo.report import page
from gracezo.report import view as views
from gracezo.report.replay import Replay

_PAUSE = 1.0  # seconds between two looks, at least
_SHARE = 0.1  # of the time that looking may take
_REPLAY = 0.3  # seconds of replay at one look


class Source:
    """A journal that is followed; all viewers share one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._stamp: object = None  # of the files when they were read last
        self._next = 0.0  # when they may be read again
        self._which: object = None  # the run that is being replayed
        self._replay: Replay | None = None
        self._count = 0
        self._view = views.waiting(path.name)
        self._said = f"There is no {path.name} yet."
        self._parts = page.parts(self._view)

    def html(self) -> str:
        """Return the whole page, as it is now."""
        self._look()
        return page.html(self._view, live=True)

    def since(self, version: str) -> dict[str, Any] | None:
        """Return what is to be shown, or None if that version shows it."""
        self._look()
        with self._lock:
            current = f"{self._count}"
            if version == current:
                return None
            return {
                "version": current,
                "title": page.title(self._view),
                "said": self._said,
                "parts": self._parts,
            }

    def _look(self) -> None:
        with self._lock:
            began = time.monotonic()
            if began < self._next:
                return
            stamp = _stamp(self.path)
            behind = self._replay is not None and self._replay.behind > 0
            if stamp != self._stamp or behind:
                self._read(stamp)
            took = time.monotonic() - began
            self._next = began + max(_PAUSE, took / _SHARE)

    def _read(self, stamp: object) -> None:
        if stamp is None:
            self._said = f"There is no {self.path.name} any more." if self._stamp else self._said
        else:
            try:
                record = read(self.path, points=False)
            except JournalError as error:  # being made at this moment, or damaged
                self._said = str(error)
            else:
                view = views.of_record(record, self.path.name, self._replayed(record))
                self._view, self._parts = view, page.parts(view)
                self._said = "The run has ended." if view.over else f"As of query {view.queries:,}."
        self._stamp = stamp
        self._count += 1

    def _replayed(self, record: Record) -> Replay:
        """Return the replay of this run, as far as it comes in a short time."""
        which = record.identity.fingerprint, record.header.get("created"), str(record.header.get("limits"))
        if self._replay is None or which != self._which:
            self._which, self._replay = which, Replay(record)
        self._replay.follow(record, _REPLAY)
        return self._replay


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: Server
    server_version = "gracezo"
    sys_version = ""
    timeout = 30

    def do_GET(self) -> None:
        """Give the page, or what is new on it."""
        if not self._allowed():
            self._answer(
                HTTPStatus.FORBIDDEN, "text/plain", "for pages of this machine's gracezo watch only\n"
            )
            return
        address = urlsplit(self.path)
        if address.path == "/":
            self._answer(HTTPStatus.OK, "text/html", self.server.source.html())
        elif address.path == "/view":
            new = self.server.source.since(parse_qs(address.query).get("since", [""])[0])
            if new is None:
                self._answer(HTTPStatus.NO_CONTENT, "application/json", "")
            else:
                self._answer(HTTPStatus.OK, "application/json", json.dumps(new))
        else:
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", "there is only the page itself: /\n")

    do_HEAD = do_GET

    def _allowed(self) -> bool:
        port = self.server.server_port
        hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        if host not in hosts or (origin is not None and origin != f"http://{host}"):
            return False
        site = self.headers.get("Sec-Fetch-Site", "none")
        how = self.headers.get("Sec-Fetch-Mode"), self.headers.get("Sec-Fetch-Dest")
        return site in ("same-origin", "none") or how == ("navigate", "document")  # a link may lead here

    def _answer(self, status: HTTPStatus, kind: str, text: str) -> None:
        content = text.encode("utf-8", "replace")
        self.send_response(status)
        for name, value in {
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Length": str(len(content)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Content-Security-Policy": "frame-ancestors 'none'",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """Serves the live page of one journal until `shutdown`.

    Parameters
    ----------
    path
        The journal; it need not be there yet.
    port
        Where to listen, on 127.0.0.1; 0: wherever there is room.
    """

    daemon_threads = True

    def __init__(self, path: Path, port: int = 0) -> None:
        self.source = Source(path)
        super().__init__(("127.0.0.1", port), Handler)

    @property
    def address(self) -> str:
        """Where a browser finds it."""
        return f"http://127.0.0.1:{self.server_port}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Let a viewer who has gone be gone; anything else is a fault of ours, and shown."""
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


def _stamp(path: Path) -> object:
    """Return what changes when a journal is written, or None if it is not there."""
    stamps = [_state(file) for file in (path, path.with_name(path.name + "-wal"))]
    return None if stamps[0] is None else stamps


def _state(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
