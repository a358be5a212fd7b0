"""Tables in pages: what stands between two comments is what a script has written last."""

from __future__ import annotations

import re
from pathlib import Path


def put(page: Path, name: str, text: str) -> None:
    r"""Write a text into its place in a page.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = Path(folder, "page.md")
    ...     _ = page.write_text("<!-- t begins -->\\nold\\n<!-- t ends -->\\n")
    ...     put(page, "t", "new")
    ...     print(page.read_text().split()[3:-4])
    ['-->', 'new']
    """
    begins, ends = f"<!-- {name} begins -->", f"<!-- {name} ends -->"
    place = re.compile(f"(?<={re.escape(begins)}).*?(?={re.escape(ends)})", re.DOTALL)
    before = page.read_text(encoding="utf-8")
    if not place.search(before):
        raise ValueError(f"{page} has no place for {name}: write {begins} and {ends} there")
    page.write_text(place.sub(lambda _: f"\n{text}\n", before), encoding="utf-8")
