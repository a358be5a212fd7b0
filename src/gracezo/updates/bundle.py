"""Cutting planes: the tangents of f at places around a kink, and what they say together.

A convex f lies above each of its tangents, so above the largest of them. A proximal bundle method
(Lemaréchal, *Bundle methods in nonsmooth optimization*, in *Nonsmooth Optimization*, Pergamon 1978; Kiwiel,
*Proximity control in bundle methods for convex nondifferentiable minimization*, Mathematical Programming 46,
105–122, 1990) goes to the minimum of that model plus |d|²/2t:

    min over d, v of  v + |d|²/2t   such that  v ≥ g_j·d − e_j  for all j,  and  lower ≤ d ≤ upper,

where e_j = f(x) − f(y_j) − g_j·(x − y_j) is by how much the tangent at y_j lies below f at x. The multipliers
λ_j ≥ 0 of the planes add up to one, and tell how far f can fall at all: whatever the λ_j, for all y

    f(y) ≥ f(x) − λ·e + (Σ λ_j g_j)·(y − x).

With limits of y − x that is a certificate, which values alone do not give.

The problem is one of least distance, since a term ½δ(v + 1/δ)² with a small δ differs from v by a constant
and ½δv²; and that is one of non-negative least squares (Lawson & Hanson, *Solving Least Squares Problems*,
Prentice-Hall 1974, chapter 23), which SciPy solves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from gracezo.core.types import BoolArray, FloatArray, IntArray

_ERROR = 1e-5  # of slopes, relative: f may bend
_DELTA = 1e-6  # in place of zero, in a problem whose numbers are of size one


class Bundle:
    """Places, with f and its slopes there; of very many, the last ones.

    Parameters
    ----------
    n
        How many coordinates.
    memory
        How many tangents are kept.
    rounding, blur
        The errors of a difference of f, and of a slope.
    """

    def __init__(self, n: int, memory: int, rounding: float, blur: float) -> None:
        self._memory = memory
        self._rounding, self._blur = rounding, blur
        self._places, self._slopes = np.zeros((2, 0, n))
        self._values: FloatArray = np.zeros(0)

    def __len__(self) -> int:
        return len(self._values)

    def add(self, x: FloatArray, value: float, slopes: FloatArray) -> None:
        """Take in one more."""
        last = slice(-self._memory, None)
        self._places = np.vstack([self._places, x])[last]
        self._slopes = np.vstack([self._slopes, slopes])[last]
        self._values = np.append(self._values, value)[last]

    def drop(self, x: FloatArray) -> None:
        """Take out the tangent at a place."""
        kept = (self._places != x).any(axis=1)
        self._places, self._slopes, self._values = self._places[kept], self._slopes[kept], self._values[kept]

    @property
    def steepest(self) -> float:
        """The norm of the steepest slopes; one if all are zero."""
        return float(np.linalg.norm(self._slopes, axis=1).max()) or 1.0

    def last_below(self, x: FloatArray, value: float) -> float:
        """Return how far below f at a place the last tangent is."""
        return float(self.around(x, value).errors[-1])

    def above(self, x: FloatArray, value: float, slopes: FloatArray) -> bool:
        """Whether a tangent is plainly above f at one of the places, which none is if f is convex."""
        ways = self._places - x
        return bool(self._plainly(ways @ slopes - self._values + value, ways, slopes).any())

    def refuted(self, x: FloatArray, value: float) -> list[tuple[FloatArray, FloatArray]]:
        """Return the places and slopes of the tangents that are plainly above f here."""
        ways = x - self._places
        over = self._values + (self._slopes * ways).sum(axis=1) - value
        return self.tangents(np.flatnonzero(self._plainly(over, ways, self._slopes)))

    def tangents(self, some: IntArray) -> list[tuple[FloatArray, FloatArray]]:
        """Return the places and slopes of some."""
        return list(zip(self._places[some], self._slopes[some], strict=True))

    def _plainly(self, over: FloatArray, ways: FloatArray, slopes: FloatArray) -> BoolArray:
        """Return what is over f by more than errors of f, and of slopes, explain."""
        errors = np.abs(ways) * (self._blur + _ERROR * np.abs(slopes))
        return np.asarray(over > self._rounding + errors.sum(axis=1))

    def around(self, x: FloatArray, value: float) -> Planes:
        """Return the tangents as they are seen from a place.

        Where f is not convex one may lie above f: it is taken to be as much below, since it says little here
        (Lemaréchal's measure of locality).
        """
        below = value - self._values - ((x - self._places) * self._slopes).sum(axis=1)
        return Planes(self._slopes, np.abs(below))


class Planes(NamedTuple):
    """Tangents around a place x.

    Attributes
    ----------
    slopes
        Those of each tangent, a row each.
    errors
        By how much each lies below f at x.
    """

    slopes: FloatArray
    errors: FloatArray

    def step(self, t: float, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, float]:
        """Return the step to the minimum of the model, and by how much the model falls; within these limits.

        >>> planes = Planes(np.array([[1.0, 0.0], [-1.0, 0.5]]), np.zeros(2))
        >>> step, promise = planes.step(1.0, np.full(2, -9.0), np.full(2, 9.0))
        >>> step.round(2).tolist(), round(promise, 2)
        ([-0.06, -0.24], 0.06)
        """
        shares, pulls = self._multipliers(t, lower, upper)
        step = np.clip(t * (pulls - shares @ self.slopes), lower, upper)
        return step, -float((self.slopes @ step - self.errors).max())

    def bound(self, t: float, lower: FloatArray, upper: FloatArray) -> tuple[float, IntArray]:
        """Return by how much f can fall within these limits, if it is convex: the least bound for this t.

        And the tangents that it rests on, at most one more than there are coordinates.
        """
        shares, _ = self._multipliers(t, lower, upper)
        slopes = shares @ self.slopes
        bound = float(shares @ self.errors - slopes @ np.where(slopes > 0.0, lower, upper))
        return bound, np.flatnonzero(shares)

    def _multipliers(self, t: float, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return those of the planes, which add up to one, and of the limits of each coordinate."""
        number, n = self.slopes.shape
        steepest = float(np.linalg.norm(self.slopes, axis=1).max())
        size = max(t * steepest**2, float(self.errors.max())) or 1.0  # of v, so that the problem has none
        length = np.sqrt(t * size)  # of d
        near = np.flatnonzero(np.isfinite(lower) & (lower > -t * steepest))
        far = np.flatnonzero(np.isfinite(upper) & (upper < t * steepest))
        # A column for each plane and limit; the last two rows are those of v, and of the right side.
        root = np.sqrt(_DELTA)
        columns = np.zeros((n + 2, number + len(near) + len(far)))
        columns[:n, :number] = -root * np.sqrt(t / size) * self.slopes.T
        columns[n, :number] = 1.0
        columns[-1, :number] = 1.0 - _DELTA * self.errors / size
        for limit, (first, which, sign) in zip(
            (lower, upper), ((number, near, 1.0), (number + len(near), far, -1.0)), strict=True
        ):
            place = first + np.arange(len(which))
            columns[which, place] = sign * root
            columns[-1, place] = sign * _DELTA * limit[which] / length
        norms = np.linalg.norm(columns, axis=0)
        right = np.zeros(n + 2)
        right[-1] = 1.0
        pulls = np.zeros(n)
        try:
            found = nnls(columns / norms, right, maxiter=100 * columns.shape[1])[0] / norms
        except RuntimeError:  # it goes in circles: the nearest tangent alone bounds f, too
            return np.eye(number)[self.errors.argmin()], pulls
        total = float(found[:number].sum())
        pulls[near] += found[number : number + len(near)]
        pulls[far] -= found[number + len(near) :]
        return found[:number] / total, pulls * np.sqrt(size / t) / total
