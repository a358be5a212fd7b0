"""A small part of `make faults`: a few attempts of the kinds that are quick."""

from __future__ import annotations

from pathlib import Path

import pytest
from faults.__main__ import KINDS, held
from faults.common import Dice

QUICK = {
    "damage": 40,
    "snapshots": 5,
    "sqlite_calls": 1,
    "clocks": 2,
    "interrupts": 10,
    "dying": 4,
    "nonsense": 15,
    "boxes": 10,
    "ledgers": 10,
}


@pytest.mark.parametrize("kind", QUICK)
def test_promises_hold(kind: str, tmp_path: Path) -> None:
    attempt, _ = KINDS[kind]
    for seed in range(10**6, 10**6 + QUICK[kind]):
        folder = tmp_path / str(seed)
        folder.mkdir()
        attempt(Dice(f"{kind} {seed}"), folder)


def test_a_broken_promise_is_told_with_its_seed_and_made_smaller(capsys: pytest.CaptureFixture[str]) -> None:
    def breaks(dice: Dice, folder: Path) -> None:
        queries, mutations, kills = (dice.size(name, 50, 99) for name in ("queries", "mutations", "kills"))
        assert queries < 17 or mutations < 1, f"drawn: {queries}, {mutations}, {kills}"

    assert not held(breaks, "damage", 7)
    command = "python -m faults damage --seed 7 --at-most queries=17 mutations=1 kills=1"
    assert f"FAILED; repeat with: {command}\n" in capsys.readouterr().out
    assert held(breaks, "damage", 7, {"queries": 16})
