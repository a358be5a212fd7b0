"""The debiased Lasso: a sparse regression with its shrinkage undone.

Tibshirani, *Regression shrinkage and selection via the lasso*, JRSS B 58(1),
1996; debiased as in Wang, Du, Balakrishnan & Singh, *Stochastic zeroth-order
optimization in high dimensions*, AISTATS 2018, Eqs. (5) and (6). The Lasso
itself is scikit-learn's.
"""

from __future__ import annotations

import importlib.util

import numpy as np

from gracezo.core.types import AnyFloatArray, FloatArray
from gracezo.sparse.products import combined

RELATIVE_PENALTY = 0.1


def require_lasso() -> None:
    """Raise an error that says what to install when scikit-learn is not there."""
    if importlib.util.find_spec("sklearn") is None:
        raise ImportError("the Lasso is scikit-learn's, which is not installed: pip install 'gracezo[lasso]'")


def debiased_lasso(matrix: AnyFloatArray, samples: FloatArray, penalty: float | None = None) -> FloatArray:
    """Return ĝ + Zᵀ(y − Z·ĝ − μ̂)/q, where ĝ and the intercept μ̂ minimise ‖y − Z·g − μ‖²/(2q) + λ·‖g‖_1.

    Parameters
    ----------
    matrix
        Z, q rows of random signs.
    samples
        y.
    penalty
        λ. By default a tenth of λ_max = ‖Zᵀ(y − ȳ)‖_∞/q, the least that leaves no coefficient. With λ_max
        or more, ĝ = 0 and the estimate is Zᵀ(y − ȳ)/q.

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> matrix = random.choice([-1.0, 1.0], (60, 500))
    >>> g = debiased_lasso(matrix, 3 * matrix[:, 7] + 100)
    >>> int(abs(g).argmax()), bool(abs(g[7] - 3) < 0.1)
    (7, True)
    """
    count = len(samples)
    centred = samples - samples.mean()
    correlations = combined(centred, matrix) / count
    least_empty = float(np.abs(correlations).max())
    if penalty is None:
        penalty = RELATIVE_PENALTY * least_empty
    if penalty >= least_empty:  # the optimality condition of ĝ = 0
        return correlations
    from sklearn.linear_model import Lasso  # noqa: PLC0415 - an extra, needed here only

    # The objective is scaled to λ_max = 1, where scikit-learn's tolerance is at home.
    fit = Lasso(alpha=penalty / least_empty, max_iter=10_000)
    exact = matrix.astype(np.float64)
    fit.fit(exact, centred / least_empty)
    residual = centred / least_empty - fit.predict(exact)
    debiased: FloatArray = least_empty * (fit.coef_ + residual @ exact / count)
    return debiased
