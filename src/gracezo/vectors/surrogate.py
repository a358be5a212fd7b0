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
what is learned elsewhere. Columns that were not measured at c are those that the model predicted there, with
the variance that it gave them.

The data are the outputs at all points tried so far, and the Jacobians at former centres. With one point the
mean is Broyden's update with twice the correction, which is right if r is quadratic; with all of them
it is what a secant method would know if it forgot nothing, second derivatives included.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import solve_triangular

from gracezo.core.types import FloatArray, IntArray
from gracezo.vectors.covariance import (
    NUGGET,
    Covariance,
    Linear,
    Regression,
    Slopes,
    matrix_of,
    regressed,
    spans,
)

_LENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0, 1e3)  # ℓ², in units of the largest displacement squared
_ALONE = (0.0, 0.5, 0.99)  # θ
_OFF = 100.0  # times the outputs at the centre: larger ones tell nothing of what is near
_MOST_POINTS = 60
_MOST_DATA = 200  # rows of the covariance matrix


@dataclass(frozen=True, eq=False)
class Measured:
    """Columns of a Jacobian at a point: `which` of them were measured there."""

    centre: FloatArray
    jacobian: FloatArray
    which: IntArray


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
    variances
        Of the errors of the columns of J_c, mean over outputs: 0 of those that were measured; None: of all.
    former
        Jacobians that were measured before.
    bent
        Whether g is believed: of the last step it was no worse than a straight line.

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
    variances: FloatArray | None = None
    former: list[Measured] = field(default_factory=list)
    bent: bool = True

    def __post_init__(self) -> None:
        # D never falls, as in MINPACK: a column that fades away is no invitation to go far along it.
        norms = np.linalg.norm(self.jacobian, axis=0)
        for one in self.former:
            norms = np.maximum(norms, np.linalg.norm(one.jacobian, axis=0))
        least = 1e-6 * float(norms.max(initial=0.0))
        self.effects = np.maximum(norms, least if least > 0.0 else 1.0)
        self._unsure = np.zeros(len(norms)) if self.variances is None else self.variances
        self._covariance: Covariance | None = None
        self._regression: Regression | None = None
        self._shift = 0.0 * self.outputs
        self._u = np.zeros((0, len(self.centre)))
        self._v: list[Slopes] = []
        self._of_values = np.zeros((0, len(self.outputs)))
        self._of_slopes: list[FloatArray] = []

    def add(self, point: FloatArray, outputs: FloatArray) -> None:
        """Note what was tried, unless it is so far off that a smooth model is none the wiser."""
        if np.linalg.norm(outputs) <= _OFF * np.linalg.norm(self.outputs):
            self.points.append(point)
            self.values.append(outputs)

    def moved(
        self,
        centre: FloatArray,
        outputs: FloatArray,
        jacobian: FloatArray,
        error: float = 1e-7,
        variances: FloatArray | None = None,
    ) -> Surrogate:
        """Return the model around a new centre whose Jacobian was measured, with all that is known.

        Columns that were not are those that it predicts there, with their variances.
        """
        own = Measured(self.centre, self.jacobian, np.flatnonzero(self._unsure == 0.0))
        here = np.array_equal(centre, self.centre)  # some columns more, of the same point
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
            variances,
            self.former if here else [*self.former, own],
            self.bent,
        )

    def judge(self, here: FloatArray, to: FloatArray, outputs: FloatArray) -> None:
        """Compare what was predicted of a step with its outputs; believe g only if a straight line did worse.

        Toward a plateau at infinity, for one, all that is known of the way there misleads.
        """
        self.bent = True
        bent = self.at(to) - self.at(here)
        self.bent = False
        straight = self.at(to) - self.at(here)
        self.bent = bool(np.linalg.norm(outputs - bent) <= np.linalg.norm(outputs - straight))

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
        self._covariance = self._regression = None
        self._shift = 0.0 * self.outputs
        s, m = len(self.centre), len(self.outputs)
        recent = slice(max(0, len(self.points) - _MOST_POINTS), None)
        u = (np.array(self.points[recent]).reshape(-1, s) - self.centre) * self.effects
        kept = max(0, (_MOST_DATA - len(u)) // max(s, 1))
        former = self.former[max(0, len(self.former) - kept) :] if kept else []
        v = [Slopes((one.centre - self.centre) * self.effects, one.which) for one in former]
        if len(u) + len(v) == 0:
            return
        linear = u / self.effects @ self.jacobian.T + self.outputs
        rest = [np.array(self.values[recent]).reshape(-1, m) - linear]
        rest += [((one.jacobian - self.jacobian) / self.effects).T[one.which] for one in former]
        data = np.vstack(rest)
        variances, slope = self._errors(len(u), len(data) - len(u))
        places = [*u, *(one.at for one in v)]
        extent = max(float((one**2).sum()) for one in places)
        if extent == 0.0:
            return
        extent_alone = max(float((one**2).max()) for one in places)
        linear = matrix_of(Linear(slope), u, v)
        best = -np.inf
        for length in _LENGTHS:
            for alone in _ALONE:
                tried = Covariance(extent * length, extent_alone * length, alone)
                found = regressed(matrix_of(tried, u, v), linear, data, variances)
                if found is not None and found.likelihood > best:
                    best, self._regression = found.likelihood, found
                    self._covariance = replace(tried, linear=slope / found.size)
                    self._u, self._v = u, v
                    self._of_values = found.weights[: len(u)]
                    self._of_slopes = [found.weights[place] for place, _ in spans(v, len(u))]

    def at(self, z: FloatArray) -> FloatArray:
        """Return the outputs that the model predicts."""
        predicted = self.outputs + self._shift + self.jacobian @ (z - self.centre)
        if self._covariance is None or not self.bent:
            return np.asarray(predicted)
        u = ((z - self.centre) * self.effects)[None]
        predicted = predicted + (self._covariance.values(u, self._u) @ self._of_values)[0]
        for v, weights in zip(self._v, self._of_slopes, strict=True):
            predicted = predicted + (self._covariance.slopes(u, v.at)[:, v.which] @ weights)[0]
        return np.asarray(predicted)

    def slopes(self, z: FloatArray) -> FloatArray:
        """Return the Jacobian that the model predicts."""
        if self._covariance is None or not self.bent:
            return self.jacobian
        u = (z - self.centre) * self.effects
        total = self._of_values.T @ self._covariance.slopes(self._u, u)
        for v, weights in zip(self._v, self._of_slopes, strict=True):
            total = total + (self._covariance.bends(u, v.at)[:, v.which] @ weights).T
        return np.asarray(self.jacobian + total * self.effects)

    def slope_variances(self, z: FloatArray) -> FloatArray:
        """Return how uncertain each column of the Jacobian at z is: a variance, mean over outputs."""
        covariance, regression = self._covariance, self._regression
        u = (z - self.centre) * self.effects
        if covariance is None or regression is None:
            return np.full(len(z), np.inf)
        cross = [covariance.slopes(self._u, u)] + [covariance.bends(v.at, u)[v.which] for v in self._v]
        known = solve_triangular(
            regression.factor, np.vstack(cross) / regression.spread[:, None], lower=True, check_finite=False
        )
        own = np.diag(covariance.bends(u, u))
        left = np.maximum(own - (known**2).sum(axis=0), NUGGET * own)
        return np.asarray(left * regression.size * self.effects**2)

    def _errors(self, points: int, slopes: int) -> tuple[FloatArray, FloatArray]:
        """Return the variances of the errors of the data, and of the slopes at c: means over outputs."""
        size = float(np.mean(self.outputs**2)) * 2.0**-104 + float(np.mean(np.square(self.noise)))
        square = float(np.mean((self.jacobian / self.effects) ** 2))
        own = np.repeat([2.0 * size, self.error**2 * square], [points, slopes])
        return own, np.asarray(self.error**2 * square + self._unsure / self.effects**2)
