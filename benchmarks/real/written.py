"""Functions as they are written, not as rounding would like them: plain dot products, products, curves.

- `dot`: f = w @ (x − v)², d = 10⁶, w ~ U(0.5, 2), v = ±U(0.5, 1) on ten coordinates: its sum is rounded
  worse than a pairwise one. x0 = 0.
- `sobol`: Sobol's G function, Π (|4x − 2| + a)/(1 + a), d = 1,000, a = 0 on five factors and as said on the
  others, at a random point of the cube. All slopes differ from 0; plain differences cost 1,001.
- `errors`: one gradient of exact functions that are no parabolas, ten coordinates of 1,000 that matter; what
  counts is the share of true derivatives that lie within two of the errors stated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from benchmarks.real.meter import Function, Meter

import gracezo
from gracezo.core.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Written:
    """A function, where its gradient is asked for, and the truth."""

    fun: Function
    x0: FloatArray
    gradient: FloatArray
    matter: IntArray
    floor: float = np.nan


def dot(rng: np.random.Generator, d: int = 1_000_000) -> Written:
    w, v = rng.uniform(0.5, 2.0, d), np.zeros(d)
    ten = rng.choice(d, 10, replace=False)
    v[ten] = rng.uniform(0.5, 1.0, 10) * rng.choice([-1.0, 1.0], 10)
    return Written(lambda x: float(w @ (x - v) ** 2), np.zeros(d), -2 * w * v, ten, 0.0)


def sobol(a: float, rng: np.random.Generator, d: int = 1_000) -> Written:
    weights = np.full(d, a)
    five = rng.choice(d, 5, replace=False)
    weights[five] = 0.0
    x0 = rng.uniform(0.05, 0.95, d)

    def fun(x: FloatArray) -> float:
        return float(np.prod((np.abs(4 * x - 2) + weights) / (1 + weights)))

    slopes = fun(x0) * 4 * np.sign(4 * x0 - 2) / (np.abs(4 * x0 - 2) + weights)
    return Written(fun, x0, slopes, five, 0.0)


def _curved(
    value: Callable[[FloatArray], FloatArray],
    slope: Callable[[FloatArray], FloatArray],
    rng: np.random.Generator,
) -> Written:
    """Return Σ w·value(x − c) over ten coordinates of 1,000."""
    ten, w, c = rng.choice(1_000, 10, replace=False), rng.uniform(0.5, 2.0, 10), rng.uniform(-2, 2, 10)
    gradient = np.zeros(1_000)
    gradient[ten] = w * slope(-c)
    return Written(lambda x: float(w @ value(x[ten] - c)), np.zeros(1_000), gradient, ten)


CURVES: dict[str, tuple[Callable[[FloatArray], FloatArray], Callable[[FloatArray], FloatArray]]] = {
    "exp": (np.exp, np.exp),
    "quartic": (lambda z: z**4, lambda z: 4 * z**3),
    "log-cosh": (lambda z: np.log(np.cosh(z)), np.tanh),
    "sine": (lambda z: np.sin(3 * z) + z, lambda z: 3 * np.cos(3 * z) + 1),
    "root": (lambda z: np.sqrt(1e-2 + z * z), lambda z: z / np.sqrt(1e-2 + z * z)),
}
ROWS = ("dot-gradient", "dot-minimize", "sobol-99", "sobol-999", *(f"errors-{name}" for name in CURVES))


def drawn(row: str, seed: int) -> Written:
    """Draw an instance."""
    rng = np.random.default_rng(seed)
    what, which = row.split("-", 1)
    if what == "dot":
        return dot(rng)
    return sobol(float(which), rng) if what == "sobol" else _curved(*CURVES[which], rng)


def gradients(row: str, bar: float, first: int, instances: int) -> None:
    """Print a row: one gradient."""
    rows = []
    for seed in range(first, first + instances):
        written = drawn(row, seed)
        d = len(written.x0)
        meter = Meter(written.fun, written.x0, points=False)
        budget = 3 * d if d < 10_000 else 300
        found = gracezo.estimate_gradient(meter, written.x0, seed=seed, max_queries=budget)
        missed = np.abs(found.values - written.gradient[found.indices])
        recall = np.isin(written.matter, found.indices).mean()
        caught = np.sum(written.gradient[found.indices] ** 2) / np.sum(written.gradient**2)
        rows.append((meter.calls, recall, len(found.indices), caught, np.mean(missed <= 2 * found.errors)))
    calls, recall, count, caught, honest = np.array(rows, float).T
    passed = calls.mean() <= bar and recall.mean() >= 0.99 and honest.mean() >= 0.9
    print(
        f"| {row} | {calls.mean():.1f} | {bar:g} | {'yes' if passed else 'NO'} | {calls.max():.0f} "
        f"| {recall.mean():.3f} | {count.mean():.1f} | {caught.mean():.4f} | {honest.mean():.3f} |",
        flush=True,
    )


def descents(row: str, bar: float, first: int, instances: int) -> None:
    """Print a row: `minimize` to 0.01, and to 1e-8, of f(x0)."""
    rows = []
    for seed in range(first, first + instances):
        written = drawn(row, seed)
        meter = Meter(written.fun, written.x0, points=False)
        start = written.fun(written.x0)
        gracezo.minimize(meter, written.x0, seed=seed, max_queries=300, target=1e-8 * start)
        rows.append([meter.until(level * start) or np.inf for level in (1e-2, 1e-8)])
    near, there = np.array(rows, float).T
    print(
        f"| {row} | {near.mean():.1f}; to 1e-8 {there.mean():.1f} | {bar:g} "
        f"| {'yes' if near.mean() <= bar else 'NO'} | {there.max():.0f} | | | | |",
        flush=True,
    )


def table(rows: list[str], first: int, instances: int) -> None:
    """Print the table."""
    print(
        "| function | queries | bar | passed | worst | recall | found | share of the squared norm "
        "| within two errors |\n|---|---|---|---|---|---|---|---|---|"
    )
    bars = {"dot-gradient": 55.0, "dot-minimize": 55.0, "sobol-99": 1_100.0, "sobol-999": 1_100.0}
    for row in rows:
        show = descents if row == "dot-minimize" else gradients
        show(row, bars.get(row, 60.0), first, min(instances, 5) if row.startswith("dot") else instances)
