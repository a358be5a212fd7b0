"""How many digits outputs have: fewer than double precision, if a program wrote them down or computed so."""

from __future__ import annotations

import numpy as np

from gracezo.core.types import FloatArray

_UNIT = 2.0**-52
_ROUND = 2.0**-10  # multiples of which may be exact, where a function begins
_SHORT = 12  # significant decimal digits; computed numbers have more
_EVIDENCE = 1e4  # errors of rounding: one change in as many is by chance a multiple of so many
_MOST = 0.9  # of the changes: others may be of residuals near zero, whose rounding is that of larger numbers
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
    >>> last_place(np.array([[1.25, 2.5], [1.24, 2.5], [1.19, 2.4]]) - data).round(9).tolist()
    [0.01, 0.1]
    """
    changes = outputs[1:] - outputs[0]
    if not changes.any():
        return None
    for unit in (last_digit(outputs), last_bit(outputs)):
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
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        beyond = np.abs(outputs.astype(np.float32) - outputs)
        even = np.rint(outputs / _ROUND) * _ROUND == outputs
    if (beyond > 8.0 * _UNIT * np.abs(outputs)).any() or even.all():
        return False
    return last_digit(outputs[None]) is None


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


def _of_changes(changes: FloatArray, outputs: FloatArray) -> FloatArray | None:
    """Return the largest powers of ten, or else of two, of which the changes of each output are multiples."""
    error = 8.0 * _UNIT * np.abs(outputs).max(axis=0)
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
            there = np.isfinite(units)
            return np.asarray(np.where(there, units, np.median(units[there])), np.float64)
    return None
