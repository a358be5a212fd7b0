"""Every example runs."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def test_quickstart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["quickstart.py"])
    runpy.run_path(str(ROOT / "examples" / "quickstart.py"), run_name="__main__")
    assert "coordinates that matter" in capsys.readouterr().out
    assert (tmp_path / "out" / "quickstart.png").stat().st_size > 10_000
    assert "Where the queries went" in (tmp_path / "out" / "quickstart.html").read_text(encoding="utf-8")
