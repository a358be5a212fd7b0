"""Products of long rows with weights, in the precision of the rows."""

from __future__ import annotations

import numpy as np

from gracezo.core.types import AnyFloatArray, FloatArray


def combined(weights: FloatArray, rows: AnyFloatArray) -> FloatArray:
    """Return Σ_i w_i·z_i.

    The product is made in the precision of the rows, without a copy of them. The weights are scaled to at
    most 1 before, so that none is lost to the smaller range of single precision. `einsum` adds row by row
    on one thread: the result depends on no BLAS and on no number of threads, and is as fast as memory.

    Examples
    --------
    >>> import numpy as np
    >>> combined(np.array([1e-60, 1e-60]), np.ones((2, 3), np.float32)).tolist()
    [2e-60, 2e-60, 2e-60]
    """
    if len(weights) == 1:
        product, largest = rows[0], weights[0]
    else:
        largest = np.abs(weights).max()
        if largest == 0:
            return np.zeros(rows.shape[1])
        product = np.einsum("i,ij->j", (weights / largest).astype(rows.dtype), rows)
    scaled: FloatArray = product.astype(np.float64)
    scaled *= largest
    return scaled
