"""When to step."""

from __future__ import annotations

import math

from gracezo.methods.auto.ways import Ledger
from gracezo.methods.auto.ways.stepper import Timing


def test_what_waits_without_limit_is_not_lost_by_a_note_of_no_rounds() -> None:
    timing = Timing(6.0, ledger := Ledger(1))
    timing.offer(math.inf)  # slopes of which nothing is known
    timing.spend(0, only_for_step=1)
    assert not timing.step_pays(gain=1.0, promise=10.0, cost=1.0, rest=10.0)
    ledger.rounds = 1
    timing.spend(1)
    assert timing.step_pays(gain=1.0, promise=10.0, cost=1.0, rest=10.0)
