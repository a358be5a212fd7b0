"""Run the code blocks of a page, in its order, as one script in an empty folder.

What a block ```python or ```sh prints is shown by a block ```text right below it. A first line like
`# model.py` makes a block a file, for those after it. A comment <!-- not run: why --> above a block leaves it
out. Other blocks (toml, pseudocode, drawings) are for the eye.

python -m tools.page_blocks PAGE ...    writes into the pages what their blocks print now
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(
    r"^(?P<skip><!-- not run: [^>]+ -->\n+)?```(?P<kind>python|sh)\n(?P<code>.*?)^```$"
    r"(?:\n+```text\n(?P<shown>.*?)^```$)?",
    flags=re.DOTALL | re.MULTILINE,
)
_MARK = "--- end of block {} ---"
_SECONDS = 120


class PageError(Exception):
    """A block of a page has failed; the message is all that was printed."""


def blocks(page: Path) -> list[re.Match[str]]:
    """Return the blocks of a page that are run."""
    return [block for block in BLOCK.finditer(page.read_text(encoding="utf-8")) if not block["skip"]]


def script(found: list[re.Match[str]]) -> str:
    """Make one Python script of blocks."""
    lines = ["import doctest as _doctest, subprocess as _subprocess, sys as _sys", "_sys.path[:0] = ['']"]
    for number, block in enumerate(found):
        code = block["code"]
        if name := re.match(r"# ([\w-]+\.\w+)\n", code):
            lines.append(f"open({name[1]!r}, 'w', encoding='utf-8').write({code!r})")
        elif block["kind"] == "sh":
            lines.append(f"_subprocess.run(['bash', '-e', '-c', {code!r}], check=True)")
        elif code.startswith(">>>"):
            lines.append(f"_test = _doctest.DocTestParser().get_doctest({code!r}, globals(), '', None, 0)")
            lines.append("_run = _doctest.DocTestRunner(optionflags=_doctest.NORMALIZE_WHITESPACE)")
            lines.append("assert not _run.run(_test, clear_globs=False).failed")
            lines.append("globals().update(_test.globs)")
        else:
            lines.append(code)
        lines.append(f"print({_MARK.format(number)!r}, flush=True)")
    return "\n".join(lines)


def printed(page: Path, folder: Path) -> list[str]:
    """Run a page in a folder, and return what each block prints."""
    found = blocks(page)
    (folder / "page.py").write_text(script(found), encoding="utf-8")
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
        "HOME": str(folder),
        "MPLBACKEND": "agg",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # keeps Ray to this machine
    }
    running = subprocess.Popen(
        [sys.executable, "page.py"],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        rest, _ = running.communicate(timeout=_SECONDS)
    finally:
        with contextlib.suppress(ProcessLookupError):  # whatever a block has started ends with it
            os.killpg(running.pid, signal.SIGKILL)
    if running.returncode:
        raise PageError(rest)
    pieces = []
    for number in range(len(found)):
        piece, rest = rest.split(f"{_MARK.format(number)}\n", 1)
        pieces.append(piece)
    return pieces


def renewed(page: Path, pieces: list[str]) -> str:
    """Return a page with what its blocks print now."""
    text = page.read_text(encoding="utf-8")
    for block, piece in reversed(list(zip(blocks(page), pieces, strict=True))):
        if block["shown"] is not None:
            start, end = block.span("shown")
            text = f"{text[:start]}{piece.rstrip()}\n{text[end:]}"
    return text


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            Path(name).write_text(renewed(Path(name), printed(Path(name), Path(folder))), encoding="utf-8")
