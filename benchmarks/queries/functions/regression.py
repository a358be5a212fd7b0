"""Fitting: logistic loss with a sparse truth, and least squares with an ℓ1 penalty (LASSO).

The features are Gaussian, neighbours correlated; the truth has few nonzero coefficients; x0 = 0. The ℓ1
penalty has a kink in every coordinate at x0, and at most coordinates of the solution. Floors: `floors`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from benchmarks.queries.floors import known
from benchmarks.queries.problem import Problem
from scipy.special import expit

from gracezo.core.types import FloatArray


def correlated(rng: np.random.Generator, rows: int, columns: int, correlation: float) -> FloatArray:
    """Return Gaussian features of variance 1, each correlated with the one before."""
    a = rng.standard_normal((rows, columns))
    for j in range(1, columns):
        a[:, j] = correlation * a[:, j - 1] + np.sqrt(1.0 - correlation**2) * a[:, j]
    return a


def _truth(rng: np.random.Generator, d: int, s: int) -> FloatArray:
    truth = np.zeros(d)
    truth[rng.choice(d, s, replace=False)] = rng.uniform(1.0, 2.0, s) * rng.choice([-1.0, 1.0], s)
    return truth


def _logistic(name: str, seed: int, samples: int, d: int, s: int, ridge: float) -> Problem:
    rng = np.random.default_rng(seed)
    a = correlated(rng, samples, d, 0.5)
    labels = np.where(rng.random(samples) < expit(a @ _truth(rng, d, s)), 1.0, -1.0)
    a *= labels[:, np.newaxis]

    def f(x: FloatArray) -> float:
        return float(np.logaddexp(0.0, -(a @ x)).mean() + 0.5 * ridge * (x @ x))

    def gradient(x: FloatArray) -> FloatArray:
        slope: FloatArray = -(expit(-(a @ x)) @ a) / samples + ridge * x
        return slope

    about = f"logistic loss of {samples} samples, {s} true features, ridge {ridge:g}"
    return Problem(about, f, gradient, np.zeros(d), s, known(name))


def lasso_data(
    seed: int, samples: int, d: int, s: int, penalty: float
) -> tuple[FloatArray, FloatArray, float]:
    """Return features, answers and the weight of the ℓ1 norm, `penalty` of the least that leaves x = 0."""
    rng = np.random.default_rng(seed)
    a = correlated(rng, samples, d, 0.5)
    b = a @ _truth(rng, d, s) + 0.1 * rng.standard_normal(samples)
    return a, b, penalty * float(np.abs(b @ a).max()) / samples


def _lasso(name: str, seed: int, samples: int, d: int, s: int, penalty: float) -> Problem:
    a, b, strength = lasso_data(seed, samples, d, s, penalty)

    def f(x: FloatArray) -> float:
        rest = a @ x - b
        return float(0.5 * (rest @ rest) / samples + strength * np.abs(x).sum())

    def gradient(x: FloatArray) -> FloatArray:
        """Return the slope for growing |x_i| where x_i = 0, as for x_i > 0."""
        slope: FloatArray = (a @ x - b) @ a / samples + strength * np.where(x < 0, -1.0, 1.0)
        return slope

    about = f"LASSO of {samples} samples, {s} true features, {penalty:g} of the largest penalty"
    return Problem(about, f, gradient, np.zeros(d), s, known(name))


def _named(make: Callable[..., Problem], name: str, *arguments: float) -> tuple[str, Callable[[], Problem]]:
    return name, partial(make, name, *arguments)


LASSO_500 = (7703, 250, 500, 10, 0.1)

PROBLEMS: dict[str, Callable[[], Problem]] = dict(
    [
        _named(_logistic, "logistic-500", 7701, 400, 500, 10, 1e-2),
        _named(_logistic, "logistic-3k", 7702, 200, 3_000, 10, 1e-2),
        _named(_lasso, "lasso-500", *LASSO_500),
        _named(_lasso, "lasso-3k", 7704, 200, 3_000, 10, 0.2),
    ]
)
