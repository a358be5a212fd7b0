"""Checks of the options that methods share: what was wrong, what was given, what would be right."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any

from gracezo.core.method import Problem


def positive(name: str, value: object) -> float:
    """Return a positive finite number."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 < float(value) < math.inf:
        raise ValueError(f"option {name} must be a positive number; given: {value!r}")
    return float(value)


def fraction(name: str, value: object) -> float:
    """Return a number from 0 to below 1."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 <= float(value) < 1:
        raise ValueError(f"option {name} must be a number from 0 to below 1; given: {value!r}")
    return float(value)


def whole(name: str, value: object, least: int = 1) -> int:
    """Return a whole number that is at least `least`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise ValueError(f"option {name} must be a whole number of at least {least}; given: {value!r}")
    return int(value)


def flag(name: str, value: object) -> bool:
    """Return True or False."""
    if not isinstance(value, bool):
        raise ValueError(f"option {name} must be True or False; given: {value!r}")
    return value


def one_of(name: str, value: object, choices: dict[str, Any]) -> Any:
    """Return the choice that `value` names."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"option {name} must be one of {', '.join(map(repr, choices))}; given: {value!r}")
    return choices[value]


def difference(eps: float | Callable[[int], float]) -> Callable[[int], float]:
    """Return the finite difference as a function of the step t = 1, 2, …; `eps` is that or a constant."""
    if callable(eps):
        return lambda step: positive(f"eps at step {step}", eps(step))
    constant = positive("eps", eps)
    return lambda step: constant


def required_sparsity(problem: Problem, method: str) -> int:
    """Return s, or say that the method needs it."""
    if problem.sparsity is None:
        raise ValueError(
            f"method {method!r} needs sparsity=s, how many of the {problem.d:,} coordinates matter at a time"
        )
    return problem.sparsity


def averaging_step(step_size: float | None, rows: int, d: int) -> float:
    """Return η; by default what is as safe for an average over random rows as 0.5 is for the gradient itself.

    The average over q Gaussian rows has 1 + (d+1)/q times the squared length of the gradient in
    expectation, and a step has to be so much shorter.
    """
    if step_size is None:
        return 0.5 / (1 + (d + 1) / rows)
    return positive("step_size", step_size)


def sketch_size(queries: int | None, s: int, d: int) -> int:
    """Return q; by default ⌈2·s·(1 + ln(d/s))⌉, enough for CoSaMP to find s of d coordinates as a rule."""
    if queries is None:
        return math.ceil(2 * s * (1 + math.log(max(1.0, d / s))))
    return whole("queries", queries)
