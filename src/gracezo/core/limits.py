"""When a run stops."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """When to stop; whichever comes first."""

    max_queries: int | None = None
    max_steps: int | None = None
    max_seconds: float | None = None
    target: float | None = None

    def or_default(self) -> Limits:
        """Return these limits, or the default budget when there is none at all."""
        if self == Limits():
            return Limits(max_queries=DefaultBudget(DEFAULT_QUERIES))
        return self

    def spent(self, queries: int, refused: int) -> str:
        """Say that the budget is spent, or does not reach for the `refused` queries that come next."""
        budget = self.max_queries
        assert budget is not None
        left = budget - queries
        if left == 0:
            default = " (the default budget: no stopping rule was given)"
            all_of_them = "the one query is" if budget == 1 else f"all {budget:,} queries are"
            return f"{all_of_them} spent" + default * isinstance(budget, DefaultBudget)
        return (
            f"{queries:,} of {budget:,} queries are spent; "
            f"what comes next takes {refused:,} together, more than the {left:,} left"
        )

    @property
    def made(self) -> str:
        """Say that all steps are made."""
        return "the one step is made" if self.max_steps == 1 else f"all {self.max_steps:,} steps are made"


class DefaultBudget(int):
    """A budget that nobody asked for."""


DEFAULT_QUERIES = 10_000
