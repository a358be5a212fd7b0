"""What halving and doubling each constant of `auto` changes: mean queries to a target.

    python -m benchmarks.auto_sensitivity [--instances 5] [--only search,noise] [--names TRUST,LIKELY]

A table for each group of `methods/auto/constants.py`, on functions that the group has to do with. A run that
does not reach its target counts with its whole budget. Instances 100 and up, so that none of those on which
the bars are measured is used here. The tables are written to docs/results/auto-sensitivity.md where all
groups are asked for with `--write`.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from benchmarks.auto_bars import spend
from benchmarks.real.meter import Meter
from benchmarks.real.tails import Tail
from scipy.optimize import minimize
from scipy.special import expit

import gracezo
from benchmarks import noise_bars
from gracezo.core.types import FloatArray
from gracezo.methods.auto import constants
from gracezo.problems import Attack, Distance, Magnitude

_BUDGET = 600
_PAGE = Path(__file__).parents[1] / "docs" / "results" / "auto-sensitivity.md"


def searching(instances: int) -> list[float]:
    """Return the mean queries on Distance and Magnitude, to 0.01, on Attack, to 0.33, and for two gradients.

    These are of ten slopes above a background of 1e-4 and of 1e-2 of them.
    """
    attack = Attack()
    columns: list[list[int]] = [[], [], [], [], []]
    for seed in range(100, 100 + instances):
        distance, magnitude = Distance(seed=seed), Magnitude(seed=seed)
        for column, fun, ratio in zip(
            columns, (distance, magnitude, attack), (0.01, 0.01, 0.33), strict=False
        ):
            column.append(spend(fun, fun.x0, seed, (ratio,), _BUDGET).to[ratio] or _BUDGET)
        for column, tail in zip(columns[3:], (1e-4, 1e-2), strict=True):
            metered = Meter(Tail.drawn(tail, seed), np.zeros(10_000))
            gracezo.estimate_gradient(metered, np.zeros(10_000), seed=seed, max_queries=12_000)
            column.append(metered.calls)
    return [float(np.mean(column)) for column in columns]


def with_noise(instances: int) -> list[float]:
    """Return the mean queries on Distance and Magnitude, to 0.01, and on Attack, to 0.35."""
    row = []
    for name in ("distance", "magnitude", "attack"):
        runs = [
            noise_bars.spend(noise_bars.instance(name, seed), "1e-4", seed, noise_bars.RATIO[name], 3000)[0]
            for seed in range(100, 100 + instances)
        ]
        row.append(float(np.mean([queries or 3000 for queries in runs])))
    return row


def with_kinks(instances: int) -> list[float]:
    """Return the mean queries on Attack, to 0.25, and on a sum of kinks, to 1e-4."""
    attack, rows = Attack(), []
    for seed in range(100, 100 + instances):
        rng = np.random.default_rng(seed)
        goal = np.zeros(300)
        goal[rng.choice(300, 5, replace=False)] = rng.uniform(1.0, 2.0, 5)

        def tent(x: FloatArray, goal: FloatArray = goal) -> float:
            return float(np.abs(x - goal).sum() + 0.5 * np.sum(np.diff(x - goal) ** 2))

        runs = (attack, attack.x0, 0.25, 2000), (tent, np.zeros(300), 1e-4, 6000)
        rows.append([spend(fun, x0, seed, (ratio,), most).to[ratio] or most for fun, x0, ratio, most in runs])
    return [float(mean) for mean in np.mean(rows, axis=0)]


def in_batches(instances: int) -> list[float]:
    """Return the mean queries and rounds in batches of eight on Distance, to 0.01, and Attack, to 0.33."""
    attack, rows = Attack(), []
    for seed in range(100, 100 + instances):
        row: list[int] = []
        for fun, ratio in ((Distance(seed=seed), 0.01), (attack, 0.33)):
            spent = spend(fun, fun.x0, seed, (ratio,), 2000, batch=8)
            row += [spent.to[ratio] or 2000, spent.rounds]
        rows.append(row)
    return [float(mean) for mean in np.mean(rows, axis=0)]


def when_dense(instances: int) -> list[float]:
    """Return the mean queries to 0.01 where 200 coordinates are coupled: by a rotation, and as neighbours."""
    rows = []
    for seed in range(100, 100 + instances):
        rng = np.random.default_rng(seed)
        rotation, _ = np.linalg.qr(rng.standard_normal((200, 200)))
        hessian = (rotation * 10.0 ** rng.uniform(-2.0, 0.0, 200)) @ rotation.T
        goal = rng.standard_normal(200)

        def quadratic(x: FloatArray, h: FloatArray = hessian, goal: FloatArray = goal) -> float:
            return 0.5 * float((x - goal) @ h @ (x - goal))

        def neighbours(x: FloatArray, goal: FloatArray = goal) -> float:
            z = x - goal
            return 0.5 * float(np.sum((z + 0.5 * np.sin(np.roll(z, 1) + np.roll(z, -1))) ** 2))

        spent = [spend(fun, np.zeros(200), seed, (0.01,), 9000) for fun in (quadratic, neighbours)]
        rows.append([run.to[0.01] or 9000 for run in spent])
    return [float(mean) for mean in np.mean(rows, axis=0)]


def by_other_ways(instances: int) -> list[float]:
    """Return the mean queries on a logistic loss, to 1e-3, on corners, to 0.01, and on a minimax, to 1e-4.

    The least value of the logistic loss is that of its gradient method, run to the end.
    """
    rows = []
    for seed in range(100, 100 + instances):
        rng = np.random.default_rng(seed)
        features = rng.standard_normal((80, 100)) * rng.choice([-1.0, 1.0], 80)[:, np.newaxis]
        goal, bends = rng.standard_normal(100), rng.uniform(0.5, 3.0, (6, 8))
        tilts = rng.standard_normal((6, 8))
        tilts -= tilts.mean(axis=0)

        def logistic(x: FloatArray, a: FloatArray = features, least: float = 0.0) -> float:
            return float(np.logaddexp(0.0, -(a @ x)).mean() + 0.005 * (x @ x)) - least

        def slope(x: FloatArray, a: FloatArray = features) -> FloatArray:
            return np.asarray(0.01 * x - expit(-(a @ x)) @ a / len(a))

        def corners(x: FloatArray, goal: FloatArray = goal) -> float:
            return float(np.abs(x - goal).sum())

        def largest(
            x: FloatArray, goal: FloatArray = goal, tilts: FloatArray = tilts, bends: FloatArray = bends
        ) -> float:
            z = x[:8] - goal[:8]
            return float(np.max(tilts @ z + 0.5 * bends @ (z * z)) + 0.5 * (x[8:] @ x[8:]))

        least = float(minimize(logistic, np.zeros(100), jac=slope, method="BFGS").fun)
        runs = (partial(logistic, least=least), 1e-3), (corners, 0.01), (largest, 1e-4)
        spent = [(spend(fun, np.zeros(100), seed, (ratio,), 5000), ratio) for fun, ratio in runs]
        rows.append([run.to[ratio] or 5000 for run, ratio in spent])
    return [float(mean) for mean in np.mean(rows, axis=0)]


class Group(NamedTuple):
    """What the constants of a group are measured on."""

    columns: tuple[str, ...]
    measured: Callable[[int], list[float]]


_PAPER = "Distance 0.01", "Magnitude 0.01", "Attack 0.33"
_GROUPS = {
    "search": Group((*_PAPER, "gradient, tail 1e-4", "tail 1e-2"), searching),
    "noise": Group(("Distance 0.01", "Magnitude 0.01", "Attack 0.35"), with_noise),
    "steps": Group(("rotated quadratic, 0.01", "neighbours, 0.01"), when_dense),
    "kinks": Group(("Attack 0.25", "kinks in 300 coordinates, 1e-4"), with_kinks),
    "ways": Group(("logistic loss, 1e-3", "corners, 0.01", "minimax, 1e-4"), by_other_ways),
    "batch": Group(("Distance 0.01", "rounds", "Attack 0.33", "rounds"), in_batches),
}


def names(group: str) -> list[str]:
    """Return the constants of a group: those below its heading."""
    source = Path(constants.__file__).read_text()
    sections = re.split(r"^# -+ (\w+)$", source, flags=re.MULTILINE)
    inside = dict(zip(sections[1::2], sections[2::2], strict=True)).get(group, "")
    return re.findall(r"^([A-Z][A-Z_]+) = ", inside, flags=re.MULTILINE)


def altered(name: str) -> Iterator[str]:
    """Halve and double a constant; yield what it is while it is changed."""
    value = getattr(constants, name)
    for factor in (0.5, 2.0):
        changed = type(value)(value * factor)
        if 0.5 <= value < 1.0 <= changed:
            changed = 0.5 * (1.0 + value)  # a share: halfway to one instead of doubled
        setattr(constants, name, changed)
        yield f"{name} = {changed:g}"
    setattr(constants, name, value)


def rows(group: str, wanted: list[str], instances: int) -> Iterator[str]:
    """Make the table of a group, line by line."""
    columns, measured = _GROUPS[group]
    yield f"| {group} | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}"
    yield _line("all as they are", measured(instances))
    for name in wanted:
        for told in altered(name):
            yield _line(told, measured(instances))


def _line(name: str, row: list[float]) -> str:
    return f"| {name} | " + " | ".join(f"{queries:.1f}" for queries in row) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--instances", type=int, default=5)
    parser.add_argument("--only", default="search,noise,steps,kinks,ways")
    parser.add_argument("--names", default="", help="only these constants, whatever their group")
    parser.add_argument("--write", action="store_true", help=f"write {_PAGE.name}, too")
    chosen = parser.parse_args()
    tables: list[list[str]] = []
    for group in chosen.only.split(","):
        wanted = chosen.names.split(",") if chosen.names else names(group)
        tables.append([])
        for row in rows(group, wanted, chosen.instances):
            print(row, flush=True)
            tables[-1].append(row)
        print()
    if chosen.write:
        told = (
            f"Mean queries of {chosen.instances} instances (100 and up), each constant halved and doubled. "
            f"gracezo {gracezo.__version__}; `python -m benchmarks.auto_sensitivity --write` makes this page."
        )
        text = "\n\n".join("\n".join(table) for table in tables)
        _PAGE.write_text(f"# What the constants of `auto` change\n\n{told}\n\n{text}\n")


if __name__ == "__main__":
    main()
