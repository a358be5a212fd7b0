"""SIGKILL at random moments: the resumed run is the one that was never killed, and nothing is paid twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")
@pytest.mark.parametrize(("workers", "count"), [("none", 10), ("threads", 10), ("processes", 1)])
def test_five_kills_a_run(tmp_path: Path, workers: str, count: int) -> None:
    script = Path(__file__).with_name("killed.py")
    words = [sys.executable, str(script), str(tmp_path), str(count), "5", workers]
    out = subprocess.run(words, capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stderr
    alone, *runs = map(json.loads, out.stdout.splitlines())
    deaths = lost = 0
    for run in runs:
        assert run["result"] == alone["result"]
        twice = run["calls"] - run["result"]["nfev"]
        assert 0 <= twice <= run["reasked"]
        lost += twice
        for dead, called, kept in run["sessions"]:
            deaths += dead
            if workers == "none":
                assert called - kept in ((0, 1) if dead else (0,))  # at most the one query that was in flight
    assert deaths == 5 * count
    assert lost >= 3 * count  # those that were hit within the function
    if workers == "none":
        assert lost <= deaths
