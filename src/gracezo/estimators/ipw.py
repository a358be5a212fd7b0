"""IPW: GraCe's ancestor, with groups and blocks drawn independently for each coordinate.

Indyk, Price & Woodruff, *On the power of adaptivity in sparse recovery*, FOCS
2011. The search is GraCe's (see `grace`) with as many groups and blocks, but
their sizes are random: some blocks are empty, others crowded, and a crowded
one takes more rounds. What the dependent random partition of GraCe buys is
the difference between the two.
"""

from __future__ import annotations

import numpy as np

from gracezo.core.types import IntArray
from gracezo.estimators.grace import Variant, printed_labels


def dealt_independently(random: np.random.Generator, d: int, size: int) -> list[IntArray]:
    """Return the non-empty ones of ⌈d/n⌉ groups, each coordinate's drawn uniformly."""
    count = -(-d // size)
    owner = random.integers(count, size=d)
    groups = np.split(np.argsort(owner, kind="stable"), np.cumsum(np.bincount(owner, minlength=count))[:-1])
    return [group for group in groups if len(group)]


def independent_labels(random: np.random.Generator, size: int, divisions: int) -> IntArray:
    """Return labels drawn uniformly from as many as GraCe would have."""
    return random.integers(1, printed_labels(size, divisions)[-1] + 1, size=size)


INDEPENDENT = Variant(independent_labels, clamp=False, ahead=None, deal=dealt_independently)
