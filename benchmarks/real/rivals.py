"""Where others were ahead: slopes that move on with each step, and dense problems with bounds.

- `moving`: the sum of the ten largest of (x − c)², d = 10⁴, above a faint bowl. After each step the large
  slopes belong to other coordinates. Queries to half of f(x0), beside published GraCe, told s = 10.
- `torsion`: elastic-plastic torsion on a grid (Moré & Toraldo, SIAM Journal on Optimization 1(1), 1991):
  ½∫|∇v|² − c∫v, |v| at most the distance to the boundary.
- `obstacle`: a membrane above an obstacle (same paper): ½∫|∇v|² − ∫v, v ≥ (sin 3.2x · sin 3.3y)³, v ≤ 2000.
- `chained`: a chain of Rosenbrock's valleys in a box.

The last three: what is left of f(x0) − f* after so many queries, beside L-BFGS-B with plain differences; f*
is that of L-BFGS-B with exact gradients. Below one, `auto` is ahead.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from benchmarks.real.meter import Function, Meter
from scipy.optimize import minimize

import gracezo
from gracezo.core.types import FloatArray


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


DENSE: dict[str, tuple[Callable[[], Boxed], int]] = {
    "torsion-2025": (torsion, 12_000), "obstacle-5476": (obstacle, 12_000),
    "chained-1000-early": (chained, 5_000), "chained-1000": (chained, 20_000),
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
    gracezo.minimize(meter, x0, method=method, sparsity=sparsity, seed=seed, max_queries=4_000, target=half)
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


def table(rows: list[str], first: int, instances: int) -> None:
    """Print the table."""
    print("| function | auto | the other | ratio | bar | passed | status |\n|---|---|---|---|---|---|---|")
    for row in rows:
        if row == "moving":
            seeds, end = range(first, first + instances), ""
            ours = float(np.mean([_moved(seed, "auto", None) for seed in seeds]))
            other = float(np.mean([_moved(seed, "grace", 10) for seed in seeds]))
        else:
            ours, other, end = _left(row, first)
        passed = "yes" if ours <= other else "NO"
        print(f"| {row} | {ours:.3g} | {other:.3g} | {ours / other:.3g} | 1 | {passed} | {end} |", flush=True)
