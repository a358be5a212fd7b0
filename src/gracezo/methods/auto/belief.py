"""The model: what is believed of the gradient, and with which errors.

    g_i = b_i + spike_i,   b_i ~ N(0, τ²) for every coordinate: the *background*;
                           spikes, of any size, scattered with density ρ: the coordinates that matter.

Every answer is a linear measurement Σ c_i·w_i·g_i ± e. Background is no error of subtraction, U(A∪B) − U(A)
is U(B) up to e; it is an error of the *reading* "one spike explains this": a sum has the deviation

    σ² = τ²·Σ(c_i·w_i)² + e².

τ is a posterior on a logarithmic grid, from the open groups as they stand: each of them is background, or
holds spikes of the size of those met, or (by a small chance) one of any size. With no background to be seen,
σ is e, and nothing here changes a number.

ρ is a posterior, too. A non-empty group of n holds Poisson(λ) spikes, λ = ρ·n, given at least one: exactly
one with probability λ/(e^λ − 1), and all of them in one of m equal parts with probability
m·(e^{λ/m} − 1)/(e^λ − 1). Each cut and each decoded label is evidence; old evidence fades, because the scale
that matters changes.

All of this holds for the point around which it was measured. After steps that came out as foreseen it is
true still, as a rule; after others it may not be: that is *drift*. What a recheck would find is foreseen from
what the last ones have found, and from how far the steps since then were from what was foreseen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import Protocol

import numpy as np
from scipy.special import gammainc

from gracezo.core.types import FloatArray, record
from gracezo.methods.auto import constants

_LOGS = np.linspace(-32.0, 2.0, 120)
_GRID = np.exp(_LOGS)  # τ in units of the largest sum met
_NEVER = 1e-300
_KEPT = 1000  # chances that are remembered
_SURE = 0.98  # of a spike of the size of those met, at most


class Evidence(Protocol):
    """What an open group says: its sum U, the error of that, and Σw²."""

    u: float
    error: float
    squares: float

    @property
    def spread(self) -> float:
        """Over how many positions its spikes may be scattered."""
        ...


@record
class Evidences:
    """The same of several groups at once; with K about their centres, over their half-lengths, if known."""

    u: FloatArray
    error: FloatArray
    squares: FloatArray
    spread: FloatArray
    moment: FloatArray
    blur: FloatArray

    @classmethod
    def of(cls, groups: Sequence[Evidence], moments: Sequence[tuple[float, float]] = ()) -> Evidences:
        """Gather what groups say."""
        table = np.array([(group.u, group.error, group.squares, group.spread) for group in groups])
        about = np.array(moments).reshape(-1, 2)
        u, error, squares, spread = table.reshape(-1, 4).T
        return cls(u, error, squares, spread, about[:, 0], about[:, 1])


class Belief:
    """What is believed of the gradient.

    Parameters
    ----------
    d
        Number of coordinates that can move.
    """

    def __init__(self, d: int) -> None:
        self.density = Density(d, constants.FORGET)
        """Of the coordinates that matter."""
        self._taus: FloatArray = np.zeros(1)
        self._posterior: FloatArray = np.ones(1)
        self._held: dict[tuple[float, ...], float] = {}  # chances, by what they depend on
        self._sizes: list[float] = []  # |derivative| of the spikes met under these weights
        self.size = 0.0
        """The size of a spike: the median of those met; zero while there is none."""
        self._downhill = [(1.0, 1.0), (1.0, 1.0)]  # by sign of U: confirmed, and tried
        self._tries = [0, 0]  # the same, all that were ever made
        self.tau = 0.0
        """Background: the root mean square of a derivative that is no spike."""
        self.drift = Drift()
        """Whether all of it is still true where the run is now."""

    # ------------------------------------------------------------ background

    def begin(self) -> None:
        """Forget the spikes met: other weights are drawn, or the point has moved."""
        self._sizes = []
        self.size = 0.0

    def meet(self, size: float) -> None:
        """Take in the derivative of a coordinate found."""
        self._sizes.append(abs(size))
        self.size = median(self._sizes[-31:])

    def learn(self, groups: Sequence[Evidence]) -> None:
        """Learn τ from the open groups."""
        heard = [group for group in groups if group.squares > 0.0]
        top = max((abs(group.u) for group in heard), default=0.0)
        top = max([top, *self._sizes[-31:]])
        if top == 0.0:
            return
        said = Evidences.of(heard)
        self._taus = taus = top * _GRID
        # A row for each group.
        u, squares, error = said.u[:, None], said.squares[:, None], said.error[:, None]
        known = self._occupied(said.spread)[:, None]
        empty, spiked = self._mixture(
            [(u, squares * (taus * taus) + error * error, 1.0)], known, constants.UNLIKE
        )
        log = np.add.reduce(np.log(empty + spiked + _NEVER), axis=0)
        weight = np.exp(log - np.maximum.reduce(log))
        self._posterior = weight / np.add.reduce(weight)
        self.tau = top * math.exp(float(self._posterior @ _LOGS))

    @property
    def least(self) -> float:
        """The same, at the least: its 5 % quantile."""
        return float(self._taus[np.searchsorted(np.cumsum(self._posterior), 0.05)])

    def deviation(self, squares: float, error: float, tau: float | None = None) -> float:
        """Return the standard deviation of a sum without spikes."""
        return math.hypot((self.tau if tau is None else tau) * math.sqrt(squares), error)

    def _occupied(self, spread: FloatArray) -> FloatArray:
        """Return the chance that each of so many positions holds a spike of the size of those met."""
        return np.minimum(1.0 - self.density.none(spread), _SURE)

    def _mixture(
        self, sums: Sequence[tuple[FloatArray, FloatArray, float]], known: FloatArray, unknown: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return the likelihoods of sums over the same groups: by background alone, and with spikes.

        A sum has a value, its variance without spikes, and the share of a spike's size that shows in it: a
        normal density, one of no known size, and Cauchy's, whose width is what a spike and the rest have.
        """
        size = self.size
        empty = (1.0 - known) * (1.0 - unknown)
        met = known
        unlike: FloatArray | float = unknown if size else np.maximum(known, unknown)
        for u, variance, share in sums:
            square = u * u
            empty = empty * np.exp(-0.5 * square / variance) / np.sqrt((2.0 * math.pi) * variance)
            unlike = unlike * (0.5 / constants.RANGE) / np.sqrt(variance + square)
            if size:
                width = variance + (share * size) ** 2
                met = met * np.sqrt(width) / (math.pi * (width + square))
        return empty, np.asarray(met + unlike if size else unlike)

    def holds(self, group: Evidence) -> float:
        """Return the chance that a group holds spikes."""
        # Prices are asked for again and again while nothing has been learned.
        state = group.u, group.error, group.squares, group.spread, self.tau, self.size, self.density.learned
        chance = self._held.get(state)
        if chance is None:
            if len(self._held) > _KEPT:
                self._held.clear()
            chance = self._held[state] = self._chance(group)
        return chance

    def _chance(self, group: Evidence) -> float:
        """Return what `chances` says of a single group: arrays of one number would take ten times as long."""
        if not (group.squares > 0.0 and abs(group.u) > group.error):
            return 0.0
        square, size, unknown = group.u**2, self.size, constants.UNLIKE
        variance = self.tau**2 * group.squares + group.error**2
        if variance == 0.0:
            return 1.0  # there is nothing else that it could be
        known = min(1.0 - self.density.no(group.spread), _SURE)
        empty = (1.0 - known) * (1.0 - unknown) * math.exp(-0.5 * square / variance)
        empty /= math.sqrt(2.0 * math.pi * variance)
        spiked = (unknown if size else max(known, unknown)) * (0.5 / constants.RANGE)
        spiked /= math.sqrt(variance + square)
        if size:
            width = variance + size**2
            spiked += known * math.sqrt(width) / (math.pi * (width + square))
        return spiked / (spiked + empty + _NEVER)

    def chances(
        self, groups: Evidences, tau: float | None = None, unknown: float | None = None
    ) -> FloatArray:
        """Return the chance of each group that it holds spikes; `unknown` is that of one unlike those met."""
        tau = self.tau if tau is None else tau
        unknown = constants.UNLIKE if unknown is None else unknown
        sums = [(groups.u, tau**2 * groups.squares + groups.error**2, 1.0)]
        if len(groups.moment):
            # What cancels in U shows in K.
            sums.append((groups.moment, tau**2 * groups.squares / 3.0 + groups.blur**2, 0.6))
        empty, spiked = self._mixture(sums, self._occupied(groups.spread), unknown)
        plainly = (groups.squares > 0.0) & (np.abs(groups.u) > groups.error)
        return np.where(plainly, spiked / (spiked + empty + _NEVER), 0.0)

    def alone(self, group: Evidence, off: float, second: float, blur: float) -> tuple[float, float]:
        """Return the chance that one spike is all that a group holds, and the τ that goes with it.

        Then K/U is `off` an integer by background and by its own error `blur`, positions both; `second` is
        Σw²(k − K/U)². Of several it is anywhere.
        """
        deviation = np.sqrt(self._taus**2 * second / group.u**2 + blur**2)
        if off > 0.5:  # beyond its ends
            likely = np.exp(-0.5 * (off / deviation) ** 2)
        else:
            normal = np.exp(-0.5 * (off / deviation) ** 2) / (math.sqrt(2.0 * math.pi) * deviation)
            likely = np.where(deviation > 0.5, 1.0, normal)
        weight = self._posterior * likely
        total = float(np.add.reduce(weight))
        alone = self.density.alone(group.spread)
        # Of several, K/U is as likely to be here as anywhere; signs may carry it beyond the ends.
        chance = alone * total / (alone * total + (1.0 - alone) * 0.6)
        if total < 1e-30:
            return chance, self.tau
        return chance, float(self._taus[np.searchsorted(np.cumsum(weight) / total, 0.8)])

    # ------------------------------------------------------------ ways down

    def rate(self, side: int) -> float:
        """Return how often groups of one sign of U led to a descent."""
        # Failures in a row make a success unlikely, never impossible: after n of them, one in n + 2.
        return max(self._downhill[side][0] / self._downhill[side][1], 1.0 / (self._tries[side] + 2.0))

    def tried(self, side: int, success: bool) -> None:
        """Note whether a group of one sign led to a descent."""
        self._downhill[side] = counted(self._downhill[side], success, constants.FORGET)
        self._tries[side] += 1


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
        self.learned = 0
        """How often something was learned."""
        self._singles: dict[float, float] = {}  # chances of exactly one, until something is learned
        self._nones: dict[float, float] = {}  # and of none
        self._weights: np.ndarray | None = None  # of the posterior, as long as nothing was learned

    def found(self) -> None:
        """Note that one more has been found: there are at least as many as that."""
        self._found += 1
        self._forget()

    def _forget(self) -> None:
        """Forget what followed from what was known."""
        self.learned += 1
        self._weights = None
        self._singles.clear()
        self._nones.clear()

    @property
    def _posterior(self) -> np.ndarray:
        if self._weights is None:
            log = self._log
            if self._found:
                log = log + np.log(gammainc(self._found, self._rho * self._d) + 1e-300)
            weights = np.exp(log - np.maximum.reduce(log))
            self._weights = weights / np.add.reduce(weights)
        return self._weights

    def none(self, n: np.ndarray) -> np.ndarray:
        """Return the probability that a set of n holds none, for each n."""
        return np.asarray(np.exp(-np.multiply.outer(n, self._rho)) @ self._posterior)

    def no(self, n: float) -> float:
        """Return the same for one n."""
        none = self._nones.get(n)
        if none is None:
            none = self._nones[n] = float(np.exp(-n * self._rho) @ self._posterior)
        return none

    @property
    def mean(self) -> float:
        """The share of the coordinates that matter, in the mean of the posterior."""
        return float(self._rho @ self._posterior)

    def alone(self, n: float) -> float:
        """Return the probability that a non-empty set of n holds exactly one."""
        single = self._singles.get(n)
        if single is None:
            single = self._singles[n] = float(_alone(self._rho * n) @ self._posterior)
        return single

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
        self._forget()
        self._log = self._keep * self._log + np.log(np.maximum(likelihood, 0.01))


def _alone(rate: np.ndarray) -> np.ndarray:
    rate = np.minimum(rate, 700.0)
    return np.asarray(rate / np.expm1(rate))


def counted(record: tuple[float, float], success: float, keep: float) -> tuple[float, float]:
    """Return a record of (successes, tries) with one more try; old ones fade."""
    return keep * record[0] + success, keep * record[1] + 1.0


class Drift:
    """Whether what the search knows is true still: steps are reason to doubt it, rechecks have told."""

    def __init__(self) -> None:
        self._drifted = (1.0, 2.0)  # rechecks: found changed, and made
        self._stirred = 0.0  # how much reason there is now, up to one
        self.doubt = 0.0
        """Decrease that may have come up outside of what the search knows."""
        self.outdated = False
        """Whether it is known not to be true any more."""

    def begin(self) -> None:
        """Doubt nothing: the search is new, or is being looked at."""
        self.doubt, self._stirred, self.outdated = 0.0, 0.0, False

    def moved(self) -> None:
        """Take nothing for true any more: the point is another one."""
        self.outdated = True

    def saw(self, changed: bool) -> None:
        """Note what a recheck has found."""
        self.outdated = changed
        self._drifted = counted(self._drifted, changed, constants.FORGET)

    def stir(self, unforeseen: float, missed: float) -> None:
        """Doubt the search after a step: the decrease that was not foreseen, and its share of the whole."""
        self.doubt += self.drifting * unforeseen
        # A step missed by as much as the search may be off is reason enough to look.
        reason = min(1.0, missed / constants.LITTLE)
        self._stirred = min(1.0, self._stirred + reason)

    @property
    def drifting(self) -> float:
        """How often a recheck found the search out of date."""
        return self._drifted[0] / self._drifted[1]

    def overdue(self, cost: float) -> bool:
        """Whether the search is likely to waste more queries until the next find than a recheck costs."""
        return self._stirred * self.drifting * cost > 1.0
