"""Looks at a function before anything is known of it: one probe at two distances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from gracezo.core.asks import Point, Steps
from gracezo.core.types import FloatArray
from gracezo.vectors.space import Probe, Space, slopes

_LUCKY = 0.1  # of the outputs: so many may look as if they answered, where their error is guessed


@dataclass(frozen=True)
class Look:
    """One probe at two distances: the quotients, and by how much they differ beyond rounding.

    `others` are the quotients of probes that went out along with it, by their number.
    """

    probe: int
    distance: float
    near: FloatArray
    far: FloatArray
    rounding: FloatArray  # standard error of r itself, by output
    others: Mapping[int, FloatArray] = field(default_factory=dict)
    guessed: bool = False  # whether that error is known from few answers only

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
        answers, moves = np.abs(self.far) > 4.0 * self.rounding / self.distance, self.far != self.near
        return bool(answers.sum() <= _LUCKY * moves.sum()) if self.guessed else not answers.any()

    def stands_still_unlike(self, farther: Look) -> bool:
        """Whether nothing is seen where a bend would be, after what is seen farther away: a staircase."""
        bend = np.abs(farther.far) * self.distance / (4.0 * farther.distance)  # quotients of x² fall so
        return self.silent and bool((bend > 16.0 * self.rounding / self.distance).any())

    @property
    def off(self) -> float:
        """The same, as a share of the quotient."""
        return self.relative(self.differences)

    @property
    def worst(self) -> float:
        """The largest share by which the two quotients of an output differ, of those that answer."""
        answers = np.abs(self.far) > 4.0 * self.rounding / self.distance
        off = np.abs(self.far - self.near)[answers] / np.abs(self.far[answers])
        return float(np.max(off, initial=0.0))

    @property
    def noise_share(self) -> float:
        """What rounding or noise makes of the quotient, as a share; 1 where nothing else is seen."""
        return 1.0 if self.silent else self.relative(self.rounding / self.distance)

    def relative(self, errors: FloatArray) -> float:
        """Return errors by output as a share of the quotient: the median over outputs that answer at all."""
        answers = np.abs(self.far) > 4.0 * self.rounding / self.distance
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
        self.rounding = rounding
        self.guessed = False
        self._seen: dict[float, Look] = {}
        self.first = 0  # number of the probe

    def look(self, distance: float) -> Steps[Look]:
        """Ask at this distance and four times as far; if that failed and was skipped, with another probe."""
        size = len(self._space)
        if distance in self._seen:  # what is paid for is not asked again
            return self.known(self._seen[distance], self.rounding, guessed=self.guessed)
        while True:
            others = range(self.first + 1, self.first + 1 + self._further)
            wanted = [Probe(self.first, 0, size, distance), Probe(self.first, 0, size, 4.0 * distance)]
            wanted += [Probe(number, 0, size, distance) for number in others]
            near, far, *rest = (yield from slopes(self._at, self._space, wanted)).T
            answered = zip(others, rest, strict=True)
            if np.isfinite(near[0] + far[0]):
                there = {number: one for number, one in answered if np.isfinite(one[0])}
                seen = Look(self.first, distance, near, far, self.rounding, there, self.guessed)
                self._seen[distance] = seen
                return seen
            self.first += 1 + self._further

    def known(self, seen: Look, rounding: FloatArray, *, guessed: bool = False) -> Look:
        """Note the standard error of the outputs, as it has turned out; return a look with it."""
        self.rounding, self.guessed = rounding, guessed
        return replace(seen, rounding=rounding, guessed=guessed)

    def bends(self, seen: Look) -> Steps[bool]:
        """Ask sixteen times as far: what two distances differ by is curvature if it then is larger."""
        probe = Probe(seen.probe, 0, len(self._space), 16.0 * seen.distance)
        if probe.distance > self._space.farthest:
            return False
        farther = (yield from slopes(self._at, self._space, [probe]))[:, 0]
        change, before = np.abs(farther - seen.far), np.abs(seen.far - seen.near)
        return bool(np.median(change) > 2.0 * np.median(before))
