"""What tests of the pages share: runs with journals, and how a page is read."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np

import gracezo
from gracezo.core.types import FloatArray

HOSTILE = '</td><script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">\'"&amp;\x1b[2J'
SHAPE = (12, 10)


def bowl(x: FloatArray) -> float:
    """Depend on three coordinates of 120: f = Σ (i + 1) (x_i - i)² over i = 1, 2, 57."""
    flat = x.ravel()
    return float(sum((i + 1) * (flat[i] - i) ** 2 for i in (1, 2, 57)))


class Noisy:
    """The same, but each 40th evaluation fails, with a message that a page must not obey."""

    fingerprint = HOSTILE

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, x: FloatArray) -> float:
        self.calls += 1
        if self.calls % 40 == 39:
            raise RuntimeError(HOSTILE)
        return bowl(x)


def run(path: Path, **others: Any) -> gracezo.Result:
    """Make a run with a journal."""
    arguments: dict[str, Any] = {"method": "fdsa", "max_queries": 500, "seed": 1, "on_failure": "retry"}
    arguments |= {"options": {"step_size": 0.01}}
    names = [f"coordinate {i}" for i in range(120)]
    names[57] = HOSTILE
    return gracezo.minimize(Noisy(), np.zeros(SHAPE), journal=path, **arguments | {"names": names} | others)


class Reader(HTMLParser):
    """Reads a page: the value of every <data> below an element with an id or a row's number, and all text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.values: dict[str, list[float]] = {}
        self.text = ""
        self._place = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note where we are, and what stands there."""
        self.tags.append(tag)
        given = dict(attrs)
        for name in ("id", "data-index", "data-role"):
            if name in given:
                self._place = f"{name}={given[name]}"
        if tag == "data":
            self.values.setdefault(self._place, []).append(float(given["value"] or "nan"))

    def handle_data(self, data: str) -> None:
        """Keep the text."""
        self.text += data


def rows(reader: Reader) -> Iterator[tuple[int, list[float]]]:
    """Yield the rows of the table of coordinates."""
    for place, values in reader.values.items():
        if place.startswith("data-index="):
            yield int(place.partition("=")[2]), values
