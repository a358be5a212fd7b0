"""Run all examples in full, and renew what pages show of them: pictures, what they print, README's figures.

    python -m benchmarks.gallery [NAME ...]     (quickstart, defects, ...; all by default; some minutes)

Everything that the first screen of README states about queries comes from here.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.page_table import DOCS, put

README = DOCS.parent / "README.md"
TUTORIALS = ("defects", "matter", "calibrate", "water", "attack", "cluster", "noisy", "units")


def quickstart(result: Any, printed: str) -> None:
    """Write README's first row, and what its picture shows."""
    grace, by_differences = (
        re.search(rf"^{name}: ([\d,]+) queries, and f is (\S+) of its start$", printed, re.MULTILINE)
        for name in ("GraCe, as published", "L-BFGS, differences")
    )
    assert grace is not None
    assert by_differences is not None
    shown = (
        f"auto needs {result.nfev} queries for 10,000 parameters, "
        f"where L-BFGS with finite differences needs {by_differences[1]}"
    )
    put(README, "picture", f"![{shown}](docs/images/quickstart.png)")
    put(DOCS / "index.md", "picture", f"![{shown}](images/quickstart.png)")
    row(
        "quickstart",
        "10 of 10,000 parameters matter: minimise to 1e-8 ([quickstart](examples/quickstart.py))",
        f"**{result.nfev}**",
        f"{by_differences[1]} by L-BFGS with finite differences; "
        f"GraCe as published is at {grace[2]} after {grace[1]}",
    )


def matter(result: Any, _: str) -> None:
    """Write README's second row."""
    row(
        "matter",
        f"which {len(result.indices)} of {result.size:,} inputs matter, and how much? "
        "([screening](docs/tutorials/matter.md))",
        f"**{result.queries}**",
        f"{4 * (result.size + 1):,} by Morris' method, r = 4",
    )


def calibrate(result: Any, _: str) -> None:
    """Write README's third row."""
    row(
        "calibrate",
        f"calibrate {len(result.support)} of {result.x.size} rates from {result.fun.size} outputs "
        "([least squares](docs/tutorials/calibrate.md))",
        f"**{result.nfev}**",
        f"{result.x.size + 1} for one Jacobian by differences",
    )


FIRST_SCREEN: dict[str, Callable[[Any, str], None]] = {
    "quickstart": quickstart,
    "matter": matter,
    "calibrate": calibrate,
}


def row(name: str, *cells: str) -> None:
    """Write one row of the table of README and of the site's first page; the others stay."""
    place = re.search(r"<!-- front: .*?-->\n(.*?)<!-- end of front -->", README.read_text("utf-8"), re.DOTALL)
    assert place is not None
    lines = place[1].strip().splitlines()
    lines[2 + list(FIRST_SCREEN).index(name)] = f"| {' | '.join(cells)} |"
    table = "\n".join(lines)
    put(README, "front", table)
    put(DOCS / "index.md", "front", table.replace("](docs/", "](").replace("](examples/", "](../examples/"))


def main() -> None:
    """Run the examples that are named."""
    names = ("quickstart", *TUTORIALS)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    chosen = parser.parse_args().names or names
    sys.path.insert(0, str(DOCS.parent))
    for name in chosen:
        with tempfile.TemporaryDirectory() as made, contextlib.redirect_stdout(io.StringIO()) as printed:
            result = import_module(f"examples.{name}").main(out=Path(made))
            folder = DOCS / "images" if name == "quickstart" else DOCS / "images" / "tutorials"
            shutil.copy(Path(made, f"{name}.png"), folder)
        print(f"{name}:\n{result}", flush=True)
        if name in TUTORIALS:
            put(DOCS / "tutorials" / f"{name}.md", f"prints-{name}", f"```text\n{result}\n```")
        if name in FIRST_SCREEN:
            FIRST_SCREEN[name](result, printed.getvalue())


if __name__ == "__main__":
    main()
