"""What double precision leaves of a number."""

from __future__ import annotations

import math

import numpy as np

ULP = float(np.finfo(np.float64).eps)
"""Of a number: the distance to the next one, at most."""
TINY = float(np.finfo(np.float64).tiny)
"""The least number of full precision: what a divisor is at least."""
ROOT = math.sqrt(ULP)
"""Half of the digits: what rounding leaves of a difference of the best length, in the scale of all."""
SHOWN = ULP / 1e-3
"""Of |x|: a displacement of which rounding takes no more than a thousandth."""
