"""How far to move: the size ε of a difference, and the error that it leaves.

A set S with weights w has the directional derivative U(S) = w·∇f. One query
at distance ε gives U + ½·ε·C(S) + rounding/ε with C(S) = wᵀHw. The best ε
balances the two errors: ε = sqrt(2·rounding / C(S)). So it has to follow the
size of the set, and C has to be that of the set: it is measured on the whole
space by asking it at two distances, and shared out by squared weight.

With noise of standard deviation σ, that error grows like sqrt(σ·C), and soon
hides every label. Then looks go to both sides and farther (`pairs.py`), where
f is smooth. At kinks single queries remain.
"""

from __future__ import annotations

import math

import numpy as np

from gracezo.core.types import FloatArray
from gracezo.methods.auto import constants
from gracezo.methods.auto.instrument.central import Pairs
from gracezo.methods.auto.instrument.look import AHEAD, EVERYWHERE, Change, Look, Room

_ULP = float(np.finfo(np.float64).eps)


class Differences:
    """Chooses ε and prices its error.

    Parameters
    ----------
    eps
        A fixed ε, when the user wants one.
    tol
        Share of the decrease so far that is not worth a query.
    """

    def __init__(self, eps: float | None = None, tol: float | None = None) -> None:
        self._fixed = eps
        self._tol = tol or 0.0
        self._first = math.nan  # f where the run began
        self._fallen = 0.0
        self._magnitude = 0.0
        self._ulp_x = 0.0
        self._met: list[float] = []
        self.noise = 0.0
        """The standard deviation of f's noise, as far as it is known."""
        self.grain = 0.0
        """The error of a value of f, where it is above its last places and f passes for exact still."""
        self.coarse = False
        """Whether what is taken for noise is the step of a coarse function."""
        self.pairs: Pairs | None = None
        """Looks to both sides, where f is noisy and smooth."""
        self.bends = 0.5
        """By how much of |f| a look may bend it."""
        self._flattest = math.inf  # the least positive curvature met
        self._bent = 0.0  # the same of either sign, when ε is so long that it matters
        self._typical, self._varied = math.nan, 1.0  # of those met
        self.scale = 0.0
        """The largest |f| since the first look: what a step could gain at most, for want of better."""
        self.largest = 0.0
        """The same since the beginning of the run."""
        self._bounds = (1.0, 1)  # squared errors in units of their bounds, summed, and their number
        self.density = math.nan
        """Curvature of an anonymous coordinate, in the mean over all of them."""

    def centre(self, x: FloatArray, value: float) -> None:
        """Note the point around which differences are taken from now on."""
        self._magnitude = abs(value) or 1.0  # at zero nothing tells the scale of f
        if math.isnan(self._first):
            self._first = value
        self._fallen = self._first - value
        self.scale = max(self.scale, self._magnitude)
        self.largest = max(self.largest, self.scale)
        self._ulp_x = _ULP * float(np.max(np.abs(x), initial=0.0))
        if math.isnan(self.density):
            # Nothing is known yet: as if f fell to zero over a distance of one (or of x itself).
            reach = 1.0 + float(np.mean(x * x))
            self.density = 2.0 * self._magnitude / reach

    def forget(self) -> None:
        """Forget what was learned of f where it was of another size: nothing is known but that f is noisy."""
        self.grain, self.density, self.scale = 0.0, math.nan, 0.0
        self._met.clear()
        self._typical, self._varied, self._bent, self._flattest = math.nan, 1.0, 0.0, math.inf

    def enlarge(self, size: float) -> None:
        """Take f for a sum of terms of that size, which cancel where |f| is far below: they are rounded."""
        self.scale = max(self.scale, size)
        self.largest = max(self.largest, size)
        self.grain = max(self.grain, constants.ROUNDING * _ULP * size / math.sqrt(2.0))

    @property
    def fixed(self) -> bool:
        """Whether the user has chosen ε."""
        return self._fixed is not None

    @property
    def rounding(self) -> float:
        """The error of one difference of two values of f."""
        error = max(self.noise, self.grain)
        return max(constants.ROUNDING * _ULP * self._magnitude, math.sqrt(2.0) * error)

    @property
    def negligible(self) -> float:
        """A decrease not worth a query: below the rounding of the largest f met, even where f is near 0.

        Or below the tolerance.
        """
        exact = max(constants.ROUNDING * _ULP * self.scale, math.sqrt(2.0) * self.grain)
        return max(constants.TRUST * exact, 2.0 * self._deviation, self._tol * self._fallen)

    @property
    def _deviation(self) -> float:
        """The standard deviation of what repeated looks show of f at one point."""
        return self.noise / math.sqrt(self.pairs.repeats if self.pairs else 1)

    @property
    def typical(self) -> float:
        """The curvature of a coordinate that matters: the median of those met."""
        return max(self.density, 0.0) if math.isnan(self._typical) else self._typical

    @property
    def varied(self) -> float:
        """How badly the typical curvature stands in for a single one: the share of a step's gain it loses."""
        return self._varied

    @property
    def knows_curvature(self) -> bool:
        """Whether the curvature of a coordinate that matters has been measured."""
        return not math.isnan(self._typical)

    @property
    def most_curved(self) -> float:
        """The largest curvature of those met lately, of either sign."""
        return max((abs(curvature) for curvature in self._met[-31:]), default=0.0)

    def curvature_deviation(self, expected: float) -> float:
        """Return how far a curvature may be from the expected one; without limit while few have been met."""
        if len(self._met) < 3:
            return math.inf
        return max(float(np.std(self._met[-31:])), math.sqrt(constants.ALIKE) * expected)

    def odd(self, curvature: float) -> bool:
        """Whether a curvature is far above those met, so that a wrong slope may be behind it."""
        return len(self._met) >= 3 and curvature > 3.0 * self.typical

    def meet(self, curvature: float) -> None:
        """Note the measured curvature of one coordinate."""
        self._met.append(curvature)
        if curvature > 0.0:
            self._flattest = min(self._flattest, curvature)
        if self.noise:
            self._bent = float(np.median(np.abs(self._met[-31:])))
        if met := [h for h in self._met[-31:] if h > 0]:
            self._typical = float(np.median(met))
        if len(last := [h for h in self._met[-7:] if h > 0]) == 7:
            ratio = np.array(last) / float(np.median(last))
            self._varied = float(np.mean(np.minimum((ratio - 1.0) ** 2, 1.0)))
        else:
            self._varied = 1.0

    @property
    def met(self) -> float:
        """What share of its bound an error has turned out to have, in the root mean square.

        The bound itself counts as the first of those seen.
        """
        total, count = self._bounds
        return math.sqrt(total / count)

    def see(self, error: float, bound: float) -> None:
        """Note an error that became known, and the bound that it was given."""
        if bound > 0.0 and not self.noise:
            total, count = self._bounds
            self._bounds = total + min(error / bound, 1.0) ** 2, count + 1

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

    def across(
        self, squares: float, about: float, *, measured: float | None = None, room: Room = EVERYWHERE
    ) -> Look:
        """Return how to look along anonymous coordinates whose squared weights sum to `squares`.

        Their mean curvature is known and is subtracted (of `measured`, if those are other weights). Their
        derivative is `about` so large, and the bounds leave them `room`.
        """
        known = self.density * (squares if measured is None else measured)
        ahead = self._ahead(self._doubtful(squares), about, known, room.ahead)
        sharp = self._met and ahead.fixed * max(squares, 1.0) <= constants.UNSEEN * abs(about)
        if self.pairs is None or sharp or room.both <= ahead.eps:
            return ahead
        return self.pairs.look(min(self.length(squares), room.both), about)

    def along(self, curvature: float, about: float, room: Room = EVERYWHERE, least: float = 0.0) -> Look:
        """Return how to look along known coordinates of that curvature, all of it taken as an error.

        What is not foreseen of their derivative is `about` so large; ε is to be no less than `least`.
        """
        ahead = self._ahead(curvature, about, 0.0, room.ahead, least)
        if self.pairs is None or room.both <= ahead.eps:
            return ahead
        return self.pairs.refresh(min(math.sqrt(self.scale / curvature), room.both))

    def single(self, squares: float, about: float) -> float:
        """Return the ε of one query along anonymous coordinates, if there were no bounds."""
        return self.size(self._doubtful(squares), about)

    def _doubtful(self, squares: float) -> float:
        """Return what is uncertain of C along anonymous coordinates.

        What differs from coordinate to coordinate adds up like a random walk, and one of them may be
        typical of those that matter.
        """
        share = 2.0 / math.sqrt(max(squares, 4.0))
        return self.density * squares * share + max(self.typical, self._bent)

    def read(self, look: Look, change: Change, foreseen: float = 0.0) -> tuple[float, float]:
        """Return the derivative that a look shows beyond what was foreseen, and its error."""
        if self.pairs is not None and look.shares is not AHEAD:
            value, error = self.pairs.read(look, change)
            self.noise = max(self.noise, self.pairs.noise)
            return value - foreseen, error
        value = look.derivative(change) - foreseen
        return value, look.error(value)

    def length(self, squares: float) -> float:
        """Return how far anonymous coordinates can go before they bend f by too much."""
        return math.sqrt(
            2.0 * self.bends * self.scale / max(abs(self.density) * squares + self.typical, 1e-300)
        )

    @property
    def flattest(self) -> float:
        """The least curvature of those met; the typical one while there is none."""
        return min(self._flattest, self.typical)

    def _ahead(self, doubtful: float, about: float, known: float, most: float, least: float = 0.0) -> Look:
        eps = min(max(self.size(doubtful, about), least), most)
        error = self.rounding / eps + 0.5 * eps * doubtful
        return Look(eps, AHEAD, error, self._ulp_x / eps, bias=0.5 * eps * known)

    def size(self, curvature: float, about: float) -> float:
        """Return ε for one query along a set: its C is uncertain by `curvature`, its U `about` so large."""
        if self._fixed is not None:
            return self._fixed
        # A displacement is itself rounded to the precision of x.
        rounding = self.rounding + abs(about) * self._ulp_x
        return math.sqrt(2.0 * rounding / max(curvature, float(np.finfo(np.float64).tiny)))
