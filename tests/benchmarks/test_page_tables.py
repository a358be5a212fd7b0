"""Tables of pages are what scripts have written: nobody types figures."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path

import pytest

from benchmarks import page_table

ROOT = Path(__file__).parents[2]
PLACES = [
    (page, name, command, text)
    for page in [ROOT / "README.md", *sorted(page_table.DOCS.rglob("*.md"))]
    for name, command, text in page_table.places(page)
]
WRITTEN_WHOLE = {"paper", "queries"}  # folders whose pages a command writes
NOT_MEASURED = {
    "reference/problems.md",  # what defines the functions
    "results/README.md",  # a summary of the pages behind it
}


@pytest.mark.parametrize(("page", "name", "command", "text"), PLACES, ids=[name for _, name, *_ in PLACES])
def test_the_page_shows_what_was_kept(page: Path, name: str, command: str, text: str) -> None:
    file = page_table.ROWS / f"{name}.json"
    if file.exists():
        again = f"python -m benchmarks.page_table --show {page.relative_to(ROOT)}"
        assert text == f"\n{page_table.shown(file)}\n\n", f"write it again: {again}"
    python, flag, module, *_ = shlex.split(command)
    assert (python, flag) == ("python", "-m")
    assert importlib.util.find_spec(module) is not None


def test_rows_that_were_kept_have_their_place() -> None:
    places = [(page, name) for page, name, *_ in PLACES]
    names = {name for _, name in places}
    assert len(places) == len(set(places))
    assert {file.stem for file in page_table.ROWS.glob("*.json")} <= names


def figures(table: str) -> bool:
    """Return whether a table states figures: most cells beside the first of a row begin with a number."""
    cells = [
        cell.strip(" *≤±")
        for line in table.splitlines()[2:]
        for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))[1:]
    ]
    return 2 * sum(bool(re.match(r"[\d–−-]", cell)) for cell in cells) > len(cells)


@pytest.mark.parametrize(
    "page",
    [
        str(page.relative_to(page_table.DOCS))
        for page in sorted(page_table.DOCS.rglob("*.md"))
        if page.parent.name not in WRITTEN_WHOLE
    ],
)
def test_no_table_of_figures_is_typed(page: str) -> None:
    if page in NOT_MEASURED:
        return
    text = page_table.PLACE.sub("", (page_table.DOCS / page).read_text(encoding="utf-8"))
    tables = re.findall(r"(?:^ *\|.*\n)+", text, flags=re.MULTILINE)
    assert not [table for table in tables if figures(table)]


def test_rows_replace_and_join(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_table, "DOCS", tmp_path)
    monkeypatch.setattr(page_table, "ROWS", tmp_path / "rows")
    page = tmp_path / "page.md"
    page.write_text("Before.\n\n<!-- t: written by `python -m t` -->\n<!-- end of t -->\n\nAfter.\n")
    table = page_table.PageTable("t", "page.md", ["what", "queries"], write=True)
    table.add("one", "5", seeds=page_table.seeds(0, 10))
    table.add("two", "7", seeds="0 to 9")
    table.add("one", "6", seeds="0 to 9")
    text = page.read_text()
    assert text.startswith("Before.\n\n<!-- t: ")
    assert text.endswith("<!-- end of t -->\n\nAfter.\n")
    assert "| one | 6 |\n| two | 7 |\n\nSeeds 0 to 9; gracezo" in text
    table.add("three", "8", seeds="0 to 4")
    assert "| what | queries | seeds |" in page.read_text()
    assert "| three | 8 | 0 to 4 |" in page.read_text()
    with pytest.raises(ValueError, match="2 columns, and the row has 1"):
        table.add("four", seeds="")


def test_rows_say_from_when_they_are(tmp_path: Path) -> None:
    rows = [page_table.Row([name, "1"], "0", "v", day) for name, day in [("a", "1"), ("b", "2"), ("c", "2")]]
    page_table.store(tmp_path / "t.json", ["what", "queries"], rows)
    assert page_table.shown(tmp_path / "t.json").endswith("\n\nSeed 0; v; 2. a: v; 1.")


def test_a_page_without_a_place_says_so(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("nothing")
    with pytest.raises(ValueError, match="has no place for t"):
        page_table.put(page, "t", "text")
