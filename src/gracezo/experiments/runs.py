"""One run: what names it, how it is made, what it leaves behind.

A run is named by everything that decides its outcome, and by nothing else: not by the table that
wants it. So the figures, the main table and the table of inexact sparsity share their runs.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import quote

import numpy as np

from gracezo import problems
from gracezo.api import minimize
from gracezo.core.errors import EvaluationError, EvaluationFailure
from gracezo.core.types import FloatArray, IntArray

NONSPARSE_FUNCTION = "distance-2500"


def make_function(name: str, instance: int) -> problems.Benchmark:
    """Return one instance of a function: those of `problems`, and the one that only a table needs.

    Examples
    --------
    >>> make_function("distance-2500", 0).s
    2500
    """
    if name == NONSPARSE_FUNCTION:
        return problems.Distance(instance, s=2500)
    return problems.make(name, instance)


@dataclass(frozen=True)
class Job:
    """A run to be made. The optimiser's seed is the number of the instance.

    Parameters
    ----------
    function, method, instance
        What is run on what.
    options
        The options of the method.
    sparsity
        What the method is told of the sparsity; None for the function's own s.
    max_steps, max_queries
        When to stop; at least one is given.
    code
        A digest of code outside the package that the run depends on.
    """

    function: str
    method: str
    instance: int
    options: Mapping[str, Any]
    sparsity: int | None = None
    max_steps: int | None = None
    max_queries: int | None = None
    code: str = ""

    @property
    def name(self) -> str:
        """The path of its record below the folder of runs, without an ending.

        Examples
        --------
        >>> Job("distance", "grace", 3, {"step_size": 0.5}, max_steps=9).name
        'distance/grace/003-73aed4bcfe77'
        """
        decides = json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))
        digest = hashlib.sha256(decides.encode()).hexdigest()[:12]
        return f"{quote(self.function, safe='')}/{quote(self.method, safe='')}/{self.instance:03d}-{digest}"


@dataclass(frozen=True, eq=False)
class Record:
    """What a finished run leaves behind.

    Attributes
    ----------
    job : Job
        What was run.
    queries, values : ndarray
        The trace: queries spent when an iterate was reached, and the objective there; x0 first.
    nfev, nit : int
        Queries and steps.
    status : int
        As in `gracezo.Result`.
    message : str
        Why the run ended.
    seconds : float
        What it took of a processor.
    made_with : mapping
        Versions, machine and date.
    """

    job: Job
    queries: IntArray
    values: FloatArray
    nfev: int
    nit: int
    status: int
    message: str
    seconds: float
    made_with: Mapping[str, Any]

    @property
    def normalised(self) -> FloatArray:
        """f(x_t) / f(x_1) of all iterates."""
        normalised: FloatArray = self.values / self.values[0]
        return normalised

    @property
    def best(self) -> float:
        """The best f(x_t) / f(x_1): the measure of the tables."""
        return float(self.normalised.min())

    def best_within(self, steps: int) -> float:
        """Return the best of the first iterates: x_1 and so many steps."""
        return float(self.normalised[: steps + 1].min())


def execute(job: Job, made_with: Mapping[str, Any]) -> Record:
    """Make a run.

    A run whose objective overflows has diverged: it ends there, and its best iterate still counts.

    Raises
    ------
    ValueError, TypeError, EvaluationError
        The function or the method does not work.
    """
    function = make_function(job.function, job.instance)
    began = time.process_time()
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            result = minimize(
                function,
                function.x0,
                method=job.method,
                sparsity=function.s if job.sparsity is None else job.sparsity,
                max_steps=job.max_steps,
                max_queries=job.max_queries,
                copy=False,
                seed=job.instance,
                options=job.options,
            )
    except EvaluationError as error:
        diverged = isinstance(error.__cause__, EvaluationFailure) and error.query > 1
        if not diverged:
            raise
        result = error.result
    seconds = time.process_time() - began
    if not result.trace.values[0] > 0:
        raise ValueError(
            f"{job.function} is {result.trace.values[0]:g} at its start; "
            "the normalised objective f(x)/f(x0) needs a positive value there"
        )
    return Record(
        job=job,
        queries=result.trace.queries,
        values=result.trace.values,
        nfev=result.nfev,
        nit=result.nit,
        status=result.status,
        message=result.message,
        seconds=round(seconds, 3),
        made_with=made_with,
    )
