"""How much memory the points may take that are laid out at once: what the user says, or 64 MiB.

A function that takes many points a call, and a map, get whole points; more of them at once save calls and
take memory. What a machine has to spare is a property of the machine and changes no result, so it is said
where the number of threads is said, in the environment: all entry points see it, and workers inherit it.
"""

from __future__ import annotations

import os
import re

VARIABLE = "GRACEZO_MEMORY"
USUAL = 2**26
"""Bytes, where nothing is said; one point more than that is laid out all the same."""
_UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_UNITS |= {f"{name}i": 2 ** (10 * power) for power, name in enumerate("kMGT", start=1)}
_WRITTEN = re.compile(r"\s*(\d+(?:\.\d*)?(?:e\d+)?)\s*([kMGT]i?)?B?\s*", re.IGNORECASE)


def limit(size: int, sharers: int = 1) -> int:
    """Return the bytes for points of `size` coordinates; so many `sharers` on this machine have some at once.

    Raises
    ------
    ValueError
        When what the user says is no amount of memory, or not even one point each fits into it.
    """
    said = os.environ.get(VARIABLE, "").strip()
    if not said:
        return USUAL
    share = parsed(said) // sharers
    if share < 8 * size:
        each = f" for each of {sharers:,} workers" * (sharers > 1)
        raise ValueError(
            f"{VARIABLE} is {said!r}: not even one point of {size:,} coordinates fits{each}, which takes "
            f"{shown(8 * size * sharers)}; give at least that"
        )
    return share


def parsed(said: str) -> int:
    """Return the bytes of an amount in words.

    >>> parsed("512 MB"), parsed("2GiB"), parsed("1e9")
    (512000000, 2147483648, 1000000000)
    """
    match = _WRITTEN.fullmatch(said)
    if match is None:
        raise ValueError(
            f"{VARIABLE} must be an amount of memory, such as 500MB, 2GiB or a number of bytes; "
            f"given: {said!r}"
        )
    number, unit = match.groups()
    named = {name.lower(): factor for name, factor in _UNITS.items()}
    return int(float(number) * named[(unit or "").lower()])


def shown(count: int) -> str:
    """Return bytes in words, rounded up: what they take, no less.

    >>> shown(80_000_000), shown(801)
    ('80 MB', '801 B')
    """
    for unit in ("T", "G", "M", "k"):
        if count >= 10 * _UNITS[unit]:
            return f"{-(-count // _UNITS[unit]):,} {unit}B"
    return f"{count:,} B"
