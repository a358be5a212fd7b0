"""One spike? How well a single large coordinate explains all that was measured of a group, by its position.

For the rows L asked of a group (U, K, and V on parts of it) with values y, background has the covariance

    Σ = τ²·L·diag(w²)·Lᵀ + diag(e²).

A spike at position k adds a·L_k. With the amplitude a fitted (generalised least squares), χ²_k tells how well
that explains y. The positions within a few of the best are the candidates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gracezo.core.types import FloatArray, record
from gracezo.methods.auto.belief import Belief
from gracezo.methods.auto.search.groups import Group
from gracezo.methods.auto.search.order import Order

_MOST = 2**17  # positions of a group that are all looked at
_LOOKED_AT = 2**13  # candidates of a larger one


@record
class Explanation:
    """How one spike explains a group.

    Attributes
    ----------
    first, last
        The candidates: positions from `first` up to and including `last`.
    best
        The likeliest of them.
    share, error
        Its part of U, and the standard deviation of that.
    misfit
        χ² of the best, a degree of freedom.
    """

    first: int
    last: int
    best: int
    share: float
    error: float
    misfit: float

    @property
    def number(self) -> int:
        """How many candidates there are."""
        return self.last - self.first + 1


def moment(group: Group, order: Order, belief: Belief) -> tuple[float, float] | None:
    """Return K of a group about its centre, over its half-length, and the error of that; None if unknown.

    What other members of its family hold is subtracted, as far as they look like background.
    """
    family = group.family
    if family is None or group.size < 2:
        return None
    centre, half = group.centre, 0.5 * group.size
    total, variance = family.total, family.blur**2
    for other in family.members:
        if other is group:
            continue
        if belief.holds(other) > 0.5:
            return None
        total -= other.centre * other.u
        spread = second_moment(other, order, other.centre)
        variance += belief.tau**2 * spread + ((other.centre - centre) * other.error) ** 2
    return (total - centre * group.u) / half, math.sqrt(variance) / half


def place(group: Group, about: tuple[float, float]) -> tuple[float, float]:
    """Return K/U, a position, and its error, given the moment."""
    half = 0.5 * group.size
    blur = math.hypot(about[1], about[0] / group.u * group.error)
    return group.centre + half * about[0] / group.u, half * blur / abs(group.u)


def second_moment(group: Group, order: Order, about: float) -> float:
    """Return Σw²(k − about)² over a group."""
    return order.second_moment(group.start, group.stop, about)


def explain(
    group: Group, order: Order, belief: Belief, tau: float, met: float, likely: float
) -> Explanation | None:
    """Return how one spike explains a group, at that background; None if no position is left for it.

    Errors are bounds, of which the share `met` has been met so far. Candidates are the positions within
    `likely` standard deviations of the best.
    """
    about = moment(group, order, belief)
    low, high = group.start, group.stop
    if about is not None:
        where, blur = place(group, about)
        deviation = math.hypot(tau * math.sqrt(second_moment(group, order, where)) / abs(group.u), met * blur)
        reach = 2.0 * likely * deviation + 1.0
        low, high = max(low, math.floor(where - reach)), min(high, math.ceil(where + reach) + 1)
    for row in group.rows:
        low, high = max(low, row.start), min(high, row.start + len(row.labels))
    if low >= high:
        return None
    return _fit(group, order, about, tau, met, likely, low, high)


def _fit(
    group: Group,
    order: Order,
    about: tuple[float, float] | None,
    tau: float,
    met: float,
    likely: float,
    low: int,
    high: int,
) -> Explanation | None:
    """Fit one spike at each of the positions from `low` up to, not including, `high`."""
    # Of very many candidates some are looked at.
    stride = 1 if group.size <= _MOST else max(1, (high - low) // _LOOKED_AT)
    positions = np.arange(low, high, stride)
    rows = _asked(group, about)
    values = np.array([row.value for row in rows])
    variance = (met * np.array([row.error for row in rows])) ** 2
    covariance = _covariance(group, order, rows, tau)
    covariance.flat[:: len(values) + 1] += variance + (1e-12 * values) ** 2 + 1e-300
    try:
        root = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:  # of one coordinate, the rows of an exact f are multiples of each other
        covariance.flat[:: len(values) + 1] *= 1.0 + 1e-12
        root = np.linalg.cholesky(covariance)
    gone = order.gone(low, high)[::stride]
    y = np.linalg.solve(root, values)
    columns = np.linalg.solve(root, np.array([row.at(positions) for row in rows]) * ~gone)
    norms = np.maximum(np.einsum("ij,ij->j", columns, columns), 1e-300)
    amplitude = (y @ columns) / norms
    chi = np.add.reduce((y[:, None] - columns * amplitude) ** 2, axis=0)
    chi[gone] = np.inf
    best = int(chi.argmin())
    if not math.isfinite(chi[best]):
        return None
    (near,) = (chi <= chi[best] + likely**2).nonzero()
    return Explanation(
        max(low, low + stride * (int(near[0]) - 1) + 1),
        min(high - 1, low + stride * (int(near[-1]) + 1) - 1),
        low + stride * best,
        float(amplitude[best]),
        1.0 / math.sqrt(float(norms[best])),
        float(chi[best]) / max(len(values) - 1, 1),
    )


@record
class _Asked:
    """What was asked of a group: labels on the positions from `start` to `stop`, their sum, its error."""

    start: int
    stop: int
    label: Callable[[FloatArray], FloatArray]
    value: float
    error: float

    def at(self, positions: npt.NDArray[Any]) -> FloatArray:
        """Return the labels of positions, which ascend, zero outside."""
        if self.start <= positions[0] and positions[-1] < self.stop:
            return self.label(positions)
        inside = (positions >= self.start) & (positions < self.stop)
        return np.where(inside, self.label(np.clip(positions, self.start, self.stop - 1)), 0.0)


def _asked(group: Group, about: tuple[float, float] | None) -> list[_Asked]:
    """Return U, K about the centre if it is known, and the rows."""
    start, stop = group.start, group.stop
    asked = [_Asked(start, stop, lambda positions: np.ones(len(positions)), group.u, group.error)]
    if about is not None:
        centre, half = group.centre, 0.5 * group.size
        asked.append(_Asked(start, stop, lambda positions: np.asarray((positions - centre) / half), *about))
    for row in group.rows:
        first, labels = row.start, row.labels

        def label(positions: FloatArray, first: int = first, labels: FloatArray = labels) -> FloatArray:
            return np.asarray(labels[(positions - first).astype(np.int64)])

        asked.append(_Asked(first, first + len(labels), label, row.value, row.error))
    return asked


def _covariance(group: Group, order: Order, rows: list[_Asked], tau: float) -> FloatArray:
    """Return τ²·L·diag(w²)·Lᵀ."""
    if group.size <= _MOST:
        positions, squares = order.squared(group.start, group.stop)
        matrix = np.array([row.at(positions) for row in rows])
        return np.asarray((tau**2 * (matrix * squares)) @ matrix.T)
    covariance = np.zeros((len(rows), len(rows)))
    for i, one in enumerate(rows):
        for j, two in enumerate(rows[: i + 1]):
            start, stop = max(one.start, two.start), min(one.stop, two.stop)
            if start < stop:
                positions, squares = order.squared(start, stop)
                covariance[i, j] = covariance[j, i] = float((one.at(positions) * two.at(positions)) @ squares)
    return tau**2 * covariance
