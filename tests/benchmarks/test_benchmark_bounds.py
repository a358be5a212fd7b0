"""Boxes that cut the optimum off, on the cheap functions of `benchmarks/bounds.py`."""

from __future__ import annotations

import pytest
from benchmarks.bounds import measured


@pytest.mark.parametrize(
    "name",
    [
        "distance-1k-s1",
        "distance-10k-s10",
        "magnitude-10k-s5",
        "quadratic-10k-s20-k10",
        "rosenbrock-10k-s4",
        "stages-2k-12x2",
        "chain-10k-12",
    ],
)
def test_reaches_what_exact_gradients_reach(name: str) -> None:
    row = measured(name, 2500)
    assert row.outside == 0
    # It ends of its own accord. When, that hangs on the last bits of f: a chain after 850 to 1,600 queries.
    assert row.queries < 2500
    assert row.excess < 1e-10
    assert row.gradient < 1e-4
    until = row.until(1e-8)
    assert until is not None
    assert until <= 1000
