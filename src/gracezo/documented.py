"""Docstrings of entry points: what they share is written once, and shown by all of them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T", bound=Callable[..., Any])

_HEAD = re.compile(r"^Parameters\n-+\n", re.MULTILINE)
_NEXT = re.compile(r"^\w[\w ]*\n-+\n", re.MULTILINE)


def like(other: Callable[..., Any]) -> Callable[[T], T]:
    """Describe the parameters that a docstring leaves out in the words of another entry point.

    A docstring describes what is its own; the others are found in the section of `other` under the same
    name. All stand in the order of the signature, as `help` shows it.
    """

    def describe(entry: T) -> T:
        if entry.__doc__ is None or other.__doc__ is None:  # python -OO
            return entry
        before, own, after = _sections(entry.__doc__)
        words = _entries(_sections(other.__doc__)[1]) | _entries(own)
        shown: dict[str, list[str]] = {}  # a description, and the parameters that share it
        for name in inspect.signature(entry).parameters:
            shown.setdefault(words[name], []).append(name)
        listed = "".join(f"{', '.join(names)}\n{text}" for text, names in shown.items())
        entry.__doc__ = f"{before}Parameters\n----------\n{listed}\n{after}"
        return entry

    return describe


def _sections(doc: str) -> tuple[str, str, str]:
    """Return what stands before the parameters, their section, and what stands after it."""
    text = inspect.cleandoc(doc) + "\n"
    head = _HEAD.search(text)
    if head is None:
        after = _NEXT.search(text)
        cut = len(text) if after is None else after.start()
        return text[:cut], "", text[cut:]
    after = _NEXT.search(text, head.end())
    cut = len(text) if after is None else after.start()
    return text[: head.start()], text[head.end() : cut], text[cut:]


def _entries(section: str) -> dict[str, str]:
    """Return each parameter's description, indented; several may share one."""
    entries: dict[str, str] = {}
    names: list[str] = []
    for line in section.splitlines():
        if line and not line[0].isspace():
            names = [name.strip() for name in line.split(",")]
            entries |= dict.fromkeys(names, "")
        else:
            entries |= {name: entries[name] + line + "\n" for name in names}
    return {name: text.rstrip("\n") + "\n" for name, text in entries.items()}
