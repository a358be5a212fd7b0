"""Answers with gaps: NaN stands for an evaluation that failed and was skipped.

A gap is left out, with whatever belongs to it; no value is ever made up for it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gracezo.core.types import FloatArray


def answered(values: FloatArray, *aligned: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], ...]:
    """Return the values that are there, and the rows of other arrays that belong to them.

    Examples
    --------
    >>> import numpy as np
    >>> answered(np.array([1.0, np.nan, 3.0]), np.array([10, 20, 30]))
    (array([1., 3.]), array([10, 30]))
    """
    gaps = np.isnan(values)
    if not np.count_nonzero(gaps):  # the usual case, without a copy
        return (values, *aligned)
    there = ~gaps
    return (values[there], *(array[there] for array in aligned))


def lowest(values: FloatArray) -> int:
    """Return where the least value is; a gap never wins.

    Examples
    --------
    >>> import numpy as np
    >>> lowest(np.array([np.nan, 2.0, 1.0]))
    2
    """
    row = values.argmin() if len(values) > 1 else 0  # a NaN, where there is one
    if math.isnan(values[row]):
        row = np.where(np.isnan(values), np.inf, values).argmin()
    return int(row)
