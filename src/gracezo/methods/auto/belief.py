"""The model: what is believed of the gradient, and with which errors.

    g_i = b_i + spike_i,   b_i ~ N(0, τ²) for every coordinate: the *background*;
                           spikes, of any size, scattered with density ρ: the coordinates that matter.

Every answer is a linear measurement Σ c_i·w_i·g_i ± e. Background is no error of subtraction, U(A∪B) − U(A)
is U(B) up to e; it is an error of the *reading* "one spike explains this": a sum has the deviation

    σ² = τ²·Σ(c_i·w_i)² + e².

τ is a posterior on a logarithmic grid, from the open groups as they stand: each of them is background, or
holds spikes of the size of those met, or (by a small chance) one of any size. With no background to be seen,
σ is e, and nothing here changes a number.

How many spikes there are and how large, as far as those met tell, is in `spikes.py`.

All of this holds for the point around which it was measured. After steps that came out as predicted it is
true still, as a rule; after others it may not be: that is *drift*. What a recheck would find is predicted
from what the last ones have found, and from how far the steps since then were from what was predicted.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from gracezo.core.precision import TINY
from gracezo.core.shuffle import SAMPLE
from gracezo.core.types import BoolArray, FloatArray, record
from gracezo.methods.auto import constants
from gracezo.methods.auto.spikes import Density, Sizes, normal, normal_at

_LOGS = np.linspace(-32.0, 2.0, 120)
_GRID = np.exp(_LOGS)  # τ in units of the largest sum met
_NOTHING = math.log(sys.float_info.min) * 2.0  # eˣ is zero below
_QUANTILES = np.array([0.1, 0.3, 0.5, 0.7, 0.9])  # of the posterior of τ, that stand for it


class Evidence(Protocol):
    """What an open group says: its sum U, the error of that, Σw², and how far its spikes are scattered."""

    u: float
    error: float
    squares: float
    spread: float


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

    @property
    def plain(self) -> BoolArray:
        """Whether each of them says anything."""
        return np.asarray((self.squares > 0.0) & (np.abs(self.u) > self.error))


@record
class Posterior:
    """That of τ: values, what each of them weighs, and the state of affairs in which that was learned."""

    taus: FloatArray
    weights: FloatArray
    state: tuple[object, ...] = ()


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
        self._posterior = Posterior(np.zeros(1), np.ones(1))
        self._held: dict[tuple[float, ...], float] = {}  # chances, by what they depend on
        self._learned = 0  # how often something has changed here
        self.sizes = Sizes(d)
        """Of the spikes met lately, at this point and before."""
        self.unseen = 1.0
        """Share of the spikes that the density tells which may not have been found by earlier searches."""
        self._downhill = (Downhill(), Downhill())  # by sign of U
        self.tau = 0.0
        """Background: the root mean square of a derivative that is no spike."""
        self.drift = Drift()
        """Whether all of it is still true where the run is now."""

    # ------------------------------------------------------------ background

    def begin(self) -> None:
        """Search anew, where any spike may be unfound: other weights are drawn, or the point has moved."""
        self._learned += 1
        self.unseen = 1.0

    def forget(self) -> None:
        """Forget the spikes met: what is left is of another size."""
        self._learned += 1
        self.sizes.forget()

    def meet(self, size: float) -> None:
        """Take in the derivative of a coordinate found."""
        self._learned += 1
        self.sizes.meet(abs(size), self.tau)

    def search_again(self, left: float, n: int) -> None:
        """Begin with other weights, after a search of n coordinates that has left so many spikes."""
        self.unseen = min(left / max(self.density.mean * n, 1.0), 1.0)

    def learn(self, groups: Sequence[Evidence]) -> None:
        """Learn τ from the open groups."""
        heard = [
            (group.u, group.error, group.squares, group.spread) for group in groups if group.squares > 0.0
        ]
        top = max([abs(u) for u, *_ in heard], default=0.0)
        top = max(top, self.sizes.largest)
        state = top, self.unseen, self.sizes.typical, self.sizes.novelty, self.density.learned, *sorted(heard)
        if top == 0.0 or state == self._posterior.state:  # labels change nothing of this
            return
        self._learned += 1
        taus = top * _GRID
        likelihood = self._by_tau(np.array(heard).reshape(-1, 4), taus**2)
        log = np.add.reduce(np.log(likelihood, out=likelihood), axis=0)
        weights = np.exp(log - np.maximum.reduce(log))
        weights /= np.add.reduce(weights)
        self._posterior = Posterior(taus, weights, state)
        self.tau = top * math.exp(float(weights @ _LOGS))
        self.sizes.stand_out(self.tau)

    def _by_tau(self, heard: FloatArray, squared: FloatArray) -> FloatArray:
        """Return the likelihood of each group, a row each, by τ².

        Groups are few, and what this takes is the number of operations on arrays: each is done in place.
        """
        u, error, squares, spread = heard.T[:, :, None]
        none = self.density.none(self.unseen * spread[:, 0])
        known = np.minimum(1.0 - none, 1.0 - constants.RULED_OUT)[:, None]
        square = u * u
        variance = squares * squared
        variance += error * error
        like: FloatArray = -0.5 * square / variance
        np.maximum(like, _NOTHING, out=like)  # far below it, eˣ takes three times as long to be zero
        np.exp(like, out=like)
        like *= (1.0 - constants.UNLIKE) / math.sqrt(2.0 * math.pi) * (1.0 - known)
        width = np.sqrt(variance)
        like /= width
        unlike = np.maximum(self.sizes.novelty * known, constants.UNLIKE) * (0.5 / constants.RANGE)
        np.add(variance, square, out=width)
        like += np.divide(unlike, np.sqrt(width, out=width), out=width)
        if self.sizes.typical:
            # For the sake of τ spikes may be of any size up to about those met, with long tails.
            variance += self.sizes.typical**2
            np.sqrt(variance, out=width)
            variance += square
            width /= variance
            width *= (1.0 - self.sizes.novelty) / math.pi * known
            like += width
        like += TINY
        return like

    @property
    def least(self) -> float:
        """The same, at the least: next to nothing of its posterior is below."""
        taus, weights = self._posterior.taus, self._posterior.weights
        return float(taus[np.searchsorted(np.cumsum(weights), constants.LITTLE)])

    def deviation(self, squares: float, error: float, tau: float | None = None) -> float:
        """Return the standard deviation of a sum without spikes."""
        return math.hypot((self.tau if tau is None else tau) * math.sqrt(squares), error)

    def _occupied(self, spread: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the chances that so many positions hold spikes of the size of those met, and one alone."""
        spread = self.unseen * spread
        known = np.minimum(1.0 - self.density.none(spread), 1.0 - constants.RULED_OUT)
        return known, np.minimum(self.density.one(spread), known)

    def _without(
        self, sums: Sequence[tuple[FloatArray, FloatArray]], known: FloatArray, unknown: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return the likelihoods of sums over the same groups: by background, by a spike unlike those met.

        A sum has a value, and its deviation without spikes.
        """
        empty = (1.0 - known) * (1.0 - unknown)
        unlike = np.maximum(self.sizes.novelty * known, unknown)
        for u, deviation in sums:
            empty = empty * normal(u, deviation)
            unlike = unlike * 0.5 / constants.RANGE / np.hypot(deviation, u)
        return empty, unlike

    def _likelihoods(self, groups: Evidences, tau: float, unknown: float) -> tuple[FloatArray, ...]:
        """Return those of groups: without spikes; with spikes; and by how much these would be missed."""
        known, alone = self._occupied(groups.spread)
        sums = [(groups.u, np.sqrt(tau**2 * groups.squares + groups.error**2))]
        shown = [1.0]
        if len(groups.moment):
            # What cancels in U shows in K: of a spike anywhere from −1 to 1, √⅓ in the root mean square.
            sums.append((groups.moment, np.sqrt(tau**2 * groups.squares / 3.0 + groups.blur**2)))
            shown.append(math.sqrt(1.0 / 3.0))
        empty, unlike = self._without(sums, known, unknown)
        if not self.sizes.typical:
            return empty, unlike, unlike
        alone, known = (1.0 - self.sizes.novelty) * alone, (1.0 - self.sizes.novelty) * known
        several = known - alone
        for (u, deviation), share in zip(sums, shown, strict=True):
            several = several * normal(u, np.hypot(math.sqrt(2.0) * share * self.sizes.typical, deviation))
        one, missed = self.sizes.likely(*sums[0])
        for (u, deviation), share in zip(sums[1:], shown[1:], strict=True):
            alone = alone * normal(u, np.hypot(share * self.sizes.typical, deviation))
        return empty, alone * one + several + unlike, alone * missed + several + unlike

    @property
    def learned(self) -> int:
        """How often something was learned: as long as it is the same, so are prices."""
        return self._learned + self.density.learned

    def holds(self, group: Evidence) -> float:
        """Return the chance that a group holds spikes."""
        # It is asked for again and again while nothing has been learned.
        state = group.u, group.error, group.squares, group.spread, self.learned
        chance = self._held.get(state)
        if chance is None:
            if len(self._held) > SAMPLE:
                self._held.clear()
            chance = self._held[state] = self._chance(group)
        return chance

    def _chance(self, group: Evidence) -> float:
        """Return the same as `chances` does, for one group: in numbers, as arrays take ten times as long."""
        u, squares, error, sizes = group.u, group.squares, group.error, self.sizes
        deviation = math.sqrt(self.tau**2 * squares + error**2)
        if squares <= 0.0 or abs(u) <= error or deviation == 0.0:
            return float(squares > 0.0 and abs(u) > error)
        none, one = self.density.few(self.unseen * group.spread)
        known = min(1.0 - none, 1.0 - constants.RULED_OUT)
        empty = (1.0 - known) * (1.0 - constants.UNLIKE) * normal_at(u, deviation)
        spiked = (
            max(sizes.novelty * known, constants.UNLIKE) * 0.5 / constants.RANGE / math.hypot(deviation, u)
        )
        if sizes.typical:
            alone = min(one, known)
            several = normal_at(u, math.hypot(math.sqrt(2.0) * sizes.typical, deviation))
            spiked += (1.0 - sizes.novelty) * (
                alone * sizes.likely_at(u, deviation) + (known - alone) * several
            )
        return spiked / (spiked + empty + TINY)

    def chances(
        self, groups: Evidences, tau: float | None = None, unknown: float | None = None
    ) -> FloatArray:
        """Return the chance of each group that it holds spikes; `unknown` is that of one unlike those met."""
        unknown = constants.UNLIKE if unknown is None else unknown
        empty, spiked, _ = self._likelihoods(groups, self.tau if tau is None else tau, unknown)
        return np.where(groups.plain, spiked / (spiked + empty + TINY), 0.0)

    def missed(self, groups: Evidences) -> FloatArray:
        """Return how many spikes like those met each group is expected to hold, whatever τ is.

        Lesser ones count by their sizes.
        """
        below = np.cumsum(self._posterior.weights)
        taus = self._posterior.taus[np.minimum(np.searchsorted(below, _QUANTILES), len(below) - 1)]
        total = np.zeros(len(groups.u))
        for tau in taus.tolist():
            empty, spiked, missed = self._likelihoods(groups, tau, 0.0)
            total += missed / (spiked + empty + TINY)
        return np.where(groups.plain, total / len(taus), 0.0)

    def alone(self, group: Evidence, off: float, second: float, blur: float) -> tuple[float, float]:
        """Return the chance that one spike is all that a group holds, and the τ that goes with it.

        Then K/U is `off` an integer by background and by its own error `blur`, positions both; `second` is
        Σw²(k − K/U)². Of several it is anywhere.
        """
        taus, posterior = self._posterior.taus, self._posterior.weights
        deviation = np.hypot(taus * (math.sqrt(second) / abs(group.u)), blur)
        if off > 0.5:  # beyond its ends
            likely = np.exp(-0.5 * (off / deviation) ** 2)
        else:
            likely = np.where(deviation > 0.5, 1.0, normal(np.array(off), deviation))
        weight = posterior * likely
        total = float(np.add.reduce(weight))
        alone = self.density.alone(group.spread)
        # Of several, K/U is as likely to be here as anywhere; signs may carry it beyond the ends.
        chance = alone * total / (alone * total + (1.0 - alone) * 0.6)
        if total < TINY:
            return chance, self.tau
        return chance, float(taus[weight.cumsum().searchsorted(constants.CAUTIOUS * total)])

    # ------------------------------------------------------------ ways down

    def rate(self, side: int) -> float:
        """Return how often groups of one sign of U led to a descent."""
        return self._downhill[side].rate

    def tried(self, side: int, success: bool) -> None:
        """Note whether a group of one sign led to a descent."""
        self._learned += 1
        self._downhill[side].tried(success)


class Downhill:
    """How often groups led to a descent."""

    def __init__(self) -> None:
        self._record = (1.0, 1.0)  # confirmed, and tried
        self._tries = 0  # all that were ever made
        self.rate = 1.0

    def tried(self, success: bool) -> None:
        """Note whether one more did."""
        self._record = counted(self._record, success, constants.FORGET)
        self._tries += 1
        # Failures in a row make a success unlikely, never impossible: after n of them, one in n + 2.
        self.rate = max(self._record[0] / self._record[1], 1.0 / (self._tries + 2.0))


def counted(record: tuple[float, float], success: float, keep: float) -> tuple[float, float]:
    """Return a record of (successes, tries) with one more try; old ones fade."""
    return keep * record[0] + success, keep * record[1] + 1.0


class Drift:
    """Whether what the search knows is true still: steps are reason to doubt it, rechecks have told."""

    def __init__(self) -> None:
        self._drifted = (1.0, 2.0)  # rechecks: found changed, and made
        self._reason = 0.0  # how much reason there is now, up to one
        self.doubt = 0.0
        """Decrease that may have come up outside of what the search knows."""
        self.outdated = False
        """Whether it is known not to be true any more."""
        self.likely = False
        """Whether that is more likely than not, after the steps since it was looked at."""

    def begin(self) -> None:
        """Doubt nothing: the search is new, or is being looked at."""
        self.doubt, self._reason, self.outdated, self.likely = 0.0, 0.0, False, False

    def moved(self) -> None:
        """Take nothing for true any more: the point is another one."""
        self.outdated = True

    def saw(self, changed: bool) -> None:
        """Note what a recheck has found."""
        self.outdated = changed
        self._drifted = counted(self._drifted, changed, constants.FORGET)

    def note_step(self, unpredicted: float, missed: float) -> None:
        """Doubt the search after a step: the decrease that was not predicted, and its share of the whole."""
        drifting = self.drifting
        self.doubt += drifting * unpredicted
        # A step missed by as much as the search may be off is reason enough to look.
        reason = min(1.0, missed / constants.LITTLE)
        self._reason = min(1.0, self._reason + reason)
        self.likely = self._reason * drifting > 0.5

    @property
    def drifting(self) -> float:
        """How often a recheck found the search out of date."""
        return self._drifted[0] / self._drifted[1]

    def overdue(self, cost: float) -> bool:
        """Whether the search is likely to waste more queries until the next find than a recheck costs."""
        return self._reason * self.drifting * cost > 1.0
