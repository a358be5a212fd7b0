"""Time limits hold: a run that waits ends, an evaluation that takes too long has failed, nothing is left."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gracezo
from gracezo.evaluators.processes import PATIENCE

X0 = np.zeros(3)
AGES = 300.0  # seconds: longer than any test
released = threading.Event()


@pytest.fixture(autouse=True)
def _hanging() -> None:
    released.clear()  # processes that are forked have it as it is


def value(x: np.ndarray) -> float:
    return float(((x - 1.0) ** 2).sum())


def hangs(x: np.ndarray) -> float:
    """Hang wherever x is not zero; elsewhere take so long that each row travels alone."""
    released.wait(AGES if x.any() else 0.01)
    return value(x)


def stubborn(x: np.ndarray) -> float:
    """Hang, and hear no one who asks to leave."""
    until = time.monotonic() + AGES
    while x.any() and time.monotonic() < until:
        try:
            time.sleep(1.0)
        except BaseException:  # that is its nature
            continue
    return value(x)


def sluggish(x: np.ndarray) -> float:
    """Hang at the second coordinate."""
    if x[1] != 0.0 and x[0] == 0.0:
        released.wait(AGES)
    return value(x)


@contextmanager
def threads() -> Iterator[Executor]:
    released.clear()
    with ThreadPoolExecutor(2) as pool:
        try:
            yield pool
        finally:
            released.set()  # the pool waits for its threads


@contextmanager
def processes() -> Iterator[Executor]:
    pool = ProcessPoolExecutor(2)
    try:
        yield pool
    finally:
        for process in (pool._processes or {}).values():
            process.kill()
        pool.shutdown()


@contextmanager
def ours() -> Iterator[int]:
    yield 2


@contextmanager
def one() -> Iterator[int]:
    yield 1


WORKERS: dict[str, Callable[[], Any]] = {
    "threads": threads, "process pool": processes, "ours": ours, "one": one,
}  # fmt: skip


@pytest.mark.parametrize("name", WORKERS)
def test_a_run_that_waits_ends_in_time(name: str) -> None:
    before = set(multiprocessing.active_children())
    with WORKERS[name]() as workers:
        others = set(multiprocessing.active_children())
        began = time.monotonic()
        result = gracezo.minimize(hangs, X0, method="fdsa", max_seconds=0.5, workers=workers, batch=2)
        took = time.monotonic() - began
        if isinstance(workers, int):
            assert set(multiprocessing.active_children()) <= before
        else:
            assert set(multiprocessing.active_children()) <= others | before or name == "process pool"
            assert "could not be stopped" in result.message
    assert took < AGES / 10
    assert (result.status, result.fun) == (1, 3.0)
    under_way = {"ours": [2], "one": [1], "threads": [2], "process pool": [2, 3]}  # which fetches one more
    assert result.nfev - 1 in under_way[name]
    were = "were" if result.nfev > 2 else "was"
    assert result.message.startswith("0.5 seconds have passed")
    assert f"{were} under way then, and gave no value" in result.message


def test_a_worker_that_will_not_leave_is_killed() -> None:
    before = set(multiprocessing.active_children())
    began = time.monotonic()
    result = gracezo.minimize(stubborn, X0, method="fdsa", max_seconds=0.5, workers=2)
    assert time.monotonic() - began < AGES / 10
    assert (result.status, result.nfev) == (1, 3)
    assert set(multiprocessing.active_children()) <= before


def test_what_was_in_flight_is_asked_again_and_counted_so(tmp_path: Path) -> None:
    journal = gracezo.Journal(tmp_path / "run.db", fingerprint="value")
    first = gracezo.minimize(hangs, X0, method="fdsa", max_seconds=0.5, workers=1, seed=0, journal=journal)
    assert first.nfev == 2
    again = gracezo.minimize(hangs, X0, method="fdsa", max_seconds=0.5, workers=1, seed=0, journal=journal)
    assert again.nfev == 2  # it had ended
    more = gracezo.resume(journal, value, max_seconds=AGES, max_queries=9)
    whole = gracezo.minimize(value, X0, method="fdsa", max_queries=9, seed=0)
    assert (more.nfev, more.reasked) == (whole.nfev, 1)
    assert np.array_equal(more.x, whole.x)


@pytest.mark.parametrize("name", WORKERS)
@pytest.mark.parametrize("on_failure", ["raise", "skip"])
def test_an_evaluation_that_takes_too_long_has_failed(name: str, on_failure: str) -> None:
    with WORKERS[name]() as workers:
        arguments: dict[str, Any] = {"method": "fdsa", "max_queries": 9, "workers": workers, "seed": 0}
        if on_failure == "raise":
            with pytest.raises(gracezo.EvaluationError, match=r"took longer than 0\.4 seconds, its time-out"):
                gracezo.minimize(sluggish, X0, timeout=0.4, **arguments)
        elif name == "one" or isinstance(workers, int):
            result = gracezo.minimize(sluggish, X0, timeout=0.4, on_failure="skip", **arguments)
            assert "skipped" in result.message
            assert result.nfev <= 9
            assert result.fun < 3.0


def test_a_pool_whose_workers_all_hang_is_given_up() -> None:
    with threads() as pool, pytest.raises(gracezo.EvaluationError, match="all 2 workers are busy with eval"):
        gracezo.minimize(
            hangs, X0, method="fdsa", max_queries=99, workers=pool, timeout=0.3, on_failure=("retry", 9)
        )


@pytest.mark.parametrize("workers", [None, map])
def test_a_time_out_needs_somebody_who_can_be_stopped(workers: Any) -> None:
    with pytest.raises(ValueError, match=r"timeout: .*; give workers"):
        gracezo.minimize(value, X0, workers=workers, timeout=1.0)
    with pytest.raises(ValueError, match="timeout must be a positive number"):
        gracezo.minimize(value, X0, workers=2, timeout=-1.0)


# ---------------------------------------------------------------- programs


def words(process: Path) -> bytes:
    with suppress(OSError):  # gone meanwhile
        return (process / "cmdline").read_bytes()
    return b""


def left(mark: str) -> list[str]:
    """Return the processes whose command line has a mark."""
    return [entry.name for entry in Path("/proc").glob("[0-9]*") if mark.encode() in words(entry)]


def gone(mark: str) -> bool:
    deadline = time.monotonic() + 30.0
    while left(mark) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not left(mark)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="counts processes in /proc")
@pytest.mark.parametrize("workers", ["none", "threads", "ours"])
@pytest.mark.parametrize("how", ["max_seconds", "timeout"])
def test_a_program_that_hangs(workers: str, how: str, tmp_path: Path) -> None:
    mark = f"mark-{os.getpid()}-{workers}-{how}"
    command = gracezo.Command(f"sh -c 'sleep {int(AGES)}' {mark} {{input}}")
    began = time.monotonic()
    with ThreadPoolExecutor(2) as pool:
        chosen = {"none": None, "threads": pool, "ours": 2}[workers]
        if how == "max_seconds":
            result = gracezo.minimize(command, X0, method="fdsa", max_seconds=0.5, workers=chosen)
            assert (result.status, result.nfev) == (1, 1)
        else:
            with pytest.raises(gracezo.EvaluationError, match=r"killed after 0\.5 seconds, its time-out"):
                gracezo.minimize(command, X0, method="fdsa", timeout=0.5, workers=chosen)
    assert time.monotonic() - began < AGES / 10
    assert gone(mark)


# ---------------------------------------------------------------- where no process can be started

UNGUARDED = """
import multiprocessing
import gracezo
from tests.evaluators.test_time import value
multiprocessing.set_start_method("spawn", force=True)
gracezo.minimize(value, [0.0, 0.0], method="fdsa", workers=2)
"""


def test_a_script_without_a_guard_is_told_what_to_do(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(UNGUARDED)
    out = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert out.returncode == 1
    assert 'under `if __name__ == "__main__":`' in out.stderr.splitlines()[-1]


def in_a_daemon(pipe: Any) -> None:
    try:
        gracezo.minimize(value, X0, method="fdsa", workers=2)
    except ValueError as error:
        pipe.send(str(error))


def test_a_daemonic_process_is_told_what_to_do() -> None:
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=in_a_daemon, args=(theirs,), daemon=True)
    process.start()
    assert "a daemonic process cannot start worker processes: use threads" in ours.recv()
    process.join()


def test_patience_leaves_room_in_the_promise() -> None:
    assert PATIENCE <= 0.5  # a run of 2 seconds returns within 3
