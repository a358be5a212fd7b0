"""The least value known of Attack on the football graph: bounded L-BFGS with exact gradients.

f depends on |X| only, and an edge with |X| = 1 is gone, so X is sought in [0, 1] on edges and in [0, ∞) off
them, where f is smooth with the slopes that `gradient` gives at the bounds. Two kinds of starts: constant X,
and random X of several densities.

Run: python benchmarks/attack_floor.py [--starts 20] [--form published|printed]
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.optimize import Bounds, minimize

from gracezo.core.types import FloatArray
from gracezo.problems import Attack, football


def starts(d: int, count: int) -> list[tuple[str, FloatArray]]:
    constants = [(f"constant {c:g}", np.full(d, c)) for c in (0.0, 1e-4, 1e-3, 1e-2, 0.1)]
    sown = []
    for seed in range(count):
        rng = np.random.default_rng(seed)
        density = (0.01, 0.1, 1.0)[seed % 3]
        sown.append((f"random {seed}, density {density:g}", rng.random(d) * (rng.random(d) < density)))
    return constants + sown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--starts", type=int, default=20, help="random starts (20)")
    parser.add_argument("--form", choices=["published", "printed"], default="published")
    words = parser.parse_args()
    f = Attack(form=words.form)
    first = f(f.x0)
    graph = football()
    upper = np.full((len(graph.teams), len(graph.teams)), np.inf)
    upper[graph.edges[:, 0], graph.edges[:, 1]] = upper[graph.edges[:, 1], graph.edges[:, 0]] = 1.0
    box = Bounds(np.zeros(f.d), upper.ravel())
    best = np.inf
    for name, x in starts(f.d, words.starts):
        end = minimize(
            f,
            x,
            jac=f.gradient,
            method="L-BFGS-B",
            bounds=box,
            options={"maxiter": 5000, "maxfun": 20_000, "ftol": 1e-14, "gtol": 1e-9, "maxcor": 30},
        )
        best = min(best, float(end.fun))
        nonzero = int((end.x > 1e-6).sum())
        print(f"{name:28s} f/f(x0) = {end.fun / first:.8f}  {nonzero:6d} changed  {end.nit:5d} iterations")
    print(f"least f/f(x0), {words.form}: {best / first:.8f}   (f(x0) = {first:.10f})")


if __name__ == "__main__":
    main()
