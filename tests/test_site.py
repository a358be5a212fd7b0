"""The site is built without a warning; all pages have their place; nothing is loaded from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tools import site_pages

import gracezo
from gracezo.commands.errors import code
from gracezo.core.result import Status
from gracezo.methods.auto import constants

ROOT = Path(__file__).parents[1]


def test_every_page_has_its_place_in_the_order() -> None:
    placed = {
        os.path.normpath(Path(above).parent / page)
        for above, below in site_pages.PAGES.items()
        for page in below
    }
    there = {str(page.relative_to(site_pages.DOCS).with_suffix("")) for page in site_pages.DOCS.rglob("*.md")}
    there = {page for page in there if not site_pages.BESIDE.match(page)}
    assert there == placed | {"index", "README"}


def test_every_public_name_has_its_place_in_the_reference() -> None:
    text = (site_pages.DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    named = " ".join(re.findall(r"<!-- generated: api ([\w ]+) -->", text)).split()
    assert sorted(named) == sorted(set(gracezo.__all__) - {"problems", "theory"})


def test_the_page_of_constants_has_them_all() -> None:
    shown = re.findall(r"^\| `([A-Z_]+)` \| [^|]+ \| \S", site_pages.constants(""), flags=re.MULTILINE)
    assert shown == [name for name in vars(constants) if name.isupper()]


def test_the_page_of_statuses_is_that_of_the_code() -> None:
    text = (site_pages.DOCS / "reference" / "status.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d) \| `(\w+)` \| (True|False) \| (\d+) \|", text, flags=re.MULTILINE)
    assert rows == [(str(int(s)), s.name, str(s == Status.CONVERGED), str(code(s))) for s in Status]


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")), ids=lambda page: page.name)
def test_links_of_pages_beside_docs(page: Path) -> None:
    for target, _ in site_pages.LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name}: {target} is not there"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("sphinx")
    out = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "sphinx",
            "-b",
            "html",
            "-W",
            "-q",
            "-d",
            str(out / "trees"),
            "docs",
            str(out),
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return out


def test_the_site_loads_nothing_from_elsewhere(built: Path) -> None:
    for page in built.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|iframe)\b[^>]*\bsrc=\"([^\"]+)", text)
        loaded += re.findall(r"<link\b[^>]*\bhref=\"([^\"]+)", text)
        assert not [address for address in loaded if re.match(r"[a-z]+://|//", address)], page
    for sheet in built.rglob("*.css"):
        assert not re.search(r"(url\(['\"]?|@import ['\"])(https?:)?//", sheet.read_text(encoding="utf-8")), (
            sheet
        )


def test_every_link_of_the_site_leads_somewhere(built: Path) -> None:
    anchors = {
        page.resolve(): set(re.findall(r"\bid=\"([^\"]+)\"", page.read_text(encoding="utf-8")))
        for page in built.rglob("*.html")
    }
    for page in anchors:
        for link in re.findall(r"<a\b[^>]*\bhref=\"([^\"]+)\"", page.read_text(encoding="utf-8")):
            if re.match(r"[a-z]+:", link) or link in {"#", "#main-content"}:
                continue
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            assert target.exists(), f"{page.name}: {link}"
            assert not anchor or anchor in anchors[target], f"{page.name}: {link}"


def test_files_that_pages_name_are_there() -> None:
    """As far as one can tell: some file of the repository ends with what stands in backticks."""
    there = [
        str(path)
        for folder in ("src", "benchmarks", "examples", "tests", "tools", "faults")
        for path in (ROOT / folder).rglob("*.*")
    ]
    for page in [*ROOT.glob("*.md"), *site_pages.DOCS.rglob("*.md")]:
        if page.name == "CHANGELOG.md":  # of what was
            continue
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for name in re.findall(r"`(?:python )?([\w/]+\.py)`", text):
            assert name in {"mine.py", "model.py"} or any(path.endswith(f"/{name}") for path in there), (
                f"{page.name}: {name}"
            )
