"""Least known values of the functions that have no closed form; `find_floors` computes them."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path

FLOORS = Path(__file__).with_name("floors.json")


@cache
def _table() -> dict[str, float]:
    table: dict[str, float] = json.loads(FLOORS.read_text(encoding="utf-8")) if FLOORS.exists() else {}
    return table


def known(name: str) -> float:
    """Return the least known value of a function; NaN when it has not been computed yet."""
    return _table().get(name, math.nan)
