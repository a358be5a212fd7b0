"""How noisy is a function? The public entry to ECnoise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy.typing as npt

from gracezo import checks
from gracezo.bounds import checked as bounds_of
from gracezo.core.asks import Steps
from gracezo.core.drive import drive
from gracezo.core.keys import Key, SeedLike
from gracezo.core.limits import Limits
from gracezo.core.result import Finish, Status
from gracezo.core.run import Run
from gracezo.core.steps import valued
from gracezo.estimators.noise import NoiseEstimate, measure_noise, random_line
from gracezo.evaluators.choose import Workers, evaluator
from gracezo.evaluators.objective import Objective


def estimate_noise(
    fun: Callable[..., Any],
    x: npt.ArrayLike,
    args: tuple[Any, ...] = (),
    *,
    bounds: object = None,
    workers: Workers = None,
    seed: SeedLike | None = None,
    rng: SeedLike | None = None,
) -> NoiseEstimate:
    """Measure how noisy a function is near a point (ECnoise): usually 7 queries, at most 31.

    Rounding (of float32, of a solver's tolerance), quantised outputs and random noise as loud as f are all
    found.

    Parameters
    ----------
    fun
        The function: takes an array in x's shape, then `args`, and returns one finite number.
    x
        Where to look.
    args, bounds, workers
        As in `minimize`: what `fun` takes after the point, what no query may leave, who evaluates.
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

    box = bounds_of(bounds, start)
    if box is not None and len(box.free) == 0:
        raise ValueError("bounds fix every coordinate: there is no line along which noise could be measured")

    def steps() -> Steps[Finish]:
        at = yield from valued(start.ravel(), None)
        line, most = random_line(at, key, box)
        found.append((yield from measure_noise(at, line, most)))
        return Finish(Status.CONVERGED, "the noise is measured")

    run = Run(steps(), start, Limits(), key.seed, bounds=box)
    objective = Objective(fun, args if isinstance(args, tuple) else (args,), start.shape)
    with evaluator(objective, workers, vectorized=False, copy=True) as evaluate:
        drive(run, evaluate)
    return replace(found[0], queries=run.nfev)
