"""Quasi-Newton models: what steps and the changes of the gradient along them say of the curvature.

Limited-memory BFGS (Nocedal & Wright, *Numerical Optimization*, 2nd ed., algorithm 7.4), begun from a given
diagonal instead of a multiple of the identity as far as the pairs bear it out, with Powell's damping (ibid.,
procedure 18.2), because differences and kinks can make a pair violate the curvature condition. And plain BFGS
for few coordinates (ibid., equation 6.17).
"""

from __future__ import annotations

import contextlib
import math

import numpy as np

from gracezo.core.types import BoolArray, FloatArray

_RECENT = 5  # the last pairs, which tell how well a diagonal explains what was met
_SHOWN = 0.01  # cosine of a pair below which it shows no curvature on some of its coordinates


class LBFGS:
    """Inverse curvature on coordinates that may become more.

    Parameters
    ----------
    memory
        Pairs kept.
    """

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._count = 0
        # A pair a row, the oldest first; zero for coordinates that came later.
        self._steps: FloatArray = np.zeros((memory + 1, 0))
        self._changes: FloatArray = np.zeros((memory + 1, 0))

    def __len__(self) -> int:
        return self._count

    def direction(
        self, slopes: FloatArray, diagonal: FloatArray, free: BoolArray | None = None
    ) -> FloatArray:
        """Return −B⁻¹g, where B starts from `diagonal` (all positive); on the free coordinates alone."""
        n = len(slopes)
        if self._count == 0 and free is None:  # as long as few are being met
            return -slopes / diagonal
        self._make_room(n)
        steps, changes = self._steps[: self._count, :n], self._changes[: self._count, :n]
        if free is None or free.all():
            return _two_loops(steps, changes, _products(steps, changes), -slopes, diagonal)
        chosen = np.flatnonzero(free)
        steps, changes = steps.take(chosen, axis=1), changes.take(chosen, axis=1)
        curvatures = _products(steps, changes)
        # A pair that shows no curvature on the free coordinates is left out.
        shows = curvatures > _SHOWN * _products(np.abs(steps), np.abs(changes))
        if not shows.all():
            steps, changes, curvatures = steps[shows], changes[shows], curvatures[shows]
        direction = np.zeros(n)
        direction[chosen] = _two_loops(steps, changes, curvatures, -slopes[chosen], diagonal[chosen])
        return direction

    def bend(self, step: FloatArray, diagonal: FloatArray) -> float:
        """Return s·Bs, by the compact form of B (Byrd, Nocedal & Schnabel 1994)."""
        n = len(step)
        steps, changes = self._steps[: self._count, :n], self._changes[: self._count, :n]
        if not len(steps):
            return float(step @ (diagonal * step))
        products = steps @ changes.T
        curvatures = np.diag(products)
        diagonal = _begun(steps, changes, curvatures, diagonal)
        weighted, below = steps * diagonal, np.tril(products, -1)
        middle = np.block([[weighted @ steps.T, below], [below.T, -np.diag(curvatures)]])
        sides = np.concatenate([weighted @ step, changes @ step])
        with contextlib.suppress(np.linalg.LinAlgError):  # B is positive, but rounding may hide that
            return float(step @ (diagonal * step) - sides @ np.linalg.solve(middle, sides))
        return math.inf

    def learn(self, step: FloatArray, change: FloatArray, expected: FloatArray) -> None:
        """Note that along `step` the gradient changed by `change`, where B had `expected`."""
        model = float(step @ expected)
        if model <= 0.0:
            return
        actual = float(step @ change)
        if actual < 0.2 * model:
            share = 0.8 * model / (model - actual)
            change = share * change + (1.0 - share) * expected
        self._make_room(len(step))
        for rows, new in ((self._steps, step), (self._changes, change)):
            rows[self._count] = 0.0
            rows[self._count, : len(new)] = new
        self._count += 1
        if self._count > self._memory:
            self._count = self._memory
            for rows in (self._steps, self._changes):
                rows[:-1] = rows[1:]

    def forget(self) -> None:
        """Drop all pairs."""
        self._count = 0

    def _make_room(self, n: int) -> None:
        width = self._steps.shape[1]
        if n > width:
            more = np.zeros((self._memory + 1, max(n - width, width)))
            self._steps, self._changes = np.hstack([self._steps, more]), np.hstack([self._changes, more])


def _products(one: FloatArray, two: FloatArray) -> FloatArray:
    """Return the inner products of the rows."""
    return np.asarray(np.einsum("ij,ij->i", one, two))


def _begun(
    steps: FloatArray, changes: FloatArray, curvatures: FloatArray, diagonal: FloatArray
) -> FloatArray:
    """Return the diagonal to begin from: a power of the measured one, in the scale of the last pair.

    A diagonal D explains a pair the better, the nearer (s·y)² / (s·Ds)(y·D⁻¹y) is to one: the cosine
    between D½s and D^−½y, squared. Measured curvatures may be out of date, some more than others; then all
    alike, or half way there, explain pairs better.
    """
    recent = slice(-_RECENT, None)
    steps, changes, curvatures = steps[recent], changes[recent], curvatures[recent]
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        squares, changed = steps**2, changes**2
        logs = np.log(diagonal)
        most, chosen = -math.inf, diagonal
        for power in (1.0, 0.5, 0.0):  # as measured, half way, all alike
            candidate = diagonal if power == 1.0 else np.exp(power * logs + (1.0 - power) * logs.mean())
            cosines = curvatures**2 / ((squares @ candidate) * (changed @ (1.0 / candidate)))
            explained = float(np.log(cosines).sum()) + (1.0 if power == 1.0 else 0.0)
            if explained > most:
                most, chosen = explained, candidate
        along, across = squares[-1] * chosen, changed[-1] / chosen
        # Coupled coordinates bend f more than each alone (Oren & Luenberger's scaling in the metric of D).
        scale = float(np.sqrt(across.sum() / along.sum()))
    # What was measured alone is no more than what coupling adds to; one curvature for all is a guess.
    least = 1.0 if chosen is diagonal and float(np.ptp(logs)) > 0.0 else 0.0
    # Where one coordinate holds most of the change, as at a kink, the pair speaks of that one alone.
    if not least < scale < math.inf or 2.0 * float(across.max()) > float(across.sum()):
        return chosen
    return scale * chosen


def _two_loops(
    steps: FloatArray, changes: FloatArray, curvatures: FloatArray, q: FloatArray, diagonal: FloatArray
) -> FloatArray:
    """Return B⁻¹q."""
    if len(steps):
        diagonal = _begun(steps, changes, curvatures, diagonal)
    alphas = []
    for s, y, curvature in zip(steps[::-1], changes[::-1], curvatures[::-1], strict=True):
        alpha = float(s @ q) / curvature
        q = q - alpha * y
        alphas.append(alpha)
    r = q / diagonal
    for s, y, curvature, alpha in zip(steps, changes, curvatures, reversed(alphas), strict=True):
        r = r + (alpha - float(y @ r) / curvature) * s
    return r


class BFGS:
    """Inverse curvature as a matrix, for few coordinates.

    Parameters
    ----------
    inverse
        The inverse curvature to begin from, the same in all directions.
    size
        How many coordinates.
    """

    def __init__(self, inverse: float, size: int) -> None:
        self._inverse: FloatArray = inverse * np.eye(size)

    def direction(self, slopes: FloatArray) -> FloatArray:
        """Return −B⁻¹g."""
        return np.asarray(-self._inverse @ slopes)

    def learn(self, step: FloatArray, change: FloatArray) -> None:
        """Note that along `step` the gradient changed by `change`; a pair without curvature says nothing."""
        curved = float(step @ change)
        if not curved > 0.0:
            return
        moved = self._inverse @ change
        both = np.outer(moved, step)
        self._inverse = self._inverse - (both + both.T) / curved
        self._inverse += (1.0 + float(change @ moved) / curved) / curved * np.outer(step, step)
