"""Common random numbers: for functions that take a seed, which seed each query gets.

A function of a seed is exact while the seed stays: differences between its values are free of
noise. So all queries of a run get the same one, and only the answer is measured with others
(`Role.AGAIN`), because the minimum of one draw looks better than it is. The seeds travel with the
rows of an ask, wherever these are evaluated.
"""

from __future__ import annotations

import numpy as np

from gracezo.core.asks import Ask, Offsets, Role
from gracezo.core.types import FloatArray, IntArray


class Seeded:
    """Rows of any kind, each with the seed that the function gets."""

    def __init__(self, rows: Offsets, seeds: IntArray) -> None:
        self.rows = rows
        self.seeds = seeds

    def __len__(self) -> int:
        return len(self.rows)

    def write(self, row: int, base: FloatArray, out: FloatArray) -> None:
        """Write `base` displaced by one row into the vector `out`."""
        self.rows.write(row, base, out)

    def part(self, start: int, stop: int) -> Seeded:
        """Return the rows from `start` up to, not including, `stop`."""
        return Seeded(self.rows.part(start, stop), self.seeds[start:stop])

    def take(self, rows: IntArray) -> Seeded:
        """Return the rows that are named."""
        return Seeded(self.rows.take(rows), self.seeds[rows])


class Sampling:
    """Gives each row of a run its seed.

    Parameters
    ----------
    seed
        The one that all queries get but those for the answer, which get the numbers that follow.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._fresh = seed + 1

    def __call__(self, ask: Ask) -> Ask:
        """Return the same ask with its seeds."""
        if ask.role is Role.AGAIN:
            seeds = np.arange(self._fresh, self._fresh + len(ask))
            self._fresh += len(ask)
        else:
            seeds = np.full(len(ask), self._seed)
        return Ask(ask.base, Seeded(ask.offsets, seeds), ask.role, ask.reserve)


def seeds_of(ask: Ask) -> list[int] | None:
    """Return the seeds of the rows of an ask, if they have any."""
    return ask.offsets.seeds.tolist() if isinstance(ask.offsets, Seeded) else None
