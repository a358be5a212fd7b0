"""Ten slopes of ±U(0.5, 1) above a background of p·N(0, 1), curvatures U(0.5, 2), d = 10⁴, x0 = 0.

What the ten bring is ½ Σ g²/c over them. The errors of an estimate are honest if about 95 % of the true
derivatives lie within two of them; `residual` and `background` stand beside the truth as estimate / truth.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import numpy as np
from benchmarks.page_table import PageTable, seeds
from benchmarks.real.meter import Meter

import gracezo
from gracezo.core.types import FloatArray, IntArray

D, TEN = 10_000, 10
TAILS = ("0", "1e-6", "1e-5", "1e-4", "1e-3", "1e-2")
BAR_GRADIENT = dict(zip(TAILS, (42, 48, 54, 62, 78, 1.1 * D), strict=True))
BAR_MINIMIZE = dict(zip(TAILS, (46, 54, 60, 68, 84, np.nan), strict=True))
ROWS = tuple(f"{what}-{p}" for what in ("gradient", "minimize") for p in TAILS)
HEAD = ["p", "one gradient: queries", "recall", "within two errors", "`minimize`: queries"]
_BUDGET = 3 * D


@dataclass(frozen=True, eq=False)
class Tail:
    """One instance: f = g·x + ½ Σ c x²."""

    g: FloatArray
    c: FloatArray
    ten: IntArray

    @classmethod
    def drawn(cls, p: float, seed: int, d: int = D) -> Tail:
        """Draw an instance."""
        rng = np.random.default_rng(seed)
        ten = np.sort(rng.choice(d, TEN, replace=False))
        g = np.zeros(d)
        g[ten] = rng.uniform(0.5, 1.0, TEN) * rng.choice([-1.0, 1.0], TEN)
        return cls(g + p * rng.standard_normal(d), rng.uniform(0.5, 2.0, d), ten)

    def __call__(self, x: FloatArray) -> float:
        """Return f(x)."""
        return float(self.g @ x + 0.5 * (self.c @ (x * x)))

    @property
    def brought(self) -> float:
        """What the ten bring."""
        return float(0.5 * np.sum(self.g[self.ten] ** 2 / self.c[self.ten]))


def gradients(p: str, first: int, instances: int) -> list[str]:
    """Print the row of one tail: one gradient. Return what the page shows of it."""
    rows, start = [], time.perf_counter()
    for seed in range(first, first + instances):
        fun = Tail.drawn(float(p), seed)
        meter = Meter(fun, np.zeros(D), points=False)
        found = gracezo.estimate_gradient(meter, np.zeros(D), seed=seed, max_queries=_BUDGET)
        assert found.queries == meter.calls
        missed = np.abs(found.values - fun.g[found.indices])
        outside = np.delete(fun.g, found.indices)
        told = getattr(found, "background", None)  # `residual` is the share since `background` exists
        share = float(outside @ outside / (fun.g @ fun.g))
        rows.append(
            (
                meter.calls,
                np.isin(fun.ten, found.indices).mean(),
                len(found.indices),
                np.mean(missed <= 2 * found.errors) if len(missed) else np.nan,
                np.nan if told is None or share == 0 else found.residual / share,
                np.nan if told is None or share == 0 else told / np.sqrt(np.mean(outside**2)),
            )
        )
    calls, recall, count, honest, residual, background = np.array(rows, float).T
    bar, passed = BAR_GRADIENT[p], calls.mean() <= BAR_GRADIENT[p] and recall.mean() >= 0.99
    print(
        f"| gradient-{p} | {calls.mean():.1f} | {bar:g} | {'yes' if passed else 'NO'} | {calls.max():.0f} "
        f"| {recall.mean():.3f} | {count.mean():.1f} | {honest.mean():.3f} | {_median(residual)} "
        f"| {_median(background)} | {(time.perf_counter() - start) / instances:.2f} |",
        flush=True,
    )
    return [f"{calls.mean():,.1f}", f"{recall.mean():.3f}", f"{honest.mean():.3f}"]


def descents(p: str, first: int, instances: int) -> list[str]:
    """Print the row of one tail: `minimize` until 95 % of what the ten bring. Return what the page shows."""
    rows, start = [], time.perf_counter()
    for seed in range(first, first + instances):
        fun = Tail.drawn(float(p), seed)
        meter = Meter(fun, np.zeros(D), points=False)
        level = -0.95 * fun.brought
        result = gracezo.minimize(meter, np.zeros(D), seed=seed, max_queries=_BUDGET, target=level)
        assert result.nfev == meter.calls
        rows.append((meter.until(level) or np.inf, np.isin(fun.ten, result.support).mean()))
    calls, recall = np.array(rows, float).T
    there = calls[np.isfinite(calls)]
    mean = there.mean() if len(there) else np.nan
    seconds = (time.perf_counter() - start) / instances
    passed = len(there) == instances and not mean > BAR_MINIMIZE[p]
    print(
        f"| minimize-{p} | {mean:.1f} | {BAR_MINIMIZE[p]:g} | {'yes' if passed else 'NO'} "
        f"| {calls.max():.0f} | {recall.mean():.3f} | | | | | {seconds:.2f} |",
        flush=True,
    )
    return [f"{mean:,.1f}" + (f" ({len(there)} of {instances})" if len(there) < instances else "")]


def _median(ratios: FloatArray) -> str:
    known = ratios[np.isfinite(ratios)]
    return f"{np.median(known):.2g} ({known.min():.2g}…{known.max():.2g})" if len(known) else "unknown"


def table(rows: list[str], first: int, instances: int) -> None:
    """Print the table."""
    print(
        "| tail | queries | bar | passed | worst | recall | found | within two errors | residual / true "
        "| background / true | s a run |\n|---|---|---|---|---|---|---|---|---|---|---|"
    )
    for row in rows:
        what, p = row.split("-", 1)
        (gradients if what == "gradient" else descents)(p, first, instances)


def main() -> None:
    """Write the table of docs/results/auto.md."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real.tails", description=__doc__)
    parser.add_argument("--only", default=",".join(TAILS), help="values of p, separated by commas")
    parser.add_argument("--first", type=int, default=8100, help="the first seed")
    parser.add_argument("--instances", type=int, default=20)
    parser.add_argument("--page", action="store_true", help="write the page")
    chosen = parser.parse_args()
    shown = PageTable("tails", "results/auto.md", HEAD, write=chosen.page)
    for p in chosen.only.split(","):
        cells = [draw(p, chosen.first, chosen.instances) for draw in (gradients, descents)]
        shown.add(p, *cells[0], *cells[1], seeds=seeds(chosen.first, chosen.instances))


if __name__ == "__main__":
    main()
