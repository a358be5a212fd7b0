"""A model of residuals around a measured Jacobian that forgets nothing: a Gaussian process with Jacobians.

Rasmussen & Williams, *Gaussian Processes for Machine Learning*, MIT Press 2006, chapters 2 and 5; with
derivatives as data: Solak, Murray-Smith, Leithead, Leith & Rasmussen, NIPS 2002.

Symbols: c the centre, where the outputs r_c and the Jacobian J_c were measured; u = D(z − c) the
displacement, each coordinate in units of its effect (D the norms of the columns of J_c). The model is

    r(z) = r_c + J_c (z − c) + g(u),

with g, the same for all outputs but for its size, drawn from a Gaussian process whose value and gradient
vanish at u = 0. Its covariance

    k(u, v) = (1 − θ)·ψ(u·v) + θ·Σ_j ψ(u_j v_j),    ψ(t) = ℓ⁴(e^{t/ℓ²} − 1 − t/ℓ²),

has terms of all orders from the second on. For ℓ → ∞ only the second is left: the mean is then the
quadratic of least Frobenius norm that passes through the data, as in Powell's NEWUOA. θ says how much of the
curvature is that of single coordinates. Both, and the size of g, are those that make the data most likely.

J_c itself errs by a share δ, which adds δ²·u·v to the covariance (in units of J_c): slopes are corrected by
what is learned elsewhere.

The data are the outputs at all points tried so far, and the Jacobians at former centres. With one point the
mean is Broyden's update with twice the correction, which is right if r is quadratic; with all of them
it is what a secant method would know if it forgot nothing, second derivatives included.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from gracezo.core.types import FloatArray

_LENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0, 1e3)  # ℓ², in units of the largest displacement squared
_ALONE = (0.0, 0.5, 0.99)  # θ
_NUGGET = 1e-11  # of a variance: what rounding takes away from a matrix of covariances
_FARTHEST = 30.0  # exponents beyond are cut: nobody should go where they matter
_OFF = 100.0  # times the outputs at the centre: larger ones tell nothing of what is near
_MOST_POINTS = 60
_MOST_DATA = 200  # rows of the covariance matrix


@dataclass(frozen=True, eq=False)
class _Covariance:
    """k, for displacements and for derivatives at former centres."""

    length: float  # ℓ² of the whole displacement
    length_alone: float  # and of a single coordinate
    alone: float  # θ
    linear: float = 0.0  # variance of a slope at the centre, in units of that of g

    def values(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Return cov(g(u_i), g(v_j)) for rows of u and v."""
        whole, alone = self.length, self.length_alone
        a = np.minimum(u @ v.T / whole, _FARTHEST)
        b = np.minimum(u[:, None, :] * v[None, :, :] / alone, _FARTHEST)
        return np.asarray(
            (1.0 - self.alone) * whole**2 * (np.expm1(a) - a)
            + self.alone * alone**2 * (np.expm1(b) - b).sum(axis=2)
            + self.linear * (u @ v.T)
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
        diagonal = diagonal + self.linear
        return np.asarray((1.0 - self.alone) * np.exp(a) * np.outer(v, u) + np.diag(diagonal))


@dataclass(eq=False)
class Surrogate:
    """The model, and the data that it rests on.

    Parameters
    ----------
    centre, outputs, jacobian
        c, r_c and J_c.
    error
        The relative error of J_c.
    noise
        The standard deviation of each output; 0 where it is exact.
    points, values
        What was tried: points z and outputs r(z).
    centres, jacobians
        Where a Jacobian was measured before, and what it was.

    Examples
    --------
    >>> import numpy as np
    >>> r = lambda z: np.array([z[0] ** 2, z[0] * z[1], z[1]])
    >>> model = Surrogate(np.ones(2), r(np.ones(2)), np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 1.0]]))
    >>> model.add(np.array([2.0, 1.0]), r(np.array([2.0, 1.0])))
    >>> model.fit()
    >>> bool(np.allclose(model.at(np.array([2.0, 1.0])), [4.0, 2.0, 1.0]))
    True
    """

    centre: FloatArray
    outputs: FloatArray
    jacobian: FloatArray
    error: float = 1e-7
    noise: float | FloatArray = 0.0
    points: list[FloatArray] = field(default_factory=list)
    values: list[FloatArray] = field(default_factory=list)
    centres: list[FloatArray] = field(default_factory=list)
    jacobians: list[FloatArray] = field(default_factory=list)

    def __post_init__(self) -> None:
        # D never falls, as in MINPACK: a column that fades away is no invitation to go far along it.
        norms = np.linalg.norm(self.jacobian, axis=0)
        for former in self.jacobians:
            norms = np.maximum(norms, np.linalg.norm(former, axis=0))
        least = 1e-6 * float(norms.max(initial=0.0))
        self.effects = np.maximum(norms, least if least > 0.0 else 1.0)
        self._covariance: _Covariance | None = None
        self._shift = 0.0 * self.outputs
        self._u = np.zeros((0, len(self.centre)))
        self._v: list[FloatArray] = []
        self._of_values = np.zeros((0, len(self.outputs)))
        self._of_slopes: list[FloatArray] = []

    def add(self, point: FloatArray, outputs: FloatArray) -> None:
        """Note what was tried, unless it is so far off that a smooth model is none the wiser."""
        if np.linalg.norm(outputs) <= _OFF * np.linalg.norm(self.outputs):
            self.points.append(point)
            self.values.append(outputs)

    def moved(
        self, centre: FloatArray, outputs: FloatArray, jacobian: FloatArray, error: float = 1e-7
    ) -> Surrogate:
        """Return the model around a new centre whose Jacobian was measured, with all that is known."""
        points = [*self.points, self.centre]
        values = [*self.values, self.outputs]
        elsewhere = [i for i, point in enumerate(points) if not np.array_equal(point, centre)]
        return Surrogate(
            centre,
            outputs,
            jacobian,
            error,
            self.noise,
            [points[i] for i in elsewhere],
            [values[i] for i in elsewhere],
            [*self.centres, self.centre],
            [*self.jacobians, self.jacobian],
        )

    def widened(self, columns: FloatArray, outputs: FloatArray, here: FloatArray) -> Surrogate:
        """Return the model with further coordinates, 0 so far, whose columns were measured at `here`.

        What it knows of the former ones there is taken as measured.
        """
        new = columns.shape[1]
        jacobian = np.column_stack([self.slopes(here), columns])
        elsewhere = [i for i, point in enumerate(self.points) if not np.array_equal(point, here)]
        pad = np.zeros(new)
        wide = Surrogate(
            np.concatenate([here, pad]),
            outputs,
            jacobian,
            self.error,
            self.noise,
            [np.concatenate([self.points[i], pad]) for i in elsewhere],
            [self.values[i] for i in elsewhere],
        )
        if not np.array_equal(self.centre, here):
            wide.add(np.concatenate([self.centre, pad]), self.outputs)
        return wide

    # ------------------------------------------------------------ the model

    def anchor(self, z: FloatArray, outputs: FloatArray) -> None:
        """Let the model, as it is now, have exactly these outputs at z: near there, differences count."""
        self._shift = 0.0 * outputs
        self._shift = outputs - self.at(z)

    def fit(self) -> None:
        """Find the covariance that makes the data most likely, and with it the mean."""
        self._covariance = None
        self._shift = 0.0 * self.outputs
        s, m = len(self.centre), len(self.outputs)
        recent = slice(max(0, len(self.points) - _MOST_POINTS), None)
        u = (np.array(self.points[recent]).reshape(-1, s) - self.centre) * self.effects
        kept = max(0, (_MOST_DATA - len(u)) // max(s, 1))
        former = slice(max(0, len(self.centres) - kept), None) if kept else slice(0, 0)
        v = [(centre - self.centre) * self.effects for centre in self.centres[former]]
        if len(u) + len(v) == 0:
            return
        linear = u / self.effects @ self.jacobian.T + self.outputs
        rest = [np.array(self.values[recent]).reshape(-1, m) - linear]
        rest += [((old - self.jacobian) / self.effects).T for old in self.jacobians[former]]
        data = np.vstack(rest)
        variances, slope = self._variances(len(u), len(v))
        extent = max(float((one**2).sum()) for one in (*u, *v))
        if extent == 0.0:
            return
        extent_alone = max(float((one**2).max()) for one in (*u, *v))
        linear = _matrix(_Covariance(1.0, 1.0, 0.0, 1.0), u, v) - _matrix(_Covariance(1.0, 1.0, 0.0), u, v)
        best = -np.inf
        for length in _LENGTHS:
            for alone in _ALONE:
                tried = _Covariance(extent * length, extent_alone * length, alone)
                found = _regressed(_matrix(tried, u, v), linear, data, variances, slope)
                if found is not None and found[0] > best:
                    best, weights, size = found
                    self._covariance = replace(tried, linear=slope / size)
                    self._u, self._v = u, v
                    self._of_values = weights[: len(u)]
                    self._of_slopes = list(weights[len(u) :].reshape(len(v), s, m))

    def at(self, z: FloatArray) -> FloatArray:
        """Return the outputs that the model predicts."""
        predicted = self.outputs + self._shift + self.jacobian @ (z - self.centre)
        if self._covariance is None:
            return np.asarray(predicted)
        u = ((z - self.centre) * self.effects)[None]
        predicted = predicted + (self._covariance.values(u, self._u) @ self._of_values)[0]
        for v, weights in zip(self._v, self._of_slopes, strict=True):
            predicted = predicted + (self._covariance.slopes(u, v) @ weights)[0]
        return np.asarray(predicted)

    def slopes(self, z: FloatArray) -> FloatArray:
        """Return the Jacobian that the model predicts."""
        if self._covariance is None:
            return self.jacobian
        u = (z - self.centre) * self.effects
        total = self._of_values.T @ self._covariance.slopes(self._u, u)
        for v, weights in zip(self._v, self._of_slopes, strict=True):
            total = total + (self._covariance.bends(u, v) @ weights).T
        return np.asarray(self.jacobian + total * self.effects)

    def _variances(self, points: int, centres: int) -> tuple[FloatArray, float]:
        """Return the variances of the errors of the data, and of a slope at the centre: mean over outputs."""
        size = float(np.mean(self.outputs**2)) * 2.0**-104 + float(np.mean(np.square(self.noise)))
        slope = (
            self.error**2 * float(np.mean((self.jacobian / self.effects) ** 2)) if self.jacobian.size else 0.0
        )
        own = [np.full(points, 2.0 * size), np.full(centres * len(self.centre), slope)]
        return np.concatenate(own), slope


def _matrix(covariance: _Covariance, u: FloatArray, v: list[FloatArray]) -> FloatArray:
    """Return the covariances of all data: values at u, then all derivatives at each v."""
    count, s = u.shape
    matrix = np.empty((count + len(v) * s, count + len(v) * s))
    matrix[:count, :count] = covariance.values(u, u)
    for place, one in _spans(v, count, s):
        matrix[:count, place] = covariance.slopes(u, one)
        matrix[place, :count] = matrix[:count, place].T
        for other_place, other in _spans(v, count, s):
            matrix[place, other_place] = covariance.bends(one, other)
    return matrix


def _spans(v: list[FloatArray], count: int, s: int) -> Iterator[tuple[slice, FloatArray]]:
    for number, one in enumerate(v):
        yield slice(count + number * s, count + (number + 1) * s), one


def _regressed(
    matrix: FloatArray, linear: FloatArray, data: FloatArray, variances: FloatArray, slope: float
) -> tuple[float, FloatArray, float] | None:
    """Return the log likelihood of data, up to a constant, the weights of the mean, and the size of g.

    None: degenerate. The size is that of the greatest likelihood, found in two turns, since errors are
    compared with it.
    """
    m = data.shape[1]
    size = float(np.mean(data**2 / (np.diag(matrix)[:, None] + 1e-300)))
    for _ in range(2):
        errors = 1.0 / max(size, 1e-300)
        whole = matrix + slope * errors * linear
        spread = np.sqrt(np.diag(whole)) + 1e-150
        nugget = np.minimum(variances * errors / spread**2, 1e8) + _NUGGET
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
    return (likelihood, weights, 1.0 / errors) if np.isfinite(likelihood) else None
