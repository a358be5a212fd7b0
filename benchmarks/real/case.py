"""A function whose least value is known, a run on it, and whether what the run claims is true.

A success is *false* where f can still fall by more than 1e-4 of f(x0) − f*, f* its infimum within the scales
of the coordinates (or the bounds), and by more than its values can tell (rounding, grain or noise).
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from benchmarks.real.meter import Function, Meter
from scipy.optimize import minimize

import gracezo
from gracezo.core.result import Result
from gracezo.core.types import FloatArray, IntArray

TOLERANCE = 1e-4
SCALE = "scale" in inspect.signature(gracezo.minimize).parameters
NAMES = {
    "coarse": r"coarse|plateau|grain|quanti|steps of",
    "kinks": r"kink",
    "rough": r"\brough|rippl",
    "unbounded": r"lower bound|unbounded|without bound",
    "rounding": r"rounding",
    "noise": r"noise",
    "wall": r"wall|cliff|jump",
}
"""What a message has to say for an end with status 5 to have its name."""


@dataclass(frozen=True, eq=False)
class Case:
    """One function to be minimised.

    Attributes
    ----------
    name
        What it is called in the table.
    fun
        The function as the user has it.
    x0
        Where it begins.
    floor
        The infimum of `exact` within the scales; −inf where there is none.
    exact
        The function without noise, offset and grain, if it has any: what is judged.
    grain
        What the values of `fun` cannot tell: a run that comes so near has solved it.
    noise
        The standard deviation of its noise.
    offset
        What `fun` has more than `exact`, beside noise.
    fits
        Which of `NAMES` are true of it, or "flat".
    bounds
        Lower and upper, or none.
    budget
        How many queries it gets.
    scale
        The sizes of the coordinates, where the run is told.
    batch
        How many queries may go out together.
    around
        The coordinates that matter, where others may have a look whether a success is a local minimum.
    """

    name: str
    fun: Function
    x0: FloatArray
    floor: float
    exact: Function | None = None
    grain: float = 0.0
    noise: float = 0.0
    offset: float = 0.0
    fits: tuple[str, ...] = ()
    bounds: tuple[FloatArray, FloatArray] | None = None
    budget: int = 2_000
    scale: FloatArray | None = None
    batch: int = 1
    around: IntArray | None = None

    def true(self, x: FloatArray) -> float:
        """Return what is judged."""
        return (self.exact or self.fun)(x)

    @property
    def height(self) -> float:
        """f(x0) − f*."""
        return self.true(self.x0) - self.floor


@dataclass(frozen=True, eq=False)
class Outcome:
    """A run, judged.

    Attributes
    ----------
    word
        solved, spent (said so, and the budget is), named (unsolved, and says truly why), local (success at
        a minimum that is not the least one: two other methods find nothing lower from there), misnamed
        (unsolved, no success, but says what is not so), FALSE (success, and unsolved), CRASHED.
    left
        (f(x) − f*) / (f(x0) − f*).
    flaws
        What else is wrong with it.
    """

    word: str
    queries: int
    left: float
    message: str
    flaws: tuple[str, ...] = ()


def run(case: Case, seed: int, minimiser: Callable[..., Result] = gracezo.minimize) -> Outcome:
    """Minimise it once."""
    meter = Meter(case.fun, case.x0, case.bounds)
    bounds = None if case.bounds is None else np.column_stack(case.bounds)
    told: dict[str, Any] = {"scale": case.scale} if case.scale is not None and SCALE else {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = minimiser(
                meter, case.x0, bounds=bounds, max_queries=case.budget, batch=case.batch, seed=seed, **told
            )
    except Exception as error:  # whatever it is, it goes into the table
        return Outcome(
            "CRASHED", meter.calls, np.nan, f"{type(error).__name__}: {error}", _asked(case, meter)
        )
    left = np.nan
    if np.isfinite(case.floor):  # a bound may leave nothing to be gained
        left = (case.true(result.x) - case.floor) / (case.height or 1.0)
    word = _judged(case, result, left)
    return Outcome(
        word, meter.calls, left, f"{result.status}: {result.message}", _flaws(case, result, meter, word)
    )


def _judged(case: Case, result: Result, left: float) -> str:
    if left * case.height <= max(TOLERANCE * case.height, case.grain):  # never, without a least value
        return "solved"
    if result.success:
        return "local" if _local(case, result.x) else "FALSE"
    if result.status == 1:
        unspent = case.budget - result.nfev  # too few for what would have come next
        return "spent" if unspent <= max(0.2 * case.budget, case.batch, 20) else "misnamed"
    if result.status == 4:
        return "named" if "flat" in case.fits else "misnamed"
    return "named" if result.status == 5 and _fits(case, result.message) else "misnamed"


def _local(case: Case, x: FloatArray) -> bool:
    """Return whether simplices and differences find nothing lower from x, along what matters."""
    if case.around is None or case.noise or case.grain:
        return False
    lower, upper = (-np.inf, np.inf) if case.bounds is None else case.bounds
    sizes, least = np.abs(case.x0 - x)[case.around], case.true(x)
    sizes = np.where(
        sizes > 0.0, sizes, np.abs(x[case.around]) + (case.bounds is None and case.scale is None)
    )

    def beside(z: FloatArray) -> float:
        moved = x.copy()
        moved[case.around] += sizes * z
        return (case.true(np.clip(moved, lower, upper)) - least) / case.height

    falls = []
    for method in ("Nelder-Mead", "L-BFGS-B"):
        z = np.zeros(len(sizes))
        for _ in range(3):
            z = minimize(beside, z, method=method, options={"maxiter": 20_000}).x
        falls.append(-beside(z))
    return max(falls) <= TOLERANCE


def _fits(case: Case, message: str) -> bool:
    """Return whether a message has a name that is true of f, and none that is not."""
    said = {name for name, words in NAMES.items() if re.search(words, message)}
    return bool(said & set(case.fits)) and (said - {"rounding", "noise"}).issubset(case.fits)


def _asked(case: Case, meter: Meter) -> tuple[str, ...]:
    """Return what is wrong with the points asked."""
    return (
        *([f"{meter.strange} queries at x that is not finite"] if meter.strange else []),
        *([f"{meter.outside} queries out of bounds"] if meter.outside else []),
        *([f"{meter.calls} calls with max_queries={case.budget}"] if meter.calls > case.budget else []),
    )


def _flaws(case: Case, result: Result, meter: Meter, word: str) -> tuple[str, ...]:
    """Return what is wrong with a result, beside what it claims."""
    flaws = list(_asked(case, meter))
    if word == "solved" and result.status in {4, 5} and not _fits(case, result.message):
        flaws.append(f"solved, but says {result.status}: {result.message[:60]}")
    if result.nfev != meter.calls:
        flaws.append(f"nfev {result.nfev}, calls {meter.calls}")
    if case.noise:
        missed = abs(result.fun - case.offset - case.true(result.x))
        if not result.fun_error > 0:
            flaws.append("noise not seen: fun_error 0")
        elif missed > 4 * result.fun_error:
            flaws.append(f"fun off by {missed / result.fun_error:.1f} of its errors")
        return tuple(flaws)
    if result.fun != case.fun(result.x):
        flaws.append("fun is not f(x)")
    allowed = 0.01 * (meter.records[0][1] - meter.lowest)
    if result.fun - meter.lowest > allowed:
        flaws.append(
            f"paid for a value lower by {(result.fun - meter.lowest) / (100 * allowed):.1g} of the decrease"
        )
    elif meter.lowest_within(result.support) < result.fun:
        flaws.append("paid for a lower value on the support")
    return tuple(flaws)
