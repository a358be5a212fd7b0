"""How many coordinates matter: what splits and labels say about it.

Coordinates that matter at the present scale are taken as scattered with an
unknown density ρ. A non-empty set of n then holds Poisson(λ), λ = ρ·n, given
at least one: exactly one with probability λ/(e^λ − 1), and all of them in one of
m equal parts with probability m·(e^{λ/m} − 1)/(e^λ − 1). Each split and each decoded label is
evidence; old evidence fades, because the scale that matters changes.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammainc


class Density:
    """A posterior over the density ρ on a logarithmic grid from 1/d to 1.

    Parameters
    ----------
    d
        Number of coordinates.
    keep
        Share of the evidence kept at each observation.
    """

    def __init__(self, d: int, keep: float) -> None:
        self._rho = np.exp(np.linspace(-math.log(d), 0.0, 48)) if d > 1 else np.ones(1)
        self._log = np.zeros(len(self._rho))
        self._keep = keep
        self._d = d
        self._found = 0
        self._weights: np.ndarray | None = None  # of the posterior, as long as nothing was learned

    def found(self) -> None:
        """Note that one more has been found: there are at least as many as that."""
        self._found += 1
        self._weights = None

    @property
    def _posterior(self) -> np.ndarray:
        if self._weights is None:
            log = self._log
            if self._found:
                log = log + np.log(gammainc(self._found, self._rho * self._d) + 1e-300)
            weights = np.exp(log - log.max())
            self._weights = weights / weights.sum()
        return self._weights

    def none(self, n: np.ndarray) -> np.ndarray:
        """Return the probability that a set of n holds none, for each n."""
        return np.asarray(np.exp(-np.multiply.outer(n, self._rho)) @ self._posterior)

    @property
    def mean(self) -> float:
        """The share of the coordinates that matter, in the mean of the posterior."""
        return float(self._rho @ self._posterior)

    def alone(self, n: float) -> float:
        """Return the probability that a non-empty set of n holds exactly one."""
        return float(_alone(self._rho * n) @ self._posterior)

    def saw_labels(self, n: float, decoded: bool) -> None:
        """Learn from labels asked on a set of n."""
        self._learn(_alone(self._rho * n), decoded)

    def saw_split(self, n: float, one_sided: bool, parts: int = 2) -> None:
        """Learn from a set of n cut into equal parts: whether one of them holds everything."""
        rate = np.minimum(self._rho * n, 700.0)
        self._learn(parts * np.expm1(rate / parts) / np.expm1(rate), one_sided)

    def _learn(self, chance: np.ndarray, happened: bool) -> None:
        likelihood = chance if happened else 1.0 - chance
        # No single observation rules anything out: the model is not that good.
        self._weights = None
        self._log = self._keep * self._log + np.log(np.clip(likelihood, 0.01, None))


def _alone(rate: np.ndarray) -> np.ndarray:
    rate = np.minimum(rate, 700.0)
    return np.asarray(rate / np.expm1(rate))


def counted(record: tuple[float, float], success: float, keep: float) -> tuple[float, float]:
    """Return a record of (successes, tries) with one more try; old ones fade."""
    return keep * record[0] + success, keep * record[1] + 1.0
