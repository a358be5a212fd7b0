"""The check that every evaluator must pass."""

from __future__ import annotations

import gracezo
from gracezo.testing import Case, Valley, assert_same, by_serial


def check_every_method(workers: object, max_queries: int = 150) -> None:
    """Every method gives the same x, trace and count on these workers as in this process."""
    for method in gracezo.methods():
        case = Case(method, max_queries=max_queries)
        expected = by_serial(case, Valley())
        assert_same(by_serial(case, Valley(), workers=workers), expected, method)
