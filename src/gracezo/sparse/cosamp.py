"""CoSaMP: a sparse vector from few linear measurements.

Needell & Tropp, *CoSaMP: Iterative signal recovery from incomplete and
inaccurate samples*, Applied and Computational Harmonic Analysis 26(3), 2009,
Algorithm 1. Symbols: Φ the sampling matrix, u the samples, s the sparsity,
a the approximation, v the current samples (what a does not explain yet).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gracezo.core.types import AnyFloatArray, FloatArray, IntArray
from gracezo.sparse.fit import fitted
from gracezo.sparse.largest import largest
from gracezo.sparse.products import combined


@dataclass(frozen=True)
class CoSaMP:
    """The algorithm with its settings.

    Parameters
    ----------
    sparsity
        s.
    iterations
        At most so many.
    tolerance
        Stop when ‖u − Φ·a‖ ≤ tolerance·‖u‖.

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> matrix = random.choice([-1.0, 1.0], (40, 500))
    >>> signal = np.zeros(500)
    >>> signal[[3, 59, 141]] = [2.0, -1.0, 3.0]
    >>> support, values = CoSaMP(sparsity=3, tolerance=1e-9).recover(matrix, matrix @ signal)
    >>> support.tolist(), values.round(6).tolist()
    ([3, 59, 141], [2.0, -1.0, 3.0])
    """

    sparsity: int
    iterations: int = 10
    tolerance: float = 0.5

    def recover(self, matrix: AnyFloatArray, samples: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return the support of a, in order, and its values there.

        Parameters
        ----------
        matrix
            Φ, with columns of about the same length. Their length itself makes no difference: where the
            literature divides Φ and u by √q, nothing below changes. Single precision is enough: the matrix
            is used so for the proxy, whose order alone counts; see `fitted` for the least squares.
        samples
            u.
        """
        support, values = np.zeros(0, np.int64), np.zeros(0)
        total = np.linalg.norm(samples)
        if total == 0:
            return support, values
        current = samples
        for _ in range(self.iterations):
            # y = Φ*·v, the signal proxy; Ω = supp(y_2s); T = Ω ∪ supp(a).
            proxy = combined(current, matrix)
            merged = np.union1d(largest(proxy, 2 * self.sparsity), support)
            # b|_T = Φ_T†·u. The least of all solutions: T may have more columns than there are samples.
            columns = matrix[:, merged]
            fit = fitted(columns, samples)
            # a = b_s; v = u − Φ·a.
            kept = largest(fit, self.sparsity)
            support, values = merged[kept], fit[kept]
            # einsum turns single precision into double as it goes; @ would copy all the columns first.
            current = samples - np.einsum("ij,j->i", columns[:, kept], values)
            if np.linalg.norm(current) <= self.tolerance * total:
                break
        return support, values
