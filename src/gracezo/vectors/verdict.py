"""What the result of a fit says, in the fields of `scipy.optimize.least_squares` and some more."""

from __future__ import annotations

from typing import Any

import numpy as np

from gracezo.core.asks import Point
from gracezo.core.box import Box
from gracezo.core.types import FloatArray, IntArray
from gracezo.vectors.frames import Frame, Support
from gracezo.vectors.losses import Loss
from gracezo.vectors.surrogate import Surrogate


def described(
    best: Point, frame: Frame | None, model: Surrogate | None, loss: Loss, bounds: Box | None
) -> dict[str, Any]:
    """Return the fields of a fit; those along the columns are empty where none were found."""
    assert best.outputs is not None
    outputs = best.outputs
    columns = np.zeros(0, np.int64)
    jacobian = np.zeros((len(outputs), 0))
    if isinstance(frame, Support) and model is not None and model.jacobian.shape[1] == len(frame.indices):
        columns = frame.indices
        jacobian = model.slopes(best.x[columns] - frame.base[columns])
    weights = loss.weights(outputs)
    gradient = jacobian.T @ (weights * outputs)
    covariance = _covariance(jacobian * np.sqrt(weights)[:, None], best.value)
    return {
        "fun": outputs,
        "cost": best.value,
        "columns": columns,
        "jac": jacobian,
        "grad": gradient,
        "active_mask": _active(best.x, columns, bounds),
        "optimality": float(np.max(np.abs(gradient * _room(best.x, columns, gradient, bounds)), initial=0.0)),
        "cov": covariance,
        "stderr": np.sqrt(np.diag(covariance)),
    }


def _covariance(jacobian: FloatArray, cost: float) -> FloatArray:
    """Return the covariance of the parameters, (JᵀJ)⁻¹ times the variance of a residual; NaN if unknown."""
    m, k = jacobian.shape
    if m <= k:
        return np.full((k, k), np.nan)
    inverse = np.linalg.pinv(jacobian.T @ jacobian, hermitian=True)
    return np.asarray(inverse * (2.0 * cost / (m - k)), np.float64)


def _active(x: FloatArray, columns: IntArray, bounds: Box | None) -> IntArray:
    """Return −1 where a column's coordinate is at its lower bound, 1 at its upper one, else 0."""
    if bounds is None:
        return np.zeros(len(columns), np.int64)
    at = x[columns]
    return (at >= bounds.upper[columns]).astype(np.int64) - (at <= bounds.lower[columns])


def _room(x: FloatArray, columns: IntArray, gradient: FloatArray, bounds: Box | None) -> FloatArray:
    """Return SciPy's scaling of a gradient for its optimality: the distance to a bound that is ahead."""
    if bounds is None:
        return np.ones(len(columns))
    ahead = np.where(gradient > 0.0, x[columns] - bounds.lower[columns], bounds.upper[columns] - x[columns])
    return np.where(np.isfinite(ahead), ahead, 1.0)
