"""A Ray cluster, for `workers="ray"`.

The function goes into Ray's object store once, and a worker unpacks it once;
each base is put there once. Ray is told not to repeat a task by itself: what is
lost with a worker comes back to us.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import ray
from ray import cloudpickle, exceptions

from gracezo.core.asks import Offsets
from gracezo.core.drive import Evaluator
from gracezo.core.errors import WorkersLost
from gracezo.core.types import FloatArray
from gracezo.evaluators.report import Report
from gracezo.evaluators.spread import Delivery, Dropped, Loss, Part
from gracezo.evaluators.worker import work

_LOOK_AROUND = 1.0  # seconds after which a silent cluster is looked at
_PATIENCE = 5.0  # seconds that its head may be out of reach; Ray itself ends the whole process after a minute

_LOSSES = (
    exceptions.WorkerCrashedError,
    exceptions.NodeDiedError,
    exceptions.ObjectLostError,
    exceptions.OutOfMemoryError,
)


@contextmanager
def initialised() -> Iterator[None]:
    """Use the Ray that is initialised, or one of our own for the time being."""
    if ray.is_initialized():
        yield
        return
    ray.init()
    try:
        yield
    finally:
        ray.shutdown()


class RayPool:
    """The workers of the Ray cluster that this process is connected to."""

    task_seconds = 0.01

    def __init__(self, evaluate: Evaluator) -> None:
        try:
            pickled = cloudpickle.dumps(evaluate)
        except Exception as error:  # whatever pickling the user's function raises
            raise TypeError(f"workers: the function (or its args) cannot be sent to Ray: {error}") from error
        self._function = ray.put(pickled)
        self._work: Any = ray.remote(_work).options(max_retries=0)
        self.size = max(1, int(ray.cluster_resources().get("CPU", 1)))
        self.window = 2 * self.size
        self._head: str = ray.get_runtime_context().gcs_address
        self._base: FloatArray | None = None
        self._base_reference: Any = None
        self._under_way: dict[Any, tuple[Part, float]] = {}  # and since when
        self._looked = time.monotonic()

    def send(self, part: Part) -> None:
        """Submit a part."""
        try:
            if part.ask.base is not self._base:
                self._base_reference = ray.put(part.ask.base)
                self._base = part.ask.base
            reference = self._work.remote([self._function], self._base_reference, part.offsets)
        except exceptions.RayError as error:
            raise _gone(error) from error
        self._under_way[reference] = part, time.monotonic()

    def receive(self, patience: float) -> Sequence[Delivery]:
        """Wait for a task, and take what else is done."""
        done = ray.wait(list(self._under_way), timeout=patience)[0]
        if not done:
            if time.monotonic() - self._looked > _LOOK_AROUND:
                self._looked = time.monotonic()
                if not _reachable(self._head):
                    raise WorkersLost("the Ray cluster used as workers has lost its head node")
            return []
        references = list(self._under_way)
        done = ray.wait(references, num_returns=len(references), timeout=0)[0] or done
        return [(self._under_way.pop(reference)[0], _outcome(reference)) for reference in done]

    def overdue(self, seconds: float) -> Sequence[Part]:
        """Kill the workers of tasks that were sent longer ago; Ray starts others."""
        now = time.monotonic()
        late = [reference for reference, (_, since) in self._under_way.items() if now - since > seconds]
        for reference in late:
            ray.cancel(reference, force=True)
        return [self._under_way.pop(reference)[0] for reference in late]

    def drop(self) -> Dropped:
        """Cancel what is under way; the workers of what has begun are killed, and Ray starts others."""
        under_way, self._under_way = self._under_way, {}
        for reference in under_way:
            ray.cancel(reference, force=True)
        return Dropped(sum(len(part) for part, _ in under_way.values()), 0)


def _reachable(address: str) -> bool:
    """Whether the head of the cluster answers, maybe after some time."""
    deadline = time.monotonic() + _PATIENCE
    while not (answers := _answers(address)) and time.monotonic() < deadline:
        time.sleep(_LOOK_AROUND / 10)
    return answers


def _answers(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _LOOK_AROUND).close()
    except OSError:
        return False
    return True


def _outcome(reference: Any) -> Report | Loss | WorkersLost:
    try:
        report: Report = ray.get(reference)
    except _LOSSES as error:
        return Loss(f"{type(error).__name__}: {error}")
    except Exception as error:  # anything else means that the cluster is gone
        lost = _gone(error)
        lost.__cause__ = error
        return lost
    return report


def _gone(error: BaseException) -> WorkersLost:
    return WorkersLost(f"the Ray cluster used as workers cannot go on: {type(error).__name__}: {error}")


# ---------------------------------------------------------------- in the worker


def _work(function: list[Any], base: FloatArray, offsets: Offsets) -> Report:
    return work(_unpacked(function[0]), base, offsets)  # in a list, a reference arrives as what it is


@lru_cache(maxsize=4)
def _unpacked(function: Any) -> Evaluator:
    evaluate: Evaluator = cloudpickle.loads(ray.get(function))
    return evaluate
