"""A cluster behind a `dask.distributed.Client`.

A task is tied to one worker: Dask would run the tasks of a dead worker again
elsewhere, unasked and uncounted, and so it cannot. It depends on nothing that
others hold: a worker gets the function once and each base once, with a task, and
keeps them (see `worker.py`). We look every second whether the workers are still
there; what was on one that has gone is lost, and the run decides whether to ask
it again.

A task that has begun cannot be stopped. One that is given up keeps its thread
busy until it ends; the pool is the smaller by one until then.
"""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import CancelledError
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

import cloudpickle
from distributed import Client, KilledWorker

from gracezo.core.asks import Offsets
from gracezo.core.drive import Evaluator
from gracezo.core.errors import WorkersLost
from gracezo.core.types import FloatArray
from gracezo.evaluators.report import Report
from gracezo.evaluators.spread import Delivery, Dropped, Loss, Part
from gracezo.evaluators.worker import Missing, work_from_cache

_LOOK_AROUND = 1.0  # seconds after which the cluster is looked at
_PATIENCE = 30.0  # seconds for workers to start again, when all are gone


class _Task(NamedTuple):
    """A part with the worker that has it, and since when."""

    part: Part
    worker: str
    since: float


class DaskPool:
    """The workers of a Dask cluster."""

    task_seconds = 0.02

    def __init__(self, client: Client, evaluate: Evaluator) -> None:
        if client.asynchronous:
            raise ValueError(
                "workers: an asynchronous Dask client cannot be used; give Client(..., asynchronous=False)"
            )
        self._client: Any = client  # much of Dask has no types
        self._run = uuid.uuid4().hex
        self._base: FloatArray | None = None
        self._number = 0  # of the base
        self._knows: dict[str, int] = {}  # the latest base of each worker that has the function
        self._threads: dict[str, int] = {}  # of each worker, by its address
        self._looked = 0.0  # when we saw them last
        self._under_way: dict[Any, _Task] = {}
        self._stuck: dict[Any, _Task] = {}  # given up, and maybe still running
        self._done: SimpleQueue[Any] = SimpleQueue()
        try:
            self._pickled = cloudpickle.dumps(evaluate)
        except Exception as error:  # whatever pickling the user's function raises
            raise TypeError(f"workers: the function (or its args) cannot be sent to Dask: {error}") from error
        self._look()

    @property
    def size(self) -> int:
        """How many threads of workers are not kept busy by what was given up."""
        return max(1, sum(self._threads.values()) - len(self._stuck))

    @property
    def window(self) -> int:
        """How many parts may be under way."""
        return 2 * self.size

    def send(self, part: Part) -> None:
        """Submit a part to the worker that has least to do."""
        if part.ask.base is not self._base:
            self._base = part.ask.base
            self._number += 1
        worker = self._idlest()
        known = self._knows.get(worker)
        self._submit(part, worker, function=known is None, base=known != self._number)

    def _submit(self, part: Part, worker: str, *, function: bool, base: bool) -> None:
        if self._client.status != "running":
            raise self._lost_scheduler()
        future = self._client.submit(
            _work,
            self._run,
            self._number,
            part.offsets,
            self._pickled if function else None,
            self._base if base else None,
            pure=False,
            workers=[worker],
            allow_other_workers=False,
        )
        self._knows[worker] = self._number
        self._under_way[future] = _Task(part, worker, time.monotonic())
        future.add_done_callback(self._done.put)

    def _idlest(self) -> str:
        """Return the address of the worker with the fewest tasks for each of its threads."""
        if not self._threads:
            self._look()
        if not self._threads:
            raise WorkersLost("the Dask cluster given as workers has no workers")
        tasks = Counter(task.worker for task in self._under_way.values())
        tasks.update(task.worker for task in self._stuck.values())
        load = {address: tasks[address] / threads for address, threads in self._threads.items()}
        idlest = min(load, key=load.__getitem__)
        if load[idlest] >= 1.0 and not self._under_way:
            raise WorkersLost("all Dask workers are busy with evaluations given up at their time-out")
        return idlest

    def receive(self, patience: float) -> Sequence[Delivery]:
        """Wait for a task, and take what else is done."""
        done: list[Any] = []
        deadline = time.monotonic() + patience
        while not done or not self._done.empty():
            try:
                future = self._done.get(timeout=max(0.0, deadline - time.monotonic()))
            except Empty:
                break
            self._stuck.pop(future, None)
            if future in self._under_way:  # else it was dropped
                done.append(future)
        came: list[Delivery] = []
        if done:
            for future, outcome in zip(done, self._outcomes(done), strict=True):
                task = self._under_way.pop(future)
                if isinstance(outcome, Missing):  # it has been started again meanwhile
                    self._submit(task.part, task.worker, function=True, base=True)
                else:
                    came.append((task.part, outcome))
        if time.monotonic() - self._looked > _LOOK_AROUND:
            came += self._missing()
        return came

    def _missing(self) -> list[Delivery]:
        """Return what was on workers that have gone."""
        if self._client.status != "running":
            raise self._lost_scheduler()
        self._look()
        self._stuck = {future: task for future, task in self._stuck.items() if task.worker in self._threads}
        lost = [future for future, task in self._under_way.items() if task.worker not in self._threads]
        if not lost:
            return []
        self._client.cancel(lost)
        shared = Counter(self._under_way[future].worker for future in lost)
        tasks = [self._under_way.pop(future) for future in lost]
        how = "the Dask worker has died"
        return [(task.part, Loss(how, certain=shared[task.worker] == 1)) for task in tasks]

    def _look(self) -> None:
        """See which workers there are, waiting a little if there are none: they may be starting again."""
        deadline = time.monotonic() + _PATIENCE
        while True:
            self._threads = dict(self._client.nthreads())
            self._looked = time.monotonic()
            self._knows = {worker: base for worker, base in self._knows.items() if worker in self._threads}
            if self._threads or self._looked > deadline or self._client.status != "running":
                return
            time.sleep(_LOOK_AROUND / 10)

    def overdue(self, seconds: float) -> Sequence[Part]:
        """Give up what was sent longer ago."""
        now = time.monotonic()
        late = [future for future, task in self._under_way.items() if now - task.since > seconds]
        for future in late:
            self._stuck[future] = self._under_way[future]
        return [self._under_way.pop(future).part for future in late]

    def drop(self) -> Dropped:
        """Cancel what has not begun; what has cannot be stopped, and its answer is ignored.

        Nobody knows which is which: all may have begun.
        """
        under_way, self._under_way = self._under_way, {}
        if self._client.status == "running":
            self._client.cancel(list(under_way))
        return Dropped(sum(len(task.part) for task in under_way.values()), min(len(under_way), self.size))

    def _outcomes(self, done: list[Any]) -> list[Report | Missing | Loss | WorkersLost]:
        try:
            reports: list[Report | Missing | Loss | WorkersLost] = self._client.gather(done)
        except Exception:  # not all are well: one by one
            return [self._outcome(future) for future in done]
        return reports

    def _outcome(self, future: Any) -> Report | Missing | Loss | WorkersLost:
        try:
            report: Report | Missing = future.result()
        except KilledWorker as error:
            return Loss(str(error), certain=False)
        except CancelledError:
            if self._client.status != "running":
                return self._lost_scheduler()
            return Loss("the Dask worker has died", certain=False)
        except Exception as error:  # anything else means that the cluster is gone
            lost = WorkersLost(
                f"the Dask cluster given as workers cannot go on: {type(error).__name__}: {error}"
            )
            lost.__cause__ = error
            return lost
        return report

    def _lost_scheduler(self) -> WorkersLost:
        return WorkersLost("the Dask client given as workers has lost its scheduler")


# ---------------------------------------------------------------- in the worker


def _work(
    run: str, number: int, offsets: Offsets, pickled: bytes | None, base: FloatArray | None
) -> Report | Missing:
    evaluate = None if pickled is None else cloudpickle.loads(pickled)
    return work_from_cache(run, number, offsets, evaluate, base)
