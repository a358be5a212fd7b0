"""The snippets of docs/journal.md run, one after the other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "journal.md"


def test_snippets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    snippets = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(snippets) == 6
    for snippet in snippets:
        exec(compile(snippet, PAGE.name, "exec"), names)
    rows, record = names["rows"], names["record"]
    assert isinstance(rows, list)
    assert 200 < len(rows) == len(record.queries) <= 400  # type: ignore[attr-defined]
