"""A real Ray of several processes on this machine."""

from __future__ import annotations

import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conformance.every_method import check_every_method
from tests.evaluators.objectives import Armed, Counted, many, raises_value_error, slow, suicidal, value

import gracezo
from gracezo.testing import assert_same

ROOT = Path(__file__).parents[2]  # from where workers import `tests`
X0 = np.zeros(200)
STEPS = 10
SETTINGS: dict[str, Any] = {
    "address": "local",
    "num_cpus": 2,
    "include_dashboard": False,
    "_node_ip_address": "127.0.0.1",
    "log_to_driver": False,
}


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))  # else Ray writes one into the home folder
        ray = pytest.importorskip("ray")
        ray.init(**SETTINGS)
        assert {node["NodeManagerAddress"] for node in ray.nodes()} == {"127.0.0.1"}
        yield
        ray.shutdown()


def descend(fun: Callable[..., Any], workers: object, steps: int = STEPS, **others: Any) -> gracezo.Result:
    """Run finite differences: one batch of 200 a step, and the step."""
    keywords: dict[str, Any] = {"options": {"step_size": 0.1}, "seed": 0} | others
    return gracezo.minimize(fun, X0, method="fdsa", max_steps=steps, workers=workers, **keywords)


EXPECTED = descend(value, None)


def test_the_result_and_the_number_of_calls(tmp_path: Path) -> None:
    counted = Counted(tmp_path / "calls")
    assert_same(descend(counted, "ray"), EXPECTED, "ray")
    assert counted.calls() == EXPECTED.nfev


def test_the_module_will_do() -> None:
    assert_same(descend(value, sys.modules["ray"], 1), descend(value, None, 1), "ray")


def test_functions_of_many_points() -> None:
    assert_same(descend(many, "ray", vectorized=True), EXPECTED, "ray")


def test_every_method() -> None:
    check_every_method("ray", max_queries=40)


def test_a_worker_killed_in_every_batch(tmp_path: Path) -> None:
    armed = Armed(tmp_path / "calls")
    armed.arm()
    result = descend(armed, "ray", callback=lambda intermediate_result: armed.arm())
    assert np.array_equal(result.x, EXPECTED.x)
    assert np.array_equal(result.trace.values, EXPECTED.trace.values)
    assert armed.deaths() == STEPS
    assert EXPECTED.nfev < armed.calls() <= result.nfev


def test_a_run_that_waits_ends_in_time() -> None:
    began = time.monotonic()
    result = gracezo.minimize(slow, X0, method="fdsa", max_seconds=1.0, workers="ray")
    assert time.monotonic() - began < 15.0
    assert (result.status, result.nfev) == (1, 1)


def test_an_evaluation_that_takes_too_long_has_failed() -> None:
    with pytest.raises(gracezo.EvaluationError, match=r"took longer than 3 seconds, its time-out"):
        gracezo.minimize(slow, X0, method="fdsa", max_queries=9, workers="ray", timeout=3.0)


def test_a_point_that_kills_its_workers_is_a_failed_evaluation() -> None:
    with pytest.raises(gracezo.EvaluationError, match="the worker died each of the 3 times that"):
        descend(suicidal, "ray")


def test_what_the_function_raises_is_chained() -> None:
    with pytest.raises(gracezo.EvaluationError, match="raised ValueError: no such thing") as info:
        descend(raises_value_error, "ray")
    assert isinstance(info.value.__cause__, ValueError)


def test_a_function_that_cannot_be_sent(tmp_path: Path) -> None:
    with (tmp_path / "open").open("w") as file, pytest.raises(TypeError, match="cannot be sent to Ray"):
        descend(lambda x: file.write("a query was spent"), "ray")


def test_a_function_keeps_what_it_remembers_in_a_worker(tmp_path: Path) -> None:
    class Remembering:
        def __init__(self) -> None:
            self.calls = np.zeros(1)

        def __call__(self, x: np.ndarray) -> float:
            self.calls += 1  # an array that Ray had put into its store could not be written to
            with (tmp_path / "calls").open("a") as file:
                file.write(f"{self.calls[0]:g}\n")
            return value(x)

    descend(Remembering(), "ray", 2)
    assert max(map(float, (tmp_path / "calls").read_text().split())) > 100


OWN = """
import numpy as np, ray, gracezo
from gracezo.testing import assert_same
from tests.evaluators.objectives import value

def look(intermediate_result):
    addresses.update(node["NodeManagerAddress"] for node in ray.nodes())
    started.extend(ray._private.worker._global_node.all_processes.items())

def descend(workers, **others):
    return gracezo.minimize(value, np.zeros(50), method="fdsa", max_steps=2, workers=workers, **others)

addresses, started = set(), []
assert not ray.is_initialized()
assert_same(descend("ray", seed=0, callback=look), descend(None, seed=0), "ray")
assert not ray.is_initialized()
assert {"gcs_server", "raylet"} <= {name for name, _ in started}
assert all(info.process.poll() is not None for _, processes in started for info in processes)
print(*addresses)
"""


def test_a_ray_that_is_started_for_a_run_ends_with_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", OWN], capture_output=True, text=True, cwd=ROOT, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "127.0.0.1"


LOST_HEAD = f"""
import os, signal, sys
import numpy as np, ray, gracezo
from tests.conformance.every_method import check_every_method
from tests.evaluators.objectives import value

def lose(intermediate_result):
    (head,) = node.all_processes["gcs_server"]
    os.kill(head.process.pid, signal.SIGKILL)
    (local,) = node.all_processes["raylet"]
    os.kill(local.process.pid, signal.SIGKILL)

ray.init(**{SETTINGS!r})
node = ray._private.worker._global_node
try:
    gracezo.minimize(value, np.zeros(50), method="fdsa", max_steps=5, workers="ray", callback=lose)
except gracezo.EvaluationError as error:
    print(error.result.nfev, error.result.status, error, flush=True)
finally:
    node.kill_all_processes(check_alive=False, allow_graceful=False)
    os._exit(0)
"""


def test_a_lost_head_is_an_error_that_keeps_the_answers() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOST_HEAD], capture_output=True, text=True, cwd=ROOT, timeout=300, check=False
    )
    nfev, status, message = done.stdout.splitlines()[-1].split(" ", 2)
    assert int(nfev) >= 52, done.stderr
    assert status == "3"
    assert message.startswith("the Ray cluster used as workers")
