"""One spike? How well a single large coordinate explains all that was measured of a group, by its position.

For the rows L asked of a group (U, K, and V on parts of it) with values y, background has the covariance

    Σ = τ²·L·diag(w²)·Lᵀ + diag(e²).

A spike at position k adds a·L_k. With the amplitude a fitted (generalised least squares), χ²_k tells how well
that explains y. The positions within a few of the best are the candidates.

A position is written into the length of a displacement: the labels of a group rise with it, from 0 to 1. If
one coordinate dominates the group, K/U is its label. Where looks go to both sides labels do, from −1 to 1:
they resolve twice as much then, and an error of U, of which K/U takes the share that the label has, does less
harm. (A single look stays on the side that the weights have chosen: behind it there may be a kink, or a
bound.) Within a window labels keep away from 0, so that a sum of 0 means that nothing is there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gracezo.core.types import FloatArray
from gracezo.methods.auto.belief import Belief
from gracezo.methods.auto.search.groups import Group, Order

_LEAST = 0.25  # of the labels in a window


@dataclass(frozen=True)
class Labels:
    """One way to label the positions 0, 1, … of a window.

    Attributes
    ----------
    least
        The least label by magnitude.
    both
        Whether labels are of both signs.
    """

    least: float
    both: bool

    def labels(self, span: int) -> FloatArray:
        """Return the labels of a window.

        >>> Labels(0.0, both=True).labels(4).tolist()
        [-0.75, -0.25, 0.25, 0.75]
        >>> Labels(0.5, both=False).labels(2).tolist()
        [0.625, 0.875]
        """
        rise = (np.arange(span) + 0.5) / span
        if self.both:
            rise = 2.0 * rise - 1.0
        return np.asarray((1.0 - self.least) * rise + np.copysign(self.least, rise))


def labelled(whole: bool, both: bool) -> Labels:
    """Return how to label a whole group, or a window in it."""
    return Labels(0.0 if whole else _LEAST, both)


@dataclass(frozen=True, eq=False)
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
        weights = order.weights[other.start : other.stop]
        way = np.arange(other.start, other.stop) - other.centre
        total -= other.centre * other.u
        variance += belief.tau**2 * float(weights**2 @ way**2) + ((other.centre - centre) * other.error) ** 2
    return (total - centre * group.u) / half, math.sqrt(variance) / half


def place(group: Group, about: tuple[float, float]) -> tuple[float, float]:
    """Return K/U, a position, and its error, given the moment."""
    half = 0.5 * group.size
    blur = math.hypot(about[1], about[0] / group.u * group.error)
    return group.centre + half * about[0] / group.u, half * blur / abs(group.u)


def second_moment(group: Group, order: Order, about: float) -> float:
    """Return Σw²(k − about)² over a group."""
    way = np.arange(group.start, group.stop) - about
    return float(order.weights[group.start : group.stop] ** 2 @ way**2)


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
    size = group.size
    weights = order.weights[group.start : group.stop]
    labels: list[FloatArray] = [np.ones(size)]
    values, errors = [group.u], [group.error]
    if about is not None:
        labels.append(np.asarray((np.arange(group.start, group.stop) - group.centre) / (0.5 * size)))
        values.append(about[0])
        errors.append(about[1])
    for row in group.rows:
        full = np.zeros(size)
        full[row.start - group.start : row.start - group.start + len(row.labels)] = row.labels
        labels.append(full)
        values.append(row.value)
        errors.append(row.error)
    matrix = np.array(labels)
    variance = (met * np.array(errors)) ** 2
    covariance = tau**2 * (matrix * weights**2) @ matrix.T
    covariance[np.diag_indices(len(values))] += variance + (1e-12 * np.array(values)) ** 2 + 1e-300
    root = np.linalg.cholesky(covariance)
    inside = slice(low - group.start, high - group.start)
    y = np.linalg.solve(root, np.array(values))
    columns = np.linalg.solve(root, matrix[:, inside] * np.where(weights[inside] != 0.0, 1.0, 0.0))
    norms = np.maximum(np.einsum("ij,ij->j", columns, columns), 1e-300)
    amplitude = (y @ columns) / norms
    chi = ((y[:, None] - columns * amplitude) ** 2).sum(axis=0)
    chi[weights[inside] == 0.0] = np.inf
    best = int(np.argmin(chi))
    if not math.isfinite(chi[best]):
        return None
    near = np.flatnonzero(chi <= chi[best] + likely**2)
    return Explanation(
        low + int(near[0]),
        low + int(near[-1]),
        low + best,
        float(amplitude[best]),
        1.0 / math.sqrt(float(norms[best])),
        float(chi[best]) / max(len(values) - 1, 1),
    )
