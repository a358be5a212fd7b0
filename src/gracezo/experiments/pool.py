"""Runs in many processes, each kept as soon as it is finished.

All runs are made in worker processes, also a single one, with one thread of linear algebra each:
the same run then gives the same bits whatever the number of workers.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from gracezo.experiments.environment import describe
from gracezo.experiments.runs import Job, Record, execute
from gracezo.experiments.store import Store
from gracezo.progress import whole_lines

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


class RunFailed(RuntimeError):
    """Some runs could not be made; the message is one line for people. The other runs are kept."""


@contextmanager
def workers(count: int, imports: Sequence[str] = ()) -> Iterator[ProcessPoolExecutor]:
    """Give a pool of single-threaded workers, and end them at once when anything goes wrong.

    Parameters
    ----------
    count
        How many at most; they start when they are needed.
    imports
        Modules that a worker imports first: those that register methods and functions.

    Raises
    ------
    RunFailed
        A worker died.
    """
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))  # the workers inherit it, before they import NumPy
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        count, multiprocessing.get_context("spawn"), initializer=_prepare, initargs=(tuple(imports),)
    )
    try:
        yield pool
        pool.shutdown()
    except BaseException as error:
        if not isinstance(error, RunFailed):  # then all runs are made, and the workers idle
            for process in set(multiprocessing.active_children()) - others:
                process.terminate()
        # Waiting for the pool's own thread: one that is still there at the exit may complain of closed pipes.
        pool.shutdown(cancel_futures=True)
        if isinstance(error, BrokenProcessPool):
            raise RunFailed("a worker process died (out of memory?); try fewer --jobs") from error
        raise
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def make_runs(
    jobs: Sequence[Job],
    store: Store,
    pool: ProcessPoolExecutor,
    *,
    weight: Callable[[Job], float] = lambda job: 1.0,
    label: str = "runs",
    console: Console | None = None,
) -> None:
    """Make the runs that the store does not have, and keep each.

    Parameters
    ----------
    jobs
        What is to be run, in any order; doubles are run once.
    store
        Where they are kept.
    pool
        Of `workers`.
    weight
        How long a run takes, in any unit: the long ones start first, and the time left is told by it.
    label
        What the progress line calls them.
    console
        Where the progress is shown; standard error by default.

    Raises
    ------
    RunFailed
        A run raised an exception; the others are made first.
    """
    missing = {job.name: job for job in jobs if store.get(job) is None}
    todo = sorted(missing.values(), key=weight, reverse=True)
    failures: list[str] = []
    console = console or Console(stderr=True)
    with whole_lines(console), _progress(console) as progress:
        line = progress.add_task(label, total=sum(map(weight, todo)), done=0, runs=len(todo))
        made_with = describe()
        with _ignoring_interrupts():  # the workers start here, and inherit it
            futures = {pool.submit(_attempt, job, made_with): job for job in todo}
        for done, future in enumerate(as_completed(futures), start=1):
            made = future.result()
            if isinstance(made, Record):
                store.put(made)
            else:
                failures.append(made)
            progress.update(line, advance=weight(futures[future]), done=done)
    if failures:
        more = f" (and {len(failures) - 1} more failed)" if len(failures) > 1 else ""
        raise RunFailed(min(failures) + more)


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}: {task.fields[done]} of {task.fields[runs]}"),
        BarColumn(),
        TextColumn("time left"),
        TimeRemainingColumn(),
        console=console,
        speed_estimate_period=900,  # a single run may take minutes
    )


@contextmanager
def _ignoring_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C, which reaches every process of a terminal.

    A worker that met it would hand in a half-made run, or complain in the middle of its imports.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _prepare(imports: Sequence[str]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # not every system lets a process inherit it
    threading.Thread(target=_end_with_parent, daemon=True).start()
    for name in imports:
        importlib.import_module(name)


def _end_with_parent() -> None:
    """End this worker when the process that waits for it is gone, however that ended."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _attempt(job: Job, made_with: Mapping[str, Any]) -> Record | str:
    """Make a run, or say in one line why not: not every exception survives the way between processes."""
    try:
        return execute(job, made_with)
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        return f"{job.method} on {job.function}, instance {job.instance}: {reason}"
