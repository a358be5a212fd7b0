"""How many digits numbers have: fewer than double precision, if a program wrote them down or computed so.

Values of a function with one output are a sequence; those of a function with many are a row for each query,
and the outputs share what is learned of their digits.
"""

from __future__ import annotations

import math

import numpy as np

from gracezo.core.types import FloatArray

_UNIT = 2.0**-52
_ROUND = 2.0**6  # multiples of the last bit: smaller ones may be exact, where a function begins
_SHORT = 12  # significant decimal digits; computed numbers have more
_DISTINCT = 3  # short decimals: fewer may be so by chance
_EVIDENCE = 1e4  # errors of rounding: one change in as many is by chance a multiple of so many
_MOST = 0.9  # of the changes: others may be of residuals near zero, whose rounding is that of larger numbers
_ZEROS = 10  # binary digits that are zero at the end of rounded values
_COARSE = 1e-6  # of the geometric mean of values and changes: a step that shows in spite of rounding
_WHOLE = 1e-4  # of a number: a remainder that is an error of rounding
_CHANGES = 3  # that have to be multiples; of fewer it may be chance all the same


def last_place(outputs: FloatArray) -> FloatArray | None:
    """Return the unit of the last digit of each output, or None where they have all that there are.

    Decimal or binary digits, of the outputs themselves, or of what they change by: residuals of a program
    that prints few digits have those of the data besides. Nothing is said of outputs that have not moved.

    Parameters
    ----------
    outputs
        A row for each query, the first of which the others are compared with; a column for each output.

    Examples
    --------
    >>> import numpy as np
    >>> data = np.sqrt([2.0, 3.0])
    >>> last_place(np.array([[1.25, 2.5], [1.24, 2.6], [1.19, 2.4]]) - data).round(9).tolist()
    [0.01, 0.1]
    """
    changes = outputs[1:] - outputs[0]
    if not changes.any():
        return None
    unit = last_bit(outputs) if _is_binary(outputs) else last_digit(outputs)
    if unit is not None and ((changes == 0.0) | (np.abs(changes) > unit / 2.0)).all():
        return unit
    return _of_changes(changes, outputs)


def are_single(outputs: FloatArray) -> bool:
    """Whether outputs have the digits of single precision: no more, and not all of them are round numbers.

    Examples
    --------
    >>> import numpy as np
    >>> pressure = np.float32([50.1, 50.2])
    >>> are_single(np.float64(pressure - np.float32(50.1))), are_single(np.array([0.0, 2.5, 17.0]))
    (True, False)
    >>> are_single(np.float64(np.float32([3.1e11])))  # a whole number, of which the last digits are zero
    True
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        beyond = np.abs(outputs.astype(np.float32) - outputs)
    if (beyond > 8.0 * _UNIT * np.abs(outputs)).any() or not _is_binary(outputs[None]):
        return False
    bit = last_bit(outputs[None])
    return bit is not None and bool((np.abs(outputs) > _ROUND * bit).any())


def _is_binary(outputs: FloatArray) -> bool:
    """Whether outputs have few binary digits, and not for being short decimals.

    Large whole numbers in single precision are both, but then end in binary zeros, all of them.
    """
    digit, bit = last_digit(outputs), last_bit(outputs)
    return bit is not None and (digit is None or bool((bit > digit).all()))


def last_digit(outputs: FloatArray) -> FloatArray | None:
    """Return the unit of the last decimal digit of each output, or None where they are no short decimals.

    Numbers are written with so many significant digits, or with so many after the point. The number of
    either is the largest that is met; of the two units the larger is right.

    Parameters
    ----------
    outputs
        A row for each query, a column for each output.

    Examples
    --------
    >>> import numpy as np
    >>> last_digit(np.array([[1.25, 130.0], [1.5, 131.0]])).tolist()  # three significant digits
    [0.01, 1.0]
    >>> last_digit(np.array([[1.0 / 3.0, 1.0]])) is None
    True
    """
    size = np.abs(outputs)
    there = (size > 0.0) & np.isfinite(size)
    if not there.any():
        return None
    first = np.floor(np.log10(np.where(there, size, 1.0)))  # the exponent of the first digit
    last = np.full(size.shape, np.inf)  # and of the last
    for digits in range(_SHORT, 0, -1):
        unit = 10.0 ** (first - digits + 1)
        even = np.abs(size / unit - np.round(size / unit)) <= 4.0 * _UNIT * size / unit
        last = np.where(even, first - digits + 1, last)
    if np.isinf(last[there]).any():
        return None
    significant = float((first - last)[there].max())
    largest = np.where(there, first, -np.inf).max(axis=0)
    return np.asarray(10.0 ** np.maximum(largest - significant, last[there].min()), np.float64)


def last_bit(outputs: FloatArray) -> FloatArray | None:
    """Return the unit of the last binary digit of each output, or None where that is double precision.

    Residuals are differences of numbers that may be much larger, and have their unit: of 0 too, for which
    that of the others is taken.

    Parameters
    ----------
    outputs
        A row for each query, a column for each output.

    Examples
    --------
    >>> import numpy as np
    >>> pressure = np.float32([50.1, 50.2, 50.3])
    >>> last_bit(np.float64(pressure - np.float32(50.0))[:, None]).tolist() == [2.0**-18]
    True
    >>> last_bit(np.array([[0.1, 0.5]])) is None
    True
    """
    mantissa, exponent = np.frexp(outputs)
    digits = np.round(np.abs(mantissa) * 2.0**40).astype(np.int64)  # less than what sums have lost
    last = (digits & -digits).astype(np.float64)
    if not digits.any() or (last[digits > 0] < 2.0**14).any():
        return None
    least = np.where(digits > 0, np.ldexp(last, exponent - 40), np.inf).min(axis=0)
    there = np.isfinite(least)
    return np.asarray(np.where(there, least, np.median(least[there])), np.float64)


def cancelled(outputs: FloatArray) -> FloatArray:
    """Return the unit of which all values of an output are multiples; 0 where it is only that of their size.

    A residual is a difference of numbers that may be much larger than it is: its error is theirs, and shows
    in the zeros that it ends in.

    Parameters
    ----------
    outputs
        A row for each query, a column for each output.

    Examples
    --------
    >>> import numpy as np
    >>> level = np.array([[170.1, 0.1], [170.4, 0.1], [170.7, 0.1]])
    >>> cancelled(level - [170.3, 0.0]).tolist() == [2.0**-45, 0.0]
    True
    """
    mantissa, exponent = np.frexp(outputs)
    digits = np.ldexp(np.abs(mantissa), 53).astype(np.int64)
    zeros = np.log2(np.maximum(digits & -digits, 1))
    there = digits > 0
    last = np.where(there, exponent - 53 + zeros, np.inf).min(axis=0)
    chance = np.where(there, last - (exponent - 53), 0.0).sum(axis=0)  # that many binary digits are zero
    return np.where(
        np.isfinite(last) & (chance >= _ZEROS), np.exp2(np.where(np.isfinite(last), last, 0.0)), 0.0
    )


def _of_changes(changes: FloatArray, outputs: FloatArray) -> FloatArray | None:
    """Return the largest powers of ten, or else of two, of which the changes of each output are multiples."""
    error = np.maximum(8.0 * _UNIT * np.abs(outputs).max(axis=0), 4.0 * cancelled(outputs))
    moved = np.abs(changes) > error
    if moved.sum() < _CHANGES:
        return None
    least = np.where(moved, _EVIDENCE * error, np.inf)
    for base in (10.0, 2.0):
        power = np.ceil(np.log(np.where(moved, np.abs(changes), 1.0)) / np.log(base))
        last = np.full(changes.shape, np.inf)
        while (left := moved & np.isinf(last) & (base**power >= least)).any():
            unit = base**power
            even = np.abs(changes - np.rint(changes / unit) * unit) <= error
            last = np.where(left & even, unit, last)
            power = power - 1.0
        if np.isfinite(last[moved]).mean() >= _MOST:
            units = last.min(axis=0)
            typical = np.median(units[np.isfinite(units)])
            once = moved.sum(axis=0) < 2  # one change may end in zeros by chance
            return np.asarray(np.where(once, np.minimum(units, typical), units), np.float64)
    return None


def printed(values: FloatArray) -> float:
    """Return the step between values that were written with few decimal digits; 0 if they were not.

    That three values have so few digits by chance is hardly possible.

    >>> printed(np.array([0.99971, 1.0003, 1.0021])), printed(np.array([342.0, 341.0, 355.0]))
    (0.0001, 1.0)
    >>> printed(np.sqrt([2.0, 3.0, 5.0]))
    0.0
    """
    written = np.unique(np.abs(values[values != 0.0]))
    unit = last_digit(written[:, None]) if len(written) >= _DISTINCT else None
    return 0.0 if unit is None else float(unit[0])


def quantum(values: FloatArray) -> float:
    """Return the step between values rounded to few binary digits, as float32 does; 0 if they are not.

    The last digits of exact values are as good as random. Two changes that both end in ten zeros or more
    are no accident.

    >>> bool(quantum(np.float64(np.float32([1.1, 1.2, 1.3]))) == 2.0**-23)
    True
    >>> quantum(np.array([1.1, 1.2, 1.3]))
    0.0
    """
    largest = float(np.abs(values).max())
    if largest == 0.0:
        return 0.0
    unit = np.spacing(largest)
    changes = [abs(int(change)) for change in np.rint(np.diff(values) / unit) if change]
    digits = [(change & -change).bit_length() - 1 for change in changes]
    return float(unit * 2.0 ** min(digits)) if len(digits) >= 2 and min(digits) >= _ZEROS else 0.0


def grid(values: FloatArray) -> float:
    """Return the step of which all changes between values are multiples; 0 if there is none.

    Counts, error rates and results printed with few digits are such values. Two changes at least have to
    tell, and they must not come of equally spaced points, where those of a smooth f are multiples too.

    >>> round(grid(np.array([0.117, 0.118, 0.12, 0.125])), 12)
    0.001
    >>> grid(np.array([0.117, 0.1181, 0.12003, 0.125007])) < 1e-5
    True
    >>> grid(np.array([0.1, 0.2, 0.1])), grid(np.sqrt([1.0, 2.0, 3.0, 5.0]))
    (0.0, 0.0)
    """
    changes = np.unique(np.abs(values - values[0]))
    changes = changes[changes > 0.0].tolist()
    if len(changes) < 2:
        return 0.0
    largest = float(np.abs(values).max())
    step, *larger = changes
    for change in larger:
        other = change
        while (rest := abs(math.remainder(other, step))) > _WHOLE * step:  # Euclid's algorithm
            step, other = rest, step
        step = change / round(change / step)  # the larger the change, the less it suffers from rounding
    return step if step > _COARSE * math.sqrt(largest * changes[-1]) else 0.0


class Remainders:
    """Whether values near zero are what is left of larger numbers that cancel: their error is that of these.

    Then they are multiples of the last place of those, or of a factor times that: so are 1 − R², divergences
    and differences from a reference, and their halves, means and percentages.
    """

    NEAR = 2.0**-_ZEROS
    """Of the size that values have had: what is less is near zero."""

    def __init__(self) -> None:
        self._last: list[float] = []
        self.seen = False
        """Whether that has been seen."""

    def hear(self, values: FloatArray, size: float) -> bool:
        """Take in values of a function that has been so large; return whether they are the first to show it.

        >>> remainders = Remainders()
        >>> [remainders.hear(np.array([1.0 - (1.0 - y)]), 1.0) for y in (1.3e-9, 2.9e-9, 0.4e-9, 3.7e-9)]
        [False, False, False, True]
        """
        if self.seen:
            return False
        near = size * self.NEAR
        small = [abs(value) for value in values.tolist() if 0.0 < abs(value) <= near]
        if not small:
            return False
        self._last = list(dict.fromkeys(self._last + small))[-1 - _CHANGES :]
        if len(self._last) > _CHANGES:
            last = np.array(self._last)
            step = float(cancelled(last[:, np.newaxis])[0])
            if step < 2.0**_ZEROS * math.ulp(last.max()):
                step = _measure(self._last)
            # The least of the terms may be far below the largest, and its last place with it.
            self.seen = near * self.NEAR <= step / _UNIT <= size / self.NEAR
        return self.seen


def _measure(numbers: list[float]) -> float:
    """Return the largest number of which positive ones are multiples, as far as rounding shows it; or 0.

    Euclid's algorithm multiplies their rounding by about the ratio of the largest to what it has come to.
    """
    step, *others = sorted(numbers)
    rounding = 4.0 * _UNIT * others[-1] ** 2
    for other in others:
        beyond = other
        while (rest := abs(math.remainder(beyond, step))) > rounding / step:
            step, beyond = rest, step
        if step * step < _ROUND**2 * rounding:
            return 0.0
    return step
