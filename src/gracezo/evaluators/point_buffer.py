"""One buffer, on which a point is written for the time of one call, and undone where it was touched.

A query displaces a few coordinates of a base. The buffer holds the base; a point costs what it changes. A set
so large that writing it goes over all of memory is written over whatever stood there.
"""

from __future__ import annotations

import numpy as np

from gracezo.core.asks import Ask, SparseRows
from gracezo.core.box import ClippedMoves, SparsePoints
from gracezo.core.moves import PieceRows, Wave
from gracezo.core.places import Place, fill
from gracezo.core.sampling import Seeded
from gracezo.core.types import FloatArray, IntArray


class PointBuffer:
    """The buffer of one thread."""

    def __init__(self) -> None:
        self._buffer: FloatArray = np.zeros(0)
        self._shown: FloatArray = self._buffer
        self._base: FloatArray | None = None
        # Where it differs from the base, and what the base is there; None: it may differ anywhere.
        self._touched: list[tuple[IntArray, FloatArray]] | None = []

    def show(self, ask: Ask, row: int) -> FloatArray:
        """Return the point of one row, read-only, until the next is shown."""
        offsets = ask.offsets.rows if isinstance(ask.offsets, Seeded) else ask.offsets
        base = ask.base
        if isinstance(offsets, PieceRows):
            move = offsets.rows[row]
            if isinstance(move, Wave) and move.covers and isinstance(base, Place):
                self._cover(base, move, offsets)
                return self._shown
        self._restore(base)
        if isinstance(offsets, SparseRows):
            start, stop = offsets.indptr[row], offsets.indptr[row + 1]
            if start < stop:
                where, values = offsets.indices[start:stop], offsets.values[start:stop]
                before = self._buffer[where]
                # To write all of an array in order is as fast as to write a sixth of it here and there.
                few = isinstance(base, Place) or 6 * len(where) < len(base)
                self._touched = [(where, before)] if few else None
                self._buffer[where] = values if isinstance(offsets, SparsePoints) else before + values
        elif isinstance(offsets, PieceRows) and not getattr(offsets.rows[row], "covers", 0):
            self._touched = []
            for where, values in offsets.rows[row].pieces(base):
                before = self._buffer[where]
                self._touched.append((where, before))
                ends = before + values
                self._buffer[where] = offsets.cut(where, ends) if isinstance(offsets, ClippedMoves) else ends
        else:
            offsets.write(row, base, self._buffer)
            self._touched = None
        return self._shown

    def _restore(self, base: FloatArray) -> None:
        """Let the buffer hold a base."""
        before = self._base
        if self._touched is not None and (before is base or self._near(base)):
            for where, values in self._touched:
                self._buffer[where] = values
            if isinstance(before, Place) and isinstance(base, Place) and before is not base:
                self._buffer[before.indices] = base.origin[before.indices]
                self._buffer[base.indices] = base.values
        else:
            self._fit(len(base))
            fill(base, self._buffer)
        self._base, self._touched = base, []

    def _near(self, base: FloatArray) -> bool:
        """Whether the buffer holds a point that differs from a base in few coordinates."""
        before = self._base
        return isinstance(base, Place) and isinstance(before, Place) and base.origin is before.origin

    def _fit(self, size: int) -> None:
        if len(self._buffer) != size:
            self._buffer = np.empty(size)
            self._shown = self._buffer.view()
            self._shown.flags.writeable = False

    def _cover(self, base: Place, move: Wave, offsets: PieceRows) -> None:
        """Write a set over whatever stood there."""
        self._fit(len(base))
        buffer, origin, covered = self._buffer, base.origin, move.covers
        cut = offsets.cut if isinstance(offsets, ClippedMoves) else None
        buffer[covered:] = origin[covered:]
        for where, values in move.pieces(base.stand_in, buffer):
            if isinstance(where, slice):
                np.add(origin[where], values, out=buffer[where])
                if cut is not None:
                    cut(where, buffer[where])
            else:
                ends = origin[where] + values
                buffer[where] = ends if cut is None else cut(where, ends)
        ends = base.values + move.at(base.indices, base.stand_in)
        buffer[base.indices] = ends if cut is None else cut(base.indices, ends)
        self._base, self._touched = base.stand_in, None
