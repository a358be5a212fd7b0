"""What halving and doubling each constant of `auto` changes: queries, beside those with all as they are.

    python -m benchmarks.auto_sensitivity [--instances 3] [--names TRUST,LIKELY] [--page]

Each column is a mean over instances of queries until a target was reached, in per cent more or less than with
the constants as they are; a run that does not reach it counts with its whole budget. A share above a half is
not doubled but brought half way to one. Instances 100 and up, so that none of those on which the bars are
measured is used here. Paths of a search are chaotic: a constant that plays no part in a function leaves its
column at 0; a few per cent mean that other paths were taken, for good or bad.

- *Distance*, *Attack*: to 1e-8 and to 0.33 of f(x0). *Noise*: Distance with noise of 1e-4, to 0.01.
- *Gradients*: of ten slopes without a background and with one of 1e-4 of them, and of thirty without.
  *Background*: of ten above one of 1e-2. *Power law*: slopes 1/k, d = 500, with `tol=0.01`.
- *Dense*: a rotated quadratic of 200 coordinates, to 0.01. *Box*: one of 300 along the axes, bounds in the
  way of every second, to 1e-6. *Units*: six of 300 coordinates of sizes from 0.01 to 100, which x0 shows, to
  1e-6.
- *Kinks*: Σ|xᵢ − cᵢ| and neighbours that are coupled, to 1e-4. *Minimax*: the largest of six parabolas, to
  1e-4.
- *To the end*: twenty functions of `real claims`, until the run ends by itself. *Untrue*: how many of these
  ends have a false claim or a wrong name.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
from benchmarks.auto_bars import spend
from benchmarks.page_table import PageTable, seeds
from benchmarks.real import claims
from benchmarks.real.case import run
from benchmarks.real.meter import Meter
from benchmarks.real.tails import Tail
from scipy.optimize import Bounds

import gracezo
from benchmarks import noise_bars
from gracezo.core.types import FloatArray
from gracezo.methods.auto import constants
from gracezo.problems import Attack, Distance

FIRST = 100
CLAIMS = 20
_CLAIMS_FIRST = 600_000
_D = 10_000


def distance(seed: int) -> float:
    """Minimise Distance."""
    fun = Distance(seed=seed)
    return spend(fun, fun.x0, seed, (1e-8,), 400).to[1e-8] or 400


def attack(seed: int) -> float:
    """Minimise the loss of an attack on a classifier."""
    fun = _attack()
    return spend(fun, fun.x0, seed, (0.33,), 600).to[0.33] or 600


@cache
def _attack() -> Attack:
    return Attack()


def noise(seed: int) -> float:
    """Minimise Distance with noise."""
    return noise_bars.spend(noise_bars.instance("distance", seed), "1e-4", seed, 0.01, 1500)[0] or 1500


def gradients(seed: int) -> float:
    """Estimate gradients of ten slopes without and with a background, and one of thirty."""
    functions = Tail.drawn(0.0, seed), Tail.drawn(1e-4, seed), Distance(s=30, seed=seed)
    return sum(_gradient(fun, _D, seed) for fun in functions)


def background(seed: int) -> float:
    """Estimate a gradient of ten slopes above a background of one hundredth of them."""
    return _gradient(Tail.drawn(1e-2, seed), _D, seed)


def power_law(seed: int) -> float:
    """Estimate a gradient that decays like a power, up to a tolerance."""
    rng = np.random.default_rng(seed)
    slopes = rng.permutation(1.0 / np.arange(1.0, 501.0)) * rng.choice([-1.0, 1.0], 500)
    return _gradient(lambda x: 1.0 + float(slopes @ x + 0.5 * (x @ x)), 500, seed, tol=0.01)


def _gradient(fun: Callable[[FloatArray], float], d: int, seed: int, tol: float | None = None) -> int:
    metered = Meter(fun, np.zeros(d))
    gracezo.estimate_gradient(metered, np.zeros(d), seed=seed, max_queries=12_000, tol=tol)
    return metered.calls


def dense(seed: int) -> float:
    """Minimise a quadratic whose coordinates are all coupled."""
    rng = np.random.default_rng(seed)
    rotation, _ = np.linalg.qr(rng.standard_normal((200, 200)))
    hessian = (rotation * 10.0 ** rng.uniform(-2.0, 0.0, 200)) @ rotation.T
    goal = rng.standard_normal(200)

    def fun(x: FloatArray) -> float:
        return 0.5 * float((x - goal) @ hessian @ (x - goal))

    return spend(fun, np.zeros(200), seed, (0.01,), 9000).to[0.01] or 9000


def box(seed: int) -> float:
    """Minimise a quadratic whose optimum every second bound is in the way of."""
    rng = np.random.default_rng(seed)
    goal, weights = np.zeros(300), rng.uniform(0.5, 2.0, 300)
    goal[rng.choice(300, 12, replace=False)] = rng.uniform(0.5, 1.0, 12)
    upper = np.where(np.arange(300) % 2, 2.0, 0.5 * goal + 0.01)
    inside = np.minimum(goal, upper)
    least = float(weights @ (inside - goal) ** 2)
    return _until(lambda x: float(weights @ (x - goal) ** 2) - least, np.zeros(300), 1e-6, seed, upper)


def units(seed: int) -> float:
    """Minimise a function of coordinates of different orders of magnitude."""
    rng = np.random.default_rng(seed)
    sizes = 10.0 ** rng.uniform(-2.0, 2.0, 300)
    x0, some = sizes * rng.uniform(0.5, 2.0, 300), rng.choice(300, 6, replace=False)
    goal = x0[some] + sizes[some] * rng.uniform(0.5, 1.0, 6)
    return _until(lambda x: float((((x[some] - goal) / sizes[some]) ** 2).sum()), x0, 1e-6, seed)


def _until(
    fun: Callable[[FloatArray], float],
    x0: FloatArray,
    ratio: float,
    seed: int,
    upper: FloatArray | None = None,
) -> float:
    """Return the queries until f has come down to a share of where it began."""
    bounds = None if upper is None else Bounds(np.full(len(x0), -1.0), upper)
    result = gracezo.minimize(fun, x0, bounds=bounds, seed=seed, max_queries=1500, target=ratio * fun(x0))
    return result.nfev if result.fun <= ratio * fun(x0) else 1500


def kinks(seed: int) -> float:
    """Minimise a sum of kinks."""
    rng = np.random.default_rng(seed)
    goal = np.zeros(300)
    goal[rng.choice(300, 5, replace=False)] = rng.uniform(1.0, 2.0, 5)

    def fun(x: FloatArray) -> float:
        return float(np.abs(x - goal).sum() + 0.5 * np.sum(np.diff(x - goal) ** 2))

    return spend(fun, np.zeros(300), seed, (1e-4,), 6000).to[1e-4] or 6000


def minimax(seed: int) -> float:
    """Minimise the largest of several parabolas, along few of the coordinates."""
    rng = np.random.default_rng(seed)
    goal, bends, tilts = rng.standard_normal(100), rng.uniform(0.5, 3.0, (6, 8)), rng.standard_normal((6, 8))
    tilts -= tilts.mean(axis=0)

    def fun(x: FloatArray) -> float:
        z = x[:8] - goal[:8]
        return float(np.max(tilts @ z + 0.5 * bends @ (z * z)) + 0.5 * (x[8:] @ x[8:]))

    return spend(fun, np.zeros(100), seed, (1e-4,), 5000).to[1e-4] or 5000


COLUMNS: dict[str, Callable[[int], float]] = {
    "Distance": distance,
    "Attack": attack,
    "noise": noise,
    "gradients": gradients,
    "background": background,
    "power law": power_law,
    "dense": dense,
    "box": box,
    "units": units,
    "kinks": kinks,
    "minimax": minimax,
}


def measured(instances: int) -> tuple[FloatArray, int]:
    """Return the means of all columns, the last one to the end; and how many ends are untrue."""
    means = [np.mean([column(FIRST + i) for i in range(instances)]) for column in COLUMNS.values()]
    ends = [run(claims.drawn(seed), seed) for seed in range(_CLAIMS_FIRST, _CLAIMS_FIRST + CLAIMS)]
    untrue = sum(end.word in {"FALSE", "misnamed", "CRASHED"} for end in ends)
    return np.array([*means, np.mean([end.queries for end in ends])]), untrue


def altered(name: str) -> Iterator[float]:
    """Halve and double a constant; yield what it is while it is changed."""
    value = getattr(constants, name)
    for factor in (0.5, 2.0):
        changed = type(value)(value * factor)
        if 0.5 <= value < 1.0 <= changed:
            changed = 0.5 * (1.0 + value)  # a share: half way to one instead of doubled
        setattr(constants, name, changed)
        try:
            yield changed
        finally:
            setattr(constants, name, value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--instances", type=int, default=3)
    parser.add_argument("--names", default="", help="only these constants")
    parser.add_argument("--page", action="store_true", help="write the rows into the page")
    given = parser.parse_args()
    head = ["constant", "is", *COLUMNS, "to the end", "untrue"]
    table = PageTable("auto-sensitivity", "how-it-works/constants.md", head, named_by=2, write=given.page)
    table.begin()
    base, untrue = measured(given.instances)
    told = seeds(FIRST, given.instances)
    table.add("all", "as they are", *(f"{mean:,.1f}" for mean in base), str(untrue), seeds=told)
    names = given.names.split(",") if given.names else [name for name in vars(constants) if name.isupper()]
    for name in names:
        for value in altered(name):
            means, untrue = measured(given.instances)
            changes = [f"{100.0 * change:+.0f}" for change in means / base - 1.0]
            table.add(f"`{name}`", f"{value:g}", *changes, str(untrue), seeds=told)


if __name__ == "__main__":
    main()
