"""Tables of pages of docs/: a script writes them, nobody types them.

A page has a place for each, between two comments that name it; the first says with which command it is made:

    <!-- kinks: written by `python -m benchmarks.kinks --page` -->
    <!-- end of kinks -->

The rows stand in docs/results/measured/NAME.json, each with its seeds, versions and date, and the page shows
what stands there (`tests/benchmarks/test_page_tables.py`). So a command that is stopped, or makes some rows
only, leaves the others as they are, and the page says from when each row is.

    python -m benchmarks.page_table docs/how-to/noise.md     run the commands that a page names
    python -m benchmarks.page_table --show                   write all pages anew from the rows, without a run
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from pathlib import Path

import gracezo

DOCS = Path(__file__).parents[1] / "docs"
ROWS = DOCS / "results" / "measured"
PLACE = re.compile(
    r"<!-- (?P<name>[\w-]+): written by `(?P<command>[^`]+)` -->\n(?P<text>.*?)<!-- end of (?P=name) -->",
    re.DOTALL,
)


def put(page: Path, name: str, text: str) -> None:
    r"""Write a text into its place in a page.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = Path(folder, "page.md")
    ...     _ = page.write_text("<!-- t: written by `it` -->\nold\n<!-- end of t -->\n")
    ...     put(page, "t", "new")
    ...     print(page.read_text().splitlines())
    ['<!-- t: written by `it` -->', '', 'new', '', '<!-- end of t -->']
    """
    before = page.read_text(encoding="utf-8")
    for found in PLACE.finditer(before):
        if found["name"] == name:
            start, end = found.span("text")
            page.write_text(f"{before[:start]}\n{text}\n\n{before[end:]}", encoding="utf-8")
            return
    marks = f"<!-- {name}: written by `COMMAND` --> and <!-- end of {name} -->"
    raise ValueError(f"{page} has no place for {name}: write {marks} there")


def made_with(*packages: str) -> str:
    """Return the versions of what figures were made with, in words.

    Examples
    --------
    >>> made_with("numpy").split(", ")[0].split()[0]
    'gracezo'
    """
    others = [f"{name} {version(name)}" for name in ("numpy", "scipy", *packages)]
    return ", ".join([f"gracezo {gracezo.__version__}", f"Python {platform.python_version()}", *others])


@dataclass(frozen=True)
class Row:
    """A row: its cells, the seeds of its instances, and from when it is."""

    cells: list[str]
    seeds: str
    versions: str
    date: str


@dataclass
class PageTable:
    """A table of a page.

    Parameters
    ----------
    name
        Of its place in the page, and of the file of its rows.
    page
        The page, seen from docs/.
    head
        The titles of the columns.
    named_by
        How many cells in front name a row: a row of the same name takes the place of the one before.
    by_seeds
        Whether a row of other seeds is another row.
    times
        Whether it has times, which depend on the machine and on what else it does: cores and load are stated.
    packages
        What took part beside gracezo, Python, NumPy and SciPy.
    write
        Whether rows go into the page. If not, they are printed only.
    """

    name: str
    page: str
    head: Sequence[str]
    named_by: int = 1
    by_seeds: bool = False
    times: bool = False
    packages: Sequence[str] = ()
    write: bool = False

    def begin(self) -> None:
        """Print the head."""
        print(markdown([*self.head, "seeds"], []), flush=True)

    def add(self, *cells: str, seeds: str = "") -> None:
        """Print a row; if wanted, keep it and show it in the page."""
        if len(cells) != len(self.head):
            raise ValueError(f"{self.name} has {len(self.head)} columns, and the row has {len(cells)} cells")
        row = Row(list(cells), seeds, self._versions, datetime.now(UTC).date().isoformat())
        print("|", " | ".join([*cells, seeds]), "|", flush=True)
        if self.write:
            ROWS.mkdir(exist_ok=True)
            file = ROWS / f"{self.name}.json"
            kept = read(file) if file.exists() else []
            names = [self._name(other) for other in kept]
            if self._name(row) in names:
                kept[names.index(self._name(row))] = row
            else:
                kept.append(row)
            store(file, self.head, kept)
            put(DOCS / self.page, self.name, shown(file))

    @cached_property
    def _versions(self) -> str:
        versions = made_with(*self.packages)
        busy = f"; {os.cpu_count()} cores with a load of {os.getloadavg()[0]:.0f}"
        return versions + (busy if self.times else "")

    def _name(self, row: Row) -> list[str]:
        return [*row.cells[: self.named_by], *([row.seeds] if self.by_seeds else [])]


def seeds(first: int, count: int) -> str:
    """Return seeds in words.

    Examples
    --------
    >>> seeds(100, 10), seeds(3, 1)
    ('100 to 109', '3')
    """
    return f"{first:,} to {first + count - 1:,}" if count > 1 else f"{first:,}"


def store(file: Path, head: Sequence[str], rows: Sequence[Row]) -> None:
    """Write rows, one a line."""
    lines = ",\n".join(json.dumps(asdict(row), ensure_ascii=False) for row in rows)
    text = f'{{"head": {json.dumps(list(head), ensure_ascii=False)},\n"rows": [\n{lines}\n]}}\n'
    file.write_text(text, encoding="utf-8")


def read(file: Path) -> list[Row]:
    """Read rows."""
    return [Row(**row) for row in json.loads(file.read_text(encoding="utf-8"))["rows"]]


def shown(file: Path) -> str:
    """Return what a page shows of the rows in a file: the table, and what it was made with.

    Seeds have a column of their own where they differ. Of what rows were made with, what most of them have in
    common is said first.
    """
    rows, head = read(file), json.loads(file.read_text(encoding="utf-8"))["head"]
    apart = len({row.seeds for row in rows}) > 1
    table = markdown(
        [*head, "seeds"] if apart else head,
        [[*row.cells, row.seeds] if apart else row.cells for row in rows],
    )
    origins: dict[str, list[str]] = {}
    for row in rows:
        origins.setdefault(f"{row.versions}; {row.date}", []).append(row.cells[0])
    by_size = sorted(origins.items(), key=lambda origin: -len(origin[1]))
    word = "Seed" if rows[0].seeds.isdecimal() else "Seeds"
    seeded = f"{word} {rows[0].seeds}; " if rows[0].seeds and not apart else ""
    said = [f"{seeded}{by_size[0][0]}."]
    said += [f"{', '.join(dict.fromkeys(names))}: {origin}." for origin, names in by_size[1:]]
    return f"{table}\n\n{' '.join(said)}"


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def places(page: Path) -> Iterator[tuple[str, str, str]]:
    """Return the places of a page: name, command, and what stands there."""
    for found in PLACE.finditer(page.read_text(encoding="utf-8")):
        yield found["name"], found["command"], found["text"]


def main() -> None:
    """Run the commands that pages name, or show what was kept."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--show", action="store_true", help="run nothing: write what the files of rows have")
    words = parser.parse_args()
    for page in words.pages or (sorted(DOCS.rglob("*.md")) if words.show else []):
        commands = []
        for name, command, _ in list(places(page)):
            if words.show and (ROWS / f"{name}.json").exists():
                put(page, name, shown(ROWS / f"{name}.json"))
            if command not in commands:
                commands.append(command)
        for command in [] if words.show else commands:
            print(f"{page}: {command}", flush=True)
            python, *others = shlex.split(command)
            subprocess.run([sys.executable if python == "python" else python, *others], check=True)


if __name__ == "__main__":
    main()
