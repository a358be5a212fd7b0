"""The covariances of the Gaussian process in `surrogate.py`, and the regression with them: its symbols."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from gracezo.core.types import FloatArray, IntArray

NUGGET = 1e-11  # of a variance: what rounding takes away from a matrix of covariances
_FARTHEST = 30.0  # exponents beyond are cut: nobody should go where they matter


@dataclass(frozen=True, eq=False)
class Linear:
    """The covariance of errors of the slopes at the centre, of which `variances` are given."""

    variances: FloatArray

    def values(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Return that of values, for rows of u and v."""
        return np.asarray((u * self.variances) @ v.T)

    def slopes(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Return that of values and slopes, for the rows of u and one point v."""
        return u * self.variances

    def bends(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Return that of slopes at two points."""
        return np.diag(self.variances)


@dataclass(frozen=True, eq=False)
class Covariance:
    """k, for displacements and for derivatives at former centres."""

    length: float  # ℓ² of the whole displacement
    length_alone: float  # and of a single coordinate
    alone: float  # θ
    linear: float | FloatArray = 0.0  # variance of each slope at the centre, in units of that of g

    def values(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Return cov(g(u_i), g(v_j)) for rows of u and v."""
        whole, alone = self.length, self.length_alone
        a = np.minimum(u @ v.T / whole, _FARTHEST)
        b = np.minimum(u[:, None, :] * v[None, :, :] / alone, _FARTHEST)
        return np.asarray(
            (1.0 - self.alone) * whole**2 * (np.expm1(a) - a)
            + self.alone * alone**2 * (np.expm1(b) - b).sum(axis=2)
            + (u * self.linear) @ v.T
        )

    def slopes(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Return cov(g(u_i), ∂g/∂v_j (v)) for the rows of u and one point v."""
        a = np.minimum(u @ v / self.length, _FARTHEST)
        b = np.minimum(u * v / self.length_alone, _FARTHEST)
        whole = (1.0 - self.alone) * self.length * np.expm1(a)[:, None]
        return np.asarray((whole + self.alone * self.length_alone * np.expm1(b) + self.linear) * u)

    def bends(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Return cov(∂g/∂u_i (u), ∂g/∂v_j (v)) of two points."""
        a = min(float(u @ v) / self.length, _FARTHEST)
        b = np.minimum(u * v / self.length_alone, _FARTHEST)
        diagonal = (1.0 - self.alone) * self.length * np.expm1(a) + self.alone * (
            self.length_alone * np.expm1(b) + np.exp(b) * u * v
        )
        return np.asarray((1.0 - self.alone) * np.exp(a) * np.outer(v, u) + np.diag(diagonal + self.linear))


@dataclass(frozen=True, eq=False)
class Slopes:
    """Derivatives as data: where, and which of them."""

    at: FloatArray
    which: IntArray


def matrix_of(covariance: Covariance | Linear, u: FloatArray, v: list[Slopes]) -> FloatArray:
    """Return the covariances of all data: values at u, then the derivatives at each v."""
    count = len(u)
    total = count + sum(len(one.which) for one in v)
    matrix = np.empty((total, total))
    matrix[:count, :count] = covariance.values(u, u)
    for place, one in spans(v, count):
        matrix[:count, place] = covariance.slopes(u, one.at)[:, one.which]
        matrix[place, :count] = matrix[:count, place].T
        for other_place, other in spans(v, count):
            matrix[place, other_place] = covariance.bends(one.at, other.at)[np.ix_(one.which, other.which)]
    return matrix


def spans(v: list[Slopes], count: int) -> Iterator[tuple[slice, Slopes]]:
    """Yield the rows of the derivatives at each v, after `count` values."""
    for one in v:
        yield slice(count, count + len(one.which)), one
        count += len(one.which)


@dataclass(frozen=True, eq=False)
class Regression:
    """The log likelihood of data, up to a constant, the weights of the mean, and the size of g.

    The matrix of covariances, each divided by the spread of both of its data, is factor·factorᵀ.
    """

    likelihood: float
    weights: FloatArray
    size: float
    factor: FloatArray
    spread: FloatArray


def regressed(
    matrix: FloatArray, linear: FloatArray, data: FloatArray, variances: FloatArray
) -> Regression | None:
    """Return what data say, or None: degenerate.

    The size is that of the greatest likelihood, found in two turns, since errors are compared with it.
    """
    m = data.shape[1]
    size = float(np.mean(data**2 / (np.diag(matrix)[:, None] + 1e-300)))
    for _ in range(2):
        errors = 1.0 / max(size, 1e-300)
        whole = matrix + errors * linear
        spread = np.sqrt(np.diag(whole)) + 1e-150
        nugget = np.minimum(variances * errors / spread**2, 1e8) + NUGGET
        try:
            factor = cholesky(
                whole / np.outer(spread, spread) + np.diag(nugget), lower=True, check_finite=False
            )
        except LinAlgError:
            return None
        white = solve_triangular(factor, data / spread[:, None], lower=True, check_finite=False)
        size = max(float(np.mean(white**2)), 1e-300)
    likelihood = -m * float(np.log(np.diag(factor)).sum() + np.log(spread).sum())
    likelihood -= 0.5 * white.size * float(np.log(size))
    weights = solve_triangular(factor, white, lower=True, trans=1, check_finite=False) / spread[:, None]
    found = Regression(likelihood, weights, 1.0 / errors, factor, spread)
    return found if np.isfinite(likelihood) else None
