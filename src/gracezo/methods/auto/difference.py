"""How far to move: the size ε of a difference, and the error that it leaves.

A set S with weights w has the directional derivative U(S) = w·∇f. One query
at distance ε gives U + ½·ε·C(S) + rounding/ε with C(S) = wᵀHw. The best ε
balances the two errors: ε = sqrt(2·rounding / C(S)). So it has to follow the
size of the set, and C has to be that of the set: it is measured on the whole
space by asking it at two distances, and shared out by squared weight.
"""

from __future__ import annotations

import math

import numpy as np

from gracezo.core.types import FloatArray
from gracezo.methods.auto.constants import Constants

_ULP = float(np.finfo(np.float64).eps)


class Differences:
    """Chooses ε and prices its error.

    Parameters
    ----------
    constants
        The constants of the method.
    eps
        A fixed ε, when the user wants one.
    """

    def __init__(self, constants: Constants, eps: float | None = None) -> None:
        self._constants = constants
        self._fixed = eps
        self._magnitude = 0.0
        self._ulp_x = 0.0
        self._met: list[float] = []
        self._typical, self._varied = math.nan, 1.0  # of those met
        self.scale = 0.0
        """The largest |f| at any iterate: what a step could gain at most, for want of better."""
        self.density = math.nan
        """Curvature of an anonymous coordinate, in the mean over all of them."""

    def centre(self, x: FloatArray, value: float) -> None:
        """Note the point around which differences are taken from now on."""
        self._magnitude = abs(value) or 1.0  # at zero nothing tells the scale of f
        self.scale = max(self.scale, self._magnitude)
        self._ulp_x = _ULP * float(np.max(np.abs(x), initial=0.0))
        if math.isnan(self.density):
            # Nothing is known yet: as if f fell to zero over a distance of one (or of x itself).
            reach = 1.0 + float(np.mean(x * x))
            self.density = 2.0 * self._magnitude / reach

    @property
    def rounding(self) -> float:
        """The error of one difference of two values of f."""
        return self._constants.rounding * _ULP * self._magnitude

    @property
    def negligible(self) -> float:
        """A decrease not worth a query: below the rounding of the largest f met, even where f is near 0."""
        return self._constants.trust * self._constants.rounding * _ULP * self.scale

    @property
    def typical(self) -> float:
        """The curvature of a coordinate that matters: the median of those met."""
        return max(self.density, 0.0) if math.isnan(self._typical) else self._typical

    @property
    def varied(self) -> float:
        """How badly the typical curvature stands in for a single one: the share of a step's gain it loses."""
        return self._varied

    def odd(self, curvature: float) -> bool:
        """Whether a curvature is far above those met, so that a wrong slope may be behind it."""
        return len(self._met) >= 3 and curvature > 3.0 * self.typical

    def meet(self, curvature: float) -> None:
        """Note the measured curvature of one coordinate."""
        self._met.append(curvature)
        if met := [h for h in self._met[-31:] if h > 0]:
            self._typical = float(np.median(met))
        if len(last := [h for h in self._met[-7:] if h > 0]) == 7:
            ratio = np.array(last) / float(np.median(last))
            self._varied = float(np.mean(np.minimum((ratio - 1.0) ** 2, 1.0)))
        else:
            self._varied = 1.0

    def floor(self, slope: float) -> float:
        """Return the least curvature credible beside a slope: nothing promises more than |f| itself."""
        return slope * slope / (2.0 * self.scale)

    def newton(self, slope: float, curvature: float = math.nan) -> float:
        """Return the curvature to use for a Newton step along one coordinate of that slope."""
        if curvature > 0.0:
            return curvature
        return max(self.typical, self.floor(slope), float(np.finfo(np.float64).tiny))

    def promise(self, slope: float) -> float:
        """Return the decrease that a Newton step along one anonymous coordinate promises."""
        return slope * slope / (2.0 * self.newton(slope))

    def anonymous(self, squares: float) -> float:
        """Return what stays uncertain of C, for anonymous coordinates whose squared weights sum to `squares`.

        Their mean curvature is known and is subtracted; what differs from coordinate
        to coordinate adds up like a random walk, and one of them may be typical of
        those that matter.
        """
        known = self.density * squares
        return known * max(self._constants.curvature, 2.0 / math.sqrt(max(squares, 4.0))) + self.typical

    def size(self, curvature: float, value: float) -> float:
        """Return ε for a set whose C is `curvature` and whose U is about `value`."""
        if self._fixed is not None:
            return self._fixed
        # A displacement is itself rounded to the precision of x.
        rounding = self.rounding + abs(value) * self._ulp_x
        return math.sqrt(2.0 * rounding / max(curvature, float(np.finfo(np.float64).tiny)))

    def error(self, eps: float, curvature: float, value: float) -> float:
        """Return the error of a derivative of that value, measured at `eps`."""
        return self.rounding / eps + 0.5 * eps * curvature + abs(value) * self._ulp_x / eps
