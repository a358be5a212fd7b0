"""What halving and doubling each constant of `auto` changes: mean queries to a target.

    PYTHONPATH=src:. python benchmarks/auto_sensitivity.py [--instances 5] [--only constants,noise]

First those of `Constants`; then those on top of the files that deal with noise (on functions with noise of
1e-4 of f(x0)), with kinks (on Attack, and on a sum of |x_i − c_i| of which all coordinates begin at a kink
of another slope), with batches (of eight; queries and rounds), with dense functions, and with the choice
among ways down (a logistic loss and kinks in all of 100 coordinates, the largest of several parabolas). A run
that does not reach its target counts with its whole budget. Instances 100 and up, so that none of those on
which the bars are measured is used here.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from functools import partial
from types import ModuleType
from typing import TypeAlias

import numpy as np
from benchmarks.auto_bars import spend
from scipy.optimize import minimize
from scipy.special import expit

from benchmarks import noise_bars
from gracezo.core.types import FloatArray
from gracezo.methods.auto.constants import Constants
from gracezo.methods.auto.instrument import central, first_look, forward
from gracezo.methods.auto.search import confirm, inquiry
from gracezo.methods.auto.step import line, quasi_newton, stepper
from gracezo.methods.auto.support import kinks
from gracezo.methods.auto.ways import coordinates, dense, market, nonsmooth
from gracezo.problems import Attack, Distance, Magnitude

_BUDGET = 600
_Places: TypeAlias = Sequence[tuple[ModuleType, tuple[str, ...]]]
_NOISE: _Places = [
    (central, ("_UNSEEN", "_BIASED", "_FARTHER", "_LOUDER", "_IRREGULAR", "_HIDDEN")),
    (inquiry, ("_FADED",)),
    (confirm, ("_SAME", "_PRECISE", "_PLAIN")),
    (forward, ("_SHARP",)),
    (first_look, ("_HIDDEN",)),
]
_KINKS: _Places = [
    (confirm, ("_NEAR",)),
    (kinks, ("_JUMP", "_NEARLY", "_CLOSER", "_BLUR", "_BENDS")),
    (stepper, ("_SEARCH", "WORTH")),
]
_BATCH: _Places = [(line, ("_BESIDE",))]
_DENSE: _Places = [(quasi_newton, ("_RECENT", "_CLEARLY"))]
_WAYS: _Places = [
    (market, ("_REDEEMED", "_LITTLE", "_LOST", "_AGAIN", "_STALLED")),
    (dense, ("_FEW", "_MET", "_LAST")),
    (coordinates, ("_LEGS", "_SHORTER")),
    (nonsmooth, ("_OFF", "_FIRST", "_RISEN", "_LITTLE")),
]


def measure(constants: Constants, instances: int) -> list[float]:
    attack = Attack()
    columns: list[list[int]] = [[], [], []]
    for seed in range(100, 100 + instances):
        distance, magnitude = Distance(seed=seed), Magnitude(seed=seed)
        for column, fun, ratio in zip(
            columns, (distance, magnitude, attack), (0.01, 0.01, 0.33), strict=True
        ):
            spent = spend(fun, fun.x0, seed, (ratio,), _BUDGET, constants=constants)
            column.append(spent.to[ratio] or _BUDGET)
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


def altered(places: _Places) -> Iterator[str]:
    """Halve and double each constant in turn; yield what it is called while it is changed."""
    for module, names in places:
        for name in names:
            value = getattr(module, name)
            for factor in (0.5, 2.0):
                changed = type(value)(value * factor)
                setattr(module, name, changed)
                yield f"{module.__name__.split('.')[-1]}.{name} = {changed:g}"
            setattr(module, name, value)


def table(
    columns: tuple[str, ...],
    places: _Places,
    measured: Callable[[int], list[float]],
    instances: int,
) -> None:
    """Print what the constants on top of some files change."""
    heading(columns)
    show("all as they are", measured(instances))
    for name in altered(places):
        show(name, measured(instances))


def heading(columns: tuple[str, ...]) -> None:
    print(f"| constant | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}")


def show(name: str, row: list[float]) -> None:
    print(f"| {name} | " + " | ".join(f"{q:.1f}" for q in row) + " |", flush=True)


def constants(instances: int) -> None:
    standard = Constants()
    heading(("Distance 0.01", "Magnitude 0.01", "Attack 0.33"))
    show("all as they are", measure(standard, instances))
    for field in fields(Constants):
        value = getattr(standard, field.name)
        for factor in (0.5, 2.0):
            changed = type(value)(value * factor)
            if field.name in ("spread", "forget") and changed >= 1.0:
                changed = 0.5 * (1.0 + value)  # a share: halfway to one instead of doubled
            show(
                f"{field.name} = {changed:g}",
                measure(replace(standard, **{field.name: changed}), instances),
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--instances", type=int, default=5)
    parser.add_argument("--only", default="constants,noise,kinks,batch,dense,ways")
    chosen = parser.parse_args()
    tables: dict[str, Callable[[], None]] = {
        "constants": lambda: constants(chosen.instances),
        "noise": lambda: table(
            ("Distance 0.01", "Magnitude 0.01", "Attack 0.35"), _NOISE, with_noise, chosen.instances
        ),
        "kinks": lambda: table(
            ("Attack 0.25", "kinks in 300 coordinates, 1e-4"), _KINKS, with_kinks, chosen.instances
        ),
        "batch": lambda: table(
            ("Distance 0.01", "rounds", "Attack 0.33", "rounds"), _BATCH, in_batches, chosen.instances
        ),
        "dense": lambda: table(
            ("rotated quadratic, 0.01", "neighbours, 0.01"), _DENSE, when_dense, chosen.instances
        ),
        "ways": lambda: table(
            ("logistic loss, 1e-3", "corners, 0.01", "minimax, 1e-4"), _WAYS, by_other_ways, chosen.instances
        ),
    }
    for name in chosen.only.split(","):
        tables[name]()
        print()


if __name__ == "__main__":
    main()
