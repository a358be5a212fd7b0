"""Any `concurrent.futures.Executor` of the user's: threads, processes, loky, MPI.

Threads see the driver's own arrays. All others are taken to be in other
processes, which cannot be told apart: see `worker.py` for what they keep.

An evaluation that has begun cannot be stopped in a pool of others. One that is
given up, at its time-out, keeps its worker busy until it ends; the pool is the
smaller by one until then. Python's `ProcessPoolExecutor` and loky's cannot go on
after one of their processes has died: another one like it takes its place.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
import uuid
from collections.abc import Sequence
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
)
from queue import Empty, SimpleQueue
from typing import Any, TypeAlias

from gracezo.core.asks import Offsets
from gracezo.core.cancel import Cancellation
from gracezo.core.drive import Evaluator
from gracezo.core.errors import WorkersLost
from gracezo.core.interrupts import DelayedSignals
from gracezo.core.types import FloatArray
from gracezo.evaluators.report import Report
from gracezo.evaluators.spread import Delivery, Dropped, Loss, Part
from gracezo.evaluators.worker import Missing, remember, work, work_from_cache

_Done: TypeAlias = "Future[Any]"


class _Futures:
    """What all executors have in common: futures under way, and a queue of those that are done."""

    def __init__(self, executor: Executor) -> None:
        width = _width(executor)
        self._width = width or os.cpu_count() or 1
        self._wide = sys.maxsize if width is None else 2 * width
        self._executor = executor
        self._under_way: dict[_Done, Part] = {}
        self._begun: dict[_Done, float] = {}  # when those that run were first seen to run
        self._stuck: set[_Done] = set()  # given up, and still running
        self._done: SimpleQueue[_Done] = SimpleQueue()

    @property
    def size(self) -> int:
        """How many workers are not kept busy by what was given up."""
        return max(1, self._width - len(self._stuck))

    @property
    def window(self) -> int:
        """How many parts may be under way."""
        return self._wide

    def _submit(self, part: Part, *task: Any) -> _Done:
        if len(self._stuck) >= self._width:
            raise WorkersLost(
                f"all {self._width} workers are busy with evaluations that were given up at their time-out"
            )
        try:
            future = self._executor.submit(*task)
        except RuntimeError as error:  # broken, or shut down
            raise _gone(error) from error
        self._under_way[future] = part
        future.add_done_callback(self._done.put)
        return future

    def receive(self, patience: float) -> Sequence[Delivery]:
        """Wait for a future, and take what else is done."""
        deliveries: list[Delivery] = []
        deadline = time.monotonic() + patience
        while not deliveries or not self._done.empty():
            try:
                future = self._done.get(timeout=max(0.0, deadline - time.monotonic()))
            except Empty:
                break
            self._stuck.discard(future)
            part = self._under_way.pop(future, None)
            if part is None:
                continue  # dropped earlier
            self._begun.pop(future, None)
            delivery = self._taken(part, future)
            if delivery is not None:
                deliveries.append(delivery)
        return deliveries

    def _taken(self, part: Part, future: _Done) -> Delivery | None:
        try:
            came = future.result()
        except BrokenExecutor as error:  # with all that was under way
            return part, Loss(f"{type(error).__name__}: {error}", certain=len(self._under_way) == 0)
        except (Exception, CancelledError) as error:
            lost = _gone(error)
            lost.__cause__ = error
            return part, lost
        except BaseException:  # the function wants an end of all; it was evaluated, and counts
            self._under_way[future] = part
            raise
        return self._delivered(part, came)

    def _delivered(self, part: Part, came: Report | Missing) -> Delivery | None:
        assert isinstance(came, Report)
        return part, came

    def overdue(self, seconds: float) -> Sequence[Part]:
        """Give up what has been running for longer."""
        now = time.monotonic()
        late = []
        for future in list(self._under_way):
            if future.running() and now - self._begun.setdefault(future, now) > seconds:
                late.append(self._under_way.pop(future))
                del self._begun[future]
                self._stuck.add(future)
                self._given_up(future)
        return late

    def _given_up(self, future: _Done) -> None:
        """Stop what can be stopped of an evaluation that nobody waits for any more."""

    def drop(self) -> Dropped:
        """Cancel what has not begun; what has cannot be stopped, and its answer is ignored."""
        under_way, self._under_way = self._under_way, {}
        self._begun.clear()
        begun = [future for future in under_way if not future.cancel()]
        left = [future for future in begun if not future.done()]
        for future in left:
            self._given_up(future)
        self._stuck.update(left)
        return Dropped(sum(len(under_way[future]) for future in begun), len(left))


class Threads(_Futures):
    """A pool of threads."""

    task_seconds = 0.0005

    def __init__(self, executor: ThreadPoolExecutor, evaluate: Evaluator) -> None:
        super().__init__(executor)
        self._evaluate = evaluate
        self._cancellations: dict[_Done, Cancellation] = {}

    def send(self, part: Part) -> None:
        """Give a part to the pool."""
        cancellation = Cancellation()
        future = self._submit(part, _heard, cancellation, self._evaluate, part.ask.base, part.offsets)
        self._cancellations[future] = cancellation
        future.add_done_callback(self._forget)

    def _forget(self, future: _Done) -> None:
        self._cancellations.pop(future, None)

    def _given_up(self, future: _Done) -> None:
        """Kill the program that the thread runs, if it runs one."""
        cancellation = self._cancellations.pop(future, None)
        if cancellation is not None:
            cancellation.cancel()

    def close(self) -> None:
        """End what was started for the run: nothing."""


class OneThread(Threads):
    """A thread of our own, for programs: while it waits for one, the driver can hear of other things."""

    def __init__(self, evaluate: Evaluator) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="gracezo")
        super().__init__(self._pool, evaluate)

    @property
    def window(self) -> int:
        """One at a time, none waiting."""
        return 1

    def close(self) -> None:
        """End the thread."""
        self._pool.shutdown()


def _heard(cancellation: Cancellation, evaluate: Evaluator, base: FloatArray, offsets: Offsets) -> Report:
    with cancellation.heard():
        return work(evaluate, base, offsets)


class OtherExecutor(_Futures):
    """A pool behind any other executor, in processes here or elsewhere."""

    task_seconds = 0.002

    def __init__(self, executor: Executor, evaluate: Evaluator) -> None:
        super().__init__(executor)
        self._given = executor
        self._evaluate = evaluate
        self._run = uuid.uuid4().hex
        self._base: FloatArray | None = None
        self._number = 0
        self._bases_sent = 0
        self._introduce()

    def _introduce(self) -> None:
        """Send the function to as many workers as there are, before any query."""
        try:
            with DelayedSignals():  # a pool that is interrupted while it starts may never answer
                futures = [
                    self._executor.submit(remember, self._run, self._evaluate) for _ in range(self._width)
                ]
            for future in futures:
                future.result()
        except (BrokenExecutor, CancelledError, RuntimeError) as error:
            raise _gone(error) from error
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise TypeError(
                f"workers: the function (or its args) cannot be sent to other processes: {error}. "
                "Define it at the top level of a module, or use threads: workers=ThreadPoolExecutor(N)"
            ) from error

    def send(self, part: Part) -> None:
        """Give a part to the pool, with the base as often as there are workers who may not have it."""
        if part.ask.base is not self._base:
            self._base = part.ask.base
            self._number += 1
            self._bases_sent = 0
        base = self._base if self._bases_sent < self.size else None
        self._bases_sent += 1
        self._task(part, None, base)

    def _task(self, part: Part, evaluate: Evaluator | None, base: FloatArray | None) -> None:
        task = (work_from_cache, self._run, self._number, part.offsets, evaluate, base)
        try:
            self._submit(part, *task)
        except WorkersLost as lost:
            another = another_pool(self._given, self._width)
            if not isinstance(lost.__cause__, BrokenExecutor) or another is None:
                raise
            self.close()
            self._executor = another  # what it does not know it asks for
            self._stuck.clear()
            self._submit(part, *task)

    def close(self) -> None:
        """End the pool that has taken the place of a broken one."""
        if self._executor is self._given:
            return
        processes = list((getattr(self._executor, "_processes", None) or {}).values())
        self._executor.shutdown(wait=False)
        if not all(future.done() for future in self._stuck):  # nobody else would end them
            for process in processes:
                process.kill()

    def _delivered(self, part: Part, came: Report | Missing) -> Delivery | None:
        if isinstance(came, Report):
            return part, came
        try:
            self._task(part, self._evaluate if came.evaluate else None, part.ask.base)
        except WorkersLost as lost:
            return part, lost
        return None


def pool_behind(executor: Executor, evaluate: Evaluator) -> Threads | OtherExecutor:
    """Return the pool behind an executor."""
    if isinstance(executor, ThreadPoolExecutor):
        return Threads(executor, evaluate)
    return OtherExecutor(executor, evaluate)


def _width(executor: Executor) -> int | None:
    """Return how many workers an executor has, by the names that the usual ones give it, if it tells."""
    for name in ("_max_workers", "num_workers"):
        width = getattr(executor, name, None)
        if isinstance(width, int) and width > 0:
            return width
    return None


def another_pool(broken: Executor, width: int) -> Executor | None:
    """Return a pool of as many processes, made like the one that has broken, where it is known how."""
    for module, context in (
        ("concurrent.futures.process", "mp_context"),
        ("loky.process_executor", "context"),
    ):
        kind = getattr(sys.modules.get(module), "ProcessPoolExecutor", None)
        if kind is not None and isinstance(broken, kind):
            settings = {context: getattr(broken, f"_{context}", None)}
            settings |= {name: getattr(broken, f"_{name}") for name in ("initializer", "initargs")}
            another: Executor = kind(width, **settings)
            return another
    return None


def _gone(error: BaseException) -> WorkersLost:
    return WorkersLost(f"the executor given as workers cannot go on: {type(error).__name__}: {error}")
