"""A Jacobian at one point: what is given back, and the steps that find it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gracezo.core.asks import Ask, OutOfQueries, Point, Role, SparseRows, Steps
from gracezo.core.box import Box
from gracezo.core.keys import Key
from gracezo.core.method import Estimator
from gracezo.core.names import Names
from gracezo.core.result import GradientEstimate
from gracezo.core.steps import in_batches, translated
from gracezo.core.types import FloatArray, IntArray, record
from gracezo.vectors.accuracy import Accuracy
from gracezo.vectors.columns import Search
from gracezo.vectors.found import Columns, End, clear
from gracezo.vectors.space import Space, reach

_LEAST = 1e-140  # numbers that are smaller, or larger than its inverse, have no squares to speak of
_WORTH = 8  # a dense Jacobian of no more coordinates than so many times the probes is measured anyway

if TYPE_CHECKING:
    from scipy.sparse import csc_array


@record
class JacobianEstimate:
    """An estimate of the Jacobian at one point; columns not listed are taken as zero.

    Attributes
    ----------
    shape : tuple of int
        (m, d): the number of outputs, and of coordinates.
    columns : ndarray of int
        The coordinates that matter, counted in the flattened point, the largest effect first.
    values : ndarray
        The derivatives of the outputs with respect to them, m × k.
    errors : ndarray
        Standard errors of the values, m × k.
    freedom : int
        Their degrees of freedom: 95 % lie within the quantile of Student's t for so many. 0 where the
        errors are what the first queries showed of rounding, curvature and noise.
    outputs : ndarray
        What the function returned at the point itself.
    residual : float
        The share of the squared answers to probes of all coordinates that the columns do not explain.
    background : float
        Root mean square of a derivative, per scale of its coordinate, that is in no column.
    complete : bool
        Whether nothing is left that can be told from errors and background.
    regime : str
        "few columns", or "dense" where so many matter that they cannot be told apart.
    queries, rounds : int
        What it cost: evaluations, and batches of them.
    message : str
        The same in words.
    names : Names or None
        What the coordinates are called.

    Examples
    --------
    >>> import numpy as np, gracezo
    >>> def simulate(x):
    ...     return np.array([x[123] - 2 * x[4567], np.exp(5 * x[123] + x[4567]), x[4567] + 3 * x[123]])
    >>> found = gracezo.estimate_jacobian(simulate, np.zeros(10_000), seed=1)
    >>> sorted(found.columns.tolist()), found.tocsc()[:, [123]].toarray().ravel().round(5).tolist()
    ([123, 4567], [1.0, 5.0, 3.0])
    """

    shape: tuple[int, int]
    columns: IntArray
    values: FloatArray
    errors: FloatArray
    freedom: int
    outputs: FloatArray
    residual: float
    background: float
    complete: bool
    regime: str
    queries: int = 0
    rounds: int = 0
    message: str = ""
    names: Names | None = None

    @classmethod
    def nothing(cls, size: int, message: str, outputs: FloatArray | None = None) -> JacobianEstimate:
        """Return an estimate that names no column."""
        known = np.zeros(0) if outputs is None else outputs
        none = np.zeros((len(known), 0))
        return cls(
            (len(known), size),
            np.zeros(0, np.int64),
            none,
            none,
            0,
            known,
            np.nan,
            np.nan,
            False,
            "few columns",
            message=message,
        )

    def __repr__(self) -> str:
        from gracezo.report import words  # noqa: PLC0415

        return words.jacobian(self)

    def tocsc(self) -> csc_array:
        """Return the Jacobian as a SciPy sparse array, m × d."""
        from scipy.sparse import csc_array  # noqa: PLC0415  # slow to import, and rarely wanted

        order = np.argsort(self.columns)
        m, d = self.shape
        counts = np.zeros(d + 1, np.int64)
        counts[self.columns + 1] = m
        rows = np.tile(np.arange(m), len(order))
        return csc_array((self.values[:, order].T.ravel(), rows, np.cumsum(counts)), shape=self.shape)


class JacobianSearch:
    """Finds a Jacobian; `found` is what is known at the end, also when the queries have run out.

    Parameters
    ----------
    scale, bounds, noise
        What is known of the coordinates and the outputs.
    batch
        Queries that may go out together.
    tol
        When to leave alone what is left: as a share of the whole.
    differences
        Whether a dense Jacobian may be measured column by column.
    single
        What finds the gradient of a function with a single output.
    """

    def __init__(
        self,
        scale: FloatArray | None,
        bounds: Box | None,
        noise: float | FloatArray | None,
        batch: int,
        tol: float,
        differences: bool,
        single: Estimator,
    ) -> None:
        self._scale = scale
        self._bounds = bounds
        self._noise = noise
        self._batch = batch
        self._tol = tol
        self._differences = differences
        self._single = single

    def cost(self, outputs: FloatArray) -> float:
        """Return nothing that matters: no point is better than another."""
        return 0.0

    def fields(self, best: Point) -> dict[str, Any]:
        """Return nothing."""
        return {}

    def run(self, at: Point, key: Key) -> Steps[JacobianEstimate]:
        """Search around a point, with asks no larger than the batch."""
        return in_batches(self._run(at, key), self._batch)

    def _run(self, at: Point, key: Key) -> Steps[JacobianEstimate]:
        assert at.outputs is not None
        largest = float(np.abs(at.outputs).max())
        if not _LEAST <= largest <= 1.0 / _LEAST and largest > 0.0:
            return JacobianEstimate.nothing(
                len(at.x), f"outputs of {largest:.0g} have no squares: change their unit", at.outputs
            )
        if len(at.outputs) == 1:
            gradient = yield from scalars(self._single.estimate(Point(at.x, float(at.outputs[0])), 1, key))
            return _of_gradient(gradient, at.outputs)
        space = Space.around(at.x, self._scale, self._bounds, np.zeros(0, np.int64), key)
        noise = None if self._noise is None else np.broadcast_to(self._noise, at.outputs.shape)
        found = yield from Search(at, space, self._batch, self._tol, noise).run()
        if found is None:
            spent = "the queries are too few to find anything"
            return JacobianEstimate.nothing(len(at.x), spent, at.outputs)
        paid = len(found.probes)
        if found.dense and (self._differences or len(space) <= _WORTH * paid):
            try:
                return (yield from self._measured(at, found))
            except OutOfQueries:
                pass
        return _of_columns(found, at)

    def _measured(self, at: Point, found: Columns) -> Steps[JacobianEstimate]:
        """Measure every column by a difference of its own."""
        values, errors = yield from measured(
            at, np.sort(found.space.order), found.accuracy, self._scale, self._bounds
        )
        there = np.isfinite(values).all(axis=0)
        indices = np.sort(found.space.order)[there]
        return JacobianEstimate(
            (len(values), len(at.x)),
            indices,
            values[:, there],
            errors[:, there],
            0,
            outputs_of(at),
            0.0,
            0.0,
            bool(there.all()),
            "dense",
            message=f"the Jacobian is dense: each of {len(indices):,} columns was measured by a difference",
        )


def measured(
    at: Point, indices: IntArray, accuracy: Accuracy, scale: FloatArray | None, bounds: Box | None
) -> Steps[tuple[FloatArray, FloatArray]]:
    """Measure columns by a difference each; return them with their standard errors, NaN where one failed."""
    length = reach(at.x, scale, bounds)[indices]
    steps = accuracy.distance * length
    if bounds is not None:
        steps = bounds.inward(at.x, indices, steps)
    taken = (at.x[indices] + steps) - at.x[indices]  # what is left of a step in the sum
    answers = yield Ask(at.x, SparseRows.coordinates(indices, steps), Role.REFRESH)
    values = (answers - outputs_of(at)).T / taken
    error = accuracy.errors(values * length, 1)  # of quotients by the distance alone
    return values, error[:, None] * accuracy.distance / np.abs(taken)


def scalars(steps: Steps[GradientEstimate]) -> Steps[GradientEstimate]:
    """Let an algorithm for one output ask a function with a vector of one."""

    def first(ask: Ask, values: FloatArray) -> FloatArray:
        return values[:, 0]

    return translated(steps, heard=first)


def outputs_of(at: Point) -> FloatArray:
    """Return the outputs at a point where they are known."""
    assert at.outputs is not None
    return at.outputs


def _of_columns(found: Columns, at: Point) -> JacobianEstimate:
    return JacobianEstimate(
        (len(outputs_of(at)), len(at.x)),
        found.indices,
        found.values,
        found.errors,
        found.freedom,
        outputs_of(at),
        found.residual,
        found.background,
        found.complete,
        "dense" if found.dense else "few columns",
        message=_said(found, len(at.x)),
    )


def _said(found: Columns, size: int) -> str:
    """Return what was found, in words."""
    if found.dense:
        return (
            "the Jacobian is dense: so many coordinates matter that their columns cannot be told apart; "
            f"max_queries of {size + 1:,} more would measure each by a difference"
        )
    count, left = len(found.indices), f"{found.residual:.1g} of the squared answers"
    head = f"{count:,} column{'s' * (count != 1)} found"
    if found.complete and found.background > 0.0:
        kind = "noise, or " if found.accuracy.noisy else ""
        return f"{head}; what else there is, {left}, is {kind}a background of slopes too small to be named"
    if found.complete:
        return f"{head}; nothing else can be told from errors" + f", {left}" * (found.residual > 0.01)
    said = f"{head} before the search was given up; {left} is left"
    if found.end is End.SPENT:
        said = f"{head} before the queries were spent; {left} is left"
    elif found.end is End.KINKED:
        said = f"{head}; the outputs have kinks at x, where there is no Jacobian: give a point beside it"
    elif found.accuracy.too_noisy:
        said = f"{head}; {left} is left, and noise is as large as the answers: a larger scale would help"
    elif found.end is End.MISSED:
        small = "columns too small to be told apart, or a background of small slopes"
        said = f"{head}; what else there is, {left}, is more than errors: {small}"
    return said


def _of_gradient(gradient: GradientEstimate, outputs: FloatArray) -> JacobianEstimate:
    order = clear(gradient)
    return JacobianEstimate(
        (1, gradient.size),
        gradient.indices[order],
        gradient.values[None, order],
        gradient.errors[None, order],
        0,
        outputs,
        gradient.residual,
        gradient.background,
        bool(gradient.residual < 1e-4),
        "few columns",
        message=f"{len(order):,} columns found by the search for one output",
    )
