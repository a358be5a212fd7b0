"""Threads, processes and maps on this machine: same results, nothing asked twice, nothing left behind."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import pickle
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import loky
import numpy as np
import pytest
from tests.evaluators.objectives import Counted, Deadly, Poisonous, many, raises_value_error, value

import gracezo
from gracezo.core.asks import SparseRows
from gracezo.core.failures import MOST_LOSSES
from gracezo.evaluators import worker
from gracezo.evaluators.executor import another_pool
from gracezo.evaluators.objective import Objective
from gracezo.evaluators.report import Report, WorkerTraceback
from gracezo.evaluators.serial import Serial
from gracezo.evaluators.worker import Missing, remember, work_from_cache
from gracezo.testing import Valley, assert_same

X0 = np.zeros(200)


def minimize(fun: Callable[..., Any], workers: Any, **others: Any) -> gracezo.Result:
    keywords: dict[str, Any] = {"method": "grace", "sparsity": 5, "max_queries": 300, "seed": 3} | others
    return gracezo.minimize(fun, X0, workers=workers, **keywords)


EXPECTED = minimize(value, None)


@pytest.fixture(scope="module")
def threads() -> Iterator[Executor]:
    with ThreadPoolExecutor(3) as pool:
        yield pool


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    with ProcessPoolExecutor(2) as pool:
        yield pool


@pytest.fixture(scope="module")
def loky_pool() -> Iterator[Executor]:
    with loky.ProcessPoolExecutor(2) as pool:
        yield pool


class Inline(Executor):
    """An executor that says nothing of its size and works at once."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@pytest.fixture(params=["threads", "processes", "loky", "2", "-1", "map", "threads.map", "inline"])
def workers(request: pytest.FixtureRequest) -> object:
    made: dict[str, Callable[[], object]] = {
        "threads": lambda: request.getfixturevalue("threads"),
        "processes": lambda: request.getfixturevalue("processes"),
        "loky": lambda: request.getfixturevalue("loky_pool"),
        "2": lambda: 2,
        "-1": lambda: -1,
        "map": lambda: map,
        "threads.map": lambda: request.getfixturevalue("threads").map,
        "inline": Inline,
    }
    return made[request.param]()


# ---------------------------------------------------------------- what does not depend on workers


def test_the_result_and_the_number_of_calls(workers: object, tmp_path: Path) -> None:
    counted = Counted(tmp_path / "calls")
    result = minimize(counted, workers)
    assert_same(result, EXPECTED, "workers")
    assert counted.calls() == result.nfev


def test_the_gradient(workers: object) -> None:
    def estimate(workers: Any) -> gracezo.GradientEstimate:
        return gracezo.estimate_gradient(value, X0, method="fdsa", workers=workers)

    one, other = estimate(None), estimate(workers)
    assert np.array_equal(one.values, other.values)
    assert one.queries == other.queries == 201


def shaped(x: np.ndarray, factor: float) -> float:
    assert x.shape == (10, 20)
    assert x.flags.writeable
    return factor * value(x)


def test_shape_and_args(workers: Any) -> None:
    def run(workers: Any) -> gracezo.Result:
        return gracezo.minimize(
            shaped, X0.reshape(10, 20), (2.0,), method="fdsa", max_queries=450, workers=workers
        )

    assert np.array_equal(run(workers).x, run(None).x)


def read_only(x: np.ndarray) -> float:
    assert not x.flags.writeable
    return value(x)


@pytest.mark.parametrize("count", [1, 2])
def test_without_copies(count: int, threads: Executor) -> None:
    assert_same(minimize(read_only, count, copy=False), EXPECTED, "copy=False")
    assert_same(minimize(read_only, threads, copy=False), EXPECTED, "copy=False")


def test_functions_of_many_points_get_a_share_each(threads: Executor) -> None:
    sizes: list[int] = []

    def recorded(points: np.ndarray) -> np.ndarray:
        sizes.append(len(points))
        return many(points)

    result = gracezo.minimize(recorded, X0, method="fdsa", max_queries=202, vectorized=True, workers=threads)
    assert sorted(sizes) == [1, 1, 66, 67, 67]  # x0, the step, and 200 differences in three shares
    expected = gracezo.minimize(value, X0, method="fdsa", max_queries=202, seed=result.seed)
    assert_same(result, expected, "vectorized")
    assert_same(minimize(many, 2, vectorized=True), EXPECTED, "vectorized")


# ---------------------------------------------------------------- failures of the function


class Peculiar(Exception):
    """An exception that can be pickled but not unpickled."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


def raises_peculiar(x: np.ndarray) -> float:
    raise Peculiar(1, 2)


def test_what_the_function_raises_is_chained(workers: object) -> None:
    with pytest.raises(gracezo.EvaluationError, match="raised ValueError: no such thing") as info:
        minimize(raises_value_error, workers)
    assert (info.value.query, info.value.result.status) == (1, 3)
    assert isinstance(info.value.__cause__, ValueError)


@pytest.mark.parametrize("fun", [raises_value_error, raises_peculiar])
def test_the_worker_traceback_is_kept(fun: Callable[..., float]) -> None:
    with pytest.raises(gracezo.EvaluationError) as info:
        minimize(fun, 2)
    cause = info.value.__cause__
    if not isinstance(cause, WorkerTraceback):
        assert cause is not None
        cause = cause.__cause__
    assert isinstance(cause, WorkerTraceback)
    assert f"in {fun.__name__}" in str(cause)


def test_a_failure_stops_what_has_not_begun(tmp_path: Path, threads: Executor) -> None:
    counted = Counted(tmp_path / "calls")

    def breaks(x: np.ndarray) -> float:
        counted(x)
        if np.count_nonzero(x) == 1:
            raise ValueError("broken")
        return value(x)

    with pytest.raises(gracezo.EvaluationError, match="broken"):
        gracezo.minimize(breaks, X0, method="fdsa", max_queries=300, workers=threads)
    threads.submit(int).result()
    assert counted.calls() < 100


# ---------------------------------------------------------------- workers that die


def assert_begins_as_expected(result: gracezo.Result) -> None:
    """What was lost cost queries, so the run may end earlier; what it did is the same."""
    known = len(result.trace.values)
    assert known > 3
    assert np.array_equal(result.trace.values, EXPECTED.trace.values[:known])


def test_a_killed_process_of_ours_costs_what_it_had_begun(tmp_path: Path) -> None:
    deadly = Deadly(tmp_path / "calls", tuple(range(5, 250, 25)))
    result = minimize(deadly, 2)
    assert deadly.deaths() == 10
    assert result.nfev == deadly.calls() <= 300
    assert_begins_as_expected(result)
    assert "evaluations were lost with their workers" in result.message


def test_a_point_that_kills_its_process_is_a_failed_evaluation() -> None:
    with pytest.raises(gracezo.EvaluationError) as info:
        gracezo.minimize(Poisonous(7), X0, method="fdsa", max_queries=300, workers=2)
    assert f"died each of the {MOST_LOSSES} times" in str(info.value)
    assert "ended by signal 9 (Killed)" in str(info.value)
    assert info.value.result.status == 3
    assert info.value.result.fun == value(X0)
    result = gracezo.minimize(
        Poisonous(7), X0, method="fdsa", max_queries=300, workers=2, on_failure="skip", options={"eps": 0.1}
    )
    assert "1 evaluation failed and was skipped; " in result.message


def test_a_point_that_kills_its_process_takes_no_other_along() -> None:
    """Rows that travelled beside it are lost once, with nobody else to be blamed."""
    result = gracezo.minimize(
        Poisonous(7), X0, method="fdsa", max_queries=300, workers=1, on_failure="skip", options={"eps": 0.1}
    )
    assert "; 1 evaluation failed and was skipped; " in result.message
    assert result.nfev <= 201 + MOST_LOSSES + 100  # d + 1, the attempts, and what was in the same part, once


def test_a_broken_process_pool_is_replaced(tmp_path: Path) -> None:
    deadly = Deadly(tmp_path / "calls", (100, 160))
    with ProcessPoolExecutor(2) as executor:
        result = minimize(deadly, executor)
    assert deadly.deaths() == 2
    assert deadly.calls() <= result.nfev <= 300
    assert_begins_as_expected(result)
    with ProcessPoolExecutor(2) as executor, pytest.raises(gracezo.EvaluationError) as info:
        gracezo.minimize(Poisonous(7), X0, method="fdsa", max_queries=300, workers=executor)
    assert f"died each of the {MOST_LOSSES} times" in str(info.value)


def test_a_broken_pool_of_loky_is_replaced(tmp_path: Path) -> None:
    deadly = Deadly(tmp_path / "calls", (100,))
    with loky.ProcessPoolExecutor(2) as executor:
        result = minimize(deadly, executor)
    assert deadly.deaths() == 1
    assert deadly.calls() <= result.nfev <= 300
    assert_begins_as_expected(result)


def test_pools_that_can_be_made_anew() -> None:
    for given in (ProcessPoolExecutor(2), loky.ProcessPoolExecutor(2), loky.get_reusable_executor(2)):
        another = another_pool(given, 3)
        assert another is not None
        assert another is not given
        assert another._max_workers == 3  # type: ignore[attr-defined]
        for pool in (given, another):
            pool.shutdown()
    assert another_pool(ThreadPoolExecutor(2), 3) is None


class Stranger(Executor):
    """A pool of a kind that is not known, behind one that is."""

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        self.pool = pool

    def submit(self, *task: Any, **more: Any) -> Any:
        return self.pool.submit(*task, **more)


def test_a_broken_pool_of_an_unknown_kind_is_an_error_that_keeps_the_answers(tmp_path: Path) -> None:
    deadly = Deadly(tmp_path / "calls", (100,))
    with ProcessPoolExecutor(2) as pool, pytest.raises(gracezo.EvaluationError) as info:
        minimize(deadly, Stranger(pool))
    assert "the executor given as workers cannot go on" in str(info.value)
    result = info.value.result
    assert 50 < deadly.calls() <= result.nfev
    assert result.status == 3
    assert_begins_as_expected(result)


def test_an_executor_that_is_shut_down() -> None:
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(gracezo.EvaluationError, match="cannot go on: RuntimeError") as info:
        minimize(value, pool)
    assert info.value.result.nfev == 0


# ---------------------------------------------------------------- nothing is left behind


def interrupt_driver(x: np.ndarray, driver: int, once: Path) -> float:
    if np.count_nonzero(x) == 1:
        with suppress(FileExistsError):
            once.mkdir()
            os.kill(driver, signal.SIGINT)
        signal.pause()
    return value(x)


def test_an_interrupt_ends_the_processes_too(tmp_path: Path) -> None:
    before = set(multiprocessing.active_children())
    args = (os.getpid(), tmp_path / "once")
    result = gracezo.minimize(interrupt_driver, X0, args, method="fdsa", max_queries=300, workers=2)
    assert result.status == 2
    assert result.fun == value(X0)
    assert set(multiprocessing.active_children()) <= before


EARLY = """
import os, subprocess
import numpy as np
import gracezo

def value(x):  # without a lower bound: nothing but the interrupt ends the run
    return float(x.sum())

def heard(place):
    after = ["sh", "-c", f"sleep {place * 0.001}; kill -INT {os.getpid()}"]
    try:
        with subprocess.Popen(after):
            result = gracezo.minimize(value, np.ones(3), method="fdsa", max_queries=10**9, workers=4)
    except KeyboardInterrupt:
        return True
    return result.status == 2

if __name__ == "__main__":
    gracezo.minimize(value, np.ones(3), max_queries=2)  # all that is to be imported is
    print(all(heard(place) for place in range(25)))
"""


def test_an_interrupt_is_heard_while_workers_start(tmp_path: Path) -> None:
    script = tmp_path / "early.py"
    script.write_text(EARLY)
    out = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, check=False)
    assert out.stdout == "True\n", out.stderr


DRIVER = """
import os, signal, sys
import numpy as np
import gracezo

def tell_and_wait(x):
    if np.count_nonzero(x) == 1:
        os.write(1, f"{os.getpid()}\\n".encode())
        signal.pause()
    return float(x @ x)

if __name__ == "__main__":
    gracezo.minimize(tell_and_wait, np.zeros(5), method="fdsa", max_queries=20, workers=2)
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="watches processes by pidfd")
def test_workers_leave_when_the_driver_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        watched = [os.pidfd_open(int(driver.stdout.readline())) for _ in range(2)]
        driver.kill()
    for pidfd in watched:
        assert select.select([pidfd], [], [], 60.0)[0], "a worker outlived the driver"
        os.close(pidfd)


# ---------------------------------------------------------------- what travels


class Weighed:
    """Writes a line into a file whenever it is unpickled."""

    def __init__(self, log: Path) -> None:
        self.log = log

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        with self.log.open("a") as log:
            log.write("unpickled\n")

    def __call__(self, x: np.ndarray) -> float:
        return value(x)


def test_the_function_reaches_a_process_once(tmp_path: Path) -> None:
    weighed = Weighed(tmp_path / "log")
    minimize(weighed, 2)
    assert len(weighed.log.read_text().splitlines()) == 2
    with ProcessPoolExecutor(1) as pool:
        minimize(weighed, pool)
    assert len(weighed.log.read_text().splitlines()) == 3


def test_a_worker_says_what_it_misses() -> None:
    evaluate = Serial(Objective(value, (), X0.shape))
    offsets = SparseRows.coordinates(np.array([3]), np.array([0.5]))
    assert work_from_cache("a", 1, offsets, None, None) == Missing(evaluate=True)
    remember("a", evaluate)
    assert work_from_cache("a", 1, offsets, None, None) == Missing(evaluate=False)
    expected = value(X0 + 0.5 * np.eye(1, 200, 3)[0])
    for base in (X0, None):
        report = work_from_cache("a", 1, offsets, None, base)
        assert isinstance(report, Report)
        assert report.outcomes == [expected]
    assert work_from_cache("a", 2, offsets, None, None) == Missing(evaluate=False)
    assert isinstance(work_from_cache("a", 2, offsets, None, X0 + 1), Report)
    assert work_from_cache("a", 1, offsets, None, None) == Missing(evaluate=False)
    for run in "bcde":  # a worker that serves many runs forgets the oldest
        remember(run, evaluate)
    assert work_from_cache("a", 2, offsets, None, None) == Missing(evaluate=True)
    assert isinstance(work_from_cache("a", 2, offsets, evaluate, X0), Report)


class Forgetful(Inline):
    """Each task is done by a worker that has just been started."""

    def __init__(self) -> None:
        self.bytes = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        worker._cache.clear()
        sent = pickle.dumps(args)
        self.bytes += len(sent)
        return super().submit(fn, *pickle.loads(sent))


def test_a_worker_that_misses_something_gets_it() -> None:
    assert_same(minimize(value, Forgetful()), EXPECTED, "forgetful")


class Weighing(Inline):
    """An executor of one worker that weighs what is sent to it."""

    _max_workers = 1
    sent = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.sent += len(pickle.dumps(args))
        return super().submit(fn, *args)


def test_offsets_travel_without_their_base() -> None:
    pool, d = Weighing(), 1000
    gracezo.estimate_gradient(value, np.zeros(d), method="fdsa", workers=pool)
    base = 8 * d
    assert base < pool.sent < base + d * base / 4  # whole points would be d bases


# ---------------------------------------------------------------- wrong input


def never(x: np.ndarray) -> float:
    raise AssertionError("a query was spent")


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        (0, ValueError, "workers must be at least 1, or -1 for all cores; given: 0"),
        (-2, ValueError, "workers must be at least 1, or -1"),
        (True, TypeError, "workers must be a number of processes"),
        (2.0, TypeError, r"given: 2.0 \(float\)"),
        ("dusk", TypeError, "given: 'dusk'"),
    ],
)
def test_wrong_workers(given: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        minimize(never, given)


def test_a_map_takes_single_points() -> None:
    with pytest.raises(ValueError, match="vectorized=True does not go with a map-like callable"):
        minimize(never, map, vectorized=True)


def test_a_function_that_cannot_be_sent(processes: Executor) -> None:
    def local(x: np.ndarray) -> float:
        return never(x)

    for workers in (2, processes):
        with pytest.raises(TypeError, match=r"cannot be sent to other processes: .*local"):
            minimize(local, workers)


def test_loky_takes_any_function(loky_pool: Executor) -> None:
    assert_same(minimize(lambda x: value(x) + 0.0, loky_pool), EXPECTED, "loky")


def short_map(fun: Callable[..., Any], points: Iterable[np.ndarray]) -> list[Any]:
    return [fun(x) for x in points][1:]


def odd_map(fun: Callable[..., Any], points: Iterable[np.ndarray]) -> list[Any]:
    return ["what?"]


def broken_map(fun: Callable[..., Any], points: Iterable[np.ndarray]) -> list[Any]:
    raise OSError("no connection")


@pytest.mark.parametrize(
    ("mapping", "says"),
    [
        (short_map, "for point 1 of 1 it gave None"),
        (odd_map, "for point 1 of 1 it gave 'what\\?'"),
        (broken_map, "cannot go on: OSError: no connection"),
    ],
)
def test_maps_that_do_not_keep_their_word(mapping: Callable[..., Any], says: str) -> None:
    with pytest.raises(gracezo.EvaluationError, match=says) as info:
        minimize(value, mapping)
    assert info.value.result.nfev == 1  # it may have been evaluated
    assert info.value.query == 1


# ---------------------------------------------------------------- with a journal


def test_what_a_broken_pool_had_evaluated_is_not_asked_again(tmp_path: Path) -> None:
    deadly = Deadly(tmp_path / "calls", (100,))
    journal = tmp_path / "run.db"
    with ProcessPoolExecutor(2) as pool, pytest.raises(gracezo.EvaluationError) as info:
        minimize(deadly, Stranger(pool), journal=journal)
    kept, spent = info.value.result.nfev, deadly.calls()
    result = gracezo.resume(journal, deadly, workers=2)
    assert_begins_as_expected(result)
    assert deadly.calls() - spent == result.nfev - kept


def test_wrong_workers_leave_no_journal(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="workers must be at least 1"):
        minimize(value, 0, journal=tmp_path / "run.db")
    assert list(tmp_path.iterdir()) == []


def test_idle_workers_are_told_of() -> None:
    with ThreadPoolExecutor(5) as pool:
        idle = gracezo.minimize(Valley(), np.zeros(60), max_queries=20, seed=0, workers=pool)
        busy = gracezo.minimize(Valley(), np.zeros(60), max_queries=20, seed=0, workers=pool, batch=5)
    assert idle.message == "all 20 queries are spent; of 5 workers at most 1 had work: batch=5 would use all"
    assert "workers" not in busy.message


class Ends(BaseException):
    """Nobody's exception."""


@pytest.mark.parametrize("error", [GeneratorExit, asyncio.CancelledError, Ends])
@pytest.mark.parametrize("how", ["here", "rows", "map", "threads"])
def test_whatever_is_raised_is_a_failure(error: type[BaseException], how: str) -> None:
    def fun(x: np.ndarray) -> float:
        if x.any():
            raise error("no")
        return 1.0

    def rows(points: np.ndarray) -> list[float]:
        return [fun(point) for point in points]

    with ThreadPoolExecutor(1) as pool:
        settings: dict[str, Any] = {"vectorized": how == "rows"}
        settings["workers"] = {"map": map, "threads": pool}.get(how)
        with pytest.raises(gracezo.EvaluationError, match=f"raised {error.__name__}: no") as raised:
            gracezo.minimize(rows if how == "rows" else fun, np.zeros(2), method="fdsa", **settings)
    assert raised.value.query == 2
    assert type(raised.value.__cause__) is error


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_a_function_in_a_thread_that_ends_all_was_evaluated(error: type[BaseException]) -> None:
    calls = 0

    def fun(x: np.ndarray) -> float:
        nonlocal calls
        calls += 1
        if x.any():
            raise error
        return 1.0

    with ThreadPoolExecutor(1) as pool:
        if error is SystemExit:
            with pytest.raises(SystemExit):
                gracezo.minimize(fun, np.zeros(2), method="fdsa", workers=pool)
            return
        result = gracezo.minimize(fun, np.zeros(2), method="fdsa", workers=pool)
    assert result.status == 2
    assert result.nfev >= calls >= 2
