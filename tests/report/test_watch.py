"""The live page's server: who may look, what is shown when, and that looking never writes."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.report.pages import Reader, run

from gracezo.journal import reading
from gracezo.report import server as serving
from gracezo.report.server import Server


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(serving, "_PAUSE", 0.0)
    monkeypatch.setattr(serving, "_SHARE", 1e9)
    with Server(tmp_path / "run.db") as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def asked(server: Server, path: str = "/", method: str = "GET", **headers: str) -> tuple[int, str, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, headers={"Host": f"127.0.0.1:{server.server_port}"} | headers)
    answer = connection.getresponse()
    content = answer.read().decode()
    connection.close()
    return answer.status, content, answer.headers


def test_before_during_and_after(server: Server, tmp_path: Path) -> None:
    assert "Waiting for run.db" in asked(server)[1]
    first = json.loads(asked(server, "/view?since=")[1])
    assert first["said"] == "There is no run.db yet."
    assert asked(server, f"/view?since={first['version']}")[0] == 204
    result = run(tmp_path / "run.db")
    before = {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    second = json.loads(asked(server, f"/view?since={first['version']}")[1])
    assert second["said"] == "The run has ended."
    assert Reader(second["parts"]["numbers"]).values["id=queries"][0] == result.nfev
    assert {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()} == before  # only read
    (tmp_path / "run.db").unlink()
    third = json.loads(asked(server, f"/view?since={second['version']}")[1])
    assert third["said"] == "There is no run.db any more."
    assert third["parts"] == second["parts"]  # what was there stays
    (tmp_path / "run.db").write_text("nonsense", encoding="utf-8")
    fourth = json.loads(asked(server, f"/view?since={third['version']}")[1])
    assert "is not a journal of gracezo" in fourth["said"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:{port}"},
        {"Host": "127.0.0.1"},
        {"Host": ""},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors", "Sec_Fetch_Dest": "script"},
        {"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "cors", "Sec_Fetch_Dest": "empty"},
        {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "iframe"},
    ],
)
@pytest.mark.parametrize("path", ["/", "/view"])
def test_others_are_refused(server: Server, path: str, headers: dict[str, str]) -> None:
    given = {name: value.format(port=server.server_port) for name, value in headers.items()}
    status, content, _ = asked(server, path, **given)
    assert status == 403
    assert "run.db" not in content


def test_those_of_this_machine_are_not(server: Server) -> None:
    port = server.server_port
    for headers in (
        {},
        {"Host": f"localhost:{port}"},
        {"Origin": f"http://127.0.0.1:{port}"},
        {"Sec_Fetch_Site": "same-origin", "Sec_Fetch_Mode": "cors", "Sec_Fetch_Dest": "empty"},
        {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"},
    ):
        assert asked(server, **headers)[0] == 200
    assert server.server_address[0] == "127.0.0.1"


def test_nothing_can_be_told_to_it(server: Server) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        assert asked(server, method=method)[0] == 501
    assert asked(server, "/../../etc/passwd")[0] == 404
    assert asked(server, "/run.db")[0] == 404
    status, content, headers = asked(server, method="HEAD")
    assert (status, content) == (200, "")
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Cache-Control"] == "no-store"
    assert "Access-Control-Allow-Origin" not in headers


def test_many_viewers_cost_one_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path / "run.db")
    looks: list[Path] = []
    read = reading.read

    def counted(path: Path, **others: Any) -> Any:
        looks.append(path)
        return read(path, **others)

    monkeypatch.setattr(serving, "read", counted)
    source = serving.Source(tmp_path / "run.db")
    for _ in range(50):
        assert source.since("") is not None
    assert len(looks) == 1


def test_the_command(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "gracezo", "watch", str(tmp_path / "run.db")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    found = re.search(r"run\.db at http://127\.0\.0\.1:(\d+)/ \(Ctrl-C ends\)", process.stdout.readline())
    assert found
    connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=30)
    connection.request("GET", "/")
    assert b"Waiting for run.db" in connection.getresponse().read()
    connection.close()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
