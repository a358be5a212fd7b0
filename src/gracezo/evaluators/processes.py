"""Processes of our own on this machine, for `workers=N`.

A pipe to each: the driver knows what each one has at hand and is doing, so the
function goes to a worker once, a base once a worker, and when a process dies,
exactly the rows that it had begun are lost: it notes each in memory that it
shares with the driver, before it calls the function. A new process takes its place.

A worker leaves when it is told to: by a last message, or in the middle of an
evaluation by SIGTERM, which is an exception in the function, so that what it
started can be cleaned up. It also leaves when the driver's process has gone,
however it went.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.util import Finalize
from types import FrameType
from typing import Any

from gracezo.core.drive import Evaluator
from gracezo.core.errors import WorkersLost
from gracezo.core.interrupts import DelayedSignals
from gracezo.core.types import FloatArray
from gracezo.evaluators.report import Report
from gracezo.evaluators.spread import Delivery, Dropped, Loss, Part
from gracezo.evaluators.worker import work

PATIENCE = 0.5  # seconds that a worker gets to clean up before it is killed


@dataclass(eq=False)
class _Worker:
    process: BaseProcess
    pipe: Connection
    rows: Any  # two numbers in shared memory: how many rows of its part it has begun, and done
    base: FloatArray | None = None  # the one it has at hand
    part: Part | None = None  # what it is doing
    since: float = 0.0  # when it got that
    dismissed: float = 0.0  # when it was told to leave

    def dismiss(self) -> None:
        """Tell it to leave."""
        if self.dismissed:
            return
        self.dismissed = time.monotonic()
        if self.part is not None:
            self.process.terminate()
        else:
            with suppress(OSError):  # it has died already
                self.pipe.send(None)  # its end of file might not come: later processes inherit our end
        self.pipe.close()


class Processes:
    """A pool of `count` processes, to be closed; if an interrupt prevents that, they are killed anyway."""

    task_seconds = 0.002

    def __init__(self, evaluate: Evaluator, count: int) -> None:
        self.size = self.window = count
        self._pickled = _pickled(evaluate)
        self._context = multiprocessing.get_context()  # the start method is the user's to choose
        self._workers: list[_Worker] = []
        # Python waits at its end for processes that are left, and an interrupt may come between any two lines
        self._net = Finalize(self, _kill, (self._workers,), exitpriority=0)

    def start(self) -> None:
        """Start the processes, and wait until all have the function."""
        for worker in [self._start() for _ in range(self.size)]:
            _await_start(worker)

    def close(self) -> None:
        """Let the workers leave; those that do not are killed."""
        try:
            with DelayedSignals():  # a second one only costs the workers their time to clean up
                for worker in self._workers:
                    worker.dismiss()
                deadline = time.monotonic() + PATIENCE
                for worker in self._workers:
                    worker.process.join(max(0.0, deadline - time.monotonic()))
        finally:
            _kill(self._workers)
            self._net.cancel()

    def send(self, part: Part) -> None:
        """Give a part to an idle worker, or to a new one when that has died meanwhile."""
        for worker in self._workers:
            if worker.part is None and not worker.dismissed and self._give(worker, part):
                return
        worker = self._start()
        _await_start(worker)
        if not self._give(worker, part):
            raise WorkersLost(f"a new worker process died at once: {_end(worker.process)}")

    def receive(self, patience: float) -> Sequence[Delivery]:
        """Wait for workers that have answered or died."""
        busy = [worker for worker in self._workers if worker.part is not None and not worker.dismissed]
        ready = set(wait([handle for w in busy for handle in (w.pipe, w.process.sentinel)], patience))
        deliveries: list[Delivery] = []
        for worker in busy:
            if worker.pipe in ready or worker.process.sentinel in ready:
                assert worker.part is not None
                deliveries.append((worker.part, self._collect(worker)))
                worker.part = None
        return deliveries

    def overdue(self, seconds: float) -> Sequence[Part]:
        """Stop the workers that have been busy for longer; others take their places."""
        now = time.monotonic()
        late: list[Part] = []
        for worker in list(self._workers):
            if worker.dismissed:
                if now - worker.dismissed > PATIENCE:
                    self._remove(worker)
            elif worker.part is not None and now - worker.since > seconds:
                worker.dismiss()
                late.append(worker.part)
        return late

    def drop(self) -> Dropped:
        """Stop the workers that are busy; others take their places when there is work again."""
        busy = [worker for worker in self._workers if worker.part is not None]
        for worker in busy:
            worker.dismiss()
        deadline = time.monotonic() + PATIENCE
        for worker in busy:
            worker.process.join(max(0.0, deadline - time.monotonic()))
            self._remove(worker)
        return Dropped(sum(worker.rows[0] for worker in busy), 0)  # read when no further row can begin

    def _start(self) -> _Worker:
        _refuse_impossible_places()
        with DelayedSignals():  # or the shared memory of this process, of which there is one for all, breaks
            ours, theirs = self._context.Pipe()
            rows = self._context.RawArray("q", 2)
            process = self._context.Process(
                target=_serve, args=(theirs, self._pickled, rows), name="gracezo worker"
            )
            worker = _Worker(process, ours, rows)
            with _uninterrupted():
                process.start()
                self._workers.append(worker)
                theirs.close()  # so that the pipe ends when the worker does
        return worker

    def _give(self, worker: _Worker, part: Part) -> bool:
        base = part.ask.base
        worker.part = part  # before it is sent: an interrupt may come at once, and must find a busy worker
        worker.since = time.monotonic()
        worker.rows[:] = 0, 0
        try:
            worker.pipe.send((None if worker.base is base else base, part.offsets))
        except OSError:  # it has died
            self._remove(worker)
            return False
        worker.base = base
        return True

    def _collect(self, worker: _Worker) -> Report | Loss:
        try:
            if not worker.pipe.poll():  # dead, and nothing left to read
                raise EOFError
            report: Report = worker.pipe.recv()
        except (EOFError, OSError):
            self._remove(worker)
            return Loss(_end(worker.process), *worker.rows)
        return report

    def _remove(self, worker: _Worker) -> None:
        if not worker.dismissed:
            worker.process.join(PATIENCE)
        worker.process.kill()  # in case it has only closed its pipe
        worker.process.join()
        worker.pipe.close()
        self._workers.remove(worker)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Block Ctrl-C, which comes to the whole group, for a child that cannot ignore it yet."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _kill(workers: Sequence[_Worker]) -> None:
    for worker in workers:
        worker.process.kill()
        worker.process.join()


def _pickled(evaluate: Evaluator) -> bytes:
    try:
        return pickle.dumps(evaluate)
    except Exception as error:  # whatever pickling the user's function raises
        raise TypeError(
            f"workers: the function (or its args) cannot be sent to other processes: {error}. "
            "Define it at the top level of a module, or use threads: workers=ThreadPoolExecutor(N)"
        ) from error


def _await_start(worker: _Worker) -> None:
    """Wait until a new worker has its function."""
    try:
        trouble: str = worker.pipe.recv()
    except (EOFError, OSError) as error:
        raise WorkersLost(
            f"a worker process could not be started: {_end(worker.process)}; where processes are spawned, "
            f'the call of gracezo in a script must be under `if __name__ == "__main__":`'
        ) from error
    if trouble:
        raise TypeError(
            f"workers: the function cannot be loaded in a worker process: {trouble}. "
            "Define it in a module that can be imported, or use threads: workers=ThreadPoolExecutor(N)"
        )


def _refuse_impossible_places() -> None:
    """Say what to do where no process can be started."""
    if multiprocessing.current_process().daemon:
        raise WorkersLost(
            "a daemonic process cannot start worker processes: use threads, workers=ThreadPoolExecutor(N), "
            "or run gracezo in a process that is not daemonic"
        )
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise WorkersLost(
            "a worker process that is being started runs the script that starts it: put the call of gracezo "
            'under `if __name__ == "__main__":`'
        )


def _end(process: BaseProcess) -> str:
    process.join()
    code = process.exitcode
    if code is not None and code < 0:
        return f"the process was ended by signal {-code} ({signal.strsignal(-code)})"
    return f"the process ended with exit code {code}"


# ---------------------------------------------------------------- in the worker


def _serve(pipe: Connection, pickled: bytes, rows: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the driver, who then tells the workers
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # for the programs that it may start
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    try:
        evaluate: Evaluator = pickle.loads(pickled)
    except Exception as error:  # whatever unpickling it raises
        pipe.send(f"{type(error).__name__}: {error}")
        return
    pipe.send("")
    base: FloatArray | None = None

    def note(begun: int, done: int) -> None:
        rows[:] = begun, done

    with suppress(EOFError, OSError):  # the driver has gone
        while (task := pipe.recv()) is not None:
            fresh, offsets = task
            base = fresh if fresh is not None else base
            assert base is not None
            pipe.send(work(evaluate, base, offsets, note))


def _leave(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(PATIENCE)
    os._exit(1)
