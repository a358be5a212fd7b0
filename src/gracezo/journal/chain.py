"""The running checksum of a journal: each entry is summed up with the sum of the one before.

So nothing can be changed, dropped, added or put in another order without a sum that does not fit. BLAKE2b
with 64 bits: one chance in 2⁶⁴ that a change goes unnoticed. It guards against damage and against edits by
hand, not against somebody who makes the sums anew.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import TypeAlias

Cell: TypeAlias = int | float | str | bytes | None

_pack_float = struct.Struct("<cd").pack
_pack_sum = struct.Struct("<q")


class Chain:
    """Where a journal has come to: the number of its entries, and the last sum."""

    def __init__(self, entries: int = 0, total: int = 0) -> None:
        self.entries = entries
        self.sum = total

    def add(self, table: str, cells: Sequence[Cell]) -> tuple[Cell, ...]:
        """Take one row more; return it with its number in front and its sum at the end."""
        self.entries += 1
        content = b"%s %d %s" % (table.encode(), self.entries, b"".join(map(_encoded, cells)))
        digest = blake2b(_pack_sum.pack(self.sum) + content, digest_size=8).digest()
        (self.sum,) = _pack_sum.unpack(digest)
        return self.entries, *cells, self.sum


class Broken(Exception):
    """The sums of a journal do not fit its entries; the message says from where on."""


def verify(rows: Iterable[tuple[str, Sequence[Cell]]], entries: object, total: object) -> Chain:
    """Return where a journal has come to, if every entry is as it was written.

    Parameters
    ----------
    rows
        Its table and cells, number and sum among them, for each entry in the order of the numbers.
    entries, total
        What the file itself says of its last entry.
    """
    chain = Chain()
    for table, row in rows:
        if row[0] != chain.entries + 1:
            raise Broken(f"entry {chain.entries + 1:,} is missing")
        if chain.add(table, row[1:-1]) != tuple(row):
            raise Broken(f"entry {chain.entries:,}, of {table}, is not as it was written")
    if (chain.entries, chain.sum) != (entries, total):
        raise Broken(f"entries after {chain.entries:,} are missing")
    return chain


def _encoded(cell: Cell) -> bytes:
    if cell is None:
        return b"n"
    if type(cell) is int:
        return b"i%d;" % cell
    if type(cell) is float:
        return _pack_float(b"f", cell)
    if isinstance(cell, str):
        cell = cell.encode("utf-8", "surrogatepass")
        return b"s%d:%s" % (len(cell), cell)
    if isinstance(cell, bytes):
        return b"b%d:%s" % (len(cell), cell)
    raise TypeError(f"a journal holds no {type(cell).__name__}")
