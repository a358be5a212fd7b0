"""The pages in a real browser: what they show, how they behave, and that they ask for nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.report.pages import run

from gracezo.journal.reading import read
from gracezo.report.page import report
from gracezo.report.server import Server

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
if CHROMIUM is None:
    pytest.skip("there is no Chromium here (Debian: apt-get install chromium)", allow_module_level=True)
sync_api = pytest.importorskip("playwright.sync_api", reason="the browser is driven by playwright")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="accessibility is checked by axe")

SCHEMES = ("light", "dark")
WIDTHS = (400, 1400)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


class Visit:
    """One look at a page: what it asked for, and what went wrong on it."""

    def __init__(self, browser: Any, address: str, scheme: str = "light", width: int = 1400) -> None:
        self.requests: list[str] = []
        self.troubles: list[str] = []
        self.page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("console", self._heard)
        self.page.goto(address)

    def _heard(self, line: Any) -> None:
        if line.type == "error":
            self.troubles.append(line.text)

    def value(self, key: str) -> float:
        return float(self.page.evaluate("k => document.querySelector(`#${k} data`).value", key))

    def column(self, place: int) -> list[Any]:
        script = """c => [...document.querySelectorAll('#coordinates tbody tr')].filter(r => !r.hidden).map(
            r => c ? Number(r.cells[c].querySelector('data')?.value ?? NaN) : r.cells[0].textContent)"""
        found: list[Any] = self.page.evaluate(script, place)
        return found

    def violations(self) -> list[str]:
        found = axe.Axe().run(self.page).response["violations"]
        return [f"{each['id']}: {each['nodes'][0]['html'][:120]}" for each in found]


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("browser") / "run.db"
    run(path)
    report(path, path.with_suffix(".html"))
    return path


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_everybody_can_read_it(browser: Any, journal: Path, scheme: str, width: int) -> None:
    """In light and dark, on a phone and on a desk: no script error, no request, no barrier that axe finds."""
    visit = Visit(browser, journal.with_suffix(".html").as_uri(), scheme, width)
    assert visit.violations() == []
    assert visit.page.evaluate("document.scrollingElement.scrollWidth") <= width
    ground = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
    assert visit.troubles == []
    assert [url for url in visit.requests if not url.startswith(("file:", "data:"))] == []
    visit.page.close()


def test_numbers_are_the_journals_and_hostile_words_stay_words(browser: Any, journal: Path) -> None:
    visit, record = Visit(browser, journal.with_suffix(".html").as_uri()), read(journal)
    assert record.result is not None
    assert visit.value("queries") == len(record.queries)
    assert visit.value("f-best") == record.result.fun
    assert visit.value("steps") == len(record.steps) - 1
    assert visit.column(3)[: len(record.result.support)] == record.result.change[1].tolist()
    assert visit.page.evaluate("window.hacked") is None
    assert visit.page.evaluate("document.scripts.length") == 1
    assert "<script>window.hacked = 1</script>" in visit.page.inner_text("#coordinates")
    assert visit.troubles == []
    visit.page.close()


def test_sorting_and_searching_by_mouse_and_by_keys(browser: Any, journal: Path) -> None:
    visit = Visit(browser, journal.with_suffix(".html").as_uri())
    page = visit.page
    before = visit.column(3)
    page.click("#coordinates th:nth-child(4) button")
    assert visit.column(3) == sorted(before, reverse=True)
    assert page.get_attribute("#coordinates th:nth-child(4)", "aria-sort") == "descending"
    page.keyboard.press("Enter")  # the button has the focus
    assert visit.column(3) == sorted(before)
    page.focus("#search")
    page.keyboard.press("Tab")  # the table
    page.keyboard.press("Tab")  # its first heading
    page.keyboard.press("Space")
    names = visit.column(0)
    assert names[0] < names[1] or names[0].startswith("<")
    assert page.get_attribute("#coordinates th:nth-child(1)", "aria-sort") == "ascending"
    page.fill("#search", "COORDINATE 11")
    assert visit.column(0) == ["coordinate 11", *(f"coordinate 11{i}" for i in range(10))]
    assert page.inner_text("#found") == "11 of 120 listed"
    page.fill("#search", "")
    assert len(visit.column(0)) == 120
    assert visit.troubles == []
    page.close()


FOLLOWED = """
import sys
import numpy as np, gracezo
calls = 0
def f(x):  # three times it waits until it is told that the page has got so far
    global calls
    calls += 1
    if calls in (501, 1001, 1501):
        sys.stdin.readline()
    return float(((x - 1.0) ** 2).sum())
print(gracezo.minimize(f, np.zeros(30), method="fdsa", max_queries=2000, journal=sys.argv[1], seed=0,
                       options={"step_size": 0.01}).nfev)
"""


def test_a_run_is_followed_live(browser: Any, tmp_path: Path) -> None:
    """From before there is a journal until after its end; what a reader has set stays as it is."""
    path = tmp_path / "run.db"
    with Server(path) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            visit = Visit(browser, server.address)
            page = visit.page
            page.wait_for_selector("h1:has-text('Waiting for run.db')")
            page.click("#coordinates th:nth-child(1) button")
            page.fill("#search", "2")
            process = subprocess.Popen(
                [sys.executable, "-c", FOLLOWED, str(path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            assert process.stdin is not None
            for queries in (500, 1000, 1500):
                page.wait_for_selector(f"#queries data[value='{queries}']", timeout=60_000)
                process.stdin.write("\n")
                process.stdin.flush()
            page.wait_for_selector("h1:has-text('Budget spent')", timeout=60_000)
            out, _ = process.communicate(timeout=60)
            record = read(path)
            assert visit.value("queries") == len(record.queries) == int(out)
            assert record.result is not None
            assert visit.value("f-best") == record.result.fun
            names = visit.column(0)
            assert names == sorted((str(i) for i in range(30) if "2" in str(i)), key=int)
            assert page.inner_text("#live") == "The run has ended."
            assert visit.violations() == []
            assert visit.troubles == []
            assert all(url.startswith((server.address, "data:")) for url in visit.requests)
            page.close()
        finally:
            server.shutdown()
            thread.join()
