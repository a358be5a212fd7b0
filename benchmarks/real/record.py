"""Some sixty runs of all kinds, a line each: what it took, where it ended, and a digest of all points asked.

Two versions of the code make the same runs where `diff` of their output says nothing:

    python -m benchmarks.real record > before.txt       # … change the code …
    python -m benchmarks.real record | diff before.txt -

Values are printed to the last bit. A run that raises is a line, too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from benchmarks.others.functions import FAMILIES as OTHERS
from benchmarks.queries.functions import SUITE
from benchmarks.real import known
from benchmarks.real.meter import Function, Meter
from benchmarks.real.tails import Tail

import gracezo
from gracezo.core.types import FloatArray
from gracezo.problems import Attack, Distance, Magnitude

Made = tuple[Function, FloatArray]
Maker = Callable[[int], Made]


def _paper(make: Callable[[int], Any], seed: int) -> Made:
    fun = make(seed)
    return fun, fun.x0


def _suite(name: str, _: int) -> Made:
    problem = SUITE[name].make()
    return problem.f, problem.x0


def _other(name: str, seed: int) -> Made:
    problem = OTHERS[name](seed)
    return problem.f, problem.x0


def _known(name: str, seed: int) -> Made:
    case = known.drawn(name, seed)
    return case.fun, case.x0


def _tail(p: float, seed: int) -> Made:
    return Tail.drawn(p, seed), np.zeros(10_000)


def _noisy(make: Maker, level: float, seed: int) -> Made:
    fun, x0 = make(seed)
    rng = np.random.default_rng([seed, 1])
    return known.Noisy(fun, level * abs(fun(x0)), rng), x0


def _single(make: Maker, seed: int) -> Made:
    fun, x0 = make(seed)
    return lambda x: float(np.float32(fun(x))), x0


def _failing(make: Maker, seed: int) -> Made:
    """Return a function that gives no number at every seventh point or so, by a digest of the point."""
    fun, x0 = make(seed)
    return lambda x: np.nan if x.any() and float(np.abs(x).sum() * 1e7) % 7 < 1 else fun(x), x0


distance = partial(_paper, Distance)
magnitude = partial(_paper, Magnitude)
attack: Maker = partial(_paper, lambda _: Attack())
cut = np.tile([-0.3, 0.6], (10_000, 1))  # bounds that cut some optima of Distance off

MINIMIZE: dict[str, tuple[Maker, Mapping[str, Any]]] = {
    "distance": (distance, {}),
    "magnitude": (magnitude, {}),
    "attack": (attack, {"max_queries": 800}),
    **{
        name: (partial(_suite, name), {})
        for name in (
            "quadratic-10k-s20-k10", "rosenbrock-10k-s4", "stages-2k-12x2", "chain-10k-12", "leader-1k",
        )
    },
    **{name: (partial(_other, name), {"max_queries": 1_500}) for name in OTHERS},
    **{f"tail-{p:g}": (partial(_tail, p), {"max_queries": 400}) for p in (1e-6, 1e-4, 1e-2)},
    **{
        name: (partial(_known, name), {"max_queries": 500})
        for name in (
            "units", "young", "far", "offset-1e3", "wall-1e10", "steep", "linear", "plateaus", "counts",
            "kinks", "ridge", "rough", "jump",
        )
    },
    "noise-1e-6": (partial(_noisy, distance, 1e-6), {}),
    "noise-1e-3": (partial(_noisy, distance, 1e-3), {"max_queries": 1_500}),
    "noise-told": (partial(_noisy, magnitude, 1e-4), {"noise": 3e-4}),
    "noise-0.3": (partial(_noisy, distance, 0.3), {"max_queries": 500}),
    "float32": (partial(_single, distance), {}),
    "told-exact": (distance, {"noise": 0.0}),
    "bounds-distance": (distance, {"bounds": cut}),
    "bounds-noise": (partial(_noisy, distance, 1e-5), {"bounds": cut}),
    "bounds-kinks": (partial(_known, "kinks"), {"bounds": cut[:1_000]}),
    "batch-8": (distance, {"batch": 8}),
    "batch-64-kinks": (partial(_known, "kinks"), {"batch": 64}),
    "batch-16-noise": (partial(_noisy, magnitude, 1e-5), {"batch": 16}),
    "batch-32-dense": (partial(_other, "trigonometric"), {"batch": 32, "max_queries": 2_000}),
    "skip": (partial(_failing, distance), {"on_failure": "skip"}),
    "support": (distance, {"support": np.arange(100)}),
    "short": (distance, {"max_queries": 17}),
}  # fmt: skip
GRADIENT: dict[str, tuple[Maker, Mapping[str, Any]]] = {
    "gradient-distance": (distance, {}),
    "gradient-attack": (attack, {"max_queries": 500}),
    "gradient-tail": (partial(_tail, 1e-5), {"max_queries": 600}),
    "gradient-dense": (partial(_other, "trigonometric"), {}),
    "gradient-kinks": (partial(_known, "kinks"), {"max_queries": 600}),
    "gradient-noise": (partial(_noisy, distance, 1e-5), {"max_queries": 600}),
    "gradient-bounds": (distance, {"bounds": cut}),
    "gradient-batch": (distance, {"batch": 16}),
}
ROWS = (*MINIMIZE, *GRADIENT)


def line(name: str, seed: int) -> str:
    """Make one run."""
    make, keywords = {**MINIMIZE, **GRADIENT}[name]
    fun, x0 = make(seed)
    meter = Meter(fun, x0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if name in GRADIENT:
                found = gracezo.estimate_gradient(meter, x0, seed=seed, **keywords)
                told = f"found {len(found.indices)} norm {found.found!r}"
            else:
                result = gracezo.minimize(meter, x0, seed=seed, **{"max_queries": 1_000, **keywords})
                told = f"status {result.status} steps {result.nit} rounds {result.rounds} f {result.fun!r}"
        except Exception as error:  # a line as any other
            told = type(error).__name__
    return f"{name} {seed}: queries {meter.calls} {told} lowest {meter.lowest!r} points {meter.digest}"


def table(rows: list[str], first: int, instances: int) -> None:
    """Print a line for each run."""
    for name in rows:
        for seed in range(first, first + instances):
            print(line(name, seed), flush=True)
