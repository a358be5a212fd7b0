"""Losses: what of a residual counts. As in `scipy.optimize.least_squares`.

The cost is ½ Σ C²·ρ((r_i/C)²), with C the soft margin between what fits and what is an outlier.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeAlias

import numpy as np

from gracezo.core.types import FloatArray

Rho: TypeAlias = Callable[[FloatArray], tuple[FloatArray, FloatArray]]  # z to ρ(z) and ρ'(z)


_NOISE = 1.5  # times its standard deviation: residuals that are no larger
_OUTLIER = 3.0  # times: noise is not larger, if it was guessed right


def _huber(z: FloatArray) -> tuple[FloatArray, FloatArray]:
    root = np.sqrt(np.maximum(z, 1.0))
    return np.where(z <= 1.0, z, 2.0 * root - 1.0), 1.0 / root


LOSSES: Mapping[str, Rho] = {
    "linear": lambda z: (z, np.ones_like(z)),
    "soft_l1": lambda z: (2.0 * (np.sqrt(1.0 + z) - 1.0), 1.0 / np.sqrt(1.0 + z)),
    "huber": _huber,
    "cauchy": lambda z: (np.log1p(z), 1.0 / (1.0 + z)),
    "arctan": lambda z: (np.arctan(z), 1.0 / (1.0 + z**2)),
}


@dataclass(frozen=True)
class Loss:
    """A loss with its margin.

    Parameters
    ----------
    given
        One of `LOSSES`, or a function of z = (r/C)² that returns ρ, ρ' and ρ'' in rows, as SciPy takes it.
    margin
        C.

    Examples
    --------
    >>> import numpy as np
    >>> Loss("linear").cost(np.array([3.0, 4.0])), Loss("cauchy", 10.0).cost(np.array([3.0])) < 4.5
    (12.5, True)
    """

    given: str | Callable[[FloatArray], Any] = "linear"
    margin: float = 1.0

    def __post_init__(self) -> None:
        if not callable(self.given) and self.given not in LOSSES:
            near = get_close_matches(str(self.given), LOSSES, n=2, cutoff=0.4)
            hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
            raise ValueError(f"unknown loss {self.given!r}; {hint}known: {', '.join(LOSSES)}, or a function")

    def cost(self, outputs: FloatArray) -> float:
        """Return the cost of outputs, infinite where it cannot be told."""
        with np.errstate(over="ignore", invalid="ignore"):
            total = 0.5 * self.margin**2 * float(np.sum(self._of(outputs)[0]))
        return total if np.isfinite(total) else np.inf

    def weights(self, outputs: FloatArray) -> FloatArray:
        """Return ρ' for each output: the gradient of the cost is Jᵀ(ρ'·r)."""
        return self._of(outputs)[1]

    def uncertainty(self, outputs: FloatArray, deviations: FloatArray) -> float:
        """Return the standard error of the cost of outputs r that have these: of rn + n²/2."""
        squares = (outputs * deviations) ** 2 + deviations**4 / 2.0  # also where luck has made r small
        return float(np.linalg.norm(self.weights(outputs) * np.sqrt(squares)))

    def is_noise(self, outputs: FloatArray, deviations: FloatArray) -> bool:
        """Whether residuals are no larger than noise of these standard deviations makes them.

        All together, and half of them each in its own unit: an output whose noise was guessed much too large
        does not speak for the others; nor does one whose noise was guessed much too small.

        Examples
        --------
        >>> import numpy as np
        >>> noise = np.array([1.0, 1.0, 100.0])
        >>> Loss().is_noise(np.array([1.0, -0.5, 20.0]), noise), Loss().is_noise(np.full(3, 9.0), noise)
        (True, False)
        """
        most = _NOISE * deviations
        within = np.abs(outputs) <= most
        cut = np.minimum(np.abs(outputs), _OUTLIER * deviations)
        return bool(2 * within.sum() >= len(within)) and self.cost(cut) <= self.cost(most)

    def _of(self, outputs: FloatArray) -> tuple[FloatArray, FloatArray]:
        with np.errstate(over="ignore"):
            z = (outputs / self.margin) ** 2
        if callable(self.given):
            rho = np.asarray(self.given(z), np.float64)
            return rho[0], rho[1]
        return LOSSES[self.given](z)
