"""ZORO on non-sparse gradients: what each reading of the paper would give.

    python -m benchmarks.zoro_readings [--page]   (some minutes)

The table of non-sparse gradients in a size that can be searched through: Distance with s = d/4, d = 600,
instances 0 to 2, and 25·d queries. CoSaMP depends on the shares s/d and q/d, hardly on d: the first reading
is that of our table. The paper takes the best step size of its grid, so each reading has its best, which is
to be compared with the 0.0792 that the paper prints.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from benchmarks.page_table import PageTable, seeds

import gracezo
from gracezo.problems import Distance

D, S, INSTANCES = 600, 150, 3
SIZES = (0.5, 0.2, 0.1, 0.05)
HEAD = ["reading", "steps", "best η", "f at its best, of f(x0)", "at η = 0.5, 0.2, 0.1, 0.05"]


@dataclass(frozen=True)
class Reading:
    """One way to understand what the paper says: measurements a step, over d; what ZORO is told."""

    name: str
    measurements: float = 1.0
    told: int = S
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def steps(self) -> int:
        """So many steps as 25·d measurements allow."""
        return round(25 / self.measurements)


LOG = math.log(D / S)
READINGS = (
    Reading("as in our table: q = d, as many as GraCe asks"),
    Reading("q = 2·s·ln(d/s): what ZORO's theory asks for, its constant taken as 2", 2 * S * LOG / D),
    Reading("q = s·ln(d/s)", S * LOG / D),
    Reading("q = 2·s·ln d, with the d of the paper", 2 * S * math.log(10_000) / D),
    Reading("q = d, told s/10", told=S // 10),
    Reading("q = d, told 2·s", told=2 * S),
    Reading("q = d, one iteration of CoSaMP", options={"iterations": 1}),
    Reading("q = d, CoSaMP to a residual of 0.1 instead of 0.5", options={"tolerance": 0.1}),
)


def ends(reading: Reading, step_size: float) -> float:
    """Return the best value of a run, over that at the start, in the mean."""
    found = []
    for instance in range(INSTANCES):
        problem = Distance(instance, d=D, s=S)
        result = gracezo.minimize(
            problem,
            problem.x0,
            method="zoro",
            sparsity=reading.told,
            max_steps=reading.steps,
            max_queries=10**6,
            seed=instance,
            options={"step_size": step_size, "queries": round(reading.measurements * D), **reading.options},
        )
        found.append(min(1.0, float(result.trace.values.min() / result.trace.values[0])))
    return float(np.mean(found))


def main() -> None:
    """Make the runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write docs/results/README.md")
    table = PageTable("zoro-readings", "results/README.md", HEAD, write=parser.parse_args().page)
    table.begin()
    for reading in READINGS:
        values = {size: ends(reading, size) for size in SIZES}
        best = min(values, key=values.__getitem__)
        others = " / ".join(f"{values[size]:.4f}" for size in SIZES)
        table.add(
            reading.name,
            f"{reading.steps}",
            f"{best:g}",
            f"{values[best]:.4f}",
            others,
            seeds=seeds(0, INSTANCES),
        )


if __name__ == "__main__":
    main()
