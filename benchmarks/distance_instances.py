"""How much the ten instances of Distance decide: the exact expectation of RSPG, instance by instance.

Run: python benchmarks/distance_instances.py

With f(x) = Σ w_i·e_i², e = x − x*, h = 2w, RSPG's second moments follow a
linear recursion, because its rows are Gaussian:

    E[e_i'²] = E[e_i²]·(1 − 2η·h_i + η²(1 + 1/q)·h_i²) + (η²/q)·Σ_j h_j²·E[e_j²].

All methods of a table share its instances, so that an easy or a hard set of
ten shifts the whole column.
"""

from __future__ import annotations

import numpy as np

from gracezo.problems import Distance

PAPER, PAPER_ERROR = 0.47299, 0.00994
STEP_SIZE, QUERIES, STEPS = 5e-3, 58, 100


def expected(problem: Distance) -> float:
    """Return the least of E[f(x_t)]/f(x_1)."""
    h = 2.0 * problem.weights
    assert problem.optimum is not None
    squares = problem.optimum**2
    start = least = float(h @ squares)
    for _ in range(STEPS):
        common = STEP_SIZE**2 / QUERIES * float(h**2 @ squares)
        squares = squares * (1 - 2 * STEP_SIZE * h + STEP_SIZE**2 * (1 + 1 / QUERIES) * h**2) + common
        least = min(least, float(h @ squares))
    return least / start


def main() -> None:
    values = np.array([expected(Distance(seed)) for seed in range(400)]).reshape(-1, 10)
    means = values.mean(axis=1)
    errors = values.std(axis=1, ddof=1) / np.sqrt(10)
    far = np.abs(means - PAPER) > 3 * np.hypot(errors, PAPER_ERROR)
    print(f"RSPG on Distance, expectation over 400 instances: {values.mean():.4f}; the paper's ten: {PAPER}")
    print(f"means of 40 sets of ten: {means.min():.4f} to {means.max():.4f}, deviation {means.std():.4f}")
    for first in (0, 1):
        print(f"instances {10 * first} to {10 * first + 9}: {means[first]:.4f} ± {errors[first]:.4f}")
    print(f"sets that lie over 3 combined standard errors from the paper's: {far.sum()} of {len(far)}")


if __name__ == "__main__":
    main()
