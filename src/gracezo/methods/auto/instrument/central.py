"""Looking to both sides, where f is noisy: how far, how often, and what that is worth.

Two values, at +ε and −ε, are free of the curvature of f. Their error is σ/(√2·ε) for noise of
standard deviation σ, and a cubic term: the share (ε/λ)² of the slope, where λ is the distance over
which that term would be as large as the slope. Both are as large at ε³ = σ·λ²/(2·√2·|U|).

Nothing of this is assumed. That f bends regularly is checked by a third value nearer by, first at the
root, and again wherever a look goes farther than any before; λ is measured on the first coordinates
found. What one pair cannot tell from nothing is looked at several times, at slightly different distances.
"""

from __future__ import annotations

import math
from statistics import median

import numpy as np

from gracezo.core.precision import TINY
from gracezo.methods.auto import constants
from gracezo.methods.auto.instrument.look import NEAR, Change, Look, Stencil

_LEFT = math.sqrt(1.5)  # times σ: the noise of what a checked look leaves off its parabola


class Pairs:
    """What is known of looks to both sides.

    Parameters
    ----------
    noise
        The standard deviation σ of the noise of f.
    """

    def __init__(self, noise: float) -> None:
        self.noise = noise
        self.repeats = 1
        """How often a look is repeated when nothing is known of what it will show."""
        self.most_repeats = 1
        """How often the most careful look so far was repeated."""
        self._most = round(constants.UNSEEN**-2)  # repeats: what they leave does not show beside one's noise
        self._regular = 0.0  # how far f was seen to bend regularly
        self._irregular = math.inf  # how far it was seen not to
        self._wave = math.inf  # λ
        self._waves: list[float] = []  # of coordinates found
        # Variances that repeated looks have shown, summed; how many they are; what they would sum to if
        # noise of variance one grew with f.
        self._heard: tuple[float, ...] = (0.0, 0, 0.0)
        self.grows = False
        """Whether noise has turned out to grow with f, so that looks that go far are louder."""

    # ------------------------------------------------------------ what f is like

    def begin(self, far: float, change: Change) -> tuple[float, float]:
        """Take the root, at which f bends regularly; return its derivative and error."""
        self._regular = far
        self._wave = max(self._cubic_length(far, change), far / NEAR**2)
        value = change.odd / far
        return value, math.hypot(self.error(far), value * min((far / self._wave) ** 2, constants.UNSEEN))

    def regular(self, change: Change) -> bool:
        """Whether f bends regularly: what is off the parabola is noise, or little beside what is on it."""
        on = NEAR * abs(change.odd) + NEAR**2 * abs(change.even)
        return abs(change.left) <= constants.LIKELY * _LEFT * self.noise + constants.LITTLE * on

    def shows_kinks(self, change: Change) -> bool:
        """Whether a kink would have shown: it changes f in proportion to the distance, not to its square."""
        return abs(change.even) * (NEAR - NEAR**2) > 2.0 * constants.TRUST * _LEFT * self.noise

    def meet(self, distance: float, change: Change) -> None:
        """Note how regularly f bends along one coordinate that matters."""
        self._waves.append(self._cubic_length(distance, change))
        self._wave = median(self._waves)

    @property
    def unsure(self) -> bool:
        """Whether a coordinate found is to be asked for its cubic term."""
        return len(self._waves) < constants.FEW

    def _cubic_length(self, distance: float, change: Change) -> float:
        """Return λ, as far as noise shows it."""
        # What noise alone would leave is no evidence of a cubic term, and no proof that there is none.
        cubic = max(abs(change.left) - _LEFT * self.noise, constants.UNSEEN * self.noise) / (NEAR - NEAR**3)
        return distance * math.sqrt(max(abs(change.odd), self.noise) / cubic)

    # ------------------------------------------------------------ looks

    def look(self, length: float, about: float) -> Look:
        """Return how to look along a set: no farther than `length`; its derivative is `about` so large.

        Zero stands for unknown.
        """
        balance = self._balance(about)
        if not self._waves and self.error(min(length, balance)) > constants.LITTLE * abs(about):
            balance = max(balance, self._regular / NEAR)  # from nearer, noise shows too small a λ
        eps = min(length, balance, max(self._regular, NEAR * self._irregular), self._regular / NEAR**2)
        error = self.error(eps) if eps > 0.0 else math.inf
        often = self.often(error, about)
        return Look(
            eps,
            Stencil.CHECKED if eps > constants.HALF_AGAIN * self._regular else Stencil.CENTRAL,
            error / math.sqrt(often),
            min((eps / self._wave) ** 2, constants.UNSEEN),
            repeats=often,
        )

    def refresh(self, length: float) -> Look:
        """Return how to look along known coordinates, in units of their curvature.

        Each of them bends f by several times the noise, so that what noise hides of it is well below.
        """
        eps = min(constants.TRUST * math.sqrt(self.noise), length)
        return Look(eps, Stencil.CENTRAL, self.error(eps), 0.0)

    def read(self, look: Look, change: Change, size: float = math.inf) -> tuple[float, float]:
        """Return the derivative that a look shows, and its error; f is of that size here."""
        self._hear(change, size)
        if look.stencil is Stencil.CHECKED:
            if not self.regular(change):
                # Too far: what was asked nearer has to do.
                self._irregular = min(self._irregular, look.eps)
                near = NEAR * look.eps
                return change.near / near, 2.0 * self.error(near) + abs(change.even) / look.eps
            if not self._waves:
                self._wave = max(self._wave, self._cubic_length(look.eps, change))
            # Where nothing changes, nothing is proven.
            if abs(change.odd) > 2.0 * constants.TRUST * self.noise:
                self._regular = max(self._regular, look.eps)
        value = look.derivative(change)
        return value, look.error(value)

    def _hear(self, change: Change, size: float) -> None:
        """Learn from repeated looks that the noise is larger than it was taken for, or is so farther away.

        Seven values may underestimate it several times; then what is noise is taken for a find. In proportion
        to f it grows with the square of the distance: if that is the likelier reason, looks keep nearer.
        """
        if change.degrees == 0:
            return
        grown = max(abs(change.even) / size, 1.0) ** 2
        seen = change.degrees * change.noise, change.degrees, change.degrees * grown
        self._heard = total, degrees, far = tuple(map(sum, zip(self._heard, seen, strict=True)))
        louder, farther = math.sqrt(total / degrees) / self.noise, math.sqrt(far / degrees)
        if degrees < 2 * constants.FEW or louder <= constants.HALF_AGAIN:
            return
        if not self.grows and math.sqrt(farther) < louder <= constants.HALF_AGAIN * farther:
            self.grows, self._heard = True, (0.0, 0, 0.0)
        else:
            self.noise *= louder

    def error(self, eps: float, often: int = 1) -> float:
        """Return the standard error of a derivative, by pairs at that distance."""
        return self.noise / (math.sqrt(2.0 * often) * eps)

    def _balance(self, about: float) -> float:
        """Return where noise and cubic term are as large, for a slope of that size."""
        return float(np.cbrt(self.noise * self._wave**2 / (2.0 * math.sqrt(2.0) * max(abs(about), TINY))))

    def often(self, error: float, about: float) -> int:
        """Return how often a look of that error is to be repeated, to tell what it is about from nothing."""
        often = self.repeats
        if about != 0.0:
            needed = math.ceil((2.0 * constants.TRUST * error / about) ** 2)
            often = min(max(needed, 1), self._most)
        self.most_repeats = max(self.most_repeats, often)
        return often

    def telling(self, slope: float, length: float) -> float:
        """Return how far one coordinate should be asked, no farther than `length`, for one pair to tell."""
        enough = math.sqrt(2.0) * constants.TRUST * self.noise / abs(slope)
        return min(enough, self.look(length, slope).eps)

    def mistrust(self) -> None:
        """Look less far from now on: what a set has shown was not there when asked alone."""
        self._irregular = min(self._irregular, self._regular)
        self._regular *= NEAR

    def sharpen(self, error: float, curvature: float) -> bool:
        """Repeat looks more often from now on, if their error may hide a decrease above half the noise.

        `curvature` is the least of those met; what was not met may bend clearly less.
        """
        hidden = (constants.TRUST * error) ** 2 / (2.0 * constants.CLEARLY * curvature)
        if self.repeats >= self._most or hidden <= 0.5 * self.noise:
            return False
        self.repeats = min(4 * self.repeats, self._most)
        return True
