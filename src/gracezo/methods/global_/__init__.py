"""`global`: the lowest point of a box of which few coordinates matter."""

from gracezo.methods.global_.method import global_

__all__ = ["global_"]
