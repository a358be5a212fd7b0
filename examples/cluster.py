"""Tune a program that is not Python on a cluster, with a journal, and go on after a crash.

The program is an awk script with 1,000 settings. A Dask cluster on this machine
evaluates it (yours is one address away); the journal keeps every value. The
run is stopped in the middle as a crash would, and goes on as if nothing had been.

Run: python examples/cluster.py   (writes out/cluster.png; needs gracezo[dask] and awk)
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from distributed import Client

import gracezo

mpl.use("Agg")
import matplotlib.pyplot as plt

SCRIPT = Path(__file__).with_name("sensors.awk")


class Crash(SystemExit):
    """What ends the whole process."""


def main(out: Path = Path("out"), dimension: int = 1000, crash_at: int = 20) -> gracezo.Result:
    out.mkdir(parents=True, exist_ok=True)
    journal = out / "cluster.db"
    journal.unlink(missing_ok=True)
    program = gracezo.Command(f"awk -f {shlex.quote(str(SCRIPT))} {{input}}", format="text", timeout=60)
    stopped: list[int] = []

    def crash(step: gracezo.Result) -> None:
        if step.nfev >= crash_at and not stopped:
            stopped.append(step.nfev)
            raise Crash

    settings: dict[str, Any] = {
        "batch": 4,
        "journal": journal,
        "callback": crash,
        "max_queries": 200,
        "seed": 0,
    }
    # Yours: Client("tcp://scheduler:8786"). This is a cluster on this machine, for the time of the run.
    with Client(processes=False, threads_per_worker=2, dashboard_address=None) as client:
        try:
            gracezo.minimize(program, np.zeros(dimension), workers=client, **settings)
        except Crash:
            print(f"crashed after {stopped[0]} queries; they are in {journal}")
        result = gracezo.resume(journal, program, workers=client)
    print(result)

    figure, axis = plt.subplots(figsize=(7.5, 3.8), layout="constrained")
    axis.step(result.trace.queries, result.trace.values, "o-", where="post", color="tab:blue")
    axis.axvline(stopped[0], color="tab:red", linestyle="--")
    axis.text(stopped[0], 1e-8, "  crash, and resume", color="tab:red")
    axis.set(yscale="log", xlabel="runs of the program", ylabel="f")
    axis.set_title(f"{dimension:,} settings of a program; {result.nfev} queries in {result.rounds} rounds")
    figure.savefig(out / "cluster.png", dpi=120)
    plt.close(figure)
    return result


if __name__ == "__main__":
    main()
