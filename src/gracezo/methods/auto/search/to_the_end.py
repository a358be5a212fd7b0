"""The search for a whole gradient: until what is left looks like background.

Here all groups stay open, whatever their price: each tells of the background, and may turn out to hold a
spike when that has become known.

A search is never dearer than plain differences by more than a tenth, and ten queries: each of its asks has to
leave enough for these, unless no background shows and the search is expected to end in time. What is noisy
cannot be measured by so few; there a search ends when it has taken as many as looks to both sides of each
coordinate alone would, each as careful as the most careful one so far.
"""

from __future__ import annotations

import math

import numpy as np

from gracezo.core.asks import OutOfQueries
from gracezo.core.rest import Rest
from gracezo.core.types import FloatArray, IntArray
from gracezo.methods.auto import constants
from gracezo.methods.auto.belief import Evidences
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.search.best_first import Search
from gracezo.methods.auto.search.groups import Group, moment
from gracezo.methods.auto.search.order import Order, mean_square
from gracezo.methods.auto.search.queue import Partition, Price
from gracezo.methods.auto.ways import Ledger


class WholeSearch(Search):
    """A search that goes on until nothing is left."""

    complete = True
    _credit: Partition | None = None  # the earlier one that leaves the least to be measured
    _surveyed: tuple[int, list[Group], FloatArray, FloatArray] | None = None  # what chances are now

    def restart(self, coordinates: IntArray | Rest, rng: np.random.Generator) -> None:
        """Begin anew with other weights; the sums that were bought serve where all has to be measured."""
        self.abandon()
        self._credit = self._best_bought
        if self.partition is not None and self.partition.rooted and not self._differences.noise:
            # What hides in a group is two that cancel, as a rule, and there may always be two; unless noise
            # hides it. A search with other weights has told, but for those that background hid from it, too.
            pairs = 1.0 if self.belief.unseen == 1.0 else self.hiding
            left = math.inf if self.blurred else 2.0 * max(self.expected, pairs)
            self.belief.search_again(left, len(coordinates))
        super().restart(coordinates, rng)

    def go_on(self) -> None:
        """Begin at another point, without a first look: that f is not flat is known."""
        self.flat = False
        self.belief.search_again(math.inf, 1)

    def bought(self) -> tuple[Order, list[Group]]:
        """Return an order and its groups that leave the least to be measured.

        The likeliest to hold spikes come first.
        """
        self.abandon()
        best = self._best_bought
        assert best is not None
        groups = best.open.groups
        if groups:
            chances = self.belief.chances(Evidences.of(groups))
            groups = [groups[i] for i in np.argsort(-chances, kind="stable").tolist()]
        return best.order, groups

    @property
    def _best_bought(self) -> Partition | None:
        """The partition that leaves the least to be measured; the present one, if both leave as much."""
        bought = [partition for partition in (self.partition, self._credit) if partition is not None]
        return min(bought, key=self._left_of, default=None)

    def _learn(self) -> None:
        super()._learn()
        self._surveyed = None

    def _survey(self) -> tuple[list[Group], FloatArray, FloatArray]:
        """Return the groups that are worth a query, and the chances that each holds a spike.

        The first if there is little background and a spike may be unlike those met; the second otherwise.
        """
        if self.partition is None:
            return [], np.zeros(0), np.zeros(0)
        version = self.partition.open.version
        if self._surveyed is None or self._surveyed[0] != version:
            self._surveyed = version, *self._surveyed_now(self.partition)
        return self._surveyed[1:]

    def _surveyed_now(self, partition: Partition) -> tuple[list[Group], FloatArray, FloatArray]:
        order, belief = partition.order, self.belief
        groups = [group for group in partition.open.groups if not self._spent(group)]
        said = Evidences.of(groups)
        standing = belief.chances(said, belief.least)
        likely = belief.missed(said)
        direct = [i for i, group in enumerate(groups) if group.direct and group.size > 1]
        if direct:
            labelled = [groups[i] for i in direct]
            about = [moment(group, order, belief) or (0.0, 0.0) for group in labelled]
            likely[direct] = belief.missed(Evidences.of(labelled, about))
        return groups, standing, likely

    @property
    def asking(self) -> bool:
        """Whether an inquiry has been begun and is to be asked further."""
        return bool(self._running)

    @property
    def busy(self) -> bool:
        """Whether a group is being asked, or is likely to hold a spike even if there is little background."""
        return self.asking or bool(np.any(self._survey()[1] > 0.5))

    @property
    def expected(self) -> float:
        """How many spikes like those met are expected to be left."""
        return float(self._survey()[2].sum())

    def ended(self, few: float) -> bool:
        """Whether what is left looks like background, but for so few spikes; or no group is worth a query.

        One group at least was followed down to one coordinate.
        """
        if self.busy or not self._reached_one:
            return False
        return self.expected < few or bool(self._survey()[2].max(initial=0.0) < constants.RULED_OUT)

    @property
    def _reached_one(self) -> bool:
        met = self.belief.sizes.typical or self.kinks
        return bool(met) or any(group.size == 1 for group in self._survey()[0])

    @property
    def outside(self) -> float:
        """Squared norm of all that is open: U² of what holds a spike, and background in the others.

        With noise, no less than the square to be expected of the sum over all of it: noise may hide the rest.
        """
        if self.partition is None:
            return 0.0
        groups, standing, _ = self._survey()
        spiked = sum(group.u**2 for group, chance in zip(groups, standing, strict=True) if chance > 0.5)
        squares = sum(group.squares for group in self.partition.open.groups)
        hidden = self.partition.total**2 + self.partition.error**2 if self._differences.noise else 0.0
        return float(max(spiked + self.belief.tau**2 * squares, hidden)) / mean_square()

    @property
    def square(self) -> float:
        """The same by the sum over all coordinates alone."""
        return 0.0 if self.partition is None else self.partition.total**2 / mean_square()

    @property
    def quiet(self) -> bool:
        """Whether the sum over all coordinates looks like background."""
        return self.partition is None or abs(self.partition.total) <= self._blur

    @property
    def _blur(self) -> float:
        """By how much the sum over all coordinates may be off zero without a spike."""
        if self.partition is None:
            return 0.0
        squares = self.partition.order.whole.squares
        return constants.LIKELY * self.belief.deviation(squares, self.partition.error)

    @property
    def blurred(self) -> bool:
        """Whether background outweighs a spike in the sum over all: other weights mean to search anew."""
        return self._blur > constants.LIKELY * self.belief.sizes.typical

    @property
    def hiding(self) -> float:
        """The chance that noise hides spikes from the sum over all coordinates.

        It is no more than a half: spikes of twice the size of what noise hides for sure.
        """
        return self._blur / max(self.belief.sizes.typical, 2.0 * self._blur)

    @property
    def left(self) -> int:
        """The queries that it would take to measure all by plain differences, given the open groups.

        Those that have been taken out are known, and the last one of each other group follows by subtraction.
        One that is asked alone just now may turn out not to be what the sums say, and is then not known.
        """
        return 0 if (best := self._best_bought) is None else self._left_of(best)

    @property
    def clear(self) -> bool:
        """Whether no background shows: what it would add to the sum over all is within the error of that."""
        if self.partition is None:
            return True
        background = self.belief.deviation(self.partition.order.whole.squares, 0.0)
        return background <= constants.TRUST * self.partition.error

    def ends(self, looks: float) -> bool:
        """Whether the search ends within so many looks, all but for certain."""
        n = 0 if self.order is None else len(self.order)
        return self.belief.density.ends(n, looks) > 1.0 - constants.RULED_OUT

    def _left_of(self, partition: Partition) -> int:
        order, groups = partition.order, partition.open.groups
        if partition is self.partition:
            groups += [running.group for running in self._running if running.group.size > 1]
        whole = sum(order.count(group.start, group.stop) == group.size for group in groups)
        return order.count(0, len(order)) - whole

    def _top(self) -> Price | None:
        """Return the price of the group to be asked: of the best, or else of the likeliest."""
        groups, standing, likely = self._survey()
        if not groups:
            return None
        if np.any(standing > 0.5):
            prices = (self._price(groups[i]) for i in np.flatnonzero(standing > 0.5).tolist())
            return max(prices, key=lambda price: price.rate)
        if self._running:
            return None  # nothing is worth more than to wait for what is asked
        return self._price(groups[int(np.argmax(likely))])


class TooDear(OutOfQueries):
    """Raised inside a search at an ask that would make it dearer than plain differences may become."""


class Allowance:
    """What a search may take: the one count of what it has, and of what plain differences still would.

    Parameters
    ----------
    size
        Number of coordinates that can move.
    """

    def __init__(self, size: int) -> None:
        self._most = math.floor((1.0 + constants.LOST) * size) + constants.DRAWN - 1  # f(x) is one
        self.ledger = Ledger(1)
        """Counts what is asked."""
        self._looked, self._first = False, 0  # whether a first look was taken, and what it has cost
        self._committed = False  # whether the search goes on though nothing is left for plain differences

    def left(self, search: WholeSearch, differences: Differences) -> float:
        """Return how many queries a search may still ask.

        So many that enough is left for plain differences; or all that is left, if it is expected to end by
        then. That can be told of coarse functions, which are not taken apart by subtraction, and of those
        without a background.
        """
        values, pairs = differences.values, differences.pairs
        each = 1 if pairs is None else 2 * pairs.most_repeats
        if not self._looked:
            return self.beside(search) if values.coarse else math.inf
        if values.noise and not values.coarse:
            return self._first + each * self._most - self.ledger.queries
        left, beside = self._most - self.ledger.queries, self.beside(search)
        foreseen = (values.coarse or search.clear) and search.ends(left / each)
        self._committed |= foreseen and beside <= 0
        return left if foreseen or self._committed else beside

    def beside(self, search: WholeSearch) -> int:
        """Return how many queries are left beside plain differences."""
        return self._most - self.ledger.queries - search.left

    def twice(self, search: WholeSearch) -> int:
        """Return how many plain differences may be looks at two lengths: one the search has seen bend."""
        return max(constants.FEW - 1 + min(self.beside(search), 0), 0)

    def plain(self, search: WholeSearch, differences: Differences) -> bool:
        """Whether all that is left is to be measured by plain differences, where a search was lost.

        Not with noise; nor if the search was to do without.
        """
        return not self._committed and (differences.values.coarse or not differences.noise)

    def begin(self) -> None:
        """Note that the first look has been taken: what f is like is known."""
        self._looked, self._first = True, self.ledger.queries
