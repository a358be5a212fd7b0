"""What a failed evaluation means: the end of the run, another attempt, or a value that is not there.

- *raise*: the run ends.
- *retry*: the failed rows of an ask are asked again, together, when all others are answered. A row
  that has failed once more than the limit ends the run.
- An evaluation that was lost with its worker is asked again, whatever the rule. A point that has taken
  `MOST_LOSSES` workers with it has failed; one that was lost because of another has not.
- *skip*: the algorithm receives NaN. More skipped queries in a row than the limit end the run; the row
  of an ask decides what is in a row, not who answered first. A start cannot be skipped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from gracezo.core.asks import Role
from gracezo.core.errors import EvaluationFailure, Lost

MOST_LOSSES = 3
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
        self._lost = 0
        self._unfinished = 0
        self._skips = False  # whether the rows of this ask may be skipped
        self._failures: Counter[int] = Counter()  # of each row of this ask
        self._losses: Counter[int] = Counter()
        self._streak = 0  # failed queries in a row
        self._next = 0  # the first row that the streak has not come to

    def begin(self, role: Role) -> None:
        """Turn to a new ask."""
        self._skips = self._rule.action == "skip" and role is not Role.START
        self._failures.clear()
        self._losses.clear()
        if self._next == 0:  # nothing failed at the ask before
            self._streak = 0
        self._next = 0

    def came(self, row: int, failure: EvaluationFailure) -> EvaluationFailure | None:
        """Take a failure of a row; return it as what it is in the end, or None if the row is only lost."""
        if isinstance(failure, Lost):
            self._lost += 1
            self._losses[row] += failure.blamed
            if self._losses[row] < MOST_LOSSES:
                return None
            failure = EvaluationFailure(
                f"the worker died each of the {MOST_LOSSES} times that this point was evaluated; {failure}"
            )
            self._losses[row] = 0
        self._failures[row] += 1
        return failure

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
            limit = self._rule.limit if self._rule.action == "retry" else 0
            return next((row for row in failed if self._failures[row] > limit), None)
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

    def bearable(self, failures: Mapping[int, EvaluationFailure]) -> list[int]:
        """Return the rows whose failure does not end the run: those that a replay must not ask again."""
        lost = [
            row
            for row, failure in failures.items()
            if isinstance(failure, Lost) and self._losses[row] + failure.blamed < MOST_LOSSES
        ]
        failed = sorted(failures.keys() - set(lost))
        if not self._skips:
            limit = self._rule.limit if self._rule.action == "retry" else 0
            return lost + [row for row in failed if self._failures[row] < limit]
        borne = []
        streak, last = self._streak, self._next - 1
        for row in failed:
            streak = streak + 1 if row == last + 1 else 1
            last = row
            if streak > self._rule.limit:
                streak = 0
            else:
                borne.append(row)
        return lost + borne

    @property
    def retries(self) -> bool:
        """Whether the failed rows of this ask are to be asked again."""
        return not self._skips

    def retry(self, rows: int) -> None:
        """Note that so many failed rows are asked again."""
        self._retried += rows

    def end(self, unfinished: int) -> None:
        """Note that so many evaluations were under way when the run ended."""
        self._unfinished += unfinished

    @property
    def summary(self) -> str:
        """What to add to the message of a run; nothing if nothing failed."""
        return (
            _said(self._retried, "failed", "asked again")
            + _said(self._skipped, "failed", "skipped")
            + _said(self._lost, "lost with their workers" if self._lost > 1 else "lost with its worker")
            + _said(self._unfinished, "under way then, and gave no value")
        )


def _said(count: int, what: str, then: str = "") -> str:
    if count == 0:
        return ""
    were = "were" if count > 1 else "was"
    told = f"{what} and {were} {then}" if then else f"{were} {what}"
    return f"; {count:,} evaluation{'s' * (count > 1)} {told}"
