"""The conformance suite: what every method must keep, ours or yours.

After `gracezo.register("mine", factory)`, run ``check_method("mine")``: it
raises an AssertionError that says what is not kept. The suite evaluates a
small function only and takes about a second. `check_objective` does the same
for an objective that prices changes.
"""

from gracezo.testing.functions import Valley
from gracezo.testing.methods import CHECKS, check_method
from gracezo.testing.objectives import check_objective
from gracezo.testing.runs import Case, assert_same, by_serial

__all__ = ["CHECKS", "Case", "Valley", "assert_same", "by_serial", "check_method", "check_objective"]
