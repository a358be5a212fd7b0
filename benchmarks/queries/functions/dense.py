"""Smooth problems with nothing sparse about them, where d differences a gradient are well spent.

- Quadratic: rotated, condition 10³.
- Log-cosh: Σ log cosh(aᵢ·x − bᵢ)/n + a small ridge, a robust regression on dense features.
- Quartic: Σ w_i (z_i² + z_i⁴/4), z = x − c, each w_i drawn log-uniformly over two decades: separable.
- Nonlinear least squares: Σ (z_i + ½ sin(z_{i−1} + z_{i+1}))²/2, z = x − c: neighbours interact.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from benchmarks.queries.floors import known
from benchmarks.queries.problem import Problem, effective_sparsity, random_rotation, spread

from gracezo.core.types import FloatArray


def _problem(
    about: str,
    f: Callable[[FloatArray], float],
    gradient: Callable[[FloatArray], FloatArray],
    d: int,
    floor: float,
    optimum: FloatArray | None = None,
) -> Problem:
    x0 = np.zeros(d)
    return Problem(about, f, gradient, x0, effective_sparsity(gradient(x0)), floor, optimum)


def _quadratic(seed: int, d: int, condition: float) -> Problem:
    rng = np.random.default_rng(seed)
    rotation = random_rotation(rng, d)
    q = (rotation * spread(rng, d, condition)) @ rotation.T
    goal = rng.standard_normal(d)

    def f(x: FloatArray) -> float:
        return 0.5 * float((x - goal) @ q @ (x - goal))

    def gradient(x: FloatArray) -> FloatArray:
        slope: FloatArray = q @ (x - goal)
        return slope

    return _problem(f"rotated quadratic, condition {condition:g}", f, gradient, d, 0.0, goal)


def _log_cosh(name: str, seed: int, samples: int, d: int) -> Problem:
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((samples, d)) / np.sqrt(d)
    b = a @ rng.standard_normal(d) + 0.3 * rng.standard_t(2.0, samples)
    ridge = 1e-3

    def f(x: FloatArray) -> float:
        rest = a @ x - b
        return float((np.logaddexp(rest, -rest) - np.log(2.0)).mean() + 0.5 * ridge * (x @ x) / d)

    def gradient(x: FloatArray) -> FloatArray:
        slope: FloatArray = np.tanh(a @ x - b) @ a / samples + ridge * x / d
        return slope

    return _problem(f"log-cosh regression of {samples} samples", f, gradient, d, known(name))


def _quartic(seed: int, d: int) -> Problem:
    rng = np.random.default_rng(seed)
    weights = 10.0 ** rng.uniform(-1.0, 1.0, d)
    goal = rng.standard_normal(d)

    def f(x: FloatArray) -> float:
        square = (x - goal) ** 2
        return float((weights * square * (1.0 + 0.25 * square)).sum())

    def gradient(x: FloatArray) -> FloatArray:
        z = x - goal
        slope: FloatArray = weights * z * (2.0 + z * z)
        return slope

    return _problem("separable quartic", f, gradient, d, 0.0, goal)


def _neighbours(seed: int, d: int) -> Problem:
    rng = np.random.default_rng(seed)
    goal = rng.standard_normal(d)

    def rest(z: FloatArray) -> FloatArray:
        r: FloatArray = z + 0.5 * np.sin(np.roll(z, 1) + np.roll(z, -1))
        return r

    def f(x: FloatArray) -> float:
        r = rest(x - goal)
        return 0.5 * float(r @ r)

    def gradient(x: FloatArray) -> FloatArray:
        z = x - goal
        r = rest(z)
        across = 0.5 * r * np.cos(np.roll(z, 1) + np.roll(z, -1))
        slope: FloatArray = r + np.roll(across, 1) + np.roll(across, -1)
        return slope

    return _problem("nonlinear least squares of neighbours", f, gradient, d, 0.0, goal)


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "dense-quadratic-300": partial(_quadratic, 7901, 300, 1e3),
    "dense-log-cosh-500": partial(_log_cosh, "dense-log-cosh-500", 7902, 1_000, 500),
    "dense-quartic-2k": partial(_quartic, 7903, 2_000),
    "dense-neighbours-1k": partial(_neighbours, 7904, 1_000),
}
