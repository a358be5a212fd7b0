"""Every registered method keeps every rule, however it is evaluated."""

from __future__ import annotations

import pytest

import gracezo
from gracezo.testing import CHECKS, Case

# Besides every method with its defaults: settings that take another path through a method.
CASES = [Case(name) for name in gracezo.methods()] + [
    Case("grace", {"variant": "published"}),
    Case("grace", {"repeats": 2, "group_size": 7, "schedule": [3, 2]}),
    Case("grace", sparsity=60),
]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.method}-{case.sparsity}-{dict(case.options)}"
)
def test_method(case: Case, check: str) -> None:
    CHECKS[check](case)
