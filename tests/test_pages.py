"""Every code block of every page runs, in the order of the page, as one script in an empty folder.

What a block ```python or ```sh prints is compared with a block ```text right below it: word by word, numbers
to ten percent (or three, for counts) or as small, since they depend on the processor's rounding. A first line
like `# model.py` makes a block a file, for those after it. A comment <!-- not run: why --> above a block
leaves it out. Other blocks (toml, pseudocode, drawings) are for the eye.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(
    r"^(?P<skip><!-- not run: [^>]+ -->\n+)?```(?P<kind>python|sh)\n(?P<code>.*?)^```$"
    r"(?:\n+```text\n(?P<shown>.*?)^```$)?",
    flags=re.DOTALL | re.MULTILINE,
)
MARK = "--- end of block {} ---"
ELSEWHERE = {"results/compare-your-own.md"}  # tests/experiments/test_reproduce.py looks at what it makes


def pages() -> list[Path]:
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if BLOCK.search(page.read_text(encoding="utf-8"))]


def script(blocks: list[re.Match[str]]) -> str:
    """One Python script of all blocks."""
    lines = ["import doctest as _doctest, subprocess as _subprocess, sys as _sys", "_sys.path[:0] = ['']"]
    for number, block in enumerate(blocks):
        code = block["code"]
        if name := re.match(r"# ([\w-]+\.\w+)\n", code):
            lines.append(f"open({name[1]!r}, 'w', encoding='utf-8').write({code!r})")
        elif block["kind"] == "sh":
            lines.append(f"_subprocess.run(['bash', '-e', '-c', {code!r}], check=True)")
        elif code.startswith(">>>"):
            lines.append(
                f"_test = _doctest.DocTestParser().get_doctest({code!r}, globals(), 'page', None, 0)"
            )
            lines.append("_flags = _doctest.ELLIPSIS | _doctest.NORMALIZE_WHITESPACE")
            lines.append(
                "assert not _doctest.DocTestRunner(optionflags=_flags).run(_test, clear_globs=False).failed"
            )
            lines.append("globals().update(_test.globs)")
        else:
            lines.append(code)
        lines.append(f"print({MARK.format(number)!r}, flush=True)")
    return "\n".join(lines)


def number(word: str) -> float | None:
    try:
        return float(word.strip("(),;:").replace(",", ""))
    except ValueError:
        return None


def alike(shown: str, printed: str) -> bool:
    words, others = shown.split(), printed.split()
    for word, other in zip(words, others, strict=False):
        a, b = number(word), number(other)
        near = a is not None and b is not None and (abs(a - b) <= max(0.1 * abs(a), 1e-9) or _counts(a, b))
        if word != other and not near:
            return False
    return len(words) == len(others)


def _counts(a: float, b: float) -> bool:
    return a.is_integer() and b.is_integer() and a > 9 and abs(a - b) <= 3


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks(page: Path, tmp_path: Path) -> None:
    if str(page.relative_to(ROOT)).removeprefix("docs/") in ELSEWHERE:
        pytest.skip("has a test of its own")
    blocks = [block for block in BLOCK.finditer(page.read_text(encoding="utf-8")) if not block["skip"]]
    (tmp_path / "page.py").write_text(script(blocks), encoding="utf-8")
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
        "HOME": str(tmp_path),
        "MPLBACKEND": "agg",
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }
    running = subprocess.Popen(
        [sys.executable, "page.py"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        printed, _ = running.communicate(timeout=120)
    finally:
        with contextlib.suppress(ProcessLookupError):  # whatever a block has started ends with it
            os.killpg(running.pid, signal.SIGKILL)
    assert running.returncode == 0, printed
    rest = printed
    for number, block in enumerate(blocks):
        printed, rest = rest.split(f"{MARK.format(number)}\n", 1)
        if block["shown"] is not None:
            assert alike(block["shown"], printed), (
                f"the page has\n{block['shown']}\nthe block prints\n{printed}"
            )
