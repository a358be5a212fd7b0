"""A value in a journal: a number; of a function with many outputs, these one after the other, as bytes."""

from __future__ import annotations

import math

import numpy as np

from gracezo.core.types import FloatArray


def stored(value: float | FloatArray) -> float | bytes:
    """Return a value as a journal keeps it.

    Examples
    --------
    >>> import numpy as np
    >>> recalled(stored(np.array([1.0, 2.5]))).tolist()
    [1.0, 2.5]
    """
    return value.astype("<f8").tobytes() if isinstance(value, np.ndarray) else value


def recalled(kept: object) -> float | FloatArray:
    """Return a value that a journal has kept; a TypeError if it is none."""
    if isinstance(kept, float) and math.isfinite(kept):
        return kept
    if isinstance(kept, bytes) and kept and len(kept) % 8 == 0:
        outputs = np.frombuffer(kept, "<f8").astype(np.float64)
        if np.isfinite(outputs).all():
            outputs.flags.writeable = False
            return outputs
    raise TypeError(f"the value {kept!r:.60}")
