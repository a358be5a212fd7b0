"""Memory: the coordinates met so far, and what is known of them at the present point.

The slopes are predicted from point to point, and measured again as far as that pays (`refresh.py`).
"""

from __future__ import annotations

import numpy as np

from gracezo.core.asks import Point, Role, Steps
from gracezo.core.moves import Few
from gracezo.core.precision import TINY
from gracezo.core.types import FloatArray, IntArray
from gracezo.core.walls import Walls
from gracezo.methods.auto import constants
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.instrument.look import Change, Request
from gracezo.methods.auto.support.kinks import Kinks, Suspect


class Support:
    """Coordinates, slopes and curvatures.

    Parameters
    ----------
    differences
        What the run has learned.
    walls
        The bounds around the present point.
    """

    def __init__(self, differences: Differences, walls: Walls | None = None) -> None:
        self._differences = differences
        self._walls = walls or Walls()
        self.indices: IntArray = np.zeros(0, np.int64)
        self.slopes: FloatArray = np.zeros(0)
        self.curvatures: FloatArray = np.zeros(0)
        self._stiff: FloatArray = np.zeros(0)
        self.kinks = Kinks()

    def __len__(self) -> int:
        return len(self.indices)

    def add(self, coordinate: int, slope: float, curvature: float) -> None:
        """Take in a coordinate; its slope is measured again before long, so its error does not matter."""
        self.indices = np.append(self.indices, coordinate)
        self.slopes = np.append(self.slopes, slope)
        self.curvatures = np.append(self.curvatures, curvature)
        self._stiff = np.append(self._stiff, 0.0)

    @property
    def diagonal(self) -> FloatArray:
        """Positive curvatures, with a stand-in where the measured one is not."""
        return np.maximum(self.smooth, self._stiff)

    @property
    def smooth(self) -> FloatArray:
        """The same, of f between kinks."""
        curvatures, differences = self.curvatures, self._differences
        positive = curvatures > 0.0
        if np.logical_and.reduce(positive):  # the usual case
            return curvatures
        least = np.maximum(self.slopes**2 / (2.0 * differences.scale), differences.curvatures.typical)
        return np.where(positive, curvatures, np.maximum(least, TINY))

    @property
    def known(self) -> float:
        """The decrease that its slopes promise, coordinate by coordinate."""
        return self._walls.promise(self.indices, self.slopes, self.diagonal)

    @property
    def held_back(self) -> float:
        """The decrease that they promise beyond what steps that were cut short have left of it."""
        return self.promise_of(self.slopes) - self.known

    def promise_of(self, slopes: FloatArray) -> float:
        """Return what such slopes would promise, as far as f is smooth."""
        return self._walls.promise(self.indices, slopes, self.smooth)

    def stiffen(self, direction: FloatArray, t: float, brought: float, ahead: float) -> None:
        """Take coordinates that alone promised more than the whole step brought no further than they came.

        That is how a kink ahead shows: the slope in front of it promises what is not there. It may lie
        before the place where the step of length `ahead` would have led.
        """
        promised = 0.5 * np.abs(self.slopes * direction)
        most = 0.5 * float(promised.max())
        culprits = np.flatnonzero(promised > min(max(brought, 0.0), most))
        self._stiff[culprits] = np.abs(self.slopes[culprits] / (t * direction[culprits]))
        if brought <= 0.0:
            culprits = np.flatnonzero(promised > most)
        self.kinks.grow(len(self))
        self.kinks.blame(culprits, self._walls.ends(self.indices, ahead * direction)[culprits])

    def loosen(self, member: int | None = None) -> None:
        """Give a coordinate its own curvature back, or all of them theirs."""
        self._stiff[slice(None) if member is None else member] = 0.0

    def relax(self) -> None:
        """Let stiffened coordinates return by and by to the curvature measured on them."""
        self._stiff *= 0.5

    def lengths(self) -> FloatArray:
        """Return how far each coordinate has to go to show its slope; on a kink, that of one side."""
        self.kinks.grow(len(self))
        return np.maximum(self._differences.size(1.0, 0.0) / np.sqrt(self.smooth), self.kinks.reach)

    def correct(self, members: IntArray, misses: FloatArray) -> None:
        """Add to slopes what their prediction has missed."""
        self.slopes[members] += misses

    def predict(self, slopes: FloatArray) -> None:
        """Take what a model says of the slopes after a step, until they are measured."""
        self.slopes = slopes

    def arrive(self, x: FloatArray) -> None:
        """Foresee the slopes of the coordinates that have come to their kink at x."""
        self.slopes = self.kinks.moved(x[self.indices], self.slopes)

    def suspects(self, at: Point) -> list[Suspect]:
        """Take the slopes as those of a point; return where they show that there may be kinks."""
        x, kinks = at.x[self.indices], self.kinks
        kinks.grow(len(self))
        self.slopes = kinks.update(x, self.slopes)
        return kinks.suspects(x, self.slopes, self.smooth, self._differences.scale)

    def locate(self, at: Point, suspect: Suspect, start: FloatArray) -> Steps[Point]:
        """Look for the kink of a suspect of a run that began at `start`; return the best point met."""
        j, coordinate = suspect.member, int(self.indices[suspect.member])
        best, slope = yield from self.kinks.locate(
            at,
            coordinate,
            suspect,
            float(self.slopes[j]),
            float(start[coordinate]),
            self._differences.rounding,
        )
        self.slopes[j] = slope
        if best is not at or self.kinks.located[j]:
            self.loosen(j)  # otherwise it goes no farther than it came
        if best is not at:
            self.arrive(best.x)
        return best

    def carry(self, ways: FloatArray) -> None:
        """Foresee the slopes after a move by their own curvatures."""
        self.slopes = self.slopes + self.smooth * ways

    def give_up(self) -> FloatArray:
        """Give all slopes up, because no step along them brings anything; return them."""
        given_up, self.slopes = self.slopes, np.zeros(len(self))
        return given_up

    def bend(self, limit: int) -> list[Request]:
        """Return queries for missing curvatures, while they leave much of the step's promise to guesswork."""
        if self._differences.curvatures.varied < constants.ALIKE:
            return []
        # One that comes to a wall before it comes so far goes to that wall, whatever its curvature.
        lengths = constants.CONFIRM * np.abs(self.slopes) / self.diagonal
        missing = np.isnan(self.curvatures) & (self._walls.rooms(self.indices, self.slopes) >= lengths)
        promised = self.slopes**2 / self.diagonal
        guessed = np.where(missing, promised, 0.0)
        if float(guessed.sum()) <= constants.UNSEEN * float(promised.sum()):
            return []
        largest = np.argsort(-guessed, kind="stable")[: min(limit, int(missing.sum()))]
        return [self._curvature(int(j)) for j in largest]

    def _curvature(self, member: int) -> Request:
        slope = float(self.slopes[member])
        length = constants.CONFIRM * abs(slope) / float(self.diagonal[member])

        def absorb(change: Change) -> None:
            curvature = 2.0 * (change.ahead + length * abs(slope)) / length**2
            self.curvatures[member] = curvature
            self._differences.curvatures.meet(curvature)

        step = -float(np.copysign(length, slope))
        return Request(Few(self.indices[member : member + 1], np.array([step])), Role.CONFIRM, absorb)
