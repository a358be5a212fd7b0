"""Which part goes on: the one that has brought something most often.

A bandit whose rewards are wins: a part that was given a turn has won when it brought the best value down by
more than next to nothing. The next turn goes to the part that is the most likely to win it, by Laplace's rule
of succession: (wins + 1) / (turns + 2). Without wins all parts have the same share; one that wins is followed
for as long as it does. There is nothing to tune, and no unit of f in it.
"""

from __future__ import annotations

from collections.abc import Collection


class Shares:
    """The wins and turns of some parts.

    Parameters
    ----------
    parts
        Their names; where two are alike, the first goes first.

    Examples
    --------
    >>> shares = Shares(("evolve", "restart"))
    >>> shares.note("evolve", won=False)
    >>> shares.next_of(("evolve", "restart"))
    'restart'
    """

    def __init__(self, parts: Collection[str]) -> None:
        self._tally = dict.fromkeys(parts, (0, 0))

    def note(self, part: str, won: bool) -> None:
        """Remember one turn."""
        wins, turns = self._tally[part]
        self._tally[part] = wins + won, turns + 1

    def forget(self, part: str) -> None:
        """Take a part for a new one."""
        self._tally[part] = 0, 0

    def next_of(self, able: Collection[str]) -> str:
        """Return the part that goes on, of those that are able to."""
        return max((part for part in self._tally if part in able), key=self._chance)

    def _chance(self, part: str) -> float:
        wins, turns = self._tally[part]
        return (wins + 1) / (turns + 2)
