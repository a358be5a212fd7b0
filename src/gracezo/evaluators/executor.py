"""Any `concurrent.futures.Executor` of the user's: threads, processes, loky, MPI.

Threads see the driver's own arrays. All others are taken to be in other
processes, which cannot be told apart: see `worker.py` for what they keep.
"""

from __future__ import annotations

import os
import pickle
import sys
import uuid
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any, TypeAlias

from gracezo.core.drive import Evaluator
from gracezo.core.errors import WorkersLost
from gracezo.core.types import FloatArray
from gracezo.evaluators.report import Report
from gracezo.evaluators.spread import Delivery, Part
from gracezo.evaluators.worker import Missing, remember, work, work_from_desk

_Done: TypeAlias = "Future[Any]"


class _Futures:
    """What all executors have in common: futures under way, and a queue of those that are done."""

    def __init__(self, executor: Executor) -> None:
        width = _width(executor)
        self.size = width or os.cpu_count() or 1
        self.window = sys.maxsize if width is None else 2 * width
        self._executor = executor
        self._under_way: dict[_Done, Part] = {}
        self._done: SimpleQueue[_Done] = SimpleQueue()

    def _submit(self, part: Part, *task: Any) -> None:
        try:
            future = self._executor.submit(*task)
        except RuntimeError as error:  # broken, or shut down
            raise _gone(error) from error
        self._under_way[future] = part
        future.add_done_callback(self._done.put)

    def receive(self) -> Sequence[Delivery]:
        """Wait for a future, and take what else is done."""
        deliveries: list[Delivery] = []
        while not deliveries or not self._done.empty():
            future = self._done.get()
            part = self._under_way.pop(future, None)
            if part is None:
                continue  # dropped earlier
            try:
                came = future.result()
            except (Exception, CancelledError) as error:
                lost = _gone(error)
                lost.__cause__ = error
                deliveries.append((part, lost))
                continue
            delivery = self._delivered(part, came)
            if delivery is not None:
                deliveries.append(delivery)
        return deliveries

    def _delivered(self, part: Part, came: Report | Missing) -> Delivery | None:
        assert isinstance(came, Report)
        return part, came

    def drop(self) -> None:
        """Cancel what has not begun; what has cannot be stopped, and its answer is ignored."""
        under_way, self._under_way = self._under_way, {}
        for future in under_way:
            future.cancel()


class Threads(_Futures):
    """A crew of threads."""

    task_seconds = 0.0005

    def __init__(self, executor: ThreadPoolExecutor, evaluate: Evaluator) -> None:
        super().__init__(executor)
        self._evaluate = evaluate

    def send(self, part: Part) -> None:
        """Give a part to the pool."""
        self._submit(part, work, self._evaluate, part.ask.base, part.offsets)


class OtherExecutor(_Futures):
    """A crew behind any other executor, in processes here or elsewhere."""

    task_seconds = 0.002

    def __init__(self, executor: Executor, evaluate: Evaluator) -> None:
        super().__init__(executor)
        self._evaluate = evaluate
        self._run = uuid.uuid4().hex
        self._base: FloatArray | None = None
        self._number = 0
        self._bases_sent = 0
        self._introduce()

    def _introduce(self) -> None:
        """Send the function to as many workers as there are, before any query."""
        try:
            for future in [
                self._executor.submit(remember, self._run, self._evaluate) for _ in range(self.size)
            ]:
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
        self._submit(part, work_from_desk, self._run, self._number, part.offsets, evaluate, base)

    def _delivered(self, part: Part, came: Report | Missing) -> Delivery | None:
        if isinstance(came, Report):
            return part, came
        try:
            self._task(part, self._evaluate if came.evaluate else None, part.ask.base)
        except WorkersLost as lost:
            return part, lost
        return None


def crew(executor: Executor, evaluate: Evaluator) -> Threads | OtherExecutor:
    """Return the crew behind an executor."""
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


def _gone(error: BaseException) -> WorkersLost:
    return WorkersLost(f"the executor given as workers cannot go on: {type(error).__name__}: {error}")
