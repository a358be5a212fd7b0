"""Labels: how the position of a coordinate is written into the length of its displacement, and read again.

The labels of a set rise with the position, from 0 to 1. If one coordinate dominates the set, K/U is its
label. Where looks go to both sides labels do, from −1 to 1: they resolve twice as much then, and an error of
U, of which K/U takes the share that the label has, does less harm. (A single look stays on the side that the
weights have chosen: behind it there may be a kink, or a bound.)

Within a window labels keep away from 0, so that K = 0 means that nothing is there. And where the coordinates
before a window are asked along with it, with the lowest label, those in the window have higher ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gracezo.core.types import FloatArray

_LEAST = 0.25  # of the labels in a window
_BESIDE = 0.5  # the same, when what lies before the window is asked along


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

    def labels(self, before: int, span: int) -> FloatArray:
        """Return the labels of a window, and of so many positions before it.

        >>> Labels(0.0, both=True).labels(0, 4).tolist()
        [-0.75, -0.25, 0.25, 0.75]
        >>> Labels(0.5, both=False).labels(2, 2).tolist()
        [0.5, 0.5, 0.625, 0.875]
        """
        rise = (np.arange(span) + 0.5) / span
        if self.both:
            rise = 2.0 * rise - 1.0
        out = np.full(before + span, self.least)
        out[before:] = (1.0 - self.least) * rise + np.copysign(self.least, rise)
        return out

    def spacing(self, span: int) -> float:
        """Return over how many positions labels rise by 1.

        >>> Labels(0.0, both=True).spacing(4)
        2.0
        """
        return span / ((1.0 + self.both) * (1.0 - self.least))

    def place(self, label: float, span: int) -> float:
        """Return which position in a window has a label.

        >>> Labels(0.0, both=True).place(0.75, 4), Labels(0.5, both=False).place(0.875, 2)
        (3.0, 1.0)
        """
        least = float(np.copysign(self.least, label)) if self.both else self.least
        return self.spacing(span) * (label - least) + (0.5 * span if self.both else 0.0) - 0.5

    def outside(self, label: float) -> float:
        """Return how far a label lies from all that a coordinate in the window could have.

        >>> within = Labels(0.25, both=True)
        >>> within.outside(0.0), within.outside(-0.5), within.outside(1.5)
        (0.25, 0.0, 0.5)
        """
        size = abs(label) if self.both else label
        return max(self.least - size, size - 1.0, 0.0)


def labelled(narrow: bool, whole: bool, both: bool) -> Labels:
    """Return how to label a whole set or a window; a narrow one, what lies before it too."""
    if narrow:
        return Labels(_BESIDE, both=False)
    return Labels(0.0 if whole else _LEAST, both)
