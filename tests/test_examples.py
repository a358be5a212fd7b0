"""Every example runs, and every snippet of the README."""

from __future__ import annotations

import contextlib
import io
import re
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


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "docs/workers.md", "docs/failures.md", "docs/bounds.md"]
)
def test_snippets(page: str) -> None:
    code = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    assert code
    names: dict[str, object] = {"__name__": page}
    for snippet in code:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(snippet, page, "exec"), names)
