"""The search for the large coordinates of a gradient: groups, what to ask of them, and the queue."""

from gracezo.methods.auto.search.best_first import Search

__all__ = ["Search"]
