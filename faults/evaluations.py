"""Evaluations that die, hang or return nonsense; programs that do; random boxes and budgets."""

from __future__ import annotations

import math
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import gracezo
from faults.common import METHODS, Counted, Dice, Hanging
from faults.pools import OTHERS, OURS, pool_of, processes_of
from gracezo.testing import Valley

DYING = (*("ours",) * 10, *("one",) * 4, *("pool",) * 5, "loky")  # how often, by their speed
HANGING = ("ours", "one", "threads", "pool", "loky", "command", "command in threads", "command in ours")


def dying(dice: Dice, folder: Path, kinds: Sequence[str] = DYING, deadly: float = 0.2) -> None:
    """One evaluation in five ends its process: never more calls than were bought, and all are counted."""
    calls = Counted(folder / "calls", deadly=deadly)
    kind = dice.choice(kinds)
    budget = dice.size("queries", 5, 60 if kind in OURS else 25)
    rule = dice.choice(["raise", "skip", "retry"])
    arguments: dict[str, Any] = {"method": dice.choice(METHODS), "sparsity": 3, "max_queries": budget}
    arguments |= {"seed": dice.randrange(99), "on_failure": rule, "batch": dice.choice([1, 4])}
    with pool_of(kind) as workers:
        try:
            result = gracezo.minimize(calls, Valley().x0, **arguments, workers=workers)
        except gracezo.EvaluationError as error:
            result = error.result
            assert "died each of the" in str(error), error  # that of one point, never that of a pool
    if kind in OURS:
        assert calls.calls() == result.nfev <= budget, (kind, calls.calls(), result.nfev)
    else:
        assert calls.calls() <= result.nfev <= budget, (kind, calls.calls(), result.nfev)


def hanging(dice: Dice, folder: Path, kinds: Sequence[str] = HANGING) -> None:
    """`max_seconds=2` returns within 3 s, and no process of ours is left 2 s later."""
    kind = dice.choice(kinds)
    mark = f"gracezo-fault-{os.getpid()}-{dice.randrange(10**9)}"
    program = kind.startswith("command")
    fun: Any = gracezo.Command(f"sh -c 'sleep 600; :' {mark} {{input}}") if program else Hanging(folder)
    with pool_of(kind.removeprefix("command in ") if kind != "command" else "none") as workers:
        before = set(_children())
        if kind in OTHERS:  # its start is not ours
            gracezo.minimize(fun, Valley().x0, method="fdsa", max_queries=1, workers=workers)
        began = time.monotonic()
        result = gracezo.minimize(fun, Valley().x0, method="fdsa", max_seconds=2.0, workers=workers)
        took = time.monotonic() - began
        assert took < 3.0, f"{kind}: {took:.2f} s"
        assert result.status == 1, result.message
        assert "under way then" in result.message, result.message  # what hangs was paid for
        time.sleep(2.0)
        ours = set(_children()) - before - processes_of(workers)
        assert not ours, f"{kind}: {len(ours)} processes are left"
        assert not running(mark), f"{kind}: the program is left"


def _children() -> list[int]:
    found: list[int] = []
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):
            found += map(int, (task / "children").read_text().split())
    return found


def running(mark: str) -> list[str]:
    """Return the processes that have a mark on their command line."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark.encode() in (entry / "cmdline").read_bytes():
                found.append(entry.name)
    return found


NONSENSE: list[Any] = [
    None, "3", math.nan, math.inf, 10**400, [1.0], [[1], [2, 3]], 1j, object(), np.zeros(2), np.array([1j]),
]  # fmt: skip
ODD: list[Any] = [Fraction(1, 3), np.float32(0.1), np.array([0.5]), np.int64(3), True]


def nonsense(dice: Dice, folder: Path) -> None:
    """Whatever a function returns or raises: documented exceptions, with the best so far."""
    bad = dice.choice(NONSENSE)
    share = dice.choice([0.02, 0.2, 1.0])
    valley = Valley()

    def fun(x: np.ndarray) -> Any:
        value = valley(x)
        if dice.random() < share:
            if dice.random() < 0.3:
                raise dice.choice([ValueError, KeyError, ZeroDivisionError, RuntimeError])("by chance")
            return bad
        return dice.choice(ODD) if dice.random() < 0.05 else value

    with np.errstate(all="ignore"):
        try:
            result = gracezo.minimize(
                fun,
                valley.x0,
                method=dice.choice(METHODS),
                sparsity=3,
                max_queries=dice.size("queries", 1, 80),
                on_failure=dice.choice(["raise", "skip", "retry"]),
                seed=dice.randrange(99),
            )
        except gracezo.EvaluationError as error:
            result = error.result
    assert result.nfev == len(valley.points)


def boxes(dice: Dice, folder: Path) -> None:
    """Random boxes, scales and budgets: no point outside or not finite, no query beyond the budget."""
    d = dice.choice([1, 2, 7, 60])
    scale = 10.0 ** dice.randint(-200, 150)
    random_state = np.random.default_rng(dice.randrange(10**6))
    low = scale * random_state.uniform(-1.0, 0.0, d)
    high = np.where(random_state.random(d) < 0.1, low, low + scale * random_state.uniform(0.0, 2.0, d))
    x0 = low + (high - low) * random_state.choice([0.0, 0.3, 1.0], d)
    x0 = np.clip(x0, low, high)
    goal = low + (high - low) * random_state.random(d)
    noise = dice.choice([0.0, 0.0, 1e-3])
    budget, asked = dice.size("queries", 1, 150), 0

    def fun(x: np.ndarray) -> float:
        nonlocal asked
        asked += 1
        assert np.isfinite(x).all()
        assert (x >= low).all()
        assert (x <= high).all()
        return float((((x - goal) / scale) ** 2).sum() + noise * random_state.standard_normal())

    with np.errstate(all="ignore"):
        result = gracezo.minimize(
            fun,
            x0,
            method=dice.choice(["auto", "grace", "fdsa", "gld"]),
            sparsity=1,
            bounds=list(zip(low, high, strict=True)),
            max_queries=budget,
            seed=dice.randrange(99),
            batch=dice.choice([1, 5]),
        )
    assert asked == result.nfev <= budget
    assert ((result.x >= low) & (result.x <= high)).all()


PROGRAMS = [
    "exit 7", "kill -9 $$", "kill -STOP $$", "yes | head -c 3000000", "echo nan", "printf '\\0\\377'",
    "echo 1 2",
    "exec >&-; exec 2>&-; exit 0", "trap '' TERM HUP INT; sleep 60", "setsid sleep 60 & echo 1",
    "(setsid sleep 60 &); exit 1", "sleep 60 & sleep 60 & echo 2", "mkfifo \"$1\"", "ln -s /dev/zero \"$1\"",
    "rm -rf \"$(dirname \"$0\")\"; echo 3", "ulimit -t 1; while :; do :; done",
    "cat /dev/zero > \"$1\" & sleep 60",
]  # fmt: skip


def programs(dice: Dice, folder: Path) -> None:
    """Hostile programs: a failure or a value in time, and nothing left."""
    mark = f"gracezo-fault-{os.getpid()}-{dice.randrange(10**9)}"
    script = f": {mark}; {dice.choice(PROGRAMS)}"
    words = ["sh", "-c", script, "{input}", *(["{output}"] if "$1" in script else [])]
    command = gracezo.Command(shlex.join(words), timeout=dice.choice([0.3, 1.0]))
    began = time.monotonic()
    try:
        result = gracezo.minimize(command, [1.0, 2.0], method="fdsa", max_queries=1)
    except gracezo.EvaluationError as error:
        result = error.result
    assert result.nfev == 1
    assert time.monotonic() - began < 10.0
    assert not running(mark)


PARENT = """
import signal, sys, tempfile
import gracezo
from concurrent.futures import ThreadPoolExecutor
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # who injects faults may ignore it
tempfile.tempdir = sys.argv[1]
command = gracezo.Command(f"sh -c 'sleep {sys.argv[4]}; echo 1' {sys.argv[2]} {{input}}")
workers = {"none": None, "threads": ThreadPoolExecutor(2), "ours": 2}[sys.argv[3]]
print("ready", flush=True)
gracezo.minimize(command, [1.0, 2.0], method="fdsa", max_queries=10**6, max_steps=10**6, workers=workers)
"""


def parents(dice: Dice, folder: Path) -> None:
    """The parent of a program is killed at a random moment: after the next start nothing is left."""
    mark = f"gracezo-fault-{os.getpid()}-{dice.randrange(10**9)}"
    workers = dice.choice(["none", "threads", "ours"])
    words = [sys.executable, "-c", PARENT, str(folder), mark, workers, dice.choice(["0.01", "30"])]
    parent = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert parent.stdout is not None
    parent.stdout.readline()
    time.sleep(dice.random() * 0.5)
    parent.send_signal(dice.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP]))
    parent.wait()
    parent.stdout.close()
    start = "import sys, tempfile, gracezo; tempfile.tempdir = sys.argv[1]; import numpy"
    subprocess.run(
        [sys.executable, "-c", f"{start}; gracezo.Command('echo 1 {{input}}')", str(folder)], check=True
    )
    code = f"{start}; gracezo.Command('sh -c \"echo 1\" {{input}}')(numpy.zeros(2))"
    subprocess.run([sys.executable, "-c", code, str(folder)], check=True)
    deadline = time.monotonic() + 5.0
    while (running(mark) or any(folder.iterdir())) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not running(mark), "the program is left"
    assert not any(folder.iterdir()), "a folder is left"
