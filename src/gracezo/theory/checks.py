"""Input checks of the theory functions: each names the argument, what is right and what was given."""

from __future__ import annotations

import math
import numbers


def integer(name: str, given: int, least: int, most: int | None = None) -> int:
    """Return `given` as an int from `least` to `most`."""
    whole = isinstance(given, numbers.Integral) and not isinstance(given, bool)
    if not whole or given < least or (most is not None and given > most):
        limits = f"of at least {least:,}" if most is None else f"from {least:,} to {most:,}"
        raise ValueError(f"{name} must be a whole number {limits}; given: {given!r}")
    return int(given)


def real(name: str, given: float, limits: str) -> float:
    """Return `given` as a finite float; `limits` says in the error what it should be."""
    if isinstance(given, bool) or not isinstance(given, numbers.Real) or not math.isfinite(given):
        raise wrong(name, given, limits)
    return float(given)


def wrong(name: str, given: object, limits: str) -> ValueError:
    """Return the error for a number outside its limits."""
    return ValueError(f"{name} must be {limits}; given: {given!r}")


def positive(name: str, given: float) -> float:
    """Return `given` as a finite float above 0."""
    limits = "a positive finite number"
    number = real(name, given, limits)
    if number <= 0:
        raise wrong(name, given, limits)
    return number


def non_negative(name: str, given: float) -> float:
    """Return `given` as a finite float, 0 or above."""
    limits = "a finite number of at least 0"
    number = real(name, given, limits)
    if number < 0:
        raise wrong(name, given, limits)
    return number


def between(name: str, given: float, low: float, high: float, who: str = "") -> float:
    """Return `given` as a float strictly between `low` and `high`; `who` names these in the error."""
    limits = f"a number above {low:g} and below {high:g}{who}"
    number = real(name, given, limits)
    if not low < number < high:
        raise wrong(name, given, limits)
    return number


def unit(name: str, given: float) -> float:
    """Return `given` as a float strictly between 0 and 1."""
    return between(name, given, 0, 1)


def share(rho: float) -> float:
    """Return ρ, the share of ‖∇f‖² on the s largest coordinates, in (0, 1]."""
    limits = "a number above 0 and at most 1"
    number = real("rho", rho, limits)
    if not 0 < number <= 1:
        raise wrong("rho", rho, limits)
    return number


def dimensions(d: int, s: int) -> tuple[int, int]:
    """Return the dimension d ≥ 1 and the sparsity 1 ≤ s ≤ d."""
    d = integer("d", d, 1)
    return d, integer("s", s, 1, d)
