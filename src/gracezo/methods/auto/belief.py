"""The model: what is believed of the gradient, and with which errors.

    g_i = b_i + spike_i,   b_i ~ N(0, τ²) for every coordinate: the *background*;
                           spikes, of any size, scattered with density ρ: the coordinates that matter.

Every answer is a linear measurement Σ c_i·w_i·g_i ± e. Background is no error of subtraction, U(A∪B) − U(A)
is U(B) up to e; it is an error of the *reading* "one spike explains this": a sum has the deviation

    σ² = τ²·Σ(c_i·w_i)² + e².

τ is a posterior on a logarithmic grid, from the open groups as they stand: each of them is background, or
holds spikes of the size of those met, or (by a small chance) one of any size. ρ is a posterior from cuts and
labels (`density.py`). With no background to be seen, σ is e, and nothing here changes a number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gracezo.core.types import FloatArray
from gracezo.methods.auto.constants import Constants
from gracezo.methods.auto.density import Density, counted

_GRID = np.exp(np.linspace(-32.0, 2.0, 120))  # τ in units of the largest sum met
_RANGE = 10.0  # e-folds over which the size of a spike is unknown
_UNKNOWN = 0.05  # chance that a group holds a spike unlike those met
_NEVER = 1e-300


class Evidence(Protocol):
    """What an open group says: its sum U, the error of that, and Σw²."""

    u: float
    error: float
    squares: float

    @property
    def spread(self) -> float:
        """Over how many positions its spikes may be scattered."""
        ...


@dataclass(frozen=True, eq=False)
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
    constants
        What the method assumes.
    """

    def __init__(self, d: int, constants: Constants) -> None:
        self._constants = constants
        self.density = Density(d, constants.forget)
        """Of the coordinates that matter."""
        self._taus: FloatArray = np.zeros(1)
        self._posterior: FloatArray = np.ones(1)
        self._sizes: list[float] = []  # |derivative| of the spikes met under these weights
        self.size = 0.0
        """The size of a spike: the median of those met; zero while there is none."""
        self._downhill = [(1.0, 1.0), (1.0, 1.0)]  # by sign of U: confirmed, and tried
        self._tries = [0, 0]  # the same, all that were ever made
        self.tau = 0.0
        """Background: the root mean square of a derivative that is no spike."""
        self.least = 0.0
        """The same, at the least: its 5 % quantile."""

    # ------------------------------------------------------------ background

    def begin(self) -> None:
        """Forget the spikes met: other weights are drawn, or the point has moved."""
        self._sizes = []
        self.size = 0.0

    def meet(self, size: float) -> None:
        """Take in the derivative of a coordinate found."""
        self._sizes.append(abs(size))
        self.size = float(np.median(self._sizes[-31:]))

    def learn(self, groups: Sequence[Evidence]) -> None:
        """Learn τ from the open groups."""
        heard = [group for group in groups if group.squares > 0.0]
        top = max((abs(group.u) for group in heard), default=0.0)
        top = max([top, *self._sizes[-31:]])
        if top == 0.0:
            return
        said = Evidences.of(heard)
        self._taus = top * _GRID
        deviation = np.sqrt(np.outer(self._taus**2, said.squares) + said.error**2)
        empty, spiked = self._mixture([(said.u, deviation, 1.0)], self._occupied(said.spread), _UNKNOWN)
        log = np.log(empty + spiked + _NEVER).sum(axis=1)
        weight = np.exp(log - log.max())
        self._posterior = weight / weight.sum()
        self.tau = math.exp(float(self._posterior @ np.log(self._taus)))
        self.least = float(self._taus[np.searchsorted(np.cumsum(self._posterior), 0.05)])

    def deviation(self, squares: float, error: float, tau: float | None = None) -> float:
        """Return the standard deviation of a sum without spikes."""
        return math.hypot((self.tau if tau is None else tau) * math.sqrt(squares), error)

    def _occupied(self, spread: FloatArray) -> FloatArray:
        """Return the chance that each of so many positions holds a spike of the size of those met."""
        return np.minimum(1.0 - self.density.none(spread), 0.98)

    def _mixture(
        self, sums: Sequence[tuple[FloatArray, FloatArray, float]], known: FloatArray, unknown: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return the likelihoods of sums over the same groups: by background alone, and with spikes.

        A sum has a value, its deviation without spikes, and the share of a spike's size that shows in it.
        """
        size = self.size
        empty = (1.0 - known) * (1.0 - unknown)
        met = known if size else 0.0 * known
        unlike = np.full_like(known, unknown) if size else np.maximum(known, unknown)
        for u, deviation, share in sums:
            empty = empty * _normal(u, deviation)
            unlike = unlike * 0.5 / _RANGE / np.hypot(deviation, u)
            if size:
                width = np.hypot(share * size, deviation)
                met = met / (math.pi * width * (1.0 + (u / width) ** 2))
        return empty, met + unlike

    def holds(self, group: Evidence) -> float:
        """Return the chance that a group holds spikes."""
        return float(self.chances(Evidences.of([group]))[0])

    def chances(self, groups: Evidences, tau: float | None = None, unknown: float = _UNKNOWN) -> FloatArray:
        """Return the chance of each group that it holds spikes; `unknown` is that of one unlike those met."""
        tau = self.tau if tau is None else tau
        sums = [(groups.u, np.sqrt(tau**2 * groups.squares + groups.error**2), 1.0)]
        if len(groups.moment):
            # What cancels in U shows in K.
            sums.append((groups.moment, np.sqrt(tau**2 * groups.squares / 3.0 + groups.blur**2), 0.6))
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
            likely = np.where(deviation > 0.5, 1.0, _normal(np.array(off), deviation))
        weight = self._posterior * likely
        total = float(weight.sum())
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
        self._downhill[side] = counted(self._downhill[side], success, self._constants.forget)
        self._tries[side] += 1


def _normal(u: FloatArray, deviation: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-0.5 * (u / deviation) ** 2) / (math.sqrt(2.0 * math.pi) * deviation))
