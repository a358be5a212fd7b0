"""Whether the standard errors of `estimate_gradient` on noisy functions can be relied on.

    python -m benchmarks.noise_calibration [--instances 30] [--page]

About 95 % of the true derivatives should lie within two standard errors of the estimates. Instance i uses
seed i for the function, the method and the noise.
"""

from __future__ import annotations

import argparse

import numpy as np
from benchmarks.page_table import PageTable, seeds

import gracezo
from gracezo.problems import Distance, Magnitude


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--instances", type=int, default=30)
    parser.add_argument("--page", action="store_true", help="write docs/how-to/noise.md")
    given = parser.parse_args()
    instances: int = given.instances
    head = ["function", "noise / f(x0)", "queries", "found", "of", "false", "within 2 errors"]
    table = PageTable("calibration", "how-to/noise.md", head, named_by=2, write=given.page)
    table.begin()
    for problem in (Distance, Magnitude):
        for level in (1e-6, 1e-5, 1e-4):
            errors: list[float] = []
            queries = found = of = false = 0
            for seed in range(instances):
                fun = problem(seed)
                truth = fun.gradient(fun.x0)
                random = np.random.default_rng([seed, 1])
                deviation = level * fun(fun.x0)
                estimate = gracezo.estimate_gradient(
                    lambda x, fun=fun, random=random, deviation=deviation: (
                        fun(x) + deviation * random.standard_normal()
                    ),
                    fun.x0,
                    seed=seed,
                )
                there = truth[estimate.indices] != 0.0
                queries += estimate.queries
                found, of = found + int(there.sum()), of + int(np.count_nonzero(truth))
                false += int((~there).sum())
                errors += ((estimate.values - truth[estimate.indices]) / estimate.errors).tolist()
            within = float(np.mean(np.abs(errors) <= 2.0))
            counts = [f"{queries / instances:.0f}", str(found), str(of), str(false)]
            name, noise = problem.__name__, f"{level:.0e}".replace("e-0", "e-")
            table.add(name, noise, *counts, f"{100 * within:.1f} %", seeds=seeds(0, instances))


if __name__ == "__main__":
    main()
