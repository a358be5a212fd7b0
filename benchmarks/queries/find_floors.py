"""Compute the least values that have no closed form, by L-BFGS-B with exact gradients.

Run: python -m benchmarks.queries.find_floors [--starts 6]

No method of the profile has a part in this. Each function is put in a form without kinks:

- Logistic and log-cosh are smooth and convex: one run from x0 finds the minimum.
- LASSO: x = p − q with p, q ≥ 0 and λ Σ (p + q) in place of λ ‖x‖₁. λ is half the jump of the slope at 0.
  Convex: again one run.
- Attack depends on |X| only, and an edge with |X| = 1 is gone: X in [0, 1] on edges, in [0, ∞) elsewhere.
  Not convex: the least of several starts counts, which is no proof.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator

import numpy as np
from benchmarks.queries.floors import FLOORS
from benchmarks.queries.functions import SUITE
from benchmarks.queries.problem import Problem
from scipy.optimize import minimize

from gracezo.core.types import FloatArray
from gracezo.problems import Attack

_OPTIONS = {"maxiter": 50_000, "maxfun": 200_000, "ftol": 0.0, "gtol": 1e-12, "maxcor": 50}


def smooth_floor(problem: Problem) -> float:
    """Return the minimum of a smooth convex function."""
    end = minimize(problem.f, problem.x0, jac=problem.gradient, method="L-BFGS-B", options=_OPTIONS)
    return float(end.fun)


def lasso_floor(problem: Problem) -> float:
    """Return the minimum of a smooth convex function with an ℓ1 penalty."""
    d = problem.d
    left = np.full(d, -1e-300)
    strength = float((problem.gradient(np.zeros(d)) - problem.gradient(left))[0]) / 2.0

    def split(pq: FloatArray) -> tuple[float, FloatArray]:
        p, q = pq[:d], pq[d:]
        x = p - q
        smooth = problem.f(x) - strength * float(np.abs(x).sum())
        slope = problem.gradient(x) - strength * np.where(x < 0, -1.0, 1.0)
        return smooth + strength * float(pq.sum()), np.concatenate([slope + strength, -slope + strength])

    end = minimize(
        split, np.zeros(2 * d), jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * (2 * d), options=_OPTIONS
    )
    return problem.f(end.x[:d] - end.x[d:])


def attack_floor(problem: Problem, starts: int) -> float:
    """Return the least value that bounded L-BFGS ends at, over several starts."""
    assert isinstance(problem.f, Attack)
    # At x0 = 0 the slope in |X| of an entry; only on edges does it stay the same beyond |X| = 1, being 0.
    beyond = np.full(problem.d, 2.0)
    penalty = 2.0 * problem.f.lam * beyond
    edges = np.isclose(problem.gradient(beyond), penalty, rtol=1e-12, atol=0.0)
    bounds = np.stack([np.zeros(problem.d), np.where(edges, 1.0, np.inf)], axis=1)
    ends = [
        minimize(problem.f, x, jac=problem.gradient, method="L-BFGS-B", bounds=bounds, options=_OPTIONS).fun
        for x in _starts(problem.d, starts)
    ]
    print("   ", " ".join(f"{end:.8f}" for end in sorted(ends)), file=sys.stderr)
    return float(min(ends))


def _starts(d: int, count: int) -> Iterator[FloatArray]:
    yield np.zeros(d)
    yield np.full(d, 1e-3)
    for seed in range(count - 2):
        rng = np.random.default_rng(seed)
        density = (0.01, 0.1, 1.0)[seed % 3]
        yield rng.random(d) * (rng.random(d) < density)


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--starts", type=int, default=6, help="starts for each Attack, at least 2 (6)")
    starts = parser.parse_args().starts
    rules: list[tuple[str, Callable[[Problem], float]]] = [
        ("attack-", lambda problem: attack_floor(problem, starts)),
        ("lasso-", lasso_floor),
        ("logistic-", smooth_floor),
        ("dense-log-cosh-", smooth_floor),
    ]
    floors = {}
    for entry in SUITE.values():
        for prefix, rule in rules:
            if entry.name.startswith(prefix):
                floors[entry.name] = rule(entry.make())
                print(f"{entry.name:24s} {floors[entry.name]!r}", file=sys.stderr)
    FLOORS.write_text(json.dumps(floors, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
