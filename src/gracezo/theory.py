"""Placeholder."""

from collections.abc import Iterator
from fractions import Fraction
from math import isqrt


def group_size(d: int, s: int, gamma: float = 0.7) -> int:
    """N."""
    return min(d, int(Fraction(str(gamma)) * d / s))


def practical_schedule(first_division: int) -> Iterator[int]:
    """D."""
    while True:
        yield first_division
        first_division = isqrt(first_division**3)
