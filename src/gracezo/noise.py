"""How noisy is a function? The public entry to ECnoise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy.typing as npt

from gracezo.api import minimize
from gracezo.conduct import Call
from gracezo.core.asks import Steps
from gracezo.core.keys import Key, SeedLike
from gracezo.core.result import Finish, Status
from gracezo.core.steps import valued
from gracezo.documented import like
from gracezo.estimators.noise import NoiseEstimate, measure_noise, random_line
from gracezo.evaluators.choose import Workers
from gracezo.evaluators.objective import takes_seed


@like(minimize)
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
    call = Call(locals())
    if takes_seed(fun):
        raise TypeError(
            "fun takes a seed, and with one seed it is exact: give it seeds of your own to see its noise, as "
            "in lambda x: fun(x, seed=next(seeds))"
        )
    ground = call.ground(random=False)
    box, key = ground.problem.bounds, Key(ground.seed)
    if ground.problem.free == 0:
        raise ValueError("bounds fix every coordinate: there is no line along which noise could be measured")
    found: list[NoiseEstimate] = []

    def steps() -> Steps[Finish]:
        at = yield from valued(ground.x0.ravel(), None)
        line, most = random_line(at, key, box)
        found.append((yield from measure_noise(at, line, most)))
        return Finish(Status.CONVERGED, "the noise is measured")

    run = ground.ledger(steps())
    call.ask(run)
    if not found:
        raise KeyboardInterrupt("the measurement of noise was interrupted")
    return replace(found[0], queries=run.nfev)
