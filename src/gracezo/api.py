"""The public entry points: minimize, estimate_gradient, Optimizer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import OptimizeResult

from gracezo import checks
from gracezo.core.asks import Point, Steps
from gracezo.core.drive import Evaluator, drive
from gracezo.core.keys import Key
from gracezo.core.method import Estimator, HasEstimator, Method, Problem
from gracezo.core.result import Finish, GradientEstimate, Result, Status
from gracezo.core.run import Limits, Run
from gracezo.core.steps import valued, whole_run
from gracezo.core.types import FloatArray
from gracezo.estimators.noise import NoiseEstimate, measure_noise
from gracezo.evaluators.objective import Objective, as_value
from gracezo.evaluators.serial import Serial
from gracezo.evaluators.vectorized import Vectorized
from gracezo.methods import catalog
from gracezo.progress import live_line


def minimize(
    fun: Callable[..., Any],
    x0: npt.ArrayLike,
    args: tuple[Any, ...] = (),
    method: str = "grace",
    *,
    sparsity: int | None = None,
    f0: float | None = None,
    max_queries: int | None = None,
    max_steps: int | None = None,
    max_seconds: float | None = None,
    target: float | None = None,
    vectorized: bool = False,
    copy: bool = True,
    seed: int | None = None,
    callback: Callable[[OptimizeResult], object] | None = None,
    progress: bool = False,
    options: Mapping[str, Any] | None = None,
) -> Result:
    """Minimise a function of many coordinates by its values alone.

    Parameters
    ----------
    fun
        The objective. Gets a float64 array in x0's shape, then `args`, and
        returns one finite number; with `vectorized`, gets (k, *x0.shape) and
        returns k numbers.
    x0
        Where to start; any shape.
    args
        What `fun` takes after the point.
    method
        One of `methods()`.
    sparsity
        How many coordinates matter at a time, for the methods that want to know (the paper's s).
    f0
        f(x0), when it is known; it is then not asked.
    max_queries
        The budget: call ``max_queries + 1`` is never made. Rows that are of
        no use alone (half of a pair, a gradient without the step after it)
        are not bought with the last queries.
    max_steps, max_seconds, target
        Further reasons to stop: steps made, time passed, a value reached. The
        first that comes true ends the run. With none of the four given the
        budget is 10,000 queries.
    vectorized
        Whether `fun` takes many points at once.
    copy
        Whether `fun` gets an array of its own at each call. If not, it gets
        a read-only buffer that is valid during the call.
    seed
        A whole number; the same seed gives the same run, bit for bit. Drawn
        when not given; see ``result.seed``.
    callback
        Called after each step with an `OptimizeResult` of x, fun, nit and
        nfev. Raising StopIteration ends the run.
    progress
        Whether to show a live line on standard error.
    options
        The options of the method. An unknown one is an error.

    Returns
    -------
    Result
        The best point and what it cost. Ctrl-C returns the best so far with status 2.

    Raises
    ------
    ValueError, TypeError
        Wrong input, before any query.
    EvaluationError
        `fun` raised an exception or returned no finite number. Its `.result` is the best so far.

    Examples
    --------
    >>> import numpy as np, gracezo
    >>> goal = np.zeros(10_000)
    >>> goal[[12, 345, 6789]] = [0.5, -1.0, 0.8]
    >>> result = gracezo.minimize(
    ...     lambda x: float(((x - goal) ** 2).sum()), np.zeros(10_000), method="grace", sparsity=3,
    ...     max_queries=300, seed=0)
    >>> result.support[:3].tolist(), bool(result.fun < 1e-3)
    ([345, 6789, 12], True)
    """
    checks.function("fun", fun)
    if callback is not None:
        checks.function("callback", callback)
    setup = _Setup.checked(
        x0,
        method,
        sparsity,
        f0,
        checks.limits(max_queries, max_steps, max_seconds, target).or_default(),
        seed,
        options,
    )
    run = setup.run(_notify(callback) if callback is not None else None)
    evaluate = _evaluator(fun, args, setup.x0.shape, vectorized, copy)
    with live_line(run) if progress else nullcontext():
        drive(run, evaluate)
    return run.result()


def estimate_gradient(
    fun: Callable[..., Any],
    x: npt.ArrayLike,
    args: tuple[Any, ...] = (),
    method: str = "grace",
    *,
    sparsity: int | None = None,
    f0: float | None = None,
    max_queries: int | None = None,
    vectorized: bool = False,
    copy: bool = True,
    seed: int | None = None,
    options: Mapping[str, Any] | None = None,
) -> GradientEstimate:
    """Estimate the gradient at one point, as a step of a method would.

    Parameters
    ----------
    fun, x, args, sparsity, f0, vectorized, copy, seed, options
        As in `minimize`; `f0` is f(x).
    method
        One of `methods()` that steps along a gradient estimate.
    max_queries
        Never more than so many calls. Without it, as many as the method takes. A method that cannot
        finish within them gives the coordinates it has measured by then, maybe none.

    Returns
    -------
    GradientEstimate
        The coordinates found and their derivatives; `queries` says what they cost.

    Examples
    --------
    >>> import numpy as np, gracezo
    >>> g = gracezo.estimate_gradient(lambda x: 3 * x[4567] - x[89], np.zeros(10_000), method="grace",
    ...                               sparsity=2, seed=1)
    >>> largest = np.argsort(-abs(g.values))[:2]
    >>> g.indices[largest].tolist(), g.values[largest].round(6).tolist(), g.queries
    ([4567, 89], [3.0, -1.0], 14)
    """
    checks.function("fun", fun)
    budget = checks.limits(max_queries)
    setup = _Setup.checked(x, method, sparsity, f0, budget, seed, options)
    made = setup.method
    if not isinstance(made, HasEstimator):
        raise ValueError(
            f"method {method!r} does not estimate a gradient; use one that does, such as 'grace'"
        )
    found: list[GradientEstimate] = []
    run = Run(_estimation(setup, made.estimator, found), setup.x0, budget, setup.seed)
    drive(run, _evaluator(fun, args, setup.x0.shape, vectorized, copy))
    if not found:
        found.append(GradientEstimate(setup.x0.size, np.zeros(0, np.int64), np.zeros(0)))
    return replace(found[0], queries=run.nfev, shape=setup.x0.shape)


def estimate_noise(fun: Callable[..., Any], x: npt.ArrayLike, *, seed: int | None = None) -> NoiseEstimate:
    """Measure how noisy a function is near a point (ECnoise): usually 7 queries, at most 31.

    Rounding (of float32, of a solver's tolerance), quantised outputs and random noise are all found.

    Parameters
    ----------
    fun
        The function: takes an array in x's shape, returns one finite number.
    x
        Where to look.
    seed
        Draws the direction of the line along which the values are taken.

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
    key = Key(checks.seed(seed))
    found: list[NoiseEstimate] = []

    def steps() -> Steps[Finish]:
        at = yield from valued(start.ravel(), None)
        found.append((yield from measure_noise(at, key)))
        return Finish(Status.CONVERGED, "the noise is measured")

    run = Run(steps(), start, Limits(), key.seed)
    drive(run, _evaluator(fun, (), start.shape, vectorized=False, copy=True))
    return replace(found[0], queries=run.nfev)


class Optimizer:
    """Ask and tell: for those who evaluate the points themselves.

    Gives the same points, trace and count as `minimize` with the same arguments.

    Parameters
    ----------
    x0, method, sparsity, f0, max_queries, max_steps, max_seconds, target, seed, options
        As in `minimize`.

    Examples
    --------
    >>> import gracezo
    >>> optimizer = gracezo.Optimizer([1.0, 2.0], method="fdsa", max_queries=10, options={"step_size": 0.1})
    >>> while len(points := optimizer.ask()):
    ...     optimizer.tell([float(x @ x) for x in points])
    >>> optimizer.result.nfev, optimizer.result.status
    (10, 1)
    """

    def __init__(
        self,
        x0: npt.ArrayLike,
        method: str = "grace",
        *,
        sparsity: int | None = None,
        f0: float | None = None,
        max_queries: int | None = None,
        max_steps: int | None = None,
        max_seconds: float | None = None,
        target: float | None = None,
        seed: int | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        stop = checks.limits(max_queries, max_steps, max_seconds, target).or_default()
        self._run = _Setup.checked(x0, method, sparsity, f0, stop, seed, options).run(None)
        self._told = 0  # rows of the current ask that have their value
        self._shown: FloatArray | None = None

    def ask(self, limit: int | None = None) -> FloatArray:
        """Return the points whose values are wanted now, (k, *x0.shape).

        At most `limit` of them; none when the run is over. Asking again
        before telling returns the same points.
        """
        if limit is not None and limit < 1:
            raise ValueError(f"limit must be at least 1; given: {limit!r}")
        if self._shown is None:
            ask = self._run.next()
            if ask is None:
                return np.empty((0, *self._run.x0.shape))
            count = len(ask) - self._told
            if limit is not None:
                count = min(count, limit)
            points = np.stack([ask.point(self._told + row) for row in range(count)])
            self._shown = points.reshape(count, *self._run.x0.shape)
        return self._shown.copy()

    def tell(self, values: Sequence[float] | npt.ArrayLike) -> None:
        """Give the values at the points of the last `ask`, in their order.

        Raises
        ------
        EvaluationError
            When a value is not a finite number; the run is over then.
        """
        if self._shown is None:
            raise RuntimeError("tell() follows ask(): nothing is being asked")
        told = list(values)  # type: ignore[arg-type]  # anything that can be iterated
        if len(told) != len(self._shown):
            raise ValueError(
                f"tell() needs one value a point: {len(self._shown)} were asked, {len(told)} given"
            )
        first, self._told, self._shown = self._told, self._told + len(told), None
        self._run.record([(first + row, as_value(value)) for row, value in enumerate(told)])
        if self._run.complete:
            self._told = 0
        self._run.stop_if_late()

    @property
    def result(self) -> Result:
        """The result so far."""
        return self._run.result()


# ---------------------------------------------------------------- what the entry points share


@dataclass(frozen=True)
class _Setup:
    """A checked problem with its method, ready to run."""

    x0: FloatArray
    f0: float | None
    method: Method
    limits: Limits
    seed: int

    @classmethod
    def checked(
        cls,
        x0: npt.ArrayLike,
        method: str,
        sparsity: int | None,
        f0: float | None,
        limits: Limits,
        seed: int | None,
        options: Mapping[str, Any] | None,
    ) -> _Setup:
        start = checks.point("x0", x0)
        problem = Problem(start.size, checks.sparsity(sparsity, start.size))
        made = catalog.make(method, problem, checks.options(options))
        return cls(start, checks.number("f0", f0), made, limits, checks.seed(seed))

    def run(self, on_move: Callable[[Run, Point], None] | None) -> Run:
        steps = whole_run(self.method, self.x0.ravel(), self.f0, Key(self.seed))
        return Run(steps, self.x0, self.limits, self.seed, on_move)


def _estimation(setup: _Setup, estimator: Estimator, found: list[GradientEstimate]) -> Steps[Finish]:
    at = yield from valued(setup.x0.ravel(), setup.f0)
    found.append((yield from estimator.estimate(at, 1, Key(setup.seed).child(1))))
    return Finish(Status.CONVERGED, "the gradient is estimated")


def _evaluator(
    fun: Callable[..., Any], args: tuple[Any, ...], shape: tuple[int, ...], vectorized: bool, copy: bool
) -> Evaluator:
    objective = Objective(fun, args if isinstance(args, tuple) else (args,), shape)
    return Vectorized(objective, copy) if vectorized else Serial(objective, copy)


def _notify(callback: Callable[[OptimizeResult], object]) -> Callable[[Run, Point], None]:
    def on_move(run: Run, to: Point) -> None:
        x = to.x.reshape(run.x0.shape).copy()
        callback(OptimizeResult(x=x, fun=to.value, nit=run.nit, nfev=run.nfev))

    return on_move
