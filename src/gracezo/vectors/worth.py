"""What slopes are worth that a fit measures: how far to go for them, and which outputs they tell of."""

from __future__ import annotations

import math

import numpy as np

from gracezo.core.types import FloatArray
from gracezo.estimators.digits import last_place
from gracezo.vectors.accuracy import Accuracy
from gracezo.vectors.found import Columns

_SEEN = 3.0  # times its error: the slopes of an output that are more than that
_SURE = 1e-7  # the relative error of slopes is not less


class Worth:
    """What is known of the errors of measured slopes.

    Parameters
    ----------
    found
        What was found at the start.
    m
        The number of outputs.

    Attributes
    ----------
    search, accuracy
        The distance and errors of searches, and of what is measured next: sums of squares may want others.
    noisy
        Whether r is noisy, or has few digits.
    deviations
        The standard deviation of each output; 0 where it is exact.
    followed
        The outputs that show more than errors.
    unseen
        How many answer, and show no more.
    """

    def __init__(self, found: Columns, m: int) -> None:
        self.search = self.accuracy = found.accuracy
        self._farthest = found.space.farthest
        self.noisy = found.accuracy.noisy
        self.deviations = found.accuracy.deviations if self.noisy else np.zeros(m)
        self.followed = np.ones(m, np.bool_)
        self.unseen = 0
        self._errors = np.zeros(m)  # squared, of the slopes of each: the largest so far

    def suit_sums(self) -> bool:
        """Measure from now on as suits sums over outputs; return whether that is as far as before."""
        self.accuracy = self.search.for_sums(self._farthest)
        near = self.accuracy.times == 1.0
        self._errors *= near
        return near

    def trusted(
        self, columns: FloatArray, errors: FloatArray, lengths: FloatArray
    ) -> tuple[FloatArray, float]:
        """Return measured slopes and their relative error; 0 for outputs that show nothing but errors.

        One of many outputs may be much noisier than the others, which the distance suits.
        """
        squares = np.mean(columns**2, axis=1) if columns.size else np.zeros(len(columns))
        own = np.nanmean(errors**2, axis=1) if errors.size else 0.0 * squares
        noise = own
        if (
            self.noisy and columns.size
        ):  # then it is known, and what bends is no reason to leave an output out
            noise = np.mean((self.accuracy.noise[:, None] / lengths) ** 2, axis=1)
        self._errors = np.maximum(self._errors, noise)
        seen = squares > _SEEN**2 * self._errors
        self.unseen = int((~seen & (squares > 0.0)).sum())
        if self.unseen == len(squares):
            seen[:] = True
        self.followed = seen
        size = float(squares[seen].sum())
        share = math.sqrt(float(own[seen].sum()) / size) if size > 0.0 else 0.0
        error = min(1.0, max(_SURE, self.search.look.off, share))
        return np.where(seen[:, None], columns, 0.0), error

    def read_digits(self, outputs: FloatArray, slopes: FloatArray) -> bool:
        """Take outputs for rounded that show few digits away from x0, though not there: some were zero.

        Then slopes measured as of an exact function are nothing but rounding, or zero.

        Parameters
        ----------
        outputs
            At several points, a row each.
        slopes
            By how much each output changes over the scales.
        """
        digit = None if self.noisy else last_place(outputs)
        if digit is not None:
            self.know(self.search.rounded(digit, slopes, self._farthest))
        return digit is not None

    def know(self, accuracy: Accuracy) -> None:
        """Take what a closer look has shown of the errors."""
        self.search = self.accuracy = accuracy
        self._errors[:] = 0.0  # they were those of another distance
        if accuracy.noisy:
            self.noisy, self.deviations = True, accuracy.deviations
