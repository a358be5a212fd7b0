"""Every code block of every page runs (tools/page_blocks.py), and prints what stands below it.

Word by word; numbers to ten percent (or three, for counts) or as small, since they depend on the processor's
rounding.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tools import page_blocks

ROOT = Path(__file__).parents[1]
ELSEWHERE = {"docs/results/compare-your-own.md"}  # tests/experiments/test_reproduce.py looks at what it makes


def pages() -> list[str]:
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [str(page.relative_to(ROOT)) for page in found if page_blocks.blocks(page)]


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


@pytest.mark.parametrize("page", [page for page in pages() if page not in ELSEWHERE])
def test_blocks(page: str, tmp_path: Path) -> None:
    pieces = page_blocks.printed(ROOT / page, tmp_path)
    for block, piece in zip(page_blocks.blocks(ROOT / page), pieces, strict=True):
        if block["shown"] is not None:
            says = f"the page has\n{block['shown']}\nthe block prints\n{piece}"
            assert alike(block["shown"], piece), f"{says}\nto renew it: python -m tools.page_blocks {page}"
