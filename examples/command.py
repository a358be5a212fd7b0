"""Minimise a program that is not Python: an awk script, evaluated on two processes at a time.

Run: python examples/command.py
"""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np

import gracezo

SCRIPT = Path(__file__).with_name("sensors.awk")


def main(workers: int = 2, max_queries: int = 200) -> gracezo.Result:
    objective = gracezo.Command(f"awk -f {shlex.quote(str(SCRIPT))} {{input}}", format="text", timeout=60)
    result = gracezo.minimize(
        objective,
        np.zeros(1000),
        method="grace",
        sparsity=4,
        max_queries=max_queries,
        workers=workers,
        seed=0,
    )
    print(
        f"f went from {result.trace.values[0]:.3g} to {result.fun:.3g} in {result.nfev} runs of the program"
    )
    for index in result.support[:4]:
        print(f"  setting {index + 1:4}: {result.x[index]:+.3f}")
    return result


if __name__ == "__main__":
    main()
