"""The ways to minimise it, ours and others': each is one function, run in a process of its own."""

from __future__ import annotations

import contextlib
import math
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from benchmarks.speed.functions import SPARSITY, Bowl, Enough, HiddenBowl, Timed

import gracezo
from gracezo.problems import Distance

TARGET = 0.01
"""Of f(x0): where runs of `auto` end."""
STEPS = 3
"""Of GraCe."""
ASKED = 2_000
"""Queries after which rivals have shown what one costs; they may take no longer than"""
SECONDS = 10.0
INSTANCES = 16
"""Over which queries are counted; a quarter of them at 10⁸."""

Row = dict[str, float]


def alone(fun: Callable[[Any], float], x: Any) -> float:
    """Return the seconds of one call, the middle of several, on a point that is written anew each time."""
    taken: list[float] = []
    while len(taken) < 3 or (len(taken) < 200 and sum(taken) < 0.5):
        x[:] = 0.0
        began = time.process_time()
        fun(x)
        taken.append(time.process_time() - began)
    return float(np.median(taken))


def peak() -> float:
    """Return the bytes that this process has had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def _minimised(fun: Any, x0: Any, **arguments: Any) -> Row:
    """Run `minimize` and time it."""
    before, began = peak(), time.process_time()
    result = gracezo.minimize(fun, x0, seed=1, copy=False, max_queries=50_000, **arguments)
    seconds = time.process_time() - began
    return {"queries": result.nfev, "seconds": seconds, "left": result.fun, "memory": peak() - before}


def _plain(d: int, s: int = SPARSITY, **arguments: Any) -> Row:
    f, x0 = _distance(d, s).__call__, np.zeros(d)
    one, f0 = alone(f, x0), f(x0)
    timed = Timed(f)
    arguments = {name: f0 * TARGET if name == "target" else value for name, value in arguments.items()}
    row = _minimised(timed, x0, **arguments)
    return row | {"f": one, "inside": timed.inside, "left": row["left"] / f0}


def _distance(d: int, s: int = SPARSITY) -> Distance:
    return Distance(0, d=d, s=min(s, d))


def auto(d: int) -> Row:
    """Run `auto` on the plain function."""
    return _plain(d, target=True)


def auto_many(d: int) -> Row:
    """Run `auto` where four times as many coordinates matter."""
    return _plain(d, 4 * SPARSITY, target=True)


def auto_bounds(d: int) -> Row:
    """Run `auto` within one pair of bounds, which the coordinates that matter do not meet."""
    return _plain(d, target=True, bounds=(-2.0, 2.0))


def grace(d: int) -> Row:
    """Run GraCe on the plain function."""
    return _plain(d, **_grace(d))


def _grace(d: int) -> dict[str, Any]:
    # The curvature of a whole group adds up: ε has to fall as groups grow.
    return {
        "method": "grace",
        "sparsity": 10,
        "max_steps": STEPS if d > 10**5 else 100,
        "options": {"eps": 1e-4 / math.sqrt(d)},
    }


def auto_sparse(d: int) -> Row:
    """Run `auto` on the function that prices changes, from a dense start."""
    bowl, x0 = _distance(d), np.zeros(d)
    one, f0 = alone(bowl, x0), bowl(x0)
    row = _minimised(bowl, x0, target=TARGET * f0)
    return row | {"f": one, "inside": math.nan, "left": row["left"] / f0}


def grace_sparse(d: int) -> Row:
    """Run GraCe on the function that prices changes, from a dense start."""
    bowl, x0 = _distance(d), np.zeros(d)
    one = alone(bowl, x0)
    row = _minimised(bowl, x0, **_grace(d))
    return row | {"f": one, "inside": math.nan}


def auto_hidden(d: int) -> Row:
    """Run `auto` from a start that is zero, on a function that keeps nothing of length d."""
    bowl = HiddenBowl(d)
    f0 = float(bowl.hidden @ bowl.hidden)
    row = _minimised(bowl, 0.0, dim=d, target=TARGET * f0)
    return row | {"f": math.nan, "inside": math.nan, "left": row["left"] / f0}


def grace_hidden(d: int) -> Row:
    """Run GraCe on the same."""
    bowl = HiddenBowl(d)
    row = _minimised(bowl, 0.0, dim=d, **_grace(d))
    return row | {"f": math.nan, "inside": math.nan}


def growth(d: int) -> Row:
    """Count the queries of `auto` on w @ (x − v)², whose rounding grows with d: the mean over instances."""
    queries = []
    for seed in range(INSTANCES if d < 10**8 else INSTANCES // 4):
        bowl, x0 = Bowl(d, seed, min(SPARSITY, d)), np.zeros(d)
        row = _minimised(bowl, x0, target=TARGET * bowl(x0))
        queries.append(row["queries"])
        del bowl, x0
    error = float(np.std(queries, ddof=1)) / math.sqrt(len(queries))
    return row | {"f": math.nan, "inside": math.nan, "queries": float(np.mean(queries)), "error": error}


# ---------------------------------------------------------------- others


def _rival(d: int, solve: Callable[[Timed, np.ndarray], object], asked: int = ASKED) -> Row:
    f, x0 = _distance(d).__call__, np.zeros(d)
    one = alone(f, x0)
    timed = Timed(f, asked, SECONDS)
    before, began = peak(), time.process_time()
    with contextlib.suppress(Enough):
        solve(timed, x0)
    seconds = time.process_time() - began
    return {
        "queries": timed.calls,
        "seconds": seconds,
        "f": one,
        "inside": timed.inside,
        "memory": peak() - before,
    }


def lbfgsb(d: int) -> Row:
    """Run SciPy's L-BFGS-B with forward differences."""
    import scipy.optimize  # noqa: PLC0415 - what is loaded counts as memory

    def solve(f: Timed, x: np.ndarray) -> None:
        scipy.optimize.minimize(f, x, method="L-BFGS-B", options={"maxfun": 10**9})

    return _rival(d, solve, max(ASKED, 2 * (d + 1) if d <= 10**4 else 0))  # two gradients


def pycma(d: int) -> Row:
    """Run pycma with a diagonal covariance."""
    import cma  # noqa: PLC0415

    options = {"CMA_diagonal": True, "verbose": -9, "seed": 1, "maxfevals": 10**9}
    return _rival(d, lambda f, x: cma.fmin2(f, x, 0.1, options))


def cmaes(d: int) -> Row:
    """Run SepCMA of cmaes."""
    import cmaes as package  # noqa: PLC0415

    def solve(f: Timed, x: np.ndarray) -> None:
        method = package.SepCMA(mean=x, sigma=0.1, seed=1)
        while True:
            points = [method.ask() for _ in range(method.population_size)]
            method.tell([(point, f(point)) for point in points])

    return _rival(d, solve)


def nevergrad(d: int) -> Row:
    """Run nevergrad's OnePlusOne."""
    import nevergrad as package  # noqa: PLC0415

    def solve(f: Timed, x: np.ndarray) -> None:
        method = package.optimizers.OnePlusOne(package.p.Array(init=x), budget=10**6)
        method.minimize(f)

    return _rival(d, solve)


def one_copy(d: int) -> Row:
    """Copy x once for each call: the least that a method has to do that hands points out."""

    def solve(f: Timed, x: np.ndarray) -> None:
        for _ in range(int(min(max(2 * 10**8 / d, 3), ASKED))):
            f(x.copy())

    return _rival(d, solve)


CASES: dict[str, tuple[str, Callable[[int], Row], int]] = {
    "auto": ("auto", auto, 10**8),
    "grace": ("grace", grace, 10**8),
    "auto-many": ("auto, s = 40", auto_many, 10**7),
    "auto-bounds": ("auto, one pair of bounds", auto_bounds, 10**6),
    "auto-sparse": ("auto, changes priced", auto_sparse, 10**7),
    "grace-sparse": ("grace, changes priced", grace_sparse, 10**7),
    "auto-hidden": ("auto, sparse start", auto_hidden, 10**8),
    "grace-hidden": ("grace, sparse start", grace_hidden, 10**8),
    "growth": ("auto, queries on w @ (x − v)²", growth, 10**8),
    "lbfgsb": ("SciPy L-BFGS-B, differences", lbfgsb, 10**7),
    "pycma": ("pycma, diagonal", pycma, 10**7),
    "cmaes": ("cmaes SepCMA", cmaes, 10**7),
    "nevergrad": ("nevergrad OnePlusOne", nevergrad, 10**7),
    "copy": ("one copy of x", one_copy, 10**8),
}
"""Name: what tables call it, the function, and the largest d at which it is worth a try."""
