"""What a query takes in calls of Python functions: times depend on the machine, these do not."""

from __future__ import annotations

import logging
import sys
from types import FrameType
from typing import Any

import pytest

import gracezo
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
        (335, {"target": 0.01 * Distance(0)(Distance(0).x0)}),
        (30, {"method": "grace", "sparsity": 10, "max_steps": 20}),
    ],
)
def test_a_query_takes_few_calls(
    most: int, keywords: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "gracezo")  # a run that nobody listens to
    calls_a_query(**keywords)  # what is loaded at first use is no part of a query
    assert calls_a_query(**keywords) <= most
