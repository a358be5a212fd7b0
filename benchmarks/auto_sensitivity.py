"""What halving and doubling each constant of `auto` changes: mean queries to a target.

    PYTHONPATH=src:. python benchmarks/auto_sensitivity.py [--instances 5]

A run that does not reach its target counts with its whole budget. Instances 100 and up, so
that none of those on which the bars are measured is used here.
"""

from __future__ import annotations

import argparse
from dataclasses import fields, replace

import numpy as np
from benchmarks.auto_bars import spend

from gracezo.methods.auto.constants import Constants
from gracezo.problems import Attack, Distance, Magnitude

_BUDGET = 600


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=5)
    instances = parser.parse_args().instances
    standard = Constants()
    print("| constant | Distance 0.01 | Magnitude 0.01 | Attack 0.33 |\n|---|---|---|---|")
    print(
        "| all as they are | " + " | ".join(f"{q:.1f}" for q in measure(standard, instances)) + " |",
        flush=True,
    )
    for field in fields(Constants):
        value = getattr(standard, field.name)
        for factor in (0.5, 2.0):
            changed = type(value)(value * factor)
            if field.name in ("spread", "forget") and changed >= 1.0:
                changed = 0.5 * (1.0 + value)  # a share: halfway to one instead of doubled
            row = measure(replace(standard, **{field.name: changed}), instances)
            print(f"| {field.name} = {changed:g} | " + " | ".join(f"{q:.1f}" for q in row) + " |", flush=True)


if __name__ == "__main__":
    main()
