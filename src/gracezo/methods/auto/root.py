"""The first look: all coordinates of a tree together, and what they say of f itself.

Nothing is known of f yet but one value. The same direction is asked at three distances: two of them fit the
slope and the curvature, the third tells whether they are all there is. If it lies off the parabola by more
than rounding explains, f may be noisy, and only then is the noise measured (`estimators/noise.py`).

With noise, the root is asked at +far, −far and +near. If near lies on the parabola through the others, f
bends regularly up to far, and from then on looks to both sides pay. If it does not, far was too far, or there
is a kink in between: the root is asked nearer, and after the last try looks stay one-sided.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gracezo.core.asks import Point, Role, SparseRows, Steps
from gracezo.estimators.noise import grid, measure_noise, quantum
from gracezo.methods.auto.constants import Constants
from gracezo.methods.auto.difference import Differences
from gracezo.methods.auto.pairs import Pairs
from gracezo.methods.auto.request import AHEAD, CHECKED, Change, Request, answered
from gracezo.methods.auto.tree import Tree

QUIET = 1e-8
"""Of |f|: noise below it is no reason to look to both sides."""
FAR = 1000.0  # times ε, where the curvature of a set is measured
_FAR_NOISY = 10.0  # the same where f is noisy, and ε long
_MIDDLE = 30.0  # times ε, where the parabola through the others is checked
_BEYOND = (2.3, 5.1, 11.7)  # times the distance at which a coarse f has changed: where its step shows
_STRIDE = 4.0  # from one distance to the next, with noise
_TRIES = 4
_HIDDEN = 20.0  # times σ: a change that noise makes too uncertain


class FirstLook:
    """Measures the root of the first tree of a run, and what f is like.

    Parameters
    ----------
    constants, differences
        What the run has assumed, and where it keeps what it learns of f.
    tree
        The order and the weights of the coordinates.
    """

    def __init__(self, constants: Constants, differences: Differences, tree: Tree) -> None:
        self._constants = constants
        self._differences = differences
        self._tree = tree
        self._squares = tree.squares(0, len(tree.order))
        self._room = tree.room(0, len(tree.order))
        self._curvature = 0.0  # of the last fit
        self._seen: list[float] = []  # values of f
        self.flat = True
        """Whether f did not change at all."""
        self.value = 0.0
        self.error = 0.0
        """U of the whole tree, and its error."""

    def take(self, at: Point, noise: float | None) -> Steps[None]:
        """Look, and find out what f is like; `noise` is what the user says of it, None for nothing."""
        differences = self._differences
        guess = differences.density
        if differences.fixed:
            noise = noise or 0.0  # whoever chooses ε has thought of it
        if noise is None:
            noise = yield from self._measure(at)
            if 0.0 < noise <= QUIET * abs(at.value):
                # What is left of large terms that cancel, say: f passes for exact, only with a larger error.
                differences.grain, differences.density, noise = noise, guess, 0.0
                yield from self._fit(at, [1.0, FAR])
        elif noise == 0.0:
            yield from self._fit(at, [1.0, FAR])
        if noise > 0.0:
            differences.noise, differences.density = noise, guess  # what was fitted was noise
            if differences.fixed or not (yield from self._regular(at)):
                yield from self._fit(at, [1.0, _FAR_NOISY])

    def _measure(self, at: Point) -> Steps[float]:
        """Look as if f were exact; return the noise, measured only if something hints at it."""
        distances, changes = yield from self._fit(at, [1.0, FAR, _MIDDLE])
        rounding = self._differences.rounding
        if len(distances) == 3 and not self.flat:
            middle = distances[2]
            left = changes[2].ahead - middle * self.value - 0.5 * middle**2 * self._curvature
            # What rounding leaves of the slope, at the nearest, is multiplied on the way to the middle.
            if abs(left) <= self._constants.trust * rounding * (1.0 + middle / distances[0]):
                self._refit(distances[2], distances[1], changes[2].ahead, changes[1].ahead)
                return 0.0
        if any(change.ahead == 0.0 for change in changes):
            return (yield from self._coarseness(at, max(distances)))
        if len(distances) < 3:
            return 0.0
        if step := quantum(np.array([at.value, *self._seen])):
            return step / math.sqrt(12.0)
        return (yield from self._level(at))

    def _coarseness(self, at: Point, farthest: float) -> Steps[float]:
        """Look farther, because f has not changed somewhere; return its noise, 0 if it is altogether flat."""
        reach = min(1.0 + float(np.max(np.abs(at.x))), self._room.ahead)
        while self.flat and farthest < reach:
            farthest = min(_MIDDLE * farthest, reach)
            yield from self._ask(at, [farthest])
        if self.flat:
            return 0.0
        beyond = max(_BEYOND) * farthest <= reach
        yield from self._ask(at, [farthest * share if beyond else farthest / share for share in _BEYOND])
        values = np.array([at.value, *self._seen])
        if step := quantum(values) or grid(values):
            return step / math.sqrt(12.0)
        return (yield from self._level(at, first=farthest * math.sqrt(self._squares)))

    def _level(self, at: Point, first: float = 0.0) -> Steps[float]:
        """Return the standard deviation of the noise, as far as it exceeds rounding."""
        norm = math.sqrt(self._squares)
        line = SparseRows.single(self._tree.order, self._tree.weights / norm)
        measured = yield from measure_noise(at, line, self._room.ahead * norm, first)
        return measured.level if measured.level > self._differences.rounding else 0.0

    def _fit(self, at: Point, multiples: Sequence[float]) -> Steps[tuple[list[float], list[Change]]]:
        """Ask at multiples of the best ε on one side, and fit a parabola through the first two."""
        differences = self._differences
        near = differences.across(self._squares, 0.0, room=self._room).eps
        # Where bounds are so near that distances would be the same, fewer are asked.
        distances = list(dict.fromkeys(min(multiple * near, self._room.ahead) for multiple in multiples))
        changes = yield from self._ask(at, distances)
        slopes = [change.ahead / distance for change, distance in zip(changes, distances, strict=True)]
        curvature, error = 0.0, 4.0 * differences.rounding / near**2
        if len(distances) > 1:
            curvature = 2.0 * (slopes[1] - slopes[0]) / (distances[1] - near)
            error = 4.0 * differences.rounding / (near * distances[1])
        # The curvature of the whole set, or its bound when none shows.
        differences.density = max(abs(curvature), error) / max(self._squares, 1e-300)
        self.value, self._curvature = slopes[0] - 0.5 * near * curvature, curvature
        self.error = differences.rounding / near + 0.5 * near * error
        return distances, changes

    def _refit(self, middle: float, far: float, at_middle: float, at_far: float) -> None:
        """Fit the parabola through the farther two, once the nearest has shown that it is one so far.

        Rounding weighs less there: as much less in the slope as the middle is farther than the nearest.
        """
        rounding = self._differences.rounding
        curvature = 2.0 * (at_far / far - at_middle / middle) / (far - middle)
        error = 4.0 * rounding / (middle * far)
        self._differences.density = max(abs(curvature), error) / max(self._squares, 1e-300)
        self.value = at_middle / middle - 0.5 * middle * curvature
        self.error = rounding / middle + 0.5 * middle * error

    def _regular(self, at: Point) -> Steps[bool]:
        """Look to both sides, as far as f bends regularly; return whether it does at some distance."""
        differences = self._differences
        pairs = Pairs(differences.noise, self._constants.trust)
        far, longest = min(differences.length(self._squares), self._room.both), math.inf
        if far <= differences.single(self._squares, 0.0):
            return False  # a bound is too near
        for _ in range(_TRIES):
            (change,) = yield from self._ask(at, [far], CHECKED)
            bend = max(abs(change.even), differences.noise) / differences.scale
            if bend > 4.0:
                longest = far
                far *= math.sqrt(0.5 / bend)
            elif pairs.regular(change):
                differences.density = 2.0 * bend * differences.scale / far**2 / max(self._squares, 1e-300)
                if pairs.shows_kinks(change):
                    differences.pairs = pairs
                    self.value, self.error = pairs.begin(far, change)
                # Farther is better while f bends by much less than |f|; where noise hides much, by more.
                if bend > 0.1 and abs(change.odd) < _HIDDEN * differences.noise:
                    differences.bends = 2.0
                further = min(differences.length(self._squares), _STRIDE**2 * far, self._room.both)
                if further < 2.0 * far or further >= longest:
                    break
                far = further
            elif differences.pairs is not None:
                break
            else:
                longest = far
                far /= _STRIDE
        return differences.pairs is not None

    def _ask(
        self, at: Point, distances: Sequence[float], shares: tuple[float, ...] = AHEAD
    ) -> Steps[list[Change]]:
        """Ask the whole tree at some distances."""
        changes: list[Change] = []

        def absorb(change: Change) -> None:
            changes.append(change)
            self._seen.append(at.value + change.ahead)
            self.flat = self.flat and change.ahead == 0.0

        requests = [
            Request(self._tree.order, distance * self._tree.weights, Role.PROBE, absorb, shares)
            for distance in distances
        ]
        yield from answered(at, requests)
        return changes
