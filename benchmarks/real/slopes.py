"""One gradient of each smooth random function of `claims`: what it costs, and whether what it says is so.

The truth comes from central differences of the function without its offset. All is in units of the sizes of
the coordinates where these are told, else of x.

- `found`: the share of the squared norm on the coordinates found;
- *dear*: more queries than plain differences and 10 %, and ten more;
- *missed*: 1 % of the squared norm or more is outside, though `residual` says less than a tenth of that;
- *dishonest*: fewer than 80 % of those found are within two of their errors and 1e-6 of the norm.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from benchmarks.real.case import SCALE, Case
from benchmarks.real.claims import ROWS as SHAPE_NAMES
from benchmarks.real.claims import SHAPES, drawn
from benchmarks.real.meter import Meter

import gracezo
from gracezo.core.types import FloatArray

ROWS = tuple(name for name in SHAPE_NAMES if SHAPES[name][0] == "smooth")


def truth(case: Case, sizes: FloatArray) -> FloatArray:
    """Return the gradient by central differences of two lengths, in units of the sizes."""
    d = len(case.x0)
    slopes = np.zeros(d)
    with np.errstate(all="ignore"):
        for i in range(d):
            ends = []
            for step in (1e-3, 5e-4):
                up, down = case.x0.copy(), case.x0.copy()
                up[i] += step * sizes[i]
                down[i] -= step * sizes[i]
                ends.append((case.true(up) - case.true(down)) / (2 * step))
            slopes[i] = (4 * ends[1] - ends[0]) / 3
    return slopes


def judged(seed: int) -> tuple[str, int, float]:
    """Return what is wrong with one gradient, its queries and the share of the squared norm it found."""
    case = drawn(seed)
    d = len(case.x0)
    sizes = np.ones(d)
    told: dict[str, Any] = {"batch": case.batch}
    if case.scale is not None and SCALE:
        sizes = told["scale"] = case.scale
    slopes = truth(case, sizes)
    if case.bounds is not None:
        told["bounds"] = np.column_stack(case.bounds)
    meter = Meter(case.fun, case.x0, case.bounds, points=False)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = gracezo.estimate_gradient(meter, case.x0, seed=seed, max_queries=3 * d + 100, **told)
    except Exception as error:  # whatever it is, it goes into the table
        return f"CRASHED: {type(error).__name__}: {error}"[:100], meter.calls, 0.0
    largest = float(np.abs(slopes).max())
    norm = largest * float(np.linalg.norm(slopes / largest)) if largest else 0.0  # no square overflows
    share = float(np.sum((slopes[found.indices] / norm) ** 2)) if norm else 1.0
    wrong = []
    if meter.calls > 1.1 * (d + 1) + 10:
        wrong.append("dear")
    if hasattr(found, "background") and 1 - share > 0.01 and not found.residual > 0.1 * (1 - share):
        wrong.append(f"missed: residual {found.residual:.1g}, true {1 - share:.1g}")
    off = np.abs(found.values - slopes[found.indices] / sizes[found.indices]) * sizes[found.indices]
    within = off <= 2 * found.errors * sizes[found.indices] + 1e-6 * norm
    if len(off) and within.mean() < 0.8:
        wrong.append(f"dishonest: {within.mean():.2f} within two errors")
    return ", ".join(wrong), meter.calls, share


def table(rows: list[str], first: int, instances: int) -> None:
    """Print a row for each shape, then what is wrong."""
    began = time.perf_counter()
    seeds = [seed for seed in range(first, first + instances) if SHAPE_NAMES[seed % len(SHAPE_NAMES)] in rows]
    outcomes = {seed: judged(seed) for seed in seeds}
    print("| shape | functions | wrong | queries | found, least |\n|---|---|---|---|---|")
    for name in rows:
        here = [outcomes[seed] for seed in seeds if SHAPE_NAMES[seed % len(SHAPE_NAMES)] == name]
        if here:
            wrong = sum(bool(what) for what, _, _ in here)
            queries, least = np.mean([calls for _, calls, _ in here]), min(share for _, _, share in here)
            print(f"| {name} | {len(here)} | {wrong or ''} | {queries:.0f} | {least:.3f} |")
    for seed, (what, calls, share) in outcomes.items():
        if what:
            print(f"    {seed} {what}; {calls} queries, found {share:.3f}: {drawn(seed).name}")
    wrong = sum(bool(what) for what, _, _ in outcomes.values())
    print(f"{wrong} of {len(seeds)}; {time.perf_counter() - began:.0f} s")
