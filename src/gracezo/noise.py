"""How noisy is a function? The public entry to ECnoise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy.typing as npt

from gracezo import checks
from gracezo.core.asks import Steps
from gracezo.core.drive import drive
from gracezo.core.keys import Key, SeedLike
from gracezo.core.result import Finish, Status
from gracezo.core.run import Limits, Run
from gracezo.core.steps import valued
from gracezo.estimators.noise import NoiseEstimate, measure_noise, random_line
from gracezo.evaluators.objective import Objective
from gracezo.evaluators.serial import Serial


def estimate_noise(
    fun: Callable[..., Any],
    x: npt.ArrayLike,
    *,
    seed: SeedLike | None = None,
    rng: SeedLike | None = None,
) -> NoiseEstimate:
    """Measure how noisy a function is near a point (ECnoise): usually 7 queries, at most 31.

    Rounding (of float32, of a solver's tolerance), quantised outputs and random noise are all found.

    Parameters
    ----------
    fun
        The function: takes an array in x's shape, returns one finite number.
    x
        Where to look.
    seed, rng
        Draws the direction of the line along which the values are taken: as in `minimize`.

    Returns
    -------
    NoiseEstimate
        The standard deviation of the noise, and whether it is one.

    Examples
    --------
    >>> import numpy as np, gracezo
    >>> estimate = gracezo.estimate_noise(lambda x: np.float32(1 + x @ x), np.ones(9), seed=0)
    >>> estimate.detected, bool(1e-8 < estimate.level < 1e-5)
    (True, True)
    """
    checks.function("fun", fun)
    start = checks.point("x", x)
    key = Key(checks.drawn_seed(seed, rng))
    found: list[NoiseEstimate] = []

    def steps() -> Steps[Finish]:
        at = yield from valued(start.ravel(), None)
        found.append((yield from measure_noise(at, random_line(at, key))))
        return Finish(Status.CONVERGED, "the noise is measured")

    run = Run(steps(), start, Limits(), key.seed)
    drive(run, Serial(Objective(fun, (), start.shape)))
    return replace(found[0], queries=run.nfev)
