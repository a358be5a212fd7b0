"""The lowest point of a box of a thousand coordinates, of which few matter, with 300 and 1,000 queries.

PYTHONPATH=src python -m benchmarks.trades.hidden [--instances 10] [--page docs/results/global.md]

Functions of few coordinates hidden among D = 1,000, box [0, 1]; x0 is uniform in it, one for all.
Solved: f within 1 % of |f*| (Branin, Hartmann), or of the median of f over the box (the others, their
minima moved to uniform in [0.2, 0.8] of each coordinate). Every call counts, that for f(x0) too.

- `hidden`: the other coordinates have no effect. At which query each run is solved.
- `bowl`: they have one, 0.1·median|f|·12·mean((x − ½)²). What is left of f − f* after 1,000 queries, of that
  of f(x0).
- `moved`: the same with the bowl's lowest point anywhere in the box instead of in its middle, where one query
  of `global` finds it.
- `limits`: what a user might expect to work: the functions of four and eight coordinates, these turned among
  themselves, so that none acts by itself; the same functions rotated over all coordinates; Levy's function of
  all 1,000; Levy's function of four whole numbers from 0 to 20, rounded in f.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import cma
import matplotlib as mpl
import nevergrad as ng
import numpy as np
import scipy
from benchmarks.page_table import put
from benchmarks.queries.tables import markdown, write_csv

import gracezo
from gracezo.core.types import FloatArray, IntArray
from gracezo.experiments.environment import describe

mpl.use("Agg")
import matplotlib.pyplot as plt

D, BUDGET, EARLY = 1_000, 1_000, 300
FIRST = 500  # of the instances: none below it was looked at while `global` was made

# ---------------------------------------------------------------- the functions, each of its own coordinates


def branin(z: FloatArray) -> float:
    x, y = 15.0 * z[0] - 5.0, 15.0 * z[1]
    bent = y - 5.1 / (4.0 * np.pi**2) * x**2 + 5.0 / np.pi * x - 6.0
    return float(bent**2 + 10.0 * (1.0 - 1.0 / (8.0 * np.pi)) * np.cos(x) + 10.0)


_HEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
_RATES = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
_PEAKS = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def hartmann(z: FloatArray) -> float:
    return -float(_HEIGHTS @ np.exp(-(_RATES * (z - _PEAKS) ** 2).sum(axis=1)))


def levy(u: FloatArray) -> float:
    w = 1.0 + u / 4.0
    first, last = np.sin(np.pi * w[0]) ** 2, (w[-1] - 1.0) ** 2 * (1.0 + np.sin(2.0 * np.pi * w[-1]) ** 2)
    return float(
        first + ((w[:-1] - 1.0) ** 2 * (1.0 + 10.0 * np.sin(np.pi * w[:-1] + 1.0) ** 2)).sum() + last
    )


def griewank(u: FloatArray) -> float:
    return float((u**2).sum() / 4000.0 - np.prod(np.cos(u / np.sqrt(np.arange(1, len(u) + 1)))) + 1.0)


def ackley(u: FloatArray) -> float:
    ripples = np.exp(np.cos(2.0 * np.pi * u).mean())
    return float(-20.0 * np.exp(-0.2 * np.sqrt((u**2).mean())) - ripples + 20.0 + np.e)


def rosenbrock(u: FloatArray) -> float:
    x = u + 1.0
    return float((100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum())


@dataclass(frozen=True)
class Kind:
    """A function: its coordinates, the width of its box (None: it is written for [0, 1]), its least value."""

    fun: Callable[[FloatArray], float]
    s: int
    width: float | None
    least: float = 0.0


KINDS = {
    "Branin": Kind(branin, 2, None, 0.397887),
    "Hartmann": Kind(hartmann, 6, None, -3.32237),
    "Levy": Kind(levy, 4, 20.0),
    "Griewank": Kind(griewank, 8, 1200.0),
    "Ackley": Kind(ackley, 4, 65.5),
    "Rosenbrock": Kind(rosenbrock, 4, 4.1),
}


class Over(BaseException):
    """Raised in place of a call that is not in the budget, or when a run is solved."""


class Instance:
    """One function, hidden, with its meter.

    Parameters
    ----------
    name, seed
        Which one.
    bowl, moved
        The bowl over the other coordinates, of the median of |f|; whether its lowest point is anywhere.
    rotated, whole
        Whether the function is one of s orthogonal directions instead of s coordinates; of whole numbers.
    dense
        Whether it is one of all coordinates.
    turned
        Whether its coordinates are turned among themselves, around its lowest point.
    """

    def __init__(
        self,
        name: str,
        seed: int,
        bowl: float = 0.0,
        *,
        moved: bool = False,
        rotated: bool = False,
        whole: bool = False,
        dense: bool = False,
        turned: bool = False,
    ) -> None:
        kind = self.kind = KINDS[name]
        rng = np.random.default_rng([seed, list(KINDS).index(name)])
        s = D if dense else kind.s
        self.places: IntArray = rng.choice(D, s, replace=False)
        self.goal = rng.uniform(0.2, 0.8, s)
        self._whole = whole
        if whole:
            self.goal = np.rint(20.0 * self.goal) / 20.0
        self._turned = np.linalg.qr(rng.standard_normal((D, s)))[0] if rotated else None
        self._among = np.linalg.qr(rng.standard_normal((s, s)))[0] if turned else None
        self.others = np.setdiff1d(np.arange(D), self.places)
        values = np.array([self.hidden(z) for z in rng.random((2_000, s))])
        middle = float(np.median(np.abs(values)))
        self.bar = kind.least + 0.01 * (abs(kind.least) if kind.width is None else float(np.median(values)))
        self._bowl = bowl * middle * 12.0
        self.x0 = rng.random(D)
        self._bottom = rng.random(len(self.others)) if moved else np.full(len(self.others), 0.5)
        self.calls, self.lowest, self.solved = 0, np.inf, np.inf
        self.first = self.value(self.x0)

    def hidden(self, z: FloatArray) -> float:
        """Return the function of its own coordinates, from 0 to 1."""
        if self._whole:
            z = np.rint(20.0 * z) / 20.0
        if self._among is not None:
            z = self.goal + self._among @ (z - self.goal)
        return self.kind.fun(z if self.kind.width is None else self.kind.width * (z - self.goal))

    def value(self, x: FloatArray) -> float:
        """Return f, uncounted."""
        # Rotated: orthogonal directions through the middle of the box, as long as an edge.
        z = x[self.places] if self._turned is None else 0.5 + (x - 0.5) @ self._turned
        f = self.hidden(z)
        return f + self._bowl * float(((x[self.others] - self._bottom) ** 2).mean()) if self._bowl else f

    def __call__(self, x: FloatArray) -> float:
        """Return f, and count."""
        if self.calls == BUDGET:
            raise Over
        self.calls += 1
        x = np.asarray(x, np.float64)
        assert x.min() >= 0.0
        assert x.max() <= 1.0
        value = self.value(x)
        self.lowest = min(self.lowest, value)
        if value <= self.bar and self.solved == np.inf:
            self.solved = self.calls
            if not self._bowl:
                raise Over
        return value

    @property
    def left(self) -> float:
        """What is left of f − f*, of that at x0."""
        return (self.lowest - self.kind.least) / (self.first - self.kind.least)


# ---------------------------------------------------------------- the methods


def by_global(f: Instance, seed: int) -> None:
    gracezo.minimize(f, f.x0, method="global", bounds=[(0, 1)] * D, max_queries=BUDGET, seed=seed)


def by_auto(f: Instance, seed: int) -> None:
    gracezo.minimize(f, f.x0, bounds=[(0, 1)] * D, max_queries=BUDGET, seed=seed)


def by_pycma(f: Instance, seed: int) -> None:
    f(f.x0)
    mean, size = f.x0, None
    while True:
        options = {"bounds": [0, 1], "verbose": -9, "seed": seed + 1, "CMA_diagonal": True}
        strategy = cma.CMAEvolutionStrategy(mean, 0.3, options | ({"popsize": size} if size else {}))
        while not strategy.stop():
            points = strategy.ask()
            strategy.tell(points, [f(x) for x in points])
        mean, size = np.random.default_rng(seed).random(D), 2 * strategy.popsize


def by_one_plus_one(f: Instance, seed: int) -> None:
    space = ng.p.Array(init=f.x0).set_bounds(0.0, 1.0)
    space.random_state = np.random.RandomState(seed)  # what nevergrad takes
    optimizer = ng.optimizers.OnePlusOne(parametrization=space, budget=BUDGET)
    optimizer.tell(space, f(f.x0))
    while True:
        candidate = optimizer.ask()
        optimizer.tell(candidate, f(candidate.value))


def by_told_pycma(f: Instance, seed: int) -> None:
    """As pycma, told which coordinates matter."""
    f(f.x0)
    size, rng = None, np.random.default_rng(seed)
    mean = np.full(len(f.places), 0.5)
    x = f.x0.copy()
    while True:
        options = {"bounds": [0, 1], "verbose": -9, "seed": seed + 1}
        strategy = cma.CMAEvolutionStrategy(mean, 0.3, options | ({"popsize": size} if size else {}))
        while not strategy.stop():
            points, values = strategy.ask(), []
            for z in points:
                x[f.places] = z
                values.append(f(x))
            strategy.tell(points, values)
        mean, size = rng.random(len(mean)), 2 * strategy.popsize


METHODS: dict[str, Callable[[Instance, int], None]] = {
    "global": by_global,
    "auto": by_auto,
    "pycma": by_pycma,
    "OnePlusOne": by_one_plus_one,
    "pycma, told the coordinates": by_told_pycma,
}
UNTOLD = [name for name in METHODS if "told" not in name]


def run(method: str, f: Instance, seed: int) -> Instance:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            METHODS[method](f, seed)
        except Over:
            pass
        except gracezo.EvaluationError as error:  # anything else is a bug
            if not isinstance(error.__cause__, Over):
                raise
    return f


# ---------------------------------------------------------------- the tables

Runs = dict[tuple[str, str], list[Instance]]


def runs(methods: list[str], seeds: range, names: list[str], **how: object) -> Runs:
    done: Runs = {}
    for name in names:
        for method in methods:
            done[name, method] = [run(method, Instance(name, seed, **how), seed) for seed in seeds]  # type: ignore[arg-type]
            print(f"{name}, {method}: {[f.solved for f in done[name, method]]}", flush=True)
    return done


def median(values: list[float]) -> str:
    middle = float(np.median(values))
    return f"{middle:,.0f}" if np.isfinite(middle) else "–"


def solved_table(done: Runs, methods: list[str], names: list[str]) -> str:
    rows = []
    for name in names:
        cells = []
        for method in methods:
            solved = np.array([f.solved for f in done[name, method]])
            early, late = int((solved <= EARLY).sum()), int((solved <= BUDGET).sum())
            cells.append(f"{early} / {late} ({median(list(solved))})")
        rows.append([f"{name} ({KINDS[name].s})", *cells])
    totals = []
    for method in methods:
        solved = np.array([f.solved for name in names for f in done[name, method]])
        totals.append(f"**{(solved <= EARLY).sum()} / {(solved <= BUDGET).sum()}** of {len(solved)}")
    return markdown(["", *methods], [*rows, ["all", *totals]])


def left_table(done: Runs, methods: list[str], names: list[str]) -> str:
    rows = []
    for name in names:
        lefts = {method: float(np.median([f.left for f in done[name, method]])) for method in methods}
        ahead = min(lefts, key=lambda method: lefts[method])
        rows.append(
            [name, *(f"**{v:.2g}**" if method == ahead else f"{v:.2g}" for method, v in lefts.items())]
        )
    return markdown(["", *methods], rows)


def picture(done: Runs, out: Path) -> None:
    figure, all_axes = plt.subplots(2, 3, figsize=(11, 5.6), sharex=True, sharey=True, layout="constrained")
    for axes, name in zip(all_axes.flat, KINDS, strict=True):
        for number, method in enumerate(METHODS):
            solved = np.sort([f.solved for f in done[name, method]])
            share = np.arange(1, len(solved) + 1) / len(solved)
            x, y = [0.0, *solved[solved < np.inf], BUDGET], [0.0, *share[solved < np.inf]]
            dashed = "--" if "told" in method else "-"
            axes.step(x, [*y, y[-1]], dashed, where="post", color=f"C{number}", label=method)
        axes.set_title(f"{name}, {KINDS[name].s} of {D:,} coordinates", fontsize=10)
        axes.grid(alpha=0.3)
    for axes in all_axes[1]:
        axes.set_xlabel("queries")
    for axes in all_axes[:, 0]:
        axes.set_ylabel("share of instances solved")
    figure.legend(*all_axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=len(METHODS))
    figure.savefig(out, dpi=110)


def main() -> None:
    """Run, and write tables and pictures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--instances", type=int, default=10)
    parser.add_argument("--first", type=int, default=FIRST)
    parser.add_argument("--tables", nargs="+", default=["hidden", "bowl", "moved", "limits"])
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--page", type=Path, help="write tables into docs/results/global.md, files beside it")
    words = parser.parse_args()
    seeds, names = range(words.first, words.first + words.instances), list(KINDS)
    beside = None if words.page is None else words.page.parent / "trades"
    made = describe() | {"pycma": cma.__version__, "nevergrad": ng.__version__, "scipy": scipy.__version__}
    head = f"Instances {seeds.start} to {seeds.stop - 1}; " + ", ".join(
        f"{what} {made[what]}"
        for what in ("gracezo", "python", "numpy", "scipy", "pycma", "nevergrad", "date")
    )
    print(head)
    for table in words.tables:
        if table == "hidden":
            done = runs(words.methods, seeds, names)
            text = solved_table(done, words.methods, names)
            if beside is not None and words.methods == list(METHODS):
                picture(done, beside / "hidden.png")
            table_rows = [
                [name, method, seed, int(f.solved) if f.solved < np.inf else ""]
                for (name, method), some in done.items()
                for seed, f in zip(seeds, some, strict=True)
            ]
            if beside is not None:
                titles = ["function", "method", "instance", "solved at query"]
                write_csv(beside / "hidden.csv", titles, table_rows)
        elif table in ("bowl", "moved"):
            methods = [method for method in UNTOLD if method in words.methods]
            done = runs(methods, seeds, names, bowl=0.1, moved=table == "moved")
            text = left_table(done, methods, names)
        else:
            wide = [name for name, kind in KINDS.items() if kind.width is not None]
            parts = {
                "turned among their coordinates": runs(UNTOLD, seeds, wide, turned=True),
                "rotated over all coordinates": runs(UNTOLD, seeds, names, rotated=True),
                "Levy of 1,000 coordinates": runs(UNTOLD, seeds, ["Levy"], dense=True),
                "Levy of whole numbers": runs(UNTOLD, seeds, ["Levy"], whole=True),
            }
            rows = []
            for what, done in parts.items():
                cells = []
                for method in UNTOLD:
                    some = [f for (_, other), fs in done.items() if other == method for f in fs]
                    solved = sum(f.solved <= BUDGET for f in some)
                    cells.append(f"{solved} of {len(some)} ({np.median([f.left for f in some]):.2g})")
                rows.append([what, *cells])
            text = markdown(["", *UNTOLD], rows)
        print(text)
        if words.page is not None:
            put(words.page, table, f"{text}\n\n{head}.")


if __name__ == "__main__":
    main()
