"""What the pages cost: a report of 100,000 queries, and a run while somebody watches it.

Run: python -m benchmarks.pages [--page] [--only reports|watching]   (some minutes, 2 cores; with
--picture FILE: the picture of the README, which needs Chromium and playwright)

- The report: processor time, memory and size, for a sparse method (grace) and one whose steps change every
  coordinate (rs), d = 10,000.
- Watching: a run with a viewer who asks for the live page each second: the processor time of the server
  beside that of the run by the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from benchmarks.page_table import PageTable

import gracezo

METHODS: dict[str, dict[str, Any]] = {"grace": {"sparsity": 10}, "rs": {}}
QUERIES = 100_000
TURNS = 3
REPORT = """
import json, resource, sys, time
from gracezo.report.page import report
began = time.monotonic(), time.process_time()
path = report(sys.argv[1], sys.argv[2])
used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"clock": time.monotonic() - began[0], "processor": time.process_time() - began[1],
                  "megabytes": used / 1024, "kilobytes": path.stat().st_size / 1000}))
"""
RUN = """
import sys, time
import gracezo
problem = gracezo.problems.Distance(seed=0)
def f(x):
    time.sleep(0.002)  # a function that leaves the processor to others
    return problem(x)
began = time.monotonic()
gracezo.minimize(f, problem.x0, method="grace", sparsity=10, max_queries=4000, seed=0, journal=sys.argv[1])
print(time.monotonic() - began)
"""


def reports(folder: Path, write: bool) -> None:
    head = ["report", "time, by the clock", "of the processor", "memory", "page"]
    table = PageTable("reports", "how-to/see.md", head, times=True, write=write)
    table.begin()
    problem = gracezo.problems.Distance(seed=0)
    for method, known in METHODS.items():
        journal = folder / f"{method}.db"
        result = gracezo.minimize(
            problem, problem.x0, method=method, max_queries=QUERIES, seed=0, journal=journal, **known
        )
        out = subprocess.run(
            [sys.executable, "-c", REPORT, str(journal), str(folder / "page.html")],
            capture_output=True,
            check=True,
        )
        cost = json.loads(out.stdout)
        table.add(
            f"of `{method}`, {result.nit:,} steps",
            f"{cost['clock']:.1f} s",
            f"{cost['processor']:.1f} s",
            f"{cost['megabytes']:.0f} MB",
            f"{cost['kilobytes']:.0f} kB",
            seeds="0",
        )


def watched(folder: Path, turn: int) -> tuple[float, float]:
    """Return the time of a run whose live page somebody looks at each second, and what that costs."""
    journal, over = folder / f"{turn}.db", threading.Event()
    command = [sys.executable, "-m", "gracezo", "watch", str(journal)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    address = server.stdout.readline().split()[2]
    began = processor(server.pid)
    threading.Thread(target=look, args=(address, over), daemon=True).start()
    process = subprocess.run([sys.executable, "-c", RUN, str(journal)], capture_output=True, check=True)
    over.set()
    took = processor(server.pid) - began
    server.terminate()
    server.wait()
    return float(process.stdout), took


def processor(pid: int) -> float:
    """Return the processor time of a process, in seconds (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def look(address: str, over: threading.Event) -> None:
    while not over.wait(1.0):
        with suppress(ConnectionError), urlopen(address + "view?since=") as answer:  # it may end meanwhile
            answer.read()


def watching(folder: Path, write: bool) -> None:
    head = [
        "run, watched by a viewer who looks each second",
        "time of the run",
        "processor time of `watch`",
        "share",
    ]
    table = PageTable("watching", "how-to/see.md", head, times=True, write=write)
    table.begin()
    run, took = (
        statistics.median(column)
        for column in zip(*(watched(folder, turn) for turn in range(TURNS)), strict=True)
    )
    name = f"4,000 queries of 2 ms, the median of {TURNS}"
    table.add(name, f"{run:.1f} s", f"{took:.2f} s", f"{100 * took / run:.1f} %", seeds="0")


def picture(path: Path) -> None:
    """Save the picture of a report that README shows."""
    import shutil  # noqa: PLC0415

    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as made, sync_playwright() as playwright:
        folder = Path(made)
        problem = gracezo.problems.Distance(seed=0)
        goal = 1e-8 * problem(problem.x0)
        journal = folder / "quickstart.db"
        result = gracezo.minimize(problem, problem.x0, target=goal, seed=0, journal=journal)
        page = result.report(folder / "quickstart.html", journal=journal)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1200, "height": 900}, device_scale_factor=1.0)
        tab.goto(page.as_uri())
        tab.screenshot(path=path)
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--page", action="store_true", help="write the tables into docs/how-to/see.md")
    parser.add_argument("--only", choices=["reports", "watching"], help="make one of the tables")
    words = parser.parse_args()
    if words.picture is not None:
        picture(words.picture)
        return
    with tempfile.TemporaryDirectory() as made:
        if words.only != "watching":
            reports(Path(made), words.page)
        if words.only != "reports":
            watching(Path(made), words.page)


if __name__ == "__main__":
    main()
