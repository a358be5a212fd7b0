"""Random weights of many coordinates, made by blocks from a seed and never held whole.

W has a row for each probe and a column for each position; an entry is ± uniform in [0.5, 1.5], so that no
coordinate is left out of a probe. Philox (Salmon, Moraes, Dror & Shaw, *Parallel random numbers: as easy
as 1, 2, 3*, SC 2011) is a function of a key and a counter: each block of each row has a key of its own and
can be made again alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gracezo.core.types import FloatArray, IntArray

BLOCK = 1 << 14  # positions


@dataclass(frozen=True, eq=False)
class Weights:
    """The weights W of `size` positions.

    Parameters
    ----------
    size
        The number of positions.
    seed
        Below 2⁶⁴.
    side
        For each position −1 or 1 where all weights are to have that sign, else 0; None: nowhere.

    Examples
    --------
    >>> import numpy as np
    >>> weights = Weights(100_000, seed=7)
    >>> row = weights.row(3, 0, 100_000)
    >>> bool(np.array_equal(weights.columns(np.array([99_999]), np.array([3])), [[row[-1]]]))
    True
    """

    size: int
    seed: int
    side: IntArray | None = None

    def row(self, probe: int, start: int, stop: int) -> FloatArray:
        """Return the weights of one probe at the positions from `start` up to, not including, `stop`."""
        first = start // BLOCK
        parts = [self._block(probe, block) for block in range(first, -(-stop // BLOCK))]
        row = (parts[0] if len(parts) == 1 else np.concatenate(parts))[start - first * BLOCK :][
            : stop - start
        ]
        if self.side is None:
            return row
        side = self.side[start:stop]
        return np.where(side == 0, row, side * np.abs(row))

    def rows(self, probes: IntArray, start: int, stop: int) -> FloatArray:
        """Return the weights of some probes, a row each."""
        return np.stack([self.row(probe, start, stop) for probe in probes.tolist()])

    def blocks(self, probes: IntArray, start: int, stop: int) -> Iterator[tuple[int, FloatArray]]:
        """Yield where a block begins and the weights there, over the positions from `start` to `stop`."""
        while start < stop:
            end = min((start // BLOCK + 1) * BLOCK, stop)
            yield start, self.rows(probes, start, end)
            start = end

    def columns(self, positions: IntArray, probes: IntArray) -> FloatArray:
        """Return the weights of some probes at some positions, a column for each position."""
        out = np.empty((len(probes), len(positions)))
        for block in np.unique(positions // BLOCK).tolist():
            here = positions // BLOCK == block
            start, stop = block * BLOCK, min((block + 1) * BLOCK, self.size)
            out[:, here] = self.rows(probes, start, stop)[:, positions[here] - start]
        return out

    def _block(self, probe: int, block: int) -> FloatArray:
        generator = np.random.Generator(np.random.Philox(key=[self.seed, (probe << 32) + block]))
        drawn = generator.uniform(-1.0, 1.0, min(BLOCK, self.size - block * BLOCK))
        return drawn + np.copysign(0.5, drawn)
