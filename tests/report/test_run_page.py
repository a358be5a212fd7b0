"""The snippets of docs/see.md run, and print what stands below them."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "see.md"


def test_snippets(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    pytest.importorskip("pandas")
    pytest.importorskip("tqdm")
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "page"}
    level = logging.getLogger("gracezo").level
    try:
        for snippet in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
            exec(compile(snippet, PAGE.name, "exec"), names)
    finally:
        logging.getLogger("gracezo").setLevel(level)
    shown = capsys.readouterr().out.splitlines()
    logged = [record.getMessage() for record in caplog.records]
    blocks = [block.splitlines() for block in re.findall(r"\n\n```\n(.*?)\n```", text, flags=re.DOTALL)]
    assert shown[: len(blocks[0])] == blocks[0]
    assert logged[: len(blocks[-1])] == blocks[-1]
