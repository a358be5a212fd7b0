"""A real Dask cluster of several processes on this machine."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
from distributed import Client, LocalCluster
from tests.conformance.every_method import check_every_method
from tests.evaluators.objectives import (
    Armed,
    Counted,
    Deadly,
    deserted,
    many,
    raises_value_error,
    slow,
    suicidal,
    value,
)

import gracezo
from gracezo.testing import assert_same

ROOT = Path(__file__).parents[2]  # from where workers import `tests`
X0 = np.zeros(200)
STEPS = 10


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    settings = {
        "distributed.scheduler.allowed-failures": 1,
        "distributed.deploy.lost-worker-timeout": "1h",  # a worker that is killed often is still restarted
    }
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=3,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def descend(fun: Callable[..., Any], workers: object, steps: int = STEPS, **others: Any) -> gracezo.Result:
    """Run finite differences: one batch of 200 a step, and the step."""
    keywords: dict[str, Any] = {"options": {"step_size": 0.1}, "seed": 0} | others
    return gracezo.minimize(fun, X0, method="fdsa", max_steps=steps, workers=workers, **keywords)


EXPECTED = descend(value, None)


def test_the_result_and_the_number_of_calls(client: Any, tmp_path: Path) -> None:
    counted = Counted(tmp_path / "calls")
    assert_same(descend(counted, client), EXPECTED, "dask")
    assert counted.calls() == EXPECTED.nfev


def test_functions_of_many_points(client: Any) -> None:
    assert_same(descend(many, client, vectorized=True), EXPECTED, "dask")


def test_every_method(client: Any) -> None:
    check_every_method(client, max_queries=40)


def test_a_worker_killed_in_every_batch(client: Any, tmp_path: Path) -> None:
    armed = Armed(tmp_path / "calls")

    def again(intermediate_result: object) -> None:
        client.wait_for_workers(2, timeout=120)  # so that each kill leaves one
        armed.arm()

    armed.arm()
    result = descend(armed, client, callback=again)
    assert np.array_equal(result.x, EXPECTED.x)
    assert np.array_equal(result.trace.values, EXPECTED.trace.values)
    assert armed.deaths() == STEPS
    assert EXPECTED.nfev < armed.calls() <= result.nfev


def test_all_workers_killed_at_once(client: Any) -> None:
    steps = 0

    def massacre(intermediate_result: object) -> None:
        nonlocal steps
        steps += 1
        if steps == 1:
            for pid in client.run(os.getpid).values():
                os.kill(pid, signal.SIGKILL)

    result = descend(value, client, callback=massacre)
    assert np.array_equal(result.x, EXPECTED.x)
    assert result.nfev >= EXPECTED.nfev


def test_no_more_calls_than_were_bought(client: Any, tmp_path: Path) -> None:
    """Dask does not evaluate again by itself what died with a worker."""
    client.wait_for_workers(2, timeout=120)
    deadly = Deadly(tmp_path / "calls", (5, 130))
    result = gracezo.minimize(deadly, X0, method="grace", sparsity=5, max_queries=250, seed=3, workers=client)
    assert deadly.deaths() >= 1
    assert deadly.calls() <= result.nfev <= 250


def test_a_run_that_waits_ends_in_time(client: Any) -> None:
    client.wait_for_workers(2, timeout=120)
    began = time.monotonic()
    result = gracezo.minimize(slow, X0, method="fdsa", max_seconds=1.0, workers=client)
    assert time.monotonic() - began < 15.0
    assert result.status == 1
    assert "could not be stopped" in result.message
    client.restart()  # its threads are still at it


def test_an_evaluation_that_takes_too_long_has_failed(client: Any) -> None:
    client.wait_for_workers(2, timeout=120)
    with pytest.raises(gracezo.EvaluationError, match=r"took longer than 0\.5 seconds, its time-out"):
        gracezo.minimize(slow, X0, method="fdsa", max_queries=9, workers=client, timeout=0.5)
    client.restart()


def test_a_point_that_kills_its_workers_is_a_failed_evaluation(client: Any) -> None:
    client.wait_for_workers(2, timeout=120)
    with pytest.raises(gracezo.EvaluationError, match=r"query 3 failed: the worker died each of the 3 times"):
        descend(suicidal, client)


def test_what_the_function_raises_is_chained(client: Any) -> None:
    with pytest.raises(gracezo.EvaluationError, match="raised ValueError: no such thing") as info:
        descend(raises_value_error, client)
    assert isinstance(info.value.__cause__, ValueError)


def test_a_function_that_cannot_be_sent(client: Any, tmp_path: Path) -> None:
    with (tmp_path / "open").open("w") as file, pytest.raises(TypeError, match="cannot be sent to Dask"):
        descend(lambda x: file.write("a query was spent"), client)


def test_a_function_made_on_the_spot(client: Any) -> None:
    expected = descend(value, None, 1)
    assert_same(descend(lambda x: value(x) + 0.0, client, 1), expected, "lambda")


# ---------------------------------------------------------------- a lost scheduler


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[list[subprocess.Popen[bytes]]]:
    address = tmp_path / "scheduler.json"
    log = (tmp_path / "log").open("wb")
    started = []

    def start(*words: str) -> None:
        line = [sys.executable, "-m", "dask", *words, "--scheduler-file", str(address)]
        started.append(subprocess.Popen(line, stdout=log, stderr=log, cwd=ROOT))

    start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")
    start("worker", "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard")
    yield started
    for process in started:
        process.kill()
        process.wait()
    log.close()


def test_a_lost_scheduler_is_an_error_that_keeps_the_answers(
    processes: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "2s"}),
        Client(scheduler_file=str(tmp_path / "scheduler.json")) as client,
    ):
        client.wait_for_workers(1, timeout=120)
        with pytest.raises(gracezo.EvaluationError, match="has lost its scheduler") as info:
            descend(deserted, client, args=(processes[0].pid,))
    result = info.value.result
    assert (result.nfev, result.status, result.fun) == (201, 3, value(X0))
