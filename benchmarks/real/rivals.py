"""Where others were ahead: slopes that move on with each step, and dense problems with bounds.

- `moving`: the sum of the ten largest of (x − c)², d = 10⁴, above a faint bowl. After each step the large
  slopes belong to other coordinates. Queries to half of f(x0), beside published GraCe, told s = 10.
- `torsion`: elastic-plastic torsion on a grid (Moré & Toraldo, SIAM Journal on Optimization 1(1), 1991):
  ½∫|∇v|² − c∫v, |v| at most the distance to the boundary.
- `obstacle`: a membrane above an obstacle (same paper): ½∫|∇v|² − ∫v, v ≥ (sin 3.2x · sin 3.3y)³, v ≤ 2000.
- `chained`: a chain of Rosenbrock's valleys in a box.
- `ray`: the travel time of a ray through a medium, by the places of its 1,025 knots, its ends fixed.

The last four: what is left of f(x0) − f* after so many queries, beside L-BFGS-B with plain differences; f*
is that of L-BFGS-B with exact gradients. Below one, `auto` is ahead.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from benchmarks.page_table import PageTable, seeds
from benchmarks.real.meter import Function, Meter
from scipy.optimize import minimize

import gracezo
from gracezo.core.types import FloatArray

HEAD = ["function", "the other", "`auto`", "the other's"]
MOST = 4_000  # queries of one run of `moving`


@dataclass(frozen=True, eq=False)
class Boxed:
    """A dense problem with bounds."""

    fun: Function
    gradient: Callable[[FloatArray], FloatArray]
    x0: FloatArray
    bounds: FloatArray


def moving(seed: int, d: int = 10_000, s: int = 10) -> tuple[Function, FloatArray]:
    rng = np.random.default_rng(seed)
    c = rng.standard_normal(d) * rng.uniform(0.2, 1.0, d)

    def fun(x: FloatArray) -> float:
        z = (x - c) ** 2
        return float(np.partition(z, -s)[-s:].sum() + 0.01 * s * z.mean())

    return fun, np.zeros(d)


def _membrane(n: int, force: float, low: FloatArray, high: FloatArray) -> Boxed:
    """Return ½∫|∇v|² − force·∫v on an n × n grid of the unit square, v = 0 around it."""
    area = 1.0 / (n + 1) ** 2

    def fun(x: FloatArray) -> float:
        v = np.pad(x.reshape(n, n), 1)
        strain = (np.diff(v, axis=0) ** 2).sum() + (np.diff(v, axis=1) ** 2).sum()
        return float(0.5 * strain - force * area * x.sum())

    def gradient(x: FloatArray) -> FloatArray:
        v = np.pad(x.reshape(n, n), 1)
        around = v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:]
        return np.asarray((4 * v[1:-1, 1:-1] - around - force * area).ravel())

    bounds = np.column_stack((low.ravel(), high.ravel()))
    return Boxed(fun, gradient, np.clip(np.zeros(n * n), low.ravel(), high.ravel()), bounds)


def torsion(n: int = 45, force: float = 5.0) -> Boxed:
    line = np.arange(1, n + 1) / (n + 1)
    edge = np.minimum(line, 1 - line)
    distance = np.minimum(edge[:, None], edge[None, :])
    return _membrane(n, force, -distance, distance)


def obstacle(n: int = 74) -> Boxed:
    line = np.arange(1, n + 1) / (n + 1)
    below = (np.sin(3.2 * line)[:, None] * np.sin(3.3 * line)[None, :]) ** 3
    return _membrane(n, 1.0, below, np.full((n, n), 2_000.0))


def chained(d: int = 1_000) -> Boxed:
    def fun(x: FloatArray) -> float:
        return float((10 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum())

    def gradient(x: FloatArray) -> FloatArray:
        slope = np.zeros(d)
        bend = x[1:] - x[:-1] ** 2
        slope[1:] += 20 * bend
        slope[:-1] -= 40 * bend * x[:-1] + 2 * (1 - x[:-1])
        return slope

    return Boxed(fun, gradient, np.full(d, -0.5), np.tile([-1.0, 0.8], (d, 1)))


def ray(knots: int = 1_025) -> Boxed:
    def paces(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the speed, and its slopes along x and y."""
        one, two = 2.0 * x + 0.35, 3.0 * y + 0.82
        third = 5.0 * y + x + 0.33
        speed = 1.0 + 0.4 * np.sin(one) * np.cos(two) + 0.2 * np.sin(third)
        along = 0.8 * np.cos(one) * np.cos(two) + 0.2 * np.cos(third)
        return speed, along, -1.2 * np.sin(one) * np.sin(two) + np.cos(third)

    def fun(z: FloatArray) -> float:
        x, y = z[::2], z[1::2]
        speed = paces(x, y)[0]
        return float((2.0 * np.hypot(np.diff(x), np.diff(y)) / (speed[1:] + speed[:-1])).sum())

    def gradient(z: FloatArray) -> FloatArray:
        x, y = z[::2], z[1::2]
        speed, *slopes = paces(x, y)
        length, both = np.hypot(np.diff(x), np.diff(y)), speed[1:] + speed[:-1]
        slower = np.append(0.0, -2.0 * length / both**2) + np.append(-2.0 * length / both**2, 0.0)
        slope = np.zeros(len(z))
        for start, (own, faster) in enumerate(zip((x, y), slopes, strict=True)):
            pull = 2.0 * np.diff(own) / (length * both)
            slope[start::2] = np.append(0.0, pull) - np.append(pull, 0.0) + slower * faster
        return slope

    x0 = np.outer(np.linspace(0.0, 1.0, knots), [3.0, 2.0]).ravel()
    bounds = np.tile([-2.0, 5.0], (len(x0), 1))
    ends = [0, 1, -2, -1]
    bounds[ends] = x0[ends, None]
    return Boxed(fun, gradient, x0, bounds)


DENSE: dict[str, tuple[Callable[[], Boxed], int]] = {
    "torsion-2025": (torsion, 12_000), "obstacle-5476": (obstacle, 12_000),
    "chained-1000-early": (chained, 5_000), "chained-1000": (chained, 20_000), "ray-2050": (ray, 12_000),
}  # fmt: skip
ROWS = ("moving", *DENSE)


class Spent(BaseException):
    """Raised in place of a call that the rival cannot afford."""


def _rival(problem: Boxed, budget: int) -> float:
    """Return the lowest value that L-BFGS-B with plain differences meets."""
    meter = Meter(problem.fun, problem.x0, points=False)

    def counted(x: FloatArray) -> float:
        if meter.calls >= budget:
            raise Spent
        return meter(x)

    with suppress(Spent):
        minimize(
            counted, problem.x0, method="L-BFGS-B", bounds=problem.bounds,
            options={"maxfun": 10**9, "maxiter": 10**9, "ftol": 0, "gtol": 0},
        )  # fmt: skip
    return meter.lowest


def _moved(seed: int, method: str, sparsity: int | None) -> float:
    fun, x0 = moving(seed)
    meter = Meter(fun, x0, points=False)
    half = 0.5 * fun(x0)
    gracezo.minimize(meter, x0, method=method, sparsity=sparsity, seed=seed, max_queries=MOST, target=half)
    return float(meter.until(half) or np.inf)


def _left(row: str, seed: int) -> tuple[float, float, str]:
    """Return what `auto` and its rival leave, and how `auto` ended."""
    make, budget = DENSE[row]
    problem = make()
    patience = {"maxfun": 10**6, "maxiter": 10**6, "ftol": 0, "gtol": 1e-12, "maxcor": 50}
    least = minimize(
        problem.fun,
        problem.x0,
        jac=problem.gradient,
        method="L-BFGS-B",
        bounds=problem.bounds,
        options=patience,
    ).fun
    meter = Meter(problem.fun, problem.x0, points=False)
    result = gracezo.minimize(meter, problem.x0, bounds=problem.bounds, seed=seed, max_queries=budget)
    height = problem.fun(problem.x0) - least
    end = f"{result.status} after {meter.calls}"
    return (meter.lowest - least) / height, (_rival(problem, budget) - least) / height, end


def compared(row: str, first: int, instances: int) -> tuple[float, float, str]:
    """Return what `auto` takes or leaves, the same of the other, and how `auto` ended."""
    if row != "moving":
        return _left(row, first)
    seeds = range(first, first + instances)
    ours = float(np.mean([_moved(seed, "auto", None) for seed in seeds]))
    return ours, float(np.mean([_moved(seed, "grace", 10) for seed in seeds])), ""


def taken(queries: float) -> str:
    """Return how many queries were taken in the mean; infinitely many where one run did not get there."""
    return f"{queries:.0f} queries" if np.isfinite(queries) else f"not all within {MOST:,} queries"


def table(rows: list[str], first: int, instances: int) -> None:
    """Print the table."""
    print("| function | auto | the other | ratio | bar | passed | status |\n|---|---|---|---|---|---|---|")
    for row in rows:
        ours, other, end = compared(row, first, instances)
        passed = "yes" if ours <= other else "NO"
        print(f"| {row} | {ours:.3g} | {other:.3g} | {ours / other:.3g} | 1 | {passed} | {end} |", flush=True)


def main() -> None:
    """Write the table of docs/results/auto.md."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real.rivals", description=__doc__)
    parser.add_argument("--only", default=",".join(ROWS), help="names of rows, separated by commas")
    parser.add_argument("--first", type=int, default=700, help="the first seed")
    parser.add_argument("--instances", type=int, default=20, help="seeds of `moving`; one of the others")
    parser.add_argument("--page", action="store_true", help="write the page")
    chosen = parser.parse_args()
    shown = PageTable("rivals", "results/auto.md", HEAD, write=chosen.page)
    for row in chosen.only.split(","):
        made = chosen.instances if row == "moving" else 1
        ours, other, _ = compared(row, chosen.first, made)
        left = [taken(value) if row == "moving" else f"{value:.2g} left" for value in (ours, other)]
        rival = "GraCe, told s" if row == "moving" else f"L-BFGS-B, {DENSE[row][1]:,} queries each"
        shown.add(row, rival, *left, seeds=seeds(chosen.first, made))


if __name__ == "__main__":
    main()
