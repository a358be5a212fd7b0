"""Why LASSO on Attack depends on the last bit of f, and by how much.

Run: python benchmarks/lasso_kink.py

In the published setting LASSO steps along mean-centred values. At X = 0 every
row of random signs gives the same f (the function depends on |X|), so the
first steps are made of rounding errors alone, and how fast the run leaves the
kink is decided by them. Here f is multiplied by 1 ± 2⁻⁵³ at random, an error
that any other order of summation would bring, and the best value after 100
steps is compared with that of f as it is.
"""

from __future__ import annotations

import numpy as np

import gracezo
from gracezo.problems import Attack

STEPS, QUERIES, STEP_SIZE, EPS = 100, 199, 0.2, 1e-6


def best(problem: Attack, seed: int, last_bit: bool) -> float:
    random = np.random.default_rng(seed)

    def fun(x: np.ndarray) -> float:
        return problem(x) * (1.0 + 2.0**-53 * random.integers(-1, 2) * last_bit)

    options = {
        "step_size": STEP_SIZE,
        "queries": QUERIES,
        "eps": EPS,
        "penalty": problem.s / (2 * EPS),
        "differenced": False,
    }
    result = gracezo.minimize(
        fun,
        problem.x0,
        method="lasso",
        sparsity=problem.s,
        max_steps=STEPS,
        seed=seed,
        copy=False,
        options=options,
    )
    return float(result.fun / result.trace.values[0])


def main(runs: int = 10) -> None:
    problem = Attack()
    for last_bit in (False, True):
        values = [best(problem, seed, last_bit) for seed in range(runs)]
        error = np.std(values, ddof=1) / np.sqrt(runs)
        print(f"{'last bit disturbed' if last_bit else 'f as it is'}: {np.mean(values):.5f} ± {error:.5f}")
    print("the paper: 0.33776 ± 0.00027")


if __name__ == "__main__":
    main()
