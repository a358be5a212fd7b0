"""The search for a whole gradient: until what is left looks like background.

Here all groups stay open, whatever their price: each tells of the background, and may turn out to hold a
spike when that has become known.
"""

from __future__ import annotations

import numpy as np

from gracezo.core.types import FloatArray, IntArray
from gracezo.methods.auto import constants
from gracezo.methods.auto.belief import Evidences
from gracezo.methods.auto.search.best_first import Search
from gracezo.methods.auto.search.explain import moment
from gracezo.methods.auto.search.groups import Group, Order


class WholeSearch(Search):
    """A search that goes on until nothing is left."""

    complete = True
    _credit: tuple[Order, list[Group], int] | None = None  # an earlier order, its groups, and what they leave

    def plant(self, coordinates: IntArray, rng: np.random.Generator) -> None:
        """Begin anew with other weights; the sums that were bought serve where all has to be measured."""
        self.abandon()
        if self.order is not None and (self._credit is None or self._own_left < self._credit[2]):
            self._credit = self.order, self.open.groups, self._own_left
        super().plant(coordinates, rng)

    def bought(self) -> tuple[Order, list[Group]]:
        """Return an order and its groups that leave the least to be measured."""
        self.abandon()
        assert self.order is not None
        if self._credit is None or self._own_left <= self._credit[2]:
            return self.order, self.open.groups
        return self._credit[:2]

    def _survey(self) -> tuple[list[Group], FloatArray, FloatArray]:
        """Return the groups that are worth a query, and the chances that each holds a spike.

        The first if there is little background and a spike may be unlike those met; the second otherwise.
        """
        if self._surveyed is None:
            groups = [group for group in self.open.groups if not self._spent(group)]
            said = Evidences.of(groups)
            standing = self.belief.chances(said, self.belief.least)
            likely = self.belief.chances(said, unknown=0.0)
            order = self.order
            direct = [i for i, group in enumerate(groups) if group.direct and group.size > 1]
            if direct and order is not None:
                labelled = [groups[i] for i in direct]
                about = [moment(group, order, self.belief) or (0.0, 0.0) for group in labelled]
                likely[direct] = self.belief.chances(Evidences.of(labelled, about), unknown=0.0)
            self._surveyed = groups, standing, likely
        return self._surveyed

    @property
    def asking(self) -> bool:
        """Whether an inquiry has been begun and is to be asked further."""
        return bool(self._running)

    @property
    def standing(self) -> bool:
        """Whether a group is likely to hold a spike, even if there is little background."""
        return bool(np.any(self._survey()[1] > 0.5))

    @property
    def expected(self) -> float:
        """How many groups are expected to hold a spike of the size of those met."""
        return float(self._survey()[2].sum())

    @property
    def dived(self) -> bool:
        """Whether a group has been followed down to one coordinate."""
        return self._dived

    @property
    def outside(self) -> float:
        """Sum of (w·g)² over all that is open: U² of what holds a spike, and background in the others."""
        groups, standing, _ = self._survey()
        spiked = sum(group.u**2 for group, chance in zip(groups, standing, strict=True) if chance > 0.5)
        return float(spiked + self.belief.tau**2 * sum(group.squares for group in self.open.groups))

    @property
    def quiet(self) -> bool:
        """Whether the sum over all coordinates looks like background."""
        if self.order is None:
            return True
        squares = self.order.squares(0, len(self.order))
        return abs(self.total) <= constants.LIKELY * self.belief.deviation(squares, self.error)

    @property
    def hiding(self) -> float:
        """The chance that two spikes that cancelled in a group cancel in the sum over all coordinates, too.

        Nothing sums can tell where background alone is as large as a spike: then groups have told already.
        """
        if self.order is None or not self.belief.size:
            return 0.0
        squares = self.order.squares(0, len(self.order))
        hiding = constants.LIKELY * self.belief.deviation(squares, self.error) / self.belief.size
        return hiding if hiding < 1.0 else 0.0

    @property
    def left(self) -> int:
        """The queries that it would take to measure all by plain differences, given the open groups.

        Those that have been taken out are known, and the last one of each group follows by subtraction.
        """
        return self._own_left if self._credit is None else min(self._own_left, self._credit[2])

    @property
    def _own_left(self) -> int:
        if self.order is None:
            return 0
        weights = self.order.weights
        groups = [*self.open.groups, *(running.group for running in self._running)]
        inside = (int(np.count_nonzero(weights[group.start : group.stop])) for group in groups)
        return sum(max(count - 1, 0) for count in inside)

    def _top(self) -> tuple[Group, float] | None:
        """Return the group to be asked in a search to the end: the best, or else the likeliest."""
        groups, standing, likely = self._survey()
        if not groups:
            return None
        if np.any(standing > 0.5):
            best = max((groups[i] for i in np.flatnonzero(standing > 0.5).tolist()), key=self._price)
        elif self._running:
            return None  # nothing is worth more than to wait for what is asked
        else:
            best = groups[int(np.argmax(likely))]
        return best, self._price(best)
