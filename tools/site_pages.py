"""What the site (`make docs`) has beyond the pages: their order, what is generated, and links out of docs/.

The pages are written for GitHub as much as for the site. There a link to a
file of the repository works wherever the file is; the site has docs/ alone,
so links that leave it become addresses of the repository. A comment
`<!-- generated: NAME -->` in a page is where something of `GENERATED` stands.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
ADDRESS = "https://github.com/gracezo/gracezo"

# The order of the site: a page, and the pages below it. A page that is not here is an error (`test_site.py`).
PAGES: dict[str, list[str]] = {
    "index": [
        "start/README",
        "which-tool",
        "tutorials/README",
        "how-to/README",
        "how-it-works/README",
        "reference/README",
        "results/README",
    ],
    "start/README": [
        "queries",
        "result",
    ],
    "tutorials/README": [
        "defects",
        "matter",
        "calibrate",
        "water",
        "attack",
        "cluster",
        "noisy",
        "units",
    ],
    "how-to/README": [
        "budgets",
        "units",
        "bounds",
        "noise",
        "failures",
        "workers",
        "programs",
        "journal",
        "ask-tell",
        "scipy",
        "notebooks",
        "see",
        "reproducible",
        "vectors",
        "screen",
        "groups",
        "global",
        "large",
    ],
    "how-it-works/README": [
        "grace",
        "auto",
        "auto-in-detail",
        "constants",
        "theory",
        "trust",
        "architecture",
    ],
    "reference/README": [
        "terms",
        "api",
        "modules",
        "command-line",
        "status",
        "journal-file",
        "methods",
        "problems",
        "versions",
    ],
    "results/README": [
        "auto",
        "queries",
        "others",
        "vectors",
        "screening",
        "global",
        "margins",
        "reproduce",
        "compare-your-own",
        "speed",
    ],
}

# Pages that others lead to; they are tables written by scripts.
BESIDE = re.compile(r"results/(paper|queries)/")

LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#|/)([^)\s#]+)(#[^)\s]*)?(?=\))")
GENERATED_HERE = re.compile(r"<!-- generated: ([\w. -]+) -->")


def leave(text: str, page: Path) -> str:
    """Make addresses of the links that leave docs/ or lead to a folder, and see that they lead to something.

    Examples
    --------
    >>> leave("[licence](../LICENSE), [here](how-to/noise.md)", DOCS / "index.md")
    '[licence](https://github.com/gracezo/gracezo/blob/main/LICENSE), [here](how-to/noise.md)'
    """

    def address_of(link: re.Match[str]) -> str:
        target = Path(os.path.normpath(page.parent / link[1]))
        if not target.exists():
            raise FileNotFoundError(f"{page}: the link {link[1]} leads nowhere")
        if target.is_relative_to(DOCS) and target.suffix in {".md", ".png"}:
            return link[0]
        kind = "tree" if target.is_dir() else "blob"
        return f"{ADDRESS}/{kind}/main/{target.relative_to(ROOT)}{link[2] or ''}"

    return LINK.sub(address_of, text)


def toctree(name: str) -> str:
    """Write the order of the pages below a page, as Sphinx reads it."""
    below = PAGES.get(name, [])
    return "\n".join(["", "```{toctree}", ":hidden:", "", *below, "```", ""]) if below else ""


def api(names: str) -> str:
    """Write what Sphinx turns into the reference of these names."""
    import gracezo  # noqa: PLC0415 - the order of pages needs no package

    lines = ["```{eval-rst}"]
    for name in names.split():
        thing = getattr(gracezo, name)
        kind = "autofunction" if not isinstance(thing, type) else "autoclass"
        if isinstance(thing, type) and issubclass(thing, Exception):
            kind = "autoexception"
        lines += [f".. {kind}:: gracezo.{name}"]
        lines += ["   :members:", ""] if kind == "autoclass" else [""]
    return "\n".join([*lines, "```"])


def module(words: str) -> str:
    """Write what Sphinx turns into the reference of a module: the names given, or those of its `__all__`."""
    name, *names = words.split()
    found = import_module(name)
    lines = [f".. automodule:: {name}", "   :no-members:", ""]
    for one in names or found.__all__:
        thing = getattr(found, one)
        kind = "autoclass" if isinstance(thing, type) else "autofunction" if callable(thing) else "autodata"
        lines += [f".. {kind}:: {name}.{one}", *(["   :no-value:"] if kind == "autodata" else []), ""]
    return "\n".join(["```{eval-rst}", *lines, "```"])


def example(name: str) -> str:
    """Show a script of examples/."""
    return f"```python\n{(ROOT / 'examples' / f'{name}.py').read_text(encoding='utf-8')}```"


def command_line(_: str) -> str:
    """Write the help of every command, as its parser gives it."""
    from gracezo import cli  # noqa: PLC0415

    os.environ["COLUMNS"] = "80"  # what argparse takes for the width of the terminal
    parts = []
    for name in cli.COMMANDS:
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown), contextlib.suppress(SystemExit):
            cli.main([name, "--help"])
        parts.append(f"### gracezo {name}\n\n```text\n{shown.getvalue().rstrip()}\n```")
    return "\n\n".join(parts)


def constants(_: str) -> str:
    """Write the constants of `auto` with their values and reasons, by the headings of their file."""
    text = (ROOT / "src" / "gracezo" / "methods" / "auto" / "constants.py").read_text(encoding="utf-8")
    found = re.compile(
        r'^# -+ (?P<heading>[^\n]+)$|^(?P<name>[A-Z_]+) = (?P<value>[^\n]+)\n"""(?P<reason>.*?)"""',
        re.S | re.M,
    )
    lines = []
    for one in found.finditer(text):
        if one["heading"]:
            lines += [
                "",
                f"## {one['heading'].strip().capitalize()}",
                "",
                "| name | value | what it is |",
                "|---|---|---|",
            ]
        else:
            reason = " ".join(one["reason"].split()).replace("|", "\\|")
            lines.append(f"| `{one['name']}` | {one['value']} | {reason} |")
    return "\n".join(lines)


def journal(_: str) -> str:
    """Write the tables and columns of a journal, as they are made."""
    from gracezo.journal import schema  # noqa: PLC0415

    rows = [
        f"| `{name}` | {', '.join(f'`{column}`' for column in columns)} |"
        for name, columns in schema.TABLES.items()
    ]
    head = f"Format {schema.SCHEMA_VERSION}.\n\n| table | columns, beside `entry` and `sum` |\n|---|---|"
    return "\n".join([head, *rows])


GENERATED: dict[str, Callable[[str], str]] = {
    "api": api,
    "command-line": command_line,
    "constants": constants,
    "example": example,
    "journal": journal,
    "module": module,
}


def generate(text: str) -> str:
    """Put in what is generated."""

    def made(place: re.Match[str]) -> str:
        what, _, of = place[1].partition(" ")
        return GENERATED[what](of)

    return GENERATED_HERE.sub(made, text)


def escape(line: str) -> str:
    r"""Keep signs of a docstring that are meant as such from being taken for reStructuredText.

    Examples
    --------
    >>> print(escape("the *support* of |x|, called with *args"))
    the *support* of \|x\|, called with \*args
    """
    pieces = re.split(r"(`+[^`]*`+|(?<![\w*])\*\w[^*]*\w\*(?![\w*]))", line)
    return "".join(p if i % 2 else re.sub(r"([*|]|(?<=\w)_(?!\w))", r"\\\1", p) for i, p in enumerate(pieces))


def prepare(app: Any) -> None:
    """Have Sphinx pass each page through here."""

    def read(app: Any, name: str, source: list[str]) -> None:
        text = generate(leave(source[0], DOCS / f"{name}.md"))
        beside = "---\norphan: true\n---\n\n" if BESIDE.match(name) else ""
        source[0] = beside + text + toctree(name)

    def plain(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
        lines[:] = [line if line.lstrip().startswith((">>>", "...")) else escape(line) for line in lines]

    app.connect("source-read", read)
    app.connect("autodoc-process-docstring", plain, priority=400)  # before NumPy's sections are taken apart
