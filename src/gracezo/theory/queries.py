"""What one gradient estimate costs: group size, the schedule used in practice, worst case, lower bound.

Reference: Algorithm 1, Lemmas A.7 and A.8, and the table of worst-case queries (Appendix B.4) of
Qiu & Tong, Gradient Compressed Sensing, ICML 2024.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from gracezo.theory import checks

_EXACT_BINOMIAL = 1000  # up to this s the binomial coefficient is an exact integer, computed in milliseconds


def group_size(d: int, s: int, gamma: float = 0.7) -> int:
    """Return the group size n = ⌊γ·d/s⌋ of GraCe.

    γ is read as the decimal number that it prints as, so that rounding never
    costs a coordinate: 0.7·90 is 63, although floats say 62.99….

    Parameters
    ----------
    d, s
        Dimension and sparsity, 1 ≤ s ≤ d.
    gamma
        γ > 0, the expected number of the s large coordinates in one group.

    Returns
    -------
    int
        n ≤ d. 0 means that s is too large for groups: GraCe is then FDSA.

    Examples
    --------
    >>> group_size(10_000, 10), group_size(90, 1), group_size(100, 90)
    (700, 63, 0)
    """
    d, s = checks.dimensions(d, s)
    ratio = Fraction(str(checks.positive("gamma", gamma)))
    return min(d, ratio.numerator * d // (ratio.denominator * s))


def practical_schedule(first_division: int) -> Iterator[int]:
    """Yield the divisions D_{r+1} = ⌊D_r^{3/2}⌋ without end, D_1 = `first_division` first.

    All integers are exact. D_1 = 2 stays at 2: every round then halves.

    Examples
    --------
    >>> from itertools import islice
    >>> list(islice(practical_schedule(20), 4))
    [20, 89, 839, 24302]
    """
    division = checks.integer("first_division", first_division, 2)

    def divisions(division: int) -> Iterator[int]:
        while True:
            yield division
            division = math.isqrt(division**3)

    return divisions(division)


def worst_case_queries(d: int, s: int, gamma: float = 0.7, first_division: int = 10) -> int:
    """Return the most queries that one estimate of GraCe (m = 1) can need, f(x) included.

    The count is K·(2R + |S_R|) + 1: all K = ⌈d/n⌉ groups taken as full, two
    queries in each of the R rounds until at most 2 coordinates are left, and
    one query for each coordinate left. Without groups (n = 0) it is d + 1.

    Examples
    --------
    The paper's figure for 10⁸ variables of which one matters:

    >>> worst_case_queries(10**8, 1)
    19
    """
    size = group_size(d, s, gamma)
    schedule = practical_schedule(first_division)
    if size == 0:
        return d + 1
    groups = -(-d // size)
    rounds = 0
    while size > 2:
        size = -(-size // next(schedule))
        rounds += 1
    return groups * (2 * rounds + size) + 1


def counting_bound(d: int, s: int, bits: int = 53) -> int:
    """Return the fewest queries that can tell all supports of size s apart: ⌈log₂ C(d, s) / bits⌉.

    Each answer carries at most `bits` bits (53: the digits of a double), so q
    adaptive answers separate at most 2^(bits·q) cases, and there are C(d, s)
    supports. No deterministic method beats this on every function. It counts
    what it takes to *name* the support, not to measure the s derivatives there.

    Examples
    --------
    >>> counting_bound(10**8, 1), counting_bound(10_000, 10), counting_bound(10**6, 1000)
    (1, 3, 216)
    """
    d, s = checks.dimensions(d, s)
    bits = checks.integer("bits", bits, 1)
    few = min(s, d - s)
    if few <= _EXACT_BINOMIAL:
        # 2^m ≥ N exactly when m ≥ (N − 1).bit_length().
        return -(-(math.comb(d, few) - 1).bit_length() // bits)
    return math.ceil(_log_binomial(d, few) / math.log(2) / bits)


def _log_binomial(d: int, s: int) -> float:
    """Return ln C(d, s) by Stirling's series, for s and d − s above some hundreds.

    ln Γ itself would lose some five digits to cancellation at d = 10⁸; here every
    large term has the size of the answer.
    """
    rest = d - s
    entropy = s * math.log(d / s) - rest * math.log1p(-s / d)
    return (
        entropy + 0.5 * math.log(d / (2 * math.pi * s * rest)) + _stirling(d) - _stirling(s) - _stirling(rest)
    )


def _stirling(n: int) -> float:
    """Return ln n! − (n·ln n − n + ½·ln 2πn), to within 1/(1260·n⁵)."""
    return 1 / (12 * n) - 1 / (360 * n**3)


def isolation_probability(d: int, s: int, n: int) -> float:
    """Return how likely one of s given coordinates is alone, among those s, in its random group.

    Groups are those of Algorithm 1: ⌈d/n⌉ of n coordinates, the last one
    shorter. Sum of Lemma A.7 over the groups; with n = ⌊γ·d/s⌋ it is
    at least e^{−γ} (Lemma A.8), which is what γ buys.

    Examples
    --------
    >>> round(isolation_probability(10_000, 10, 700), 3)
    0.527
    """
    d, s = checks.dimensions(d, s)
    n = checks.integer("n", n, 1, d)
    full, last = divmod(d, n)
    return full * n / d * _alone(d, s, n) + (last / d * _alone(d, s, last) if last else 0.0)


def _alone(d: int, s: int, n: int) -> float:
    """Return (d−n)_{s−1} / (d−1)_{s−1}, the chance that a group of n with one of the s has no other."""
    if n + s > d + 1:
        return 0.0
    # The ratio of falling factorials is symmetric in n and s: take the shorter product.
    short, long = sorted((n, s))
    k = np.arange(short - 1, dtype=np.float64)
    return math.exp(float(np.sum(np.log1p(-(long - 1) / (d - 1 - k)))))
