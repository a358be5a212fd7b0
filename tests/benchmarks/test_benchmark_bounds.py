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
    row = measured(name, 1500)
    assert row.outside == 0
    assert row.queries < 1500  # it ends of its own accord
    assert row.excess < 1e-10
    assert row.gradient < 1e-4
    assert row.until(1e-8) is not None
