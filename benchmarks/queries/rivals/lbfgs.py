"""SciPy's L-BFGS-B with its own differences: d queries a gradient.

Forward differences while they help. When L-BFGS-B stops, it starts again where it is with central ones, and
then with both in turn until the budget is spent or neither moves it.
"""

from __future__ import annotations

from itertools import cycle

import numpy as np
from benchmarks.queries.meter import Task
from benchmarks.queries.problem import Objective
from benchmarks.queries.rivals.method import DEFAULTS, Method
from scipy.optimize import minimize

_OPTIONS = {"maxiter": 10**9, "maxfun": 10**9, "ftol": 0.0, "gtol": 0.0}
"""No rule but the budget ends a run; what remains is that no step can be found."""


def solve(f: Objective, task: Task) -> None:
    x, stuck = task.x0, 0
    for differences in cycle(["2-point", "3-point"]):
        end = minimize(f, x, jac=differences, method="L-BFGS-B", options=_OPTIONS)
        stuck = stuck + 1 if np.array_equal(end.x, x) else 0
        x = end.x
        if stuck == 2:
            return


METHOD = Method("lbfgs", "L-BFGS-B", "SciPy's, with its own differences", solve, DEFAULTS, by_gradients=True)
