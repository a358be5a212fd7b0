"""SIGKILL at random moments: the resumed run is the one that was never killed, and nothing is paid twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")
def test_fifty_kills(tmp_path: Path) -> None:
    script = Path(__file__).with_name("killed.py")
    out = subprocess.run(
        [sys.executable, script, tmp_path, "10", "5"], capture_output=True, text=True, check=False
    )
    assert out.returncode == 0, out.stderr
    alone, *runs = map(json.loads, out.stdout.splitlines())
    deaths = lost = 0
    for run in runs:
        assert run["result"] == alone["result"]
        for dead, called, kept in run["sessions"]:
            assert called - kept in ((0, 1) if dead else (0,))  # at most the one query that was in flight
            deaths += dead
        twice = run["calls"] - run["result"]["nfev"]
        assert 0 <= twice <= run["reasked"] <= 5
        lost += twice
    assert deaths == 50
    assert lost >= 30  # those that were hit within the function
