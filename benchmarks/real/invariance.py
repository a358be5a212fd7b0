"""The same function in other units, times a factor, plus an offset: what changes, where nothing should.

The base runs on f from x0 with each coordinate of size one (told as `scale=1` where the others are told
theirs). What is asked is compared in the units of the base, bit for bit:

- `times-2^k`: 2^k·f; multiplying by a power of two rounds nothing, so the points must be the same;
- `times-a`: a·f for other factors: the queries must be the same, or nearly so, as a rounds;
- `units-told`: f(x/D) from D·x0 with `scale=D`, D powers of two from 2^-40 to 2^40: the same points;
- `units-x0`, `units-bounds`: D from 1e-6 to 1e6, not told, but shown by x0 or by bounds: at most 1.5 times
  the queries to 1e-4;
- `plus`: f + b, b so many times the height f(x0) − f*: at most 1.1 times the queries to 1e-4;
- `order`: coordinates in another order: no bar, it shows what chance alone does to the queries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from benchmarks.real.case import SCALE
from benchmarks.real.known import Bowl
from benchmarks.real.meter import Function, Meter
from benchmarks.real.tails import Tail

import gracezo
from gracezo.core.types import FloatArray

D = 1_000
_BUDGET = 1_000
_FACTORS = ("1e-300", "1e-250", "1e-100", "1e-8", "1e3", "1e100", "1e250", "1e300")
_POWERS = (-990, -830, -300, -1, 10, 300, 830, 990)
_OFFSETS = ("1", "30", "1e3", "-1e3", "1e5")
ROWS = (
    *(f"times-2^{k}" for k in _POWERS), *(f"times-{a}" for a in _FACTORS), "units-told", "units-x0",
    "units-bounds", *(f"plus-{b}" for b in _OFFSETS), "order",
)  # fmt: skip

BEYOND = {"times-2^-990", "times-2^990", "times-1e-300", "times-1e300", "plus-1e5"}
"""Where nothing is promised: values near the minimum are subnormal, or rounding hides it."""


def bowl(rng: np.random.Generator) -> tuple[Function, float]:
    return Bowl.drawn(rng, D, 6), 0.0


def valley(rng: np.random.Generator) -> tuple[Function, float]:
    i, j = rng.choice(D, 2, replace=False)
    return lambda x: float(10 * (x[j] + 1 - (x[i] - 1.2) ** 2) ** 2 + (1 - (x[i] - 1.2)) ** 2), 0.0


def exponentials(rng: np.random.Generator) -> tuple[Function, float]:
    some, c = rng.choice(D, 5, replace=False), rng.uniform(-2, 2, 5)
    return lambda x: float((np.expm1(np.minimum(x[some] - c, 300)) - (x[some] - c)).sum()), 0.0


def corners(rng: np.random.Generator) -> tuple[Function, float]:
    b = Bowl.drawn(rng, D, 4)
    return lambda x: float(b.w @ np.abs(x[b.support] - b.c)), 0.0


def tail(rng: np.random.Generator) -> tuple[Function, float]:
    t = Tail.drawn(1e-4, int(rng.integers(2**31)), D)
    return t, float(-0.5 * np.sum(t.g**2 / t.c))


def dense(rng: np.random.Generator) -> tuple[Function, float]:
    a = rng.standard_normal((30, 30)) / 6 + np.eye(30)
    goal = rng.standard_normal(30)
    return lambda x: float(((a @ (x[:30] - goal)) ** 2).sum()), 0.0


FUNCTIONS = (bowl, valley, exponentials, corners, tail, dense)


@dataclass(frozen=True)
class Took:
    """What a run took: the queries in all and to 1e-4 of the height, and the points in units of the base."""

    calls: int
    until: float
    points: str


@dataclass(frozen=True, eq=False)
class Change:
    """A transformed problem: x = D·y + c in place of y, a·f + b in place of f, and what else is told."""

    factor: float = 1.0
    offset: float = 0.0
    units: FloatArray | float = 1.0
    x0: FloatArray | None = None
    bounds: FloatArray | None = None
    scale: FloatArray | None = None
    order: FloatArray | None = None


def took(make: Callable[[np.random.Generator], tuple[Function, float]], seed: int, change: Change) -> Took:
    """Run a transformed problem."""
    fun, floor = make(np.random.default_rng(seed))
    d = 30 if make is dense else D
    y0 = np.zeros(d)
    shift = np.zeros(d) if change.x0 is None else change.x0[:d]  # y = (x − shift)/units
    units = np.broadcast_to(change.units, D)[:d]
    order = np.arange(d) if change.order is None else np.argsort(change.order[:d])
    meter = Meter(fun, y0)
    height = fun(y0) - floor
    told: dict[str, Any] = {}
    if change.scale is not None:
        told["scale"] = change.scale[:d]
    if change.bounds is not None:
        told["bounds"] = change.bounds[:d]

    def transformed(x: FloatArray) -> float:
        return change.factor * (meter(((x - shift) / units)[order]) + change.offset * height)

    try:
        gracezo.minimize(transformed, shift + y0 * units, seed=seed, max_queries=_BUDGET, **told)
    except Exception as error:  # no points are the same then
        return Took(meter.calls, np.inf, type(error).__name__)
    return Took(meter.calls, meter.until(floor + 1e-4 * height) or np.inf, meter.digest)


@cache
def _base(make: Callable[[np.random.Generator], tuple[Function, float]], seed: int, how: str) -> Took:
    """Return the run to compare with: of the same kind, all sizes one."""
    if how == "units-told":
        return took(make, seed, Change(scale=np.ones(D)))
    if how == "units-bounds":
        return took(make, seed, Change(bounds=np.tile([-4.0, 4.0], (D, 1))))
    return took(make, seed, Change(x0=np.ones(D))) if how == "units-x0" else took(make, seed, Change())


def _change(row: str, rng: np.random.Generator) -> Change:
    what, how = row.split("-", 1) if "-" in row else (row, "")
    if what == "times":
        return Change(factor=2.0 ** int(how[2:]) if how.startswith("2^") else float(how))
    if what == "plus":
        return Change(offset=float(how))
    if what == "order":
        return Change(order=rng.permutation(D).astype(float))
    if how == "told":
        units = np.ldexp(1.0, rng.integers(-40, 41, D))
        return Change(units=units, scale=units)
    units = 10.0 ** rng.uniform(-6, 6, D)
    if how == "x0":
        return Change(units=units, x0=units)
    return Change(units=units, bounds=np.column_stack((-4 * units, 4 * units)))


def table(rows: list[str], first: int, instances: int) -> None:
    """Print the table."""
    print(
        "| change | same points | queries / base | worst | to 1e-4 / base | worst | bar | passed | failed |"
        "\n|---|---|---|---|---|---|---|---|---|"
    )
    for row in rows:
        if row == "units-told" and not SCALE:
            print(f"| {row} | there is no `scale=` yet | | | | | | | |", flush=True)
            continue
        pairs = [
            (_base(make, seed, row), took(make, seed, _change(row, np.random.default_rng([seed, 2]))))
            for make in FUNCTIONS
            for seed in range(first, first + instances)
        ]
        same = sum(base.points == other.points for base, other in pairs)
        calls = np.array([other.calls / base.calls for base, other in pairs])
        there = np.array([(o.until, b.until) for b, o in pairs if np.isfinite(b.until)])
        failed = int(np.sum(~np.isfinite(there[:, 0])))  # where the base arrived
        until = (there[:, 0] / there[:, 1])[np.isfinite(there[:, 0])]
        mean, worst = (until.mean(), until.max()) if len(until) else (np.nan, np.nan)
        bar, passed = "none", True
        if row in BEYOND:
            pass
        elif row.startswith("times-2^") or row == "units-told":
            bar, passed = "same points", same == len(pairs)
        elif row.startswith(("times", "plus", "units")):
            limit = 1.5 if row.startswith("units") else 1.1
            bar, passed = f"{limit}", bool(mean <= limit) and not failed
        print(
            f"| {row} | {same}/{len(pairs)} | {calls.mean():.2f} | {calls.max():.2f} | {mean:.2f} "
            f"| {worst:.2f} | {bar} | {'yes' if passed else 'NO'} | {failed or ''} |",
            flush=True,
        )
