"""How many spikes there are, and how large: what is believed of the coordinates that matter.

ρ is a posterior, too. A non-empty group of n holds Poisson(λ) spikes, λ = ρ·n, given at least one: exactly
one with probability λ/(e^λ − 1), and all of them in one of m equal parts with probability
m·(e^{λ/m} − 1)/(e^λ − 1). Each cut and each decoded label is evidence; old evidence fades, because the scale
that matters changes.

The sizes of spikes are log-normal, as those met are, and stand out of the background of d coordinates, whose
largest is τ·√(2 ln d) (Donoho & Johnstone's universal threshold, 1994). So a group whose sum is near zero is
known to hold none, as far as spikes are larger than σ, unless two of them cancel.
"""

from __future__ import annotations

import math
import sys
from statistics import median

import numpy as np
from scipy.special import gammainc

from gracezo.core.precision import TINY
from gracezo.core.shuffle import SAMPLE
from gracezo.core.types import FloatArray
from gracezo.methods.auto import constants

_LARGEST = math.log(sys.float_info.max) - 1.0  # of what eˣ can be taken
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(7)  # quadrature of a normal distribution
_CHANCES = _WEIGHTS / _WEIGHTS.sum()
_ROOT = math.sqrt(2.0 * math.pi)


class Sizes:
    """The sizes of spikes: log-normal, as far as those met tell.

    Parameters
    ----------
    d
        Number of coordinates that can move.
    """

    def __init__(self, d: int) -> None:
        self._threshold = math.sqrt(2.0 * math.log(d)) if d > 1 else 0.0  # of the background, in τ
        self._met: list[float] = []
        self._least = 0.0  # what stands out of the background
        self._standing: list[float] = []  # those met that do
        self._nodes: FloatArray = np.zeros((3, 0))  # sizes, their widths, their chances
        self._each: list[list[float]] = []  # the same, one by one
        self.typical = 0.0
        """The median of those met; zero while there is none."""
        self.largest = 0.0
        """The largest of those met lately."""
        self.novelty = 1.0
        """The chance that the next one is unlike those met, by Laplace's rule of succession."""

    def forget(self) -> None:
        """Forget those met."""
        self._met, self._standing, self.typical, self.largest = [], [], 0.0, 0.0
        self._nodes, self._each, self.novelty = np.zeros((3, 0)), [], 1.0

    def meet(self, size: float, tau: float) -> None:
        """Take in one more, above a background τ."""
        self._met.append(size)
        self.largest = max(self._lately)
        self.stand_out(tau)

    @property
    def _lately(self) -> list[float]:
        return self._met[-constants.WINDOW :]

    def stands_out(self, size: float, tau: float) -> bool:
        """Whether a derivative is larger than all of a background τ are, as a rule."""
        return abs(size) > self._threshold * tau

    def stand_out(self, tau: float) -> None:
        """Take those met for spikes that stand out of a background τ."""
        if not self._met:
            return
        self._least = self._threshold * tau
        sizes = [size for size in self._lately if size > self._least] or self._met[-1:]
        if sizes == self._standing:
            return
        self._standing, self.typical, self.novelty = sizes, median(sizes), 1.0 / (1.0 + len(sizes))
        logs, n = np.log(np.maximum(sizes, TINY)), len(sizes)
        mean = float(np.add.reduce(logs)) / n
        # One observation of a factor e beforehand; and weights differ, too.
        variance = (1.0 + float(np.add.reduce((logs - mean) ** 2))) / (1.0 + n)
        spread = math.sqrt(variance * (1.0 + 1.0 / n) + constants.SPREAD**2 / 3.0)
        at = np.exp(mean + spread * _NODES)
        self._nodes = np.array((at, 0.4 * spread * at, _CHANCES))
        self._each = self._nodes.T.tolist()

    def likely_at(self, u: float, deviation: float) -> float:
        """Return the likelihood of one sum with one spike."""
        total = 0.0
        for size, width, chance in self._each:
            if size > self._least and (blurred := math.hypot(width, deviation)):
                ahead, behind = (u - size) / blurred, (u + size) / blurred
                both = math.exp(-0.5 * ahead * ahead) + math.exp(-0.5 * behind * behind)
                total += chance * both / blurred
        return 0.5 * total / _ROOT

    def likely(self, u: FloatArray, deviation: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the likelihood of sums with one spike each; and the same, lesser ones by their sizes."""
        size, width, chance = self._nodes
        chance = 0.5 * chance * (size > self._least)
        blurred = np.hypot(width, deviation[:, None])
        likely = chance * (normal(u[:, None] - size, blurred) + normal(u[:, None] + size, blurred))
        return likely.sum(axis=1), likely @ np.minimum(size / self.typical, 1.0)


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
        self._at_least = np.zeros(len(self._rho))  # the logarithm of the chance that there are so many
        self.learned = 0
        """How often something was learned."""
        self._by_rho: dict[float, tuple[np.ndarray, ...]] = {}  # chances of sets, by their size, for each ρ
        self._few: dict[float, tuple[float, float, float]] = {}  # the same, until something is learned
        self._weights: np.ndarray | None = None  # of the posterior, as long as nothing was learned

    def found(self) -> None:
        """Note that one more has been found: there are at least as many as that."""
        self._found += 1
        self._at_least = np.log(gammainc(self._found, self._rho * self._d) + TINY)
        self._forget()

    def _forget(self) -> None:
        """Forget what followed from what was known."""
        self.learned += 1
        self._weights = None
        self._few.clear()

    @property
    def _posterior(self) -> np.ndarray:
        if self._weights is None:
            log = self._log + self._at_least
            weights = np.exp(log - np.maximum.reduce(log))
            self._weights = weights / np.add.reduce(weights)
        return self._weights

    def none(self, n: np.ndarray) -> np.ndarray:
        """Return the probability that a set of n holds none, for each n."""
        return np.asarray(np.exp(-np.multiply.outer(n, self._rho)) @ self._posterior)

    def one(self, n: np.ndarray) -> np.ndarray:
        """Return the probability that a set of n holds exactly one, for each n."""
        rate = np.multiply.outer(n, self._rho)
        return np.asarray((rate * np.exp(-rate)) @ self._posterior)

    def few(self, n: float) -> tuple[float, float]:
        """Return both probabilities for one n."""
        return self._of(n)[:2]

    def _of(self, n: float) -> tuple[float, float, float]:
        """Return the probabilities that a set of n holds none, one, and one if it is not empty."""
        few = self._few.get(n)
        if few is None:
            posterior = self._posterior
            none, one, alone = self._chances(n)
            few = self._few[n] = float(none @ posterior), float(one @ posterior), float(alone @ posterior)
        return few

    def _chances(self, n: float) -> tuple[np.ndarray, ...]:
        """Return the same for each ρ: groups of few sizes are asked for again and again."""
        chances = self._by_rho.get(n)
        if chances is None:
            if len(self._by_rho) > SAMPLE:
                self._by_rho.clear()
            rate = n * self._rho
            none = np.exp(-rate)
            rising = np.minimum(rate, _LARGEST)
            chances = self._by_rho[n] = none, rate * none, rising / np.expm1(rising)
        return chances

    @property
    def mean(self) -> float:
        """The share of the coordinates that matter, in the mean of the posterior."""
        return float(self._rho @ self._posterior)

    @property
    def typical(self) -> float:
        """The same in the geometric mean."""
        return math.exp(float(np.log(self._rho) @ self._posterior))

    def ends(self, n: int, looks: float) -> float:
        """Return the probability that so many looks find all in n: for each its cuts, and two more."""
        wanted = n * self._rho * (2.0 - np.log2(self._rho))
        return float(self._posterior @ (wanted < looks))

    def alone(self, n: float) -> float:
        """Return the probability that a non-empty set of n holds exactly one."""
        return self._of(n)[2]

    def saw_labels(self, n: float, decoded: bool) -> None:
        """Learn from labels asked on a set of n."""
        self._learn(self._chances(n)[2], decoded)

    def saw_split(self, n: float, one_sided: bool, parts: int = 2, little: float = 0.0) -> None:
        """Learn from a set of n cut into equal parts: whether one of them holds everything, or seems to.

        Of sums over many one is that `little` beside another by chance, too: their ratio is Cauchy's. A
        search that opens all groups in any case leaves that out.
        """
        rate = np.minimum(self._rho * n, _LARGEST)
        holds = parts * np.expm1(rate / parts) / np.expm1(rate)
        by_chance = (4.0 / math.pi * math.atan(little)) ** (parts - 1)
        self._learn(holds + (1.0 - holds) * by_chance, one_sided)

    def _learn(self, chance: np.ndarray, happened: bool) -> None:
        likelihood = chance if happened else 1.0 - chance
        # No single observation rules anything out: the model is not that good, whatever happens.
        self._forget()
        self._log = self._keep * self._log + np.log(np.maximum(likelihood, 0.5 * constants.RULED_OUT))


def normal(u: FloatArray, deviation: FloatArray) -> FloatArray:
    """Return the density of sums that are normal about zero."""
    return np.asarray(np.exp(-0.5 * (u / deviation) ** 2) / (_ROOT * deviation))


def normal_at(u: float, deviation: float) -> float:
    """Return the same for one sum."""
    ratio = u / deviation
    return math.exp(-0.5 * ratio * ratio) / (_ROOT * deviation)
