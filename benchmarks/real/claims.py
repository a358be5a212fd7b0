"""Random functions with a known least value, and how often a run claims what is not so.

Each seed draws a shape (`shapes`), how many coordinates of how many it has (1 to 3,000), their units (one;
all alike from 1e-4 to 1e4; each its own from 1e-6 to 1e6, shown by x0 or by bounds, or told as `scale`),
bounds or none, a factor of the values (mostly from 1e-6 to 1e6, sometimes 1e±150) and an offset (mostly none,
else up to 1e6 times the height), the batch (1, 8 or 64), and now and then a very small budget. Seed i has the
shape i modulo their number.

    python -m benchmarks.real.claims [--first 1000] [--instances 1000] [--page]
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

import numpy as np
from benchmarks.page_table import PageTable, seeds
from benchmarks.real import errors, further, unusual
from benchmarks.real.case import Case, Outcome, run
from benchmarks.real.shapes import KINDS, Shape
from benchmarks.real.verdicts import WORDS

from gracezo.core.types import FloatArray

SHAPES = {
    name: (kind, make)
    for kinds in (KINDS, unusual.KINDS, further.KINDS, errors.KINDS)
    for kind, made in kinds.items()
    for name, make in made.items()
}
ROWS = tuple(SHAPES)
DENSE = {"spectrum", "background"}  # these have all their coordinates in play
STATIONARY = {"saddle", "crossed"}  # these have no slope on some coordinates
ULP = float(np.finfo(float).eps)
LARGEST = float(np.finfo(float).max)


def drawn(seed: int) -> Case:
    """Draw an instance."""
    rng = np.random.default_rng(seed)
    name = ROWS[seed % len(ROWS)]
    d = int(10.0 ** rng.uniform(0, np.log10(3_000)))
    wanted = d if name in DENSE else int(rng.integers(1, 11)) if rng.random() < 0.8 else min(d, 60)
    shape = SHAPES[name][1](rng, max(1, min(d, wanted)))
    s = len(shape.start)
    d = max(d, s)
    support = np.sort(rng.choice(d, s, replace=False))
    mode, size, x0 = _units(rng, d, name in STATIONARY)
    goal, unit = x0[support] - size[support] * shape.start, size[support]
    a, b = _values(rng, shape)
    draws = np.random.default_rng([seed, 1])
    measure = (not b and shape.judged) or shape.value

    def judged(x: FloatArray) -> float:
        return a * measure((x[support] - goal) / unit)

    def fun(x: FloatArray) -> float:
        value = shape.value((x[support] - goal) / unit)
        error = shape.error(value, draws) if shape.error else shape.noise * float(draws.standard_normal())
        return min(a * (value + error) + b, LARGEST)  # a penalty of 1e300 times 1e150 is none

    bounds, fits = None, (*shape.fits, *(["rounding"] if b else []))
    best = np.zeros(s) if shape.optimum is None else shape.optimum
    if name != "summit" and (mode == "bounds" or rng.random() < 0.2):
        reach, best = _reach(shape, rng, best)
        wide = rng.uniform(1.0, 4.0, (2, d)) * (rng.random(d) < 0.9)  # some have no room
        wide[:, support] = reach
        bounds = (x0 - size * wide[0], x0 + size * wide[1])
        fits = tuple(set(fits) - {"unbounded"})
    floored = np.isfinite(shape.least) or bounds is not None
    optimum = x0.copy()
    optimum[support] = goal + unit * best
    return Case(
        f"{name}: {s} of {d}, units {mode}{', bounds' * (bounds is not None)}, a = {a:.2g}, b = {b:.2g}",
        fun,
        x0,
        judged(optimum) if floored else -np.inf,
        exact=judged,
        grain=a * shape.grain + 100 * ULP * abs(b),
        noise=a * shape.noise,
        offset=b,
        fits=fits,
        bounds=bounds,
        budget=int(rng.integers(1, 30)) if rng.random() < 0.07 else min(300 + 3 * d, 1_500),
        scale=size if mode == "told" else None,
        batch=int(rng.choice([1, 1, 1, 1, 8, 64])),
        around=support,
    )


def _units(rng: np.random.Generator, d: int, stationary: bool) -> tuple[str, FloatArray, FloatArray]:
    """Return how the units show, the size of each coordinate, and x0."""
    mode = str(rng.choice(["one", "alike", "x0", "bounds", "told"]))
    if mode == "alike" and stationary:
        mode = "told"  # no slope would show them
    signs = rng.choice([-1.0, 1.0], d)
    if mode == "one":
        return mode, np.ones(d), rng.standard_normal(d) * int(rng.integers(2))
    if mode == "alike":
        return mode, np.full(d, 10.0 ** rng.uniform(-4, 4)), np.zeros(d)
    size = 10.0 ** rng.uniform(-6, 6, d)
    return mode, size, size * rng.uniform(0.5, 2, d) * signs if mode == "x0" else np.zeros(d)


def _values(rng: np.random.Generator, shape: Shape) -> tuple[float, float]:
    """Return the factor and the offset of the values."""
    first = shape.value(shape.start)
    a = 10.0 ** float(rng.uniform(-6, 6) if rng.random() < 0.8 else rng.choice([-150.0, 150.0]))
    a = min(a, 1e280 / max(1.0, abs(first)))
    height = a * (first - shape.least if np.isfinite(shape.least) else abs(first))
    b = height * 10.0 ** rng.uniform(-1, 6) * float(rng.choice([-1.0, 1.0]))
    return a, 0.0 if rng.random() < 0.7 else b


def _reach(shape: Shape, rng: np.random.Generator, best: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return how far bounds let the coordinates go down and up from the start, and where it is least then."""
    s = len(shape.start)
    cuts = shape.corner is not None or (shape.separable and rng.random() < 0.5)
    farthest = 1.0 + float(np.abs(shape.start - best).max())
    reach = rng.uniform(0.1, 1.5, (2, s)) if cuts else rng.uniform(1.0, 3.0, (2, s)) * farthest
    at_bound = rng.random(s) < 0.1  # some begin there, with their way before them
    reach[0, at_bound & (shape.start < best)] = 0.0
    reach[1, at_bound & (shape.start > best)] = 0.0
    low, high = shape.start - reach[0], shape.start + reach[1]
    return reach, shape.corner(low, high) if shape.corner else np.clip(best, low, high)


def table(rows: list[str], first: int, instances: int) -> dict[str, Counter[str]]:
    """Print a row for each shape, then the runs that went wrong; return how often each word was due."""
    began = time.perf_counter()
    kept: dict[str, list[tuple[int, Case, Outcome]]] = {}
    for seed in range(first, first + instances):
        name = ROWS[seed % len(ROWS)]
        if name in rows:
            case = drawn(seed)
            kept.setdefault(name, []).append((seed, case, run(case, seed)))
    print(f"| kind | shape | {' | '.join(WORDS)} | flaws | queries |\n|{'---|' * (len(WORDS) + 4)}")
    total: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    for name in (row for row in ROWS if row in kept):
        outcomes = [outcome for _, _, outcome in kept[name]]
        words = Counter(outcome.word for outcome in outcomes)
        total[SHAPES[name][0]] += words
        shown = " | ".join(str(words[word] or "") for word in WORDS)
        flawed = sum(bool(outcome.flaws) for outcome in outcomes) or ""
        queries = np.mean([outcome.queries for outcome in outcomes])
        print(f"| {SHAPES[name][0]} | {name} | {shown} | {flawed} | {queries:.0f} |")
    for kind, words in total.items():
        if words:
            print(
                f"{kind}: {words.total()} functions, "
                + ", ".join(f"{words[w]} {w}" for w in WORDS if words[w])
            )
    flaws: dict[str, list[int]] = {}
    for runs in kept.values():
        for seed, case, outcome in runs:
            if outcome.word in {"misnamed", "FALSE", "CRASHED"}:
                told = f"{outcome.word} after {outcome.queries}, left {outcome.left:.1g}"
                print(f"    {seed} {told}: {case.name}; {outcome.message[:90]}")
            for flaw in outcome.flaws:
                flaws.setdefault(" ".join(flaw.split()[:6]), []).append(seed)
    for flaw, where in flaws.items():
        print(f"    {flaw} …: {len(where)}, seeds {', '.join(map(str, where[:12]))}")
    print(f"{time.perf_counter() - began:.0f} s")
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--first", type=int, default=1000, help="the first seed")
    parser.add_argument("--instances", type=int, default=1000)
    parser.add_argument("--page", action="store_true", help="write the page")
    chosen = parser.parse_args()
    total = table(list(ROWS), chosen.first, chosen.instances)
    shown = PageTable("claims", "results/auto.md", ["kind", "functions", *WORDS], write=chosen.page)
    shown.begin()
    for kind, words in total.items():
        counts = [f"{words.total():,}", *(str(words[word]) for word in WORDS)]
        shown.add(kind, *counts, seeds=seeds(chosen.first, chosen.instances))


if __name__ == "__main__":
    main()
