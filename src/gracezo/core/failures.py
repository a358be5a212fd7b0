"""What a failed evaluation means: the end of the run, another attempt, or a value that is not there.

- *raise*: the run ends.
- *retry*: the failed rows of an ask are asked again, together, when all others are answered. A row
  that has failed once more than the limit ends the run.
- *skip*: the algorithm receives NaN. More skipped queries in a row than the limit end the run; the row
  of an ask decides what is in a row, not who answered first. A start cannot be skipped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from gracezo.core.asks import Role

DEFAULT_LIMITS = {"raise": 0, "retry": 3, "skip": 100}


@dataclass(frozen=True)
class OnFailure:
    """The rule of a run: "raise", "retry" or "skip", and up to how often."""

    action: str = "raise"
    limit: int = 0


class Failures:
    """Applies a rule to the asks of one run, one after the other."""

    def __init__(self, rule: OnFailure) -> None:
        self._rule = rule
        self._retried = 0
        self._skipped = 0
        self._skips = False  # whether the rows of this ask may be skipped
        self._attempt = 1
        self._streak = 0  # failed queries in a row
        self._next = 0  # the first row that the streak has not come to

    def begin(self, role: Role) -> None:
        """Turn to a new ask."""
        self._skips = self._rule.action == "skip" and role is not Role.START
        self._attempt = 1
        if self._next == 0:  # nothing failed at the ask before
            self._streak = 0
        self._next = 0

    def fatal(self, failed: Collection[int], values: Sequence[float]) -> int | None:
        """Return the row whose failure ends the run, if one does.

        Parameters
        ----------
        failed
            The rows that have failed at this attempt, in the order of arrival.
        values
            The answers to all rows, NaN where there is none.

        Asked after each answer from the first failure of an ask on.
        """
        if not self._skips:
            spent = self._rule.action != "retry" or self._attempt > self._rule.limit
            return next(iter(failed), None) if spent else None
        while self._next < len(values):
            lost = self._next in failed
            if not lost and values[self._next] != values[self._next]:  # NaN: not answered yet
                break
            self._streak = self._streak + 1 if lost else 0
            if self._streak > self._rule.limit:
                return self._next
            self._skipped += lost
            self._next += 1
        return None

    def bearable(self, failed: Iterable[int]) -> list[int]:
        """Return the rows whose failure does not end the run: those that a replay must not ask again."""
        if not self._skips:
            bears = self._rule.action == "retry" and self._attempt <= self._rule.limit
            return list(failed) if bears else []
        borne = []
        streak, last = self._streak, self._next - 1
        for row in sorted(failed):
            streak = streak + 1 if row == last + 1 else 1
            last = row
            if streak > self._rule.limit:
                streak = 0
            else:
                borne.append(row)
        return borne

    @property
    def retries(self) -> bool:
        """Whether the failed rows of this ask are to be asked again."""
        return not self._skips

    def retry(self, rows: int) -> None:
        """Note that so many rows are asked again."""
        self._attempt += 1
        self._retried += rows

    @property
    def summary(self) -> str:
        """What to add to the message of a run; nothing if nothing failed."""
        return _said(self._retried, "asked again") + _said(self._skipped, "skipped")


def _said(count: int, what: str) -> str:
    if count == 0:
        return ""
    return f"; {count:,} evaluation{'s' * (count > 1)} failed and {'were' if count > 1 else 'was'} {what}"
