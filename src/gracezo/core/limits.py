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


class DefaultBudget(int):
    """A budget that nobody asked for."""


DEFAULT_QUERIES = 10_000
