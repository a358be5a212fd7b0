"""Looks at a function before anything is known of it: one probe at two distances."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from gracezo.core.asks import Point, Steps
from gracezo.core.types import BoolArray, FloatArray
from gracezo.estimators.digits import last_place
from gracezo.vectors.space import Probe, Space, answers_to

_LITTLE = 0.1  # of the larger: two quotients that differ by more, so near, have little in common
_LUCKY = 0.1  # of the outputs: so many may look as if they answered, where their error is guessed


@dataclass(frozen=True)
class Look:
    """One probe at two distances: the quotients, and by how much they differ beyond rounding.

    `outputs` are those at x, near and far, a row each; `others` the quotients of probes that went out along
    with it, by their number.
    """

    probe: int
    distance: float
    outputs: FloatArray
    rounding: FloatArray  # standard error of r itself, by output
    others: Mapping[int, FloatArray] = field(default_factory=dict)
    guessed: bool = False  # whether that error is known from few answers only

    @property
    def near(self) -> FloatArray:
        """The quotients at the distance itself."""
        return np.asarray((self.outputs[1] - self.outputs[0]) / self.distance)

    @property
    def far(self) -> FloatArray:
        """The quotients four times as far."""
        return np.asarray((self.outputs[2] - self.outputs[0]) / (4.0 * self.distance))

    @property
    def differences(self) -> FloatArray:
        """What the two differ by, less what rounding explains, by output."""
        excess = np.abs(self.far - self.near) - 2.0 * self.rounding / self.distance
        return np.maximum(excess, 0.0)

    @property
    def noise(self) -> FloatArray:
        """What the two differ by, as a sample of the standard deviation of r: n(4ε)/4 − n(ε) + 3/4 n(0)."""
        return np.asarray(np.abs(self.far - self.near) * self.distance / np.sqrt(1.625))

    @property
    def silent(self) -> bool:
        """Whether no output shows more than rounding; where that is guessed, hardly any."""
        moves = self.far != self.near
        answers = int((~self.unclear).sum())
        return bool(answers <= _LUCKY * moves.sum()) if self.guessed else answers == 0

    @property
    def faint(self) -> bool:
        """Whether most outputs show no more than rounding."""
        return bool(2 * self.unclear.sum() > len(self.rounding))

    @property
    def unclear(self) -> BoolArray:
        """Which outputs show no more than rounding."""
        return np.asarray(np.abs(self.far) <= 4.0 * self.rounding / self.distance)

    @property
    def bend(self) -> float:
        """By how much the quotients change over the scale, as a share: by as much as they are, or more."""
        return max(1.0, self.off / (3.0 * self.distance))

    @property
    def contradicts_itself(self) -> bool:
        """Whether of some outputs that answer the two quotients have little in common."""
        unlike = self.differences > _LITTLE * np.maximum(np.abs(self.far), np.abs(self.near))
        return bool((unlike & ~self.unclear).any())

    def stands_still_unlike(self, farther: Look) -> bool:
        """Whether little is seen where bends would be, after what is seen farther away: a staircase."""
        bend = np.abs(farther.far) * self.distance / (4.0 * farther.distance)  # quotients of x² fall so
        visible = bend > 16.0 * self.rounding / self.distance
        return bool(visible.any() and 2 * self.unclear[visible].sum() > visible.sum())

    @property
    def off(self) -> float:
        """The same, as a share of the quotient."""
        return self.relative(self.differences)

    @property
    def noise_share(self) -> float:
        """What rounding or noise makes of the quotient, as a share; 1 where nothing else is seen."""
        return 1.0 if self.silent else self.relative(self.rounding / self.distance)

    def relative(self, errors: FloatArray) -> float:
        """Return errors by output as a share of the quotient: the median over outputs that answer at all."""
        answers = ~self.unclear
        if not answers.any():
            return 0.0
        return float(np.median(errors[answers] / np.abs(self.far[answers])))


class Looks:
    """Looks around a point: one probe at two distances, and others along with it.

    Parameters
    ----------
    at, space, rounding
        Where, what may move, and the standard error of the outputs themselves.
    further
        How many other probes of the whole space may go out along with the two.
    """

    def __init__(self, at: Point, space: Space, rounding: FloatArray, further: int) -> None:
        self._at, self._space = at, space
        self._further = further
        self._least = self.rounding = rounding
        self.guessed = False
        self._seen: list[Look] = []
        self._beyond: list[FloatArray] = []  # outputs farther away
        self.first = 0  # number of the probe

    def look(self, distance: float) -> Steps[Look]:
        """Ask at this distance and four times as far; if that failed and was skipped, with another probe."""
        size = len(self._space)
        for seen in self._seen:
            if math.isclose(seen.distance, distance):  # what is paid for is not asked again
                return self.known(seen, self.rounding, guessed=self.guessed)
        here = self._at.outputs
        assert here is not None
        while True:
            others = range(self.first + 1, self.first + 1 + (0 if self._seen else self._further))
            wanted = [Probe(self.first, 0, size, distance), Probe(self.first, 0, size, 4.0 * distance)]
            wanted += [Probe(number, 0, size, distance) for number in others]
            near, far, *rest = yield from answers_to(self._at, self._space, wanted)
            if np.isfinite(near[0] + far[0]):
                answered = zip(others, rest, strict=True)
                there = {number: (one - here) / distance for number, one in answered if np.isfinite(one[0])}
                three = np.stack([here, near, far])
                self._seen.append(Look(self.first, distance, three, self.rounding, there, self.guessed))
                return self._seen[-1]
            self.first += 1 + self._further

    @property
    def outputs(self) -> FloatArray:
        """All outputs so far, a row each, those at x first."""
        return np.vstack(
            [self._seen[0].outputs[:1], *(seen.outputs[1:] for seen in self._seen), *self._beyond]
        )

    def known(self, seen: Look, rounding: FloatArray, *, guessed: bool = False) -> Look:
        """Note the standard error of the outputs, as it has turned out; return a look with it."""
        self.rounding, self.guessed = np.maximum(rounding, self._least), guessed
        return replace(seen, rounding=self.rounding, guessed=guessed)

    def bends(self, seen: Look) -> Steps[bool]:
        """Ask sixteen times as far: what two distances differ by is curvature if it then is larger."""
        probe = Probe(seen.probe, 0, len(self._space), 16.0 * seen.distance)
        if probe.distance > self._space.farthest:
            return False
        (outputs,) = yield from answers_to(self._at, self._space, [probe])
        if not np.isfinite(outputs[0]):
            return False
        self._beyond.append(outputs)
        if last_place(self.outputs) is not None:
            return False  # they are steps
        farther = (outputs - seen.outputs[0]) / probe.distance
        change, before = np.abs(farther - seen.far), np.abs(seen.far - seen.near)
        return bool(np.median(change) > 2.0 * np.median(before))
