"""A small part of `make faults`: a few attempts of the kinds that are quick."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from faults.__main__ import KINDS, held

QUICK = {
    "damage": 40,
    "snapshots": 5,
    "sqlite_calls": 1,
    "clocks": 2,
    "dying": 4,
    "nonsense": 15,
    "boxes": 10,
}


@pytest.mark.parametrize("kind", QUICK)
def test_promises_hold(kind: str, tmp_path: Path) -> None:
    attempt, _ = KINDS[kind]
    for seed in range(10**6, 10**6 + QUICK[kind]):
        folder = tmp_path / str(seed)
        folder.mkdir()
        attempt(random.Random(f"{kind} {seed}"), folder)


def test_a_broken_promise_is_told_with_its_seed(capsys: pytest.CaptureFixture[str]) -> None:
    def breaks(dice: random.Random, folder: Path) -> None:
        raise AssertionError(f"drawn: {dice.random()}")

    assert not held(breaks, "damage", 7)
    assert "repeat with: python -m faults damage --seed 7" in capsys.readouterr().out
