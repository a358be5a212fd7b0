"""`auto`: the fewest queries, with nothing to tune."""

from gracezo.methods.auto.method import auto

__all__ = ["auto"]
