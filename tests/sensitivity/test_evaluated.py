"""However it is evaluated, a screening is the same: workers, batches, kills, failures."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.sensitivity import functions
from tests.sensitivity.functions import BOX, MATTER, bent, many

import gracezo
from gracezo.core.types import FloatArray


def dies(name: str, folder: Path, last: int) -> None:
    """Let a run be killed at a call."""
    words = [sys.executable, "-m", "tests.sensitivity.killed", name, str(folder), str(last)]
    dead = subprocess.run(words, cwd=Path(__file__).parents[2], check=False, capture_output=True)
    assert dead.returncode == -signal.SIGKILL, dead.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_screening_that_is_killed_goes_on(tmp_path: Path) -> None:
    expected = gracezo.screen(bent, bounds=BOX, seed=3, batch=4)
    for last in (1, 8, 21, 35):
        dies("screen", tmp_path, last)
    found = functions.screened(tmp_path)
    assert sorted(found.indices.tolist()) == MATTER
    assert np.array_equal(found.effects, expected.effects)
    assert (found.queries, found.rounds) == (expected.queries, expected.rounds)
    calls = functions.Counted(tmp_path).calls
    assert calls - found.queries <= 4 * 4  # what was in flight when it died, a batch at most
    functions.screened(tmp_path)
    assert functions.Counted(tmp_path).calls == calls  # a screening that is over asks nothing


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_global_search_that_is_killed_goes_on(tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"bounds": BOX, "max_queries": 150, "seed": 3, "batch": 4}
    expected = gracezo.minimize(bent, np.full(200, 0.7), method="global", **arguments)
    for last in (1, 40, 120):
        dies("global", tmp_path, last)
    result = functions.searched(tmp_path)
    assert np.array_equal(result.x, expected.x)
    assert np.array_equal(result.trace.values, expected.trace.values)
    assert (result.nfev, result.rounds) == (expected.nfev, expected.rounds)
    assert functions.Counted(tmp_path).calls - result.nfev == result.reasked >= 3


@pytest.mark.parametrize("batch", [1, 3, 64])
def test_a_global_search_is_the_same_on_workers_and_rows(batch: int) -> None:
    arguments: dict[str, Any] = {"bounds": BOX, "max_queries": 120, "seed": 2, "batch": batch}
    x0 = np.full(200, 0.7)
    expected = gracezo.minimize(bent, x0, method="global", **arguments)
    for others in ({"workers": 2}, {"fun": many, "vectorized": True}):
        given: dict[str, Any] = {"fun": bent, "x0": x0, "method": "global"} | arguments | others
        result = gracezo.minimize(**given)
        assert np.array_equal(result.x, expected.x)
        assert np.array_equal(result.trace.values, expected.trace.values)
        assert (result.nfev, result.rounds) == (expected.nfev, expected.rounds)


@pytest.mark.parametrize("action", ["skip", "retry", ("retry", 2)])
@pytest.mark.parametrize("every", [4, 7])
def test_failures_are_counted_and_hide_little(action: Any, every: int) -> None:
    calls = 0

    def shaky(x: FloatArray) -> float:
        nonlocal calls
        calls += 1
        if calls % every == every - 1:
            raise OSError("the licence server is away")
        return bent(x)

    found = gracezo.screen(shaky, bounds=BOX, seed=3, on_failure=action, max_queries=400)
    assert found.queries == calls <= 400
    assert set(found.indices.tolist()) <= set(MATTER)
    assert {3, 120} <= set(found.indices.tolist())
    calls = 0
    result = gracezo.minimize(
        shaky, np.full(200, 0.7), method="global", bounds=BOX, on_failure=action, max_queries=200, seed=3
    )
    assert result.nfev == calls <= 200
    assert result.fun < bent(np.full(200, 0.7))


def test_a_failure_keeps_what_was_paid_for() -> None:
    calls = 0

    def fails(x: FloatArray) -> float:
        nonlocal calls
        calls += 1
        if calls == 30:
            raise OSError("no licence")
        return bent(x)

    with pytest.raises(gracezo.EvaluationError, match="no licence") as caught:
        gracezo.screen(fails, bounds=BOX, seed=3)
    assert caught.value.query == 30
    assert caught.value.result.nfev == 30
    assert gracezo.Screening.of(caught.value.result).points >= 1
