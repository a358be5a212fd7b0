"""One full finite-difference gradient, then L-BFGS-B on its support; again when that is done.

The support is where the gradient exceeds a thousandth of its largest entry and the rounding error of f. When
L-BFGS-B gains no more there, a full gradient at that point adds what is missing: a strong and simple way to
use sparsity when d queries are affordable. When forward differences gain nothing, central ones take over.
"""

from __future__ import annotations

import numpy as np
from benchmarks.queries.meter import Task
from benchmarks.queries.problem import Objective
from benchmarks.queries.rivals.method import DEFAULTS, Method
from scipy.optimize import minimize

from gracezo.core.types import FloatArray, IntArray

_SHARE = 1e-3
_OPTIONS = {"maxiter": 10**9, "maxfun": 10**9, "ftol": 1e-12, "gtol": 0.0}
_DIFFERENCE = float(np.sqrt(np.finfo(np.float64).eps))


def forward_gradient(f: Objective, x: FloatArray, value: float) -> FloatArray:
    """Return the forward differences, one query a coordinate."""
    point = x.copy()
    gradient = np.empty(x.size)
    for i in range(x.size):
        step = _DIFFERENCE * max(1.0, abs(x[i]))
        point[i] = x[i] + step
        gradient[i] = (f(point) - value) / (point[i] - x[i])
        point[i] = x[i]
    return gradient


def solve(f: Objective, task: Task) -> None:
    x, support = task.x0.copy(), np.zeros(0, np.int64)
    differences = "2-point"
    while True:
        value = f(x)
        slopes = np.abs(forward_gradient(f, x, value))
        rounding = 10.0 * np.finfo(np.float64).eps * abs(value) / _DIFFERENCE
        large = np.flatnonzero(slopes > max(_SHARE * float(slopes.max()), rounding))
        support = np.union1d(support, large)
        if not support.size:
            return

        def on_support(y: FloatArray, x: FloatArray = x, support: IntArray = support) -> float:
            point = x.copy()
            point[support] = y
            return f(point)

        end = minimize(on_support, x[support], jac=differences, method="L-BFGS-B", options=_OPTIONS)
        if end.fun < value:
            x[support] = end.x
        elif differences == "2-point":
            differences = "3-point"
        else:
            return


METHOD = Method(
    "support-lbfgs",
    "full gradient, L-BFGS-B",
    "one full finite-difference gradient, then L-BFGS-B on its support; again when that is done",
    solve,
    DEFAULTS,
    by_gradients=True,
)
