"""Labels: how the position of a coordinate is written into the length of its displacement, and read again.

The labels of a set rise with the position, from 0 to 1. If one coordinate dominates the set, K/U is its
label. Where looks go to both sides labels do, from −1 to 1: they resolve twice as much then, and an error of
U, of which K/U takes the share that the label has, does less harm. (A single look stays on the side that the
weights have chosen: behind it there may be a kink, or a bound.)

Within a window labels keep away from 0, so that a sum of 0 means that nothing is there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gracezo.core.types import FloatArray

_LEAST = 0.25  # of the labels in a window


@dataclass(frozen=True)
class Labels:
    """One way to label the positions 0, 1, … of a window.

    Attributes
    ----------
    least
        The least label by magnitude.
    both
        Whether labels are of both signs.
    """

    least: float
    both: bool

    def labels(self, span: int) -> FloatArray:
        """Return the labels of a window.

        >>> Labels(0.0, both=True).labels(4).tolist()
        [-0.75, -0.25, 0.25, 0.75]
        >>> Labels(0.5, both=False).labels(2).tolist()
        [0.625, 0.875]
        """
        rise = (np.arange(span) + 0.5) / span
        if self.both:
            rise = 2.0 * rise - 1.0
        return np.asarray((1.0 - self.least) * rise + np.copysign(self.least, rise))


def labelled(whole: bool, both: bool) -> Labels:
    """Return how to label a whole group, or a window in it."""
    return Labels(0.0 if whole else _LEAST, both)
