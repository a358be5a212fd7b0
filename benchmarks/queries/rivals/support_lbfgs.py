"""One full finite-difference gradient, then L-BFGS-B on its support; again when that is done.

The support is where the gradient exceeds a thousandth of its largest entry and the rounding of f. When
L-BFGS-B can do no more there, a full gradient at that point gives the next support: a strong and simple way
to use sparsity when d queries are affordable.
"""

from __future__ import annotations

import numpy as np

from benchmarks.queries.meter import Task
from benchmarks.queries.problem import Objective
from benchmarks.queries.rivals.lbfgs import descend
from benchmarks.queries.rivals.method import DEFAULTS, Method
from gracezo.core.types import FloatArray

_SHARE = 1e-3
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
    x = task.x0.copy()
    while True:
        value = f(x)
        slopes = np.abs(forward_gradient(f, x, value))
        rounding = 10.0 * np.finfo(np.float64).eps * abs(value) / _DIFFERENCE
        support = np.flatnonzero(slopes > max(_SHARE * float(slopes.max()), rounding))
        if not support.size:
            return

        def on_support(y: FloatArray, x: FloatArray = x, support: np.ndarray = support) -> float:
            point = x.copy()
            point[support] = y
            return f(point)

        x[support] = descend(on_support, x[support])


METHOD = Method(
    "support-lbfgs",
    "full gradient, L-BFGS-B",
    "one full finite-difference gradient, then L-BFGS-B on its support; again when that is done",
    solve,
    DEFAULTS,
    by_gradients=True,
)
