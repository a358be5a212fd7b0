"""`auto`: the fewest queries, with nothing to tune."""

from gracezo.methods.auto.factory import auto

__all__ = ["auto"]
