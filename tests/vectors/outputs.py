"""Functions that other processes can import."""

from __future__ import annotations

import numpy as np

from gracezo.core.types import FloatArray

TIMES = np.linspace(0.0, 2.0, 15)
TRUTH = {17: 0.4, 120: -0.6, 250: 0.8}


def decays(x: FloatArray) -> FloatArray:
    """Residuals of a sum of decays, three of 300 parameters off."""
    residuals: FloatArray = _model(x[17], x[120], x[250]) - _model(*TRUTH.values())
    return residuals


def _model(a: float, b: float, c: float) -> FloatArray:
    value: FloatArray = np.exp(a) * np.exp(-TIMES) + b * np.exp(-3.0 * TIMES) + np.sin(c + TIMES)
    return value
