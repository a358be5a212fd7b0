"""Those who evaluate, each started as a user would: processes of ours, pools, threads, loky, Dask, Ray."""

from __future__ import annotations

import atexit
import logging
import os
import secrets
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

OURS = ("ours", "one")
CLUSTERS = ("dask", "ray")
OTHERS = ("pool", "loky", *CLUSTERS)


@contextmanager
def pool_of(kind: str) -> Iterator[Any]:
    """Give what `workers` takes. Pools are ended at once, whatever they are doing; clusters stay."""
    if kind == "none":
        yield None
    elif kind in OURS:
        yield 1 if kind == "one" else 2
    elif kind == "threads":
        threads = ThreadPoolExecutor(2)
        try:
            yield threads
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
    elif kind in {"pool", "loky"}:
        pool = _pool(kind)
        try:
            yield pool
        finally:
            for process in processes_of(pool):
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            pool.shutdown(wait=False)
    else:
        yield {"dask": dask_client, "ray": ray_cluster}[kind]()


def processes_of(workers: Any) -> set[int]:
    """Return the processes of a pool, which are started at its first task."""
    return {process.pid for process in (getattr(workers, "_processes", None) or {}).values()}


def _pool(kind: str) -> Any:
    if kind == "pool":
        return ProcessPoolExecutor(2)
    import loky  # noqa: PLC0415 - as all below, loaded where it is used

    return loky.ProcessPoolExecutor(2)


@cache
def dask_client() -> Any:
    """Return a client of a cluster on this machine, started once."""
    import dask  # noqa: PLC0415
    from distributed import Client, LocalCluster  # noqa: PLC0415

    dask.config.set(
        {
            "distributed.scheduler.allowed-failures": 1,
            "distributed.deploy.lost-worker-timeout": "1h",  # a worker that is killed often is restarted
        }
    )
    cluster = LocalCluster(
        n_workers=3,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
    )
    client = Client(cluster)
    atexit.register(cluster.close)
    atexit.register(client.close)
    return client


@cache
def ray_cluster() -> str:
    """Start a Ray on this machine, once."""
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))  # else Ray writes one into the home folder
    import ray  # noqa: PLC0415

    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        _node_ip_address="127.0.0.1",
        log_to_driver=False,
        logging_level=logging.CRITICAL,
    )
    atexit.register(ray.shutdown)
    return "ray"
