"""Least squares over a few columns of a sampling matrix: outright where they are few, iterated where not."""

from __future__ import annotations

from typing import cast

import numpy as np

from gracezo.core.types import AnyFloatArray, FloatArray

OUTRIGHT = 2**20  # numbers in the columns: up to here a factorisation takes a fraction of a second
ACCURACY = 1e-6  # of the iteration, relative: what single precision has, and more than a forward difference


def fitted(columns: AnyFloatArray, samples: FloatArray) -> FloatArray:
    """Return the b of least length that minimises ‖samples − columns·b‖.

    A factorisation takes q·n² operations for n columns of q samples, and reveals their rank. Above
    2²⁰ numbers LSMR (Fong & Saunders, *LSMR: An iterative algorithm for sparse least-squares problems*,
    SIAM Journal on Scientific Computing 33(5), 2011) takes its place: random columns are well conditioned,
    κ ≈ (1 + √(n/q))/(1 − √(n/q)), so that some tens of products with them do. These are made in the
    precision of the columns, as fast as memory gives them.

    Examples
    --------
    >>> import numpy as np
    >>> fitted(np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]), np.array([3.0, 4.0, 5.0])).tolist()
    [3.0, 2.0]
    """
    # SciPy's submodules are loaded when they are used.
    if columns.size <= OUTRIGHT:
        from scipy.linalg import lstsq  # noqa: PLC0415

        exact = columns.astype(np.float64)
        return cast(FloatArray, lstsq(exact, samples, lapack_driver="gelsy", check_finite=False)[0])
    from scipy.sparse.linalg import LinearOperator, lsmr  # noqa: PLC0415

    kind = columns.dtype
    operator = LinearOperator(
        columns.shape,
        matvec=lambda b: (columns @ b.ravel().astype(kind)).astype(np.float64),
        rmatvec=lambda v: (v.ravel().astype(kind) @ columns).astype(np.float64),
        dtype=np.float64,
    )
    largest = np.abs(
        samples
    ).max()  # scaled, so that nothing is lost to the smaller range of single precision
    return cast(FloatArray, largest * lsmr(operator, samples / largest, atol=ACCURACY, btol=ACCURACY)[0])
