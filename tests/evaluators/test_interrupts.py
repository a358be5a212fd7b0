"""Ctrl-C at the worst moment: every evaluation is counted, every value kept, no program left."""

from __future__ import annotations

import contextlib
import gc
import itertools
import multiprocessing
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import gracezo
from gracezo.core.interrupts import DelayedSignals, listening
from gracezo.core.run import Run
from gracezo.evaluators import choose, processes
from gracezo.evaluators.objective import Objective
from gracezo.journal.reading import read

X0 = np.array([1.0, 2.0])


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


class Sphere:
    """Counts its calls."""

    fingerprint = "sphere"

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, x: np.ndarray) -> float:
        self.calls += 1
        return float(x @ x)

    def many(self, points: np.ndarray) -> np.ndarray:
        self.calls += len(points)
        return np.array((points**2).sum(axis=1))


@pytest.fixture(autouse=True)
def _handlers_are_given_back() -> Iterator[None]:
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    yield
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before
    assert DelayedSignals._current is None


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="watches processes by pidfd")
@pytest.mark.parametrize("own", [True, False])
def test_between_a_thread_and_the_note_that_it_was_started(
    own: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid, started = tmp_path / "pid", threading.Thread.start
    script = f"echo $$ >{pid}.new; mv {pid}.new {pid}; exec sleep 1000"

    def start(thread: threading.Thread) -> None:
        started(thread)
        while not pid.exists():
            time.sleep(0.005)
        interrupt()

    with ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr(threading.Thread, "start", start)
        result = gracezo.minimize(
            gracezo.Command(f"sh -c '{script}' {{input}}"), X0, method="fdsa", workers=None if own else pool
        )
    assert (result.status, result.nfev) == (2, 1)
    try:
        watched = os.pidfd_open(int(pid.read_text()))
    except ProcessLookupError:
        return
    assert select.select([watched], [], [], 60.0)[0]
    os.close(watched)


@pytest.mark.parametrize("vectorized", [False, True])
def test_between_a_value_and_its_record(
    vectorized: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sphere, record = Sphere(), Run.record
    settings: dict[str, Any] = {"method": "fdsa", "max_queries": 12, "vectorized": vectorized}
    fun = sphere.many if vectorized else sphere

    def interrupted(run: Run, answers: Any) -> None:
        if run.nfev == 3:
            interrupt()
        record(run, answers)

    monkeypatch.setattr(Run, "record", interrupted)
    journal = gracezo.Journal(tmp_path / "run.db", fingerprint="sphere")
    stopped = gracezo.minimize(fun, X0, journal=journal, **settings)
    assert stopped.status == 2
    assert stopped.nfev == sphere.calls > 3
    assert len(read(journal.path).queries) == sphere.calls  # nothing that was paid for is lost
    monkeypatch.undo()
    result = gracezo.minimize(fun, X0, journal=journal, **settings)
    assert result.nfev == sphere.calls > stopped.nfev
    assert result.reasked == 0


def test_in_the_function_it_is_heard_at_once_and_the_evaluation_counts() -> None:
    calls = 0

    def fun(x: np.ndarray) -> float:
        nonlocal calls
        calls += 1
        if calls == 3:
            interrupt()
            raise AssertionError("nobody comes here")
        return float(x @ x)

    result = gracezo.minimize(fun, X0, method="fdsa", max_queries=12)
    assert (result.status, result.nfev, calls) == (2, 3, 3)


def value(x: np.ndarray) -> float:
    return float(x @ x)


def interrupted_at(line: int) -> bool:
    """Interrupt the start of workers, or their end, at one of the lines passed there; say if there is one."""
    passed = 0
    watched = (choose.__file__, processes.__file__, contextlib.__file__)

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal passed
        if frame.f_code.co_filename not in watched:
            return None
        if event == "line":
            passed += 1
            if passed == line:
                interrupt()
        return trace

    before, heard = sys.gettrace(), []  # what was heard keeps what it went through until nothing interrupts
    sys.settrace(trace)
    try:
        with choose.evaluator(Objective(value, (), X0.shape), 1, False, True):
            pass
    except KeyboardInterrupt as error:
        heard.append(error)
    finally:
        sys.settrace(before)
    return passed >= line


def test_while_workers_start_or_leave_none_is_left_wherever_it_comes() -> None:
    for line in itertools.count(1):
        came = interrupted_at(line)
        gc.collect()
        assert multiprocessing.active_children() == [], f"line {line}"
        if not came:
            break
    assert line > 100


def test_before_the_first_query_nothing_is_bought() -> None:
    sphere = Sphere()

    def mapping(fun: Any, points: Any) -> Any:
        interrupt()
        return map(fun, points)

    result = gracezo.minimize(sphere, X0, method="fdsa", max_queries=12, workers=mapping)
    assert (result.status, sphere.calls) == (2, 0)


def test_a_run_in_the_function_of_a_run_takes_it_along() -> None:
    inner = Sphere()

    def interrupted(x: np.ndarray) -> float:
        if inner.calls == 4:
            interrupt()
        return inner(x)

    def outer(x: np.ndarray) -> float:
        return float(gracezo.minimize(interrupted, x, method="fdsa", max_queries=3).fun)

    result = gracezo.minimize(outer, X0, method="fdsa", max_queries=12)
    assert (result.status, result.nfev, inner.calls) == (2, 5, 4)


def test_a_callback_hears_it_at_once() -> None:
    def callback(intermediate_result: Any) -> None:
        interrupt()
        raise AssertionError("nobody comes here")

    sphere = Sphere()
    result = gracezo.minimize(sphere, X0, method="fdsa", max_queries=12, callback=callback)
    assert result.status == 2
    assert result.nfev == sphere.calls == 4


def test_the_first_waits_and_the_second_does_not() -> None:
    with DelayedSignals() as delayed:
        interrupt()
        with pytest.raises(KeyboardInterrupt):
            interrupt()
        with pytest.raises(KeyboardInterrupt):
            delayed.deliver()
        delayed.deliver()


def test_what_waits_at_the_end_is_heard_then() -> None:
    with pytest.raises(KeyboardInterrupt), DelayedSignals():
        interrupt()


def test_a_handler_of_the_users_is_called_and_one_that_he_installs_meanwhile_stays() -> None:
    heard: list[str] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append("before"))
    try:
        with DelayedSignals():
            interrupt()
            assert heard == []
            with listening:
                assert heard == ["before"]
                signal.signal(signal.SIGINT, lambda number, frame: heard.append("new"))
            interrupt()
        interrupt()
        assert heard == ["before", "new", "new"]
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_forked_process_hears_as_if_there_were_no_run() -> None:
    with DelayedSignals():
        child = os.fork()
        if child == 0:
            os._exit(7 if signal.getsignal(signal.SIGINT) is signal.default_int_handler else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
