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
            return f"all {budget:,} queries are spent" + default * isinstance(budget, DefaultBudget)
        return (
            f"{queries:,} of {budget:,} queries are spent; "
            f"the next useful batch takes {refused:,}, more than the {left:,} left"
        )


class DefaultBudget(int):
    """A budget that nobody asked for."""


DEFAULT_QUERIES = 10_000
