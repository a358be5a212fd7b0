"""A cluster behind a `dask.distributed.Client`.

The function is scattered once and each base once, to all workers, so that one
that dies takes nothing along that the others need. Dask itself runs the tasks
of a dead worker again elsewhere. Only when what was scattered has gone with its
last holder is it scattered again, and the tasks that needed it sent again.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import CancelledError
from queue import Empty, SimpleQueue
from typing import Any

from distributed import Client, KilledWorker

from gracezo.core.drive import Evaluator
from gracezo.core.errors import WorkersLost
from gracezo.core.types import FloatArray
from gracezo.evaluators.report import Report
from gracezo.evaluators.spread import MOST_LOSSES, Delivery, Loss, Part
from gracezo.evaluators.worker import work

_LOOK_AROUND = 1.0  # seconds after which a silent cluster is looked at


class DaskCrew:
    """The workers of a Dask cluster."""

    task_seconds = 0.02

    def __init__(self, client: Client, evaluate: Evaluator) -> None:
        if client.asynchronous:
            raise ValueError(
                "workers: an asynchronous Dask client cannot be used; give Client(..., asynchronous=False)"
            )
        self.size = self.window = 1
        self._client: Any = client  # much of Dask has no types
        self._evaluate = evaluate
        self._base: FloatArray | None = None
        self._scattered_base: Any = None
        self._under_way: dict[Any, Part] = {}
        self._done: SimpleQueue[Any] = SimpleQueue()
        try:
            self._scattered_evaluate = self._scatter(evaluate)
        except WorkersLost:
            raise
        except Exception as error:  # from the pickling here or the unpickling there
            raise TypeError(f"workers: the function (or its args) cannot be sent to Dask: {error}") from error

    def send(self, part: Part) -> None:
        """Submit a part, what it needs being scattered before."""
        if not _holds(self._scattered_evaluate):
            self._scattered_evaluate = self._scatter(self._evaluate)
        if part.ask.base is not self._base or not _holds(self._scattered_base):
            self._base = part.ask.base
            self._scattered_base = self._scatter(self._base)
        if self._client.status != "running":
            raise self._lost_scheduler()
        future = self._client.submit(
            work, self._scattered_evaluate, self._scattered_base, part.offsets, pure=False
        )
        self._under_way[future] = part
        future.add_done_callback(self._done.put)

    def receive(self) -> Sequence[Delivery]:
        """Wait for a task, and take what else is done."""
        done: list[Any] = []
        while not done or not self._done.empty():
            try:
                future = self._done.get(timeout=_LOOK_AROUND)
            except Empty:
                if self._client.status != "running":
                    raise self._lost_scheduler() from None
                continue
            if future in self._under_way:  # else it was dropped
                done.append(future)
        came = self._outcomes(done)
        return [(self._under_way.pop(future), outcome) for future, outcome in zip(done, came, strict=True)]

    def drop(self) -> None:
        """Cancel what has not begun; what has cannot be stopped, and its answer is ignored."""
        under_way, self._under_way = self._under_way, {}
        if self._client.status == "running":
            self._client.cancel(list(under_way))

    def _outcomes(self, done: list[Any]) -> list[Report | Loss | WorkersLost]:
        try:
            reports: list[Report | Loss | WorkersLost] = self._client.gather(done)
        except Exception:  # not all are well: one by one
            return [self._outcome(future) for future in done]
        return reports

    def _outcome(self, future: Any) -> Report | Loss | WorkersLost:
        try:
            report: Report = future.result()
        except KilledWorker as error:  # Dask has tried it on several workers already
            return Loss(str(error), times=MOST_LOSSES)
        except CancelledError:
            if self._client.status != "running":
                return self._lost_scheduler()
            return Loss("the workers that held what it needed have died")
        except Exception as error:  # anything else means that the cluster is gone
            return self._gone(error)
        return report

    def _scatter(self, what: object) -> Any:
        """Give something to all workers, and see how many there are."""
        for attempt in range(1, MOST_LOSSES + 1):
            try:
                (future,) = self._client.scatter([what], broadcast=True, hash=False)
                self.size = max(1, sum(self._client.nthreads().values()))
                break
            except TimeoutError as error:  # nobody to give it to
                raise self._gone(error) from error
            except (OSError, CancelledError) as error:  # a worker has died at this moment, or the scheduler
                if attempt == MOST_LOSSES or self._client.status != "running":
                    raise self._gone(error) from error
        self.window = 2 * self.size
        return future

    def _lost_scheduler(self) -> WorkersLost:
        return WorkersLost("the Dask client given as workers has lost its scheduler")

    def _gone(self, error: BaseException) -> WorkersLost:
        lost = WorkersLost(f"the Dask cluster given as workers cannot go on: {type(error).__name__}: {error}")
        lost.__cause__ = error
        return lost


def _holds(scattered: Any) -> bool:
    """Whether some worker still has what was scattered."""
    return bool(scattered.status == "finished")
