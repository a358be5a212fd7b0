"""From a point and a gradient estimate to the next point. Pure: an update never queries.

An update is made anew for each run, so that those with a memory (moments,
masks) may keep it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from gracezo.core.result import GradientEstimate
from gracezo.core.types import FloatArray

Update: TypeAlias = Callable[[FloatArray, GradientEstimate], FloatArray]


def plain(step_size: float) -> Update:
    """X − η·g."""

    def update(x: FloatArray, gradient: GradientEstimate) -> FloatArray:
        if len(gradient.indices) == gradient.size:
            return x - step_size * gradient.values
        new = x.copy()
        new[gradient.indices] -= step_size * gradient.values
        return new

    return update
