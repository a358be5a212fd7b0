"""Whether what the search knows is still true: steps are reason to doubt it, rechecks have told before.

The values of a tree hold for the point around which they were measured. After steps that came out as foreseen
they are true still, as a rule; after others they may not be. What a recheck would find is foreseen from what
the last ones have found, and from how far the steps since then were from what was foreseen.
"""

from __future__ import annotations

from gracezo.methods.auto.constants import Constants
from gracezo.methods.auto.density import counted


class Watch:
    """The evidence on whether a tree is out of date.

    Parameters
    ----------
    constants
        How much a tree may change, and how fast evidence fades.
    """

    def __init__(self, constants: Constants) -> None:
        self._constants = constants
        self._drifted = (1.0, 2.0)  # rechecks: found changed, and made
        self._stirred = 0.0  # how much reason there is now, up to one
        self.doubt = 0.0
        """Decrease that may have come up outside of what the tree knows."""

    def begin(self) -> None:
        """Doubt nothing: the tree is new, or is being looked at."""
        self.doubt = self._stirred = 0.0

    def saw(self, changed: bool) -> None:
        """Note what a recheck has found."""
        self._drifted = counted(self._drifted, changed, self._constants.forget)

    def stir(self, unforeseen: float, missed: float) -> None:
        """Doubt the tree after a step: the decrease that was not foreseen, and its share of the whole."""
        self.doubt += self.drifting * unforeseen
        # A step missed by as much as the tree may be off is reason enough to look.
        reason = min(1.0, missed / self._constants.drift)
        self._stirred = min(1.0, self._stirred + reason)

    @property
    def drifting(self) -> float:
        """How often a recheck found the tree out of date."""
        return self._drifted[0] / self._drifted[1]

    def overdue(self, cost: float) -> bool:
        """Whether the tree is more likely to waste the queries of the next find than a recheck costs: one."""
        return self._stirred * self.drifting * cost > 1.0
