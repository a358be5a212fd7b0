"""What is paid for nothing: calls of Python functions, whatever the machine, and points asked twice."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest

import gracezo
from gracezo.core.types import FloatArray
from gracezo.problems import Distance


def calls_a_query(**keywords: Any) -> float:
    """Return how many Python functions are called at a query, the function itself apart."""
    f, count = Distance(0), 0

    def seen(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    def value(x: Any) -> float:
        sys.setprofile(None)
        try:
            return f(x)
        finally:
            sys.setprofile(seen)

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        result = gracezo.minimize(value, f.x0, seed=1, copy=False, max_queries=50_000, **keywords)
    finally:
        sys.setprofile(before)
    return count / result.nfev


@pytest.mark.parametrize(
    ("most", "keywords"),
    [
        (340, {"target": 0.01 * Distance(0)(Distance(0).x0)}),
        (30, {"method": "grace", "sparsity": 10, "max_steps": 20}),
    ],
)
def test_a_query_takes_few_calls(
    most: int, keywords: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "gracezo")  # a run that nobody listens to
    calls_a_query(**keywords)  # what is loaded at first use is no part of a query
    assert calls_a_query(**keywords) <= most


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "f",
    [
        lambda x: float(np.abs(x - 0.3).sum()),
        lambda x: float(np.maximum(np.abs(x[0] - x[1]), 3.0 * np.abs(x - 0.2).max())),
        lambda x: float(np.expm1(min(float(x @ x), 200.0))),
        lambda x: float(100.0 * (x[1] - x[0] ** 2) ** 2 + (1.0 - x[0]) ** 2 + x[2:] @ x[2:]),
        lambda x: float(10.0 * x.sum() ** 2 + x @ x),
    ],
)
@pytest.mark.parametrize("bounds", [None, (-0.5, 2.0)])
def test_no_point_is_asked_twice(
    f: Callable[[FloatArray], float], seed: int, bounds: tuple[float, float] | None
) -> None:
    asked: set[bytes] = set()

    def once(x: FloatArray) -> float:
        assert x.tobytes() not in asked
        asked.add(x.tobytes())
        return f(x)

    x0 = np.random.default_rng(seed).choice([0.0, 1.0, -0.5], 4)
    result = gracezo.minimize(once, x0, bounds=bounds, seed=seed, max_queries=600)
    assert result.nfev == len(asked)
