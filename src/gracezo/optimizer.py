"""Ask and tell: the entry point for those who evaluate the points themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gracezo import checks, logs
from gracezo.core.asks import Ask
from gracezo.core.keys import SeedLike
from gracezo.core.result import Result
from gracezo.core.types import FloatArray
from gracezo.core.values import as_value
from gracezo.setup import Setup


class Optimizer:
    """Ask and tell: for those who evaluate the points themselves.

    Gives the same points, trace and count as `minimize` with the same arguments.

    Parameters
    ----------
    x0, method, bounds, sparsity, support, f0, known, noise, names, scale, tol, batch, seed, rng, options
        As in `minimize`.
    max_queries, max_steps, max_seconds, target, on_failure
        As in `minimize`. Tell NaN for an evaluation that failed.

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
        method: str = "auto",
        *,
        bounds: object = None,
        sparsity: int | None = None,
        support: npt.ArrayLike | None = None,
        f0: float | None = None,
        known: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
        noise: float | None = None,
        names: Sequence[object] | None = None,
        scale: npt.ArrayLike | None = None,
        tol: float | None = None,
        max_queries: int | None = None,
        max_steps: int | None = None,
        max_seconds: float | None = None,
        target: float | None = None,
        batch: int = 1,
        on_failure: str | tuple[str, int] = "raise",
        seed: SeedLike | None = None,
        rng: SeedLike | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        stop = checks.limits(max_queries, max_steps, max_seconds, target).or_default()
        self._run = Setup.checked(
            x0,
            method,
            sparsity,
            f0,
            stop,
            seed,
            options,
            bounds=bounds,
            support=support,
            known=known,
            noise=noise,
            names=names,
            scale=scale,
            tol=tol,
            batch=batch,
            on_failure=on_failure,
            rng=rng,
        ).run(logs.steps())
        self._ask: Ask | None = None
        self._told = 0  # rows of it that have been told
        self._shown: FloatArray | None = None

    def ask(self, limit: int | None = None) -> FloatArray:
        """Return the points whose values are wanted now, (k, *x0.shape).

        At most `limit` of them; none when the run is over. Asking again
        before telling returns the same points.
        """
        if limit is not None and limit < 1:
            raise ValueError(f"limit must be at least 1; given: {limit!r}")
        if self._shown is None:
            if self._ask is None or self._told == len(self._ask) or self._run.finish is not None:
                self._ask, self._told = self._run.next(), 0
            if self._ask is None:
                return np.empty((0, *self._run.x0.shape))
            count = len(self._ask) - self._told
            if limit is not None:
                count = min(count, limit)
            points = np.stack([self._ask.point(self._told + row) for row in range(count)])
            self._shown = points.reshape(count, *self._run.x0.shape)
        return self._shown.copy()

    def tell(self, values: Sequence[float] | npt.ArrayLike) -> None:
        """Give the values at the points of the last `ask`, in their order.

        Raises
        ------
        EvaluationError
            When a value is not a finite number, and `on_failure` does not make up for it; the run is
            over then.
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
        self._run.stop_if_late()

    @property
    def result(self) -> Result:
        """The result so far."""
        return self._run.result()
