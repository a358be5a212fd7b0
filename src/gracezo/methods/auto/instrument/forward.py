"""How far to move: the size ε of a difference, and the error that it leaves.

A set S with weights w has the directional derivative U(S) = w·∇f. One query at distance ε gives
U + ½·ε·C(S) + rounding/ε with C(S) = wᵀHw. The best ε balances the two errors: ε = sqrt(2·rounding / C(S)).
So it has to follow the size of the set, and C has to be that of the set: it is measured on the whole space by
asking it at two distances, and shared out by squared weight.

With noise of standard deviation σ, that error grows like sqrt(σ·C), and soon hides every label. Then looks go
to both sides and farther (`central.py`), where f is smooth. At kinks single queries remain.
"""

from __future__ import annotations

import math
from statistics import median

import numpy as np

from gracezo.core.places import largest, mean_square
from gracezo.core.precision import TINY, ULP
from gracezo.core.types import FloatArray
from gracezo.estimators.digits import printed
from gracezo.methods.auto import constants
from gracezo.methods.auto.instrument.central import Pairs
from gracezo.methods.auto.instrument.look import EVERYWHERE, Change, Look, Room, Stencil


class Values:
    """What a value of f is worth: its size here and so far, and its error.

    Parameters
    ----------
    unit
        What a value of one is in the user's f; 0 if that is not known.
    """

    def __init__(self, unit: float = 0.0) -> None:
        self._unit = unit
        self._first = math.nan  # f where the run began
        self.fallen = 0.0
        """By how much f has fallen since."""
        self.magnitude = 0.0
        """The size of f at the present point."""
        self.scale = 0.0
        """The largest |f| since the first look: what a step could gain at most, for want of better."""
        self.largest = 0.0
        """The same since the beginning of the run."""
        self.noise = 0.0
        """The standard deviation of f's noise, as far as it is known."""
        self.rounding_error = 0.0
        """The error of a value of f, where it is above its last places and f passes for exact still."""
        self.rounding = 0.0
        """The error of one difference of two values of f."""
        self.coarse = False
        """Whether what is taken for noise is the step of a coarse function."""

    def centre(self, value: float) -> None:
        """Note f at the point around which differences are taken from now on."""
        self.magnitude = abs(value) or 1.0  # at zero nothing tells the scale of f
        if math.isnan(self._first):
            self._first = value
        self.fallen = self._first - value
        self.scale = max(self.scale, self.magnitude)
        self.largest = max(self.largest, self.scale)
        self._weigh()

    def forget(self) -> None:
        """Forget what was learned of f where it was of another size."""
        self.rounding_error, self.scale, self.noise, self.coarse = 0.0, 0.0, 0.0, False
        self._weigh()

    def enlarge(self, size: float) -> None:
        """Take f for a sum of terms of that size, which cancel where |f| is far below: they are rounded."""
        self.scale = max(self.scale, size)
        self.largest = max(self.largest, size)
        self.round(max(self.rounding_error, constants.ROUNDING * ULP * size / math.sqrt(2.0)))

    def round(self, rounding_error: float) -> None:
        """Take f for exact up to an error above its last places."""
        self.rounding_error = rounding_error
        self._weigh()

    def hear(self, noise: float, coarse: bool = False) -> None:
        """Take f for noisy; it may be that it is coarse.

        |f| says nothing of its size where noise is most of it, or an offset happens to make it small: beside
        the size of f, noise is to be little.
        """
        self.noise, self.coarse = noise, coarse
        self.scale = max(self.scale, noise / constants.PRECISE)
        self._weigh()

    def _weigh(self) -> None:
        """Work out the error of a difference: it is asked for several times a query."""
        error = max(self.noise, self.rounding_error)
        self.rounding = max(constants.ROUNDING * ULP * self.magnitude, math.sqrt(2.0) * error)

    def printed(self, values: FloatArray) -> float:
        """Return the step between values if the user's were written with few digits, 0 if not."""
        return printed(values * self._unit) / self._unit if self._unit else 0.0

    @property
    def exact(self) -> float:
        """The same by rounding alone, where |f| was largest."""
        return max(constants.ROUNDING * ULP * self.scale, math.sqrt(2.0) * self.rounding_error)


class Curvatures:
    """How f bends: along an anonymous coordinate, in the mean over all of them, and along those met."""

    def __init__(self) -> None:
        self.mean = math.nan
        """Curvature of an anonymous coordinate: its magnitude, or a bound where none shows."""
        self._shown = 0.0  # the same with its sign; 0 where none shows
        self.lost = 0.0
        """What rounding may take away of the mean where all move by little, or not."""
        self.reach = math.inf
        """Up to which distance the mean is known to show, or to be lost, as it was measured."""
        self._met: list[float] = []
        self._flattest = math.inf  # the least positive one met
        self.known = False
        """Whether that of a coordinate that matters has been measured."""
        self.typical = math.nan
        """That of a coordinate that matters: the median of those met."""
        self.size = 0.0
        """The same by magnitude, zero while there is none."""
        self.varied = 1.0
        """How badly the typical one stands in for a single one: the share of a step's gain that it loses."""

    def assume(self, mean: float, shown: float = 0.0) -> None:
        """Take the curvature of an anonymous coordinate for that, and for this with its sign."""
        self.mean, self._shown = mean, shown
        if not self.known:
            self.typical = max(mean, 0.0)

    def absorb(self, lost: float, reach: float) -> None:
        """Take the mean for what rounding leaves of it at distances up to `reach`; so much of it is lost."""
        self.lost, self.reach = lost, reach

    def moved(self) -> None:
        """Note that the point is another one, where rounding may take away more or less of the mean."""
        self.reach = 0.0 if self.lost else math.inf

    def meet(self, curvature: float) -> None:
        """Note the measured curvature of one coordinate."""
        self._met.append(curvature)
        if curvature > 0.0:
            self._flattest = min(self._flattest, curvature)
        self.size = median(map(abs, self._lately))
        if met := [h for h in self._lately if h > 0]:
            self.known, self.typical = True, median(met)
        self.varied = 1.0
        if len(last := [h for h in self._met[-constants.DRAWN :] if h > 0]) == constants.DRAWN:
            ratio = np.array(last) / median(last)
            self.varied = float(np.mean(np.minimum((ratio - 1.0) ** 2, 1.0)))

    @property
    def _lately(self) -> list[float]:
        return self._met[-constants.WINDOW :]

    @property
    def wanting(self) -> int:
        """How many are to be met still before they tell what others are like."""
        return max(constants.FEW - len(self._met), 0)

    @property
    def flattest(self) -> float:
        """The least of those met; the typical one while there is none."""
        return min(self._flattest, self.typical)

    @property
    def largest(self) -> float:
        """The largest of those met lately, of either sign."""
        return max((abs(curvature) for curvature in self._lately), default=0.0)

    @property
    def mixed(self) -> bool:
        """Whether some of those met have to go farther than others by more than an order of magnitude."""
        return bool(self.largest > 100.0**constants.DECADES * self.flattest > 0.0)

    @property
    def unmet(self) -> float:
        """The mean over all, if it is more than those met have: any other coordinate may hold all of it."""
        return abs(self.mean) if abs(self.mean) > self.largest else 0.0

    def expected(self, size: int) -> float:
        """Return that of one of so many coordinates, with its sign; 0 where none shows.

        Where f bends downwards, those met may be all that does.
        """
        if self._shown >= 0.0:
            return self._shown
        return min(self._shown + sum(map(abs, self._met)) / size, 0.0)

    def deviation(self, expected: float) -> float:
        """Return how far one may be from the expected; without limit while few have been met."""
        if self.wanting:
            return math.inf
        lately = np.array(self._lately)
        off = lately - np.add.reduce(lately) / len(lately)
        return max(math.sqrt(np.add.reduce(off * off) / len(lately)), math.sqrt(constants.ALIKE) * expected)

    def odd(self, curvature: float) -> bool:
        """Whether one is far above those met, so that a wrong slope may be behind it."""
        return not self.wanting and curvature * constants.CLEARLY > self.typical


class Differences:
    """Chooses ε and prices its error.

    Parameters
    ----------
    eps
        A fixed ε, when the user wants one.
    tol
        Share of the decrease so far that is not worth a query.
    unit
        What a value of one is in the user's f; 0 if that is not known.
    """

    def __init__(self, eps: float | None = None, tol: float | None = None, unit: float = 0.0) -> None:
        self._fixed = eps
        self.tol = tol or 0.0
        """Share of the decrease so far that is not worth a query."""
        self.values = Values(unit)
        """What a value of f is worth."""
        self.curvatures = Curvatures()
        """How f bends."""
        self.pairs: Pairs | None = None
        """Looks to both sides, where f is noisy and smooth."""
        self._centre: FloatArray | None = None
        self._ulp_x = 0.0
        self._bounds = (1.0, 1)  # squared errors in units of their bounds, summed, and their number

    def centre(self, x: FloatArray, value: float) -> None:
        """Note the point around which differences are taken from now on."""
        self.values.centre(value)
        self.curvatures.moved()
        if x is not self._centre:  # a point is never written to
            self._centre, self._ulp_x = x, ULP * largest(x)
        if math.isnan(self.curvatures.mean):
            # Nothing is known yet: as if f fell to zero over a distance of one (or of x itself).
            reach = 1.0 + mean_square(x)
            self.curvatures.assume(2.0 * self.values.magnitude / reach)

    def forget(self) -> None:
        """Forget what was learned of f where it was of another size."""
        self.pairs = None
        self.values.forget()
        self.curvatures = Curvatures()

    def look_to_both_sides(self, pairs: Pairs) -> None:
        """Look to both sides from now on."""
        self.pairs = pairs

    @property
    def fixed(self) -> bool:
        """Whether the user has chosen ε."""
        return self._fixed is not None

    @property
    def noise(self) -> float:
        """The standard deviation of f's noise, as far as it is known."""
        return self.values.noise

    @property
    def scale(self) -> float:
        """The largest |f| since the first look."""
        return self.values.scale

    @property
    def rounding(self) -> float:
        """The error of one difference of two values of f."""
        return self.values.rounding

    @property
    def negligible(self) -> float:
        """A decrease not worth a query: below the rounding of the largest f met, even where f is near 0.

        Or below the tolerance.
        """
        # The standard deviation of what repeated looks show of f at one point.
        deviation = self.noise / math.sqrt(self.pairs.repeats if self.pairs else 1)
        return max(constants.TRUST * self.values.exact, 2.0 * deviation, self.tol * self.values.fallen)

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

    def bend(self, curvature: float, length: float, error: float = 0.0) -> bool:
        """Note the curvature that a look has shown beside a slope; return whether it is no mere error."""
        if seen := 0.5 * abs(curvature) * length**2 > constants.TRUST * (self.rounding + length * error):
            self.curvatures.meet(curvature)
        return seen

    def least_curvature(self, slope: float) -> float:
        """Return the least curvature credible beside a slope: nothing promises more than |f| itself."""
        return slope * slope / (2.0 * self.scale)

    def newton(self, slope: float, curvature: float = math.nan) -> float:
        """Return the curvature to use for a Newton step along one coordinate of that slope."""
        if curvature > 0.0:
            return curvature
        return max(self.curvatures.typical, self.least_curvature(slope), TINY)

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
        ahead = self.forward(squares, about, squares if measured is None else measured, room)
        sharp = self.curvatures.known and ahead.fixed * max(squares, 1.0) <= constants.UNSEEN * abs(about)
        if self.pairs is None or sharp or room.both <= ahead.eps:
            return ahead
        return self.pairs.look(min(self.length(squares), room.both), about)

    def forward(self, squares: float, about: float, measured: float, room: Room) -> Look:
        """Return how to look along them by one query, whatever noise hides."""
        known = self.curvatures.mean * measured
        doubtful, lost, reach = self._doubtful(squares), self.curvatures.lost * squares, self.curvatures.reach
        ahead = self._ahead(doubtful + lost, about, known, room.ahead)
        if lost > 0.0 and reach > 0.0:
            within = self._ahead(doubtful, about, known, min(room.ahead, reach))
            ahead = within if within.fixed <= ahead.fixed else ahead
        return ahead

    def along(self, curvature: float, about: float, room: Room = EVERYWHERE, least: float = 0.0) -> Look:
        """Return how to look along known coordinates of that curvature, all of it taken as an error.

        What is not predicted of their derivative is `about` so large; ε is to be no less than `least`.
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

        What differs from one to another adds up like a random walk, and one may be as those that matter.
        """
        typical = max(self.curvatures.typical, self.curvatures.size)  # of either sign
        return 2.0 * self.curvatures.mean * squares / math.sqrt(max(squares, 4.0)) + typical

    def read(self, look: Look, change: Change, predicted: float = 0.0) -> tuple[float, float]:
        """Return the derivative that a look shows beyond what was predicted, and its error."""
        if self.pairs is not None and look.stencil is not Stencil.FORWARD:
            value, error = self.pairs.read(look, change, self.scale)
            self.values.hear(max(self.noise, self.pairs.noise), self.values.coarse)
            return value - predicted, error
        value = look.derivative(change) - predicted
        return value, look.error(value)

    def length(self, squares: float) -> float:
        """Return how far anonymous coordinates can go before they bend f by too much: by half of its size.

        Or until each bends it by the noise, which shows all that promises twice that: to four times its size.
        """
        mean = max(abs(self.curvatures.mean), TINY)
        half = math.sqrt(self.scale / (mean * squares + self.curvatures.typical))
        noise = 0.0 if self.pairs is not None and self.pairs.grows else self.noise
        return max(half, min(math.sqrt(2.0 * noise / mean), half * math.sqrt(2.0 / constants.CLEARLY)))

    def _ahead(self, doubtful: float, about: float, known: float, most: float, least: float = 0.0) -> Look:
        eps = min(max(self.size(doubtful, about), least), most)
        error = self.rounding / eps + 0.5 * eps * doubtful
        return Look(eps, Stencil.FORWARD, error, self._ulp_x / eps, bias=0.5 * eps * known)

    def size(self, curvature: float, about: float) -> float:
        """Return ε for one query along a set: its C is uncertain by `curvature`, its U `about` so large."""
        if self._fixed is not None:
            return self._fixed
        # A displacement is itself rounded to the precision of x.
        rounding = self.rounding + abs(about) * self._ulp_x
        return math.sqrt(2.0 * rounding / max(curvature, TINY))
