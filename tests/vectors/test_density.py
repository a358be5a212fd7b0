"""How large a part to split off: what it costs in the mean, played with counts alone."""

from __future__ import annotations

import numpy as np
import pytest

from gracezo.vectors.density import Density


def cost(m: int, s: int, seed: int, d: int = 10_000) -> int:
    """Return the queries for s columns of m outputs, where two probes beyond its columns decode a set."""
    random = np.random.default_rng(seed)
    where = np.sort(random.choice(d, s, replace=False))
    density = Density(d, m)
    density.full(d)
    total, waiting = 2 + m + 2, [(0, d)]
    while waiting:
        start, stop = waiting.pop()
        count = int(((where >= start) & (where < stop)).sum())
        if count <= m:
            density.decoded(stop - start, count)
            continue
        size = density.part(stop - start)
        assert 1 <= size < stop - start
        inside = int(((where >= start) & (where < start + size)).sum())
        total += 1 if inside == 0 else min(inside, m) + 2
        waiting.append((start + size, stop))
        if inside > m:
            density.full(size)
            waiting.append((start, start + size))
        else:
            density.decoded(size, inside)
    return total


@pytest.mark.parametrize(
    ("m", "s", "best"),  # by dynamic programming over parts of equal size, the number of columns told
    [(2, 10, 27.3), (5, 10, 18.9), (5, 20, 35.5), (30, 50, 59.1), (30, 100, 113.9)],
)
def test_not_knowing_the_number_of_columns_costs_little(m: int, s: int, best: float) -> None:
    mean = np.mean([cost(m, s, seed) for seed in range(60)])
    assert mean < 1.08 * best


@pytest.mark.parametrize("size", [2, 3, 17])
def test_small_sets_are_split(size: int) -> None:
    density = Density(size, 1)
    density.full(size)
    assert 1 <= density.part(size) < size


def test_very_many_outputs_and_columns() -> None:
    density = Density(10**8, 5000)
    density.full(10**8)
    first = density.part(10**8)
    density.full(first)
    assert 1 <= density.part(first) < first
