"""Which of a thousand parameters matter: `gracezo.screen` beside SALib's Morris method.

PYTHONPATH=src python -m benchmarks.trades.screening [--tables point box noise] [--first 20000] [--page]

Every call of the function is counted. Instances are drawn from `numpy.random.default_rng(seed)`, with seeds
from `FIRST` on, none of which was looked at while the method was made.

- `point`: effects at one point of the box [0, 1]: linear functions with s slopes of ±U(0.5, 1) and a tail of
  t·N(0, 1) on all coordinates; Sobol's G with a = 0 on s coordinates and a on the others. Right: the s
  largest derivatives come first. Two counts: the queries from which the answer is right and stays so
  (`max_queries` of so many and of any more gives it), and those after which a screening ends by itself.
  Morris' method has to move every coordinate: r·(d + 1) calls for r trajectories.
- `box`: Piston, Welch, OTL circuit and Friedman of uqtestfuns among inert coordinates, d = 1,000, at random
  places. Right: the coordinates whose mu_star is at least a tenth of the largest, by Morris with r = 20.
- `noise`: a linear function with noise of 1 % of its spread: how often a coordinate without effect is called
  important, in a run, and how often one with an effect is not.
- `rough`: Friedman's function among inert coordinates, d = 1,000, in few digits or with noise (not told).
- `pairs`: which coordinates act together: a quadratic function of 20 of 1,000 coordinates with so many mixed
  terms, and Friedman's function. All pairs of k coordinates would take k·(k + 1)/2 more queries a point.
- `groups`: a field of 50 × 50 of which two patches matter, with and without blocks.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import uqtestfuns
from benchmarks.page_table import PageTable, seeds
from SALib.analyze import morris as analysis
from SALib.sample import morris as sampling

import gracezo
from gracezo.core.types import FloatArray, IntArray

mpl.use("Agg")
import matplotlib.pyplot as plt

FIRST = 20_000
RESULTS = Path(__file__).parents[2] / "docs" / "results"


@dataclass
class Function:
    """A function of a box, with its meter; `top` are the coordinates that matter most."""

    fun: Callable[[FloatArray], float]
    bounds: list[tuple[float, float]]
    x0: FloatArray
    top: IntArray
    calls: int = 0

    def __call__(self, x: FloatArray) -> float:
        """Return f(x)."""
        self.calls += 1
        return self.fun(x)


def linear(seed: int, d: int, s: int, tail: float) -> Function:
    """Draw s slopes of ±U(0.5, 1) above a tail."""
    rng = np.random.default_rng(seed)
    g = tail * rng.standard_normal(d)
    g[rng.choice(d, s, replace=False)] += rng.choice([-1.0, 1.0], s) * rng.uniform(0.5, 1.0, s)
    top = np.sort(np.argsort(-np.abs(g))[:s])
    return Function(lambda x: float(g @ x), [(0.0, 1.0)] * d, rng.uniform(0.0, 1.0, d), top)


def sobol_g(seed: int, d: int, s: int, a: float) -> Function:
    """Draw Sobol's G, with a = 0 on s coordinates."""
    rng = np.random.default_rng(seed)
    weights = np.full(d, a)
    weights[rng.choice(d, s, replace=False)] = 0.0
    x0 = rng.uniform(0.0, 1.0, d)
    slopes = 4.0 / (np.abs(4.0 * x0 - 2.0) + weights)  # of log f
    top = np.sort(np.argsort(-slopes)[:s])

    def f(x: FloatArray) -> float:
        return float(np.prod((np.abs(4.0 * x - 2.0) + weights) / (1.0 + weights)))

    return Function(f, [(0.0, 1.0)] * d, x0, top)


@dataclass(frozen=True)
class PointRow:
    """One kind of function at one point, and what is required of it."""

    make: Callable[..., Function]
    d: int
    s: int
    size: float
    bar: int


POINT = {
    "linear, exactly 5": PointRow(linear, 1_000, 5, 0.0, 24),
    "linear, exactly 10": PointRow(linear, 1_000, 10, 0.0, 42),
    "linear, tail 1 %, 5": PointRow(linear, 1_000, 5, 0.01, 46),
    "linear, tail 1 %, 10": PointRow(linear, 1_000, 10, 0.01, 80),
    "Sobol G, a = 99, 5": PointRow(sobol_g, 1_000, 5, 99.0, 50),
    "Sobol G, a = 99, 10": PointRow(sobol_g, 1_000, 10, 99.0, 80),
    "linear, tail 10 %, 5": PointRow(linear, 1_000, 5, 0.1, 250),
    "Sobol G, a = 999, 10 of 5,000": PointRow(sobol_g, 5_000, 10, 999.0, 90),
}


def at_a_point(first: int, instances: int) -> Iterator[list[str]]:
    """Give the rows of the table `point`."""
    for name, row in POINT.items():
        ends, needed = [], []
        for seed in range(first, first + instances):
            queries, right = screened(row, seed)
            ends.append(queries)
            if right:
                needed.append(settled(row, seed, queries))
        share = len(needed) / instances
        yield [
            name,
            f"{share:.1%}",
            _mean(needed),
            f"{max(needed):,}",
            f"≤ {row.bar}",
            "yes" if np.mean(needed) <= row.bar and share >= 0.95 else "**no**",
            _mean(ends),
            f"{max(ends):,}",
            f"{row.d + 1:,}",
        ]


def screened(row: PointRow, seed: int, most: int | None = None) -> tuple[int, bool]:
    """Screen an instance by so many queries at most; return what it took, and whether the answer is right."""
    f = row.make(seed, row.d, row.s, row.size)
    found = gracezo.screen(f, f.x0, bounds=f.bounds, points=1, seed=seed, max_queries=most)
    assert found.queries == f.calls
    return f.calls, np.array_equal(np.sort(found.indices[: row.s]), f.top)


def settled(row: PointRow, seed: int, ends: int) -> int:
    """Return the fewest queries from which on, up to the end, the answer is right.

    Each number is tried, from the end downwards; of hundreds, each twentieth part, and the count rounded up.
    """
    step = 1 if ends < 200 else ends // 20
    counts = itertools.takewhile(lambda most: screened(row, seed, most)[1], range(ends - step, 0, -step))
    return min(counts, default=ends)


def _mean(counts: list[int]) -> str:
    error = np.std(counts, ddof=1) / np.sqrt(len(counts))
    return f"{np.mean(counts):.1f} ± {error:.1f}"


# ---------------------------------------------------------------- over the box


BOX = {
    "Piston": uqtestfuns.Piston,
    "Welch": uqtestfuns.Welch20D,
    "OTL circuit": uqtestfuns.OTLCircuit,
    "Friedman": uqtestfuns.Friedman10D,
}
TRAJECTORIES, PLAINLY = 20, 0.1


def hidden(name: str, seed: int, d: int = 1_000) -> tuple[Function, Callable[[FloatArray], FloatArray]]:
    """Return a function of uqtestfuns among inert coordinates, and the same of many points at once."""
    fun = BOX[name]()
    rng = np.random.default_rng(seed)
    places = rng.choice(d, fun.input_dimension, replace=False)
    bounds = [(0.0, 1.0)] * d
    for place, marginal in zip(places.tolist(), fun.prob_input.marginals, strict=True):
        bounds[place] = (float(marginal.lower), float(marginal.upper))

    def many(points: FloatArray) -> FloatArray:
        return np.asarray(fun(points[:, places]), np.float64).ravel()

    made = Function(lambda x: float(many(x[None])[0]), bounds, np.zeros(d), np.zeros(0, np.int64))
    return made, many


def _problem(bounds: Sequence[tuple[float, float]]) -> dict[str, Any]:
    return {"num_vars": len(bounds), "names": list(map(str, range(len(bounds)))), "bounds": list(bounds)}


@lru_cache(maxsize=16)
def _trajectories(d: int, seed: int) -> FloatArray:
    """Return SALib's trajectories in the unit box, which it takes longest for."""
    sample = sampling.sample(_problem([(0.0, 1.0)] * d), TRAJECTORIES, num_levels=4, seed=seed)
    return np.asarray(sample, np.float64)


def morris(many: Callable[[FloatArray], FloatArray], bounds: Sequence[tuple[float, float]], seed: int) -> Any:
    """Return what SALib's Morris method says with r = 20, and its calls."""
    problem = _problem(bounds)
    lower, upper = np.array(bounds).T
    points = lower + (upper - lower) * _trajectories(len(bounds), seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return analysis.analyze(problem, points, many(points), num_levels=4, seed=seed), len(points)


def over_the_box(first: int, instances: int) -> Iterator[list[str]]:
    """Give the rows of the table `box`."""
    for name in BOX:
        queries, same, points, sizes = [], 0, [], set()
        for seed in range(first, first + instances):
            f, many = hidden(name, seed)
            said, calls = morris(many, f.bounds, seed)
            star = np.asarray(said["mu_star"])
            top = np.flatnonzero(star >= PLAINLY * star.max())
            found = gracezo.screen(f, bounds=f.bounds, seed=seed)
            assert found.queries == f.calls
            queries.append(found.queries)
            points.append(found.points)
            sizes.add(len(top))
            same += set(found.indices[: len(top)].tolist()) == set(top.tolist())
        yield [
            name,
            ", ".join(map(str, sorted(sizes))),
            f"{np.mean(queries):.1f}",
            f"{max(queries)}",
            f"{np.mean(points):.1f}",
            f"{same} of {instances}",
            "≤ 150, all",
            "yes" if max(queries) <= 150 and same == instances else "**no**",
            f"{calls:,}",
        ]


# ---------------------------------------------------------------- noise


def with_noise(first: int, instances: int) -> Iterator[list[str]]:
    """Give the rows of the table `noise`: claims that are not true, and effects that are missed."""
    for told in (True, False):
        wrong, missed, queries = 0, 0, []
        for seed in range(first, first + instances):
            f = linear(seed, 200, 5, 0.0)
            noise = 0.01 * np.sqrt(5.0 * 0.58 / 12.0)  # of the standard deviation of f over the box
            rng = np.random.default_rng([seed, 1])

            def noisy(x: FloatArray, f: Function = f, rng: Any = rng, noise: float = noise) -> float:
                return f(x) + noise * float(rng.standard_normal())

            found = gracezo.screen(
                noisy,
                bounds=f.bounds,
                seed=seed,
                noise=noise if told else None,
                max_queries=2_000,
            )
            assert found.queries == f.calls
            claimed = set(found.indices[found.important].tolist())
            wrong += bool(claimed - set(f.top.tolist()))
            missed += len(set(f.top.tolist()) - claimed)
            queries.append(found.queries)
        yield [
            "told" if told else "not told",
            f"{np.mean(queries):.0f}",
            f"{wrong} of {instances}",
            f"≤ {found.rate:.0%}",
            "yes" if wrong <= found.rate * instances + 2 * np.sqrt(found.rate * instances) else "**no**",
            f"{missed} of {5 * instances}",
        ]


# ---------------------------------------------------------------- few digits, noise

Rough = Callable[[float, np.random.Generator], float]
ROUGH: dict[str, Rough] = {
    "exact": lambda value, rng: value,
    "single precision": lambda value, rng: float(np.float32(value)),
    "5 decimals": lambda value, rng: round(value, 5),
    "3 decimals": lambda value, rng: round(value, 3),
    "1 decimal": lambda value, rng: round(value, 1),
    "whole numbers": lambda value, rng: float(np.floor(value)),
    "half of it a plateau": lambda value, rng: max(value, 14.0),
    "noise of 0.001": lambda value, rng: value + 0.001 * float(rng.standard_normal()),
    "noise of 0.05 (1 %)": lambda value, rng: value + 0.05 * float(rng.standard_normal()),
    "noise of 0.25 (5 %)": lambda value, rng: value + 0.25 * float(rng.standard_normal()),
    "noise of 1 (20 %)": lambda value, rng: value + float(rng.standard_normal()),
    "noise of 0.05, Student's, 2 d.o.f.": lambda value, rng: value + 0.05 * float(rng.standard_t(2)),
}


def in_the_rough(first: int, instances: int) -> Iterator[list[str]]:
    """Give the rows of the table `rough`."""
    for name, made in ROUGH.items():
        queries, missed, wrong = [], 0, 0
        for seed in range(first, first + instances):
            f, _ = hidden("Friedman", seed)
            matter = set(np.random.default_rng(seed).choice(1_000, 10, replace=False)[:5].tolist())
            rng = np.random.default_rng([seed, 1])

            def rough(x: FloatArray, f: Function = f, rng: Any = rng, made: Rough = made) -> float:
                return made(f(x), rng)

            found = gracezo.screen(rough, bounds=f.bounds, seed=seed)
            assert found.queries == f.calls
            claimed = set(found.indices[found.important].tolist())
            queries.append(found.queries)
            missed += len(matter - claimed)
            wrong += bool(claimed - matter)
        yield [
            name,
            f"{np.mean(queries):.0f}",
            f"{max(queries)}",
            f"{missed} of {5 * instances}",
            f"{wrong} of {instances}",
        ]


# ---------------------------------------------------------------- pairs


def mixed(seed: int, terms: int, d: int = 1_000, k: int = 20) -> tuple[Function, set[tuple[int, ...]]]:
    """Draw a quadratic function of k coordinates with so many mixed terms; return it, and the pairs."""
    rng = np.random.default_rng(seed)
    places = np.sort(rng.choice(d, k, replace=False))
    slopes, bends = rng.uniform(0.5, 1.0, k), rng.uniform(-0.5, 0.5, k)
    every = [(one, other) for one in range(k) for other in range(one + 1, k)]
    which = [every[number] for number in rng.choice(len(every), terms, replace=False)]
    weights = rng.choice([-1.0, 1.0], terms) * rng.uniform(0.5, 1.0, terms)

    def f(x: FloatArray) -> float:
        z = x[places]
        terms = (w * z[i] * z[j] for w, (i, j) in zip(weights, which, strict=True))
        return float(slopes @ z + bends @ z**2 + sum(terms))

    pairs = {tuple(places[list(pair)].tolist()) for pair in which}
    return Function(f, [(0.0, 1.0)] * d, np.zeros(d), places), pairs


def together(first: int, instances: int) -> Iterator[list[str]]:
    """Give the rows of the table `pairs`."""
    for name, terms in (("no pair", 0), ("1 pair", 1), ("5 pairs", 5), ("20 pairs", 20), ("Friedman", -1)):
        extra, each, same, wrong = [], [], 0, 0
        for seed in range(first, first + instances):
            if terms >= 0:
                f, pairs = mixed(seed, terms)
            else:
                f, _ = hidden("Friedman", seed)
                two = np.random.default_rng(seed).choice(1_000, 10, replace=False)[:2]
                pairs = {tuple(sorted(two.tolist()))}
            before = gracezo.screen(f, bounds=f.bounds, seed=seed).queries
            f.calls = 0
            found = gracezo.screen(f, bounds=f.bounds, seed=seed, interactions=True)
            assert found.queries == f.calls
            assert found.interactions is not None
            said = {tuple(pair) for pair in found.interactions.pairs.tolist()}
            k = len(found.interactions.coordinates)
            extra.append(found.queries - before)
            each.append(found.points * k * (k + 1) // 2)
            same += said == pairs
            wrong += bool(said - pairs)
        yield [
            name,
            f"{np.mean(extra):.0f}",
            f"{np.mean(each):.0f}",
            f"{same} of {instances}",
            f"{wrong} of {instances}",
        ]


# ---------------------------------------------------------------- groups


def by_groups(first: int, instances: int) -> Iterator[list[str]]:
    """Give the rows of the table `groups`: a field with two patches, by blocks and without."""
    for name, groups in (("single coordinates", None), ("blocks of 5 × 5", (5, 5))):
        found_all, queries, steps = 0, [], []
        for seed in range(first, first + instances):
            rng = np.random.default_rng(seed)
            weights = np.zeros((50, 50))
            for row, column in 5 * rng.choice(10, (2, 2)):
                weights[row : row + 5, column : column + 5] = rng.uniform(0.5, 1.0, (5, 5))
            goal = weights / weights.max()

            def f(x: FloatArray, weights: FloatArray = weights) -> float:
                return float(np.tanh((weights * x).sum() / 10.0))

            def bowl(x: FloatArray, goal: FloatArray = goal) -> float:
                return float(((x - goal) ** 2).sum())

            found = gracezo.screen(f, np.full((50, 50), 0.5), scale=1.0, groups=groups, points=1, seed=seed)
            found_all += set(found.indices.tolist()) == set(np.flatnonzero(weights).tolist())
            queries.append(found.queries)
            start = np.zeros((50, 50))
            run = gracezo.minimize(bowl, start, groups=groups, target=0.1 * bowl(start), seed=seed)
            steps.append(run.nfev)
        yield [name, f"{np.mean(queries):.0f}", f"{found_all} of {instances}", f"{np.mean(steps):.0f}"]


TABLES: dict[str, tuple[Callable[[int, int], Iterator[list[str]]], int, list[str]]] = {
    "point": (
        at_a_point,
        60,
        [
            "d = 1,000",
            "right",
            "queries until right",
            "most",
            "required",
            "passed",
            "queries until it ends",
            "most",
            "Morris, at least",
        ],
    ),
    "box": (
        over_the_box,
        10,
        ["", "top", "queries", "most", "points", "as Morris", "required", "passed", "Morris, r = 20"],
    ),
    "noise": (
        with_noise,
        200,
        ["noise of 1 %", "queries", "runs with a false claim", "stated", "passed", "missed"],
    ),
    "rough": (
        in_the_rough,
        20,
        ["Friedman, d = 1,000", "queries", "most", "missed", "runs with a false claim"],
    ),
    "pairs": (
        together,
        10,
        ["", "queries for pairs", "all pairs would take", "exactly those", "runs with another pair"],
    ),
    "groups": (by_groups, 10, ["field of 50 × 50", "queries", "all found", "queries to a tenth of f"]),
}


def pictures(first: int, folder: Path) -> None:
    """Draw one screening of Friedman's function, with the seed after those of the table."""
    f, _ = hidden("Friedman", first - 1)
    found = gracezo.screen(f, bounds=f.bounds, seed=first - 1)
    figure = found.plot()
    figure.savefig(folder / "screening.png", dpi=110)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", nargs="*", choices=TABLES, default=list(TABLES))
    parser.add_argument("--instances", type=int, help="how many of each kind")
    parser.add_argument("--first", type=int, default=FIRST)
    parser.add_argument("--picture", action="store_true", help="draw docs/images/screening.png and stop")
    parser.add_argument("--page", action="store_true", help="write docs/results/screening.md")
    words = parser.parse_args()
    if words.picture:
        pictures(words.first, RESULTS.parent / "images")
        return
    for name in words.tables:
        table, instances, head = TABLES[name]
        count = words.instances or instances
        print(f"\n## {name}\n")
        packages = ("SALib", "uqtestfuns")
        sheet = PageTable(
            f"screening-{name}", "results/screening.md", head, packages=packages, write=words.page
        )
        sheet.begin()
        for row in table(words.first, count):
            sheet.add(*row, seeds=seeds(words.first, count))


if __name__ == "__main__":
    main()
