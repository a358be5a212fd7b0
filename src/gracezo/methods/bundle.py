"""A descent across kinks by a proximal bundle method, and by how much f can still fall at its end.

`updates/bundle.py` has the model and its references. What differs here: slopes are differences, a query a
coordinate. So a tangent is taken at every place that is tried, but for those where f is so far above the
model that they say only one thing: the model was trusted too far. A place of the model is a kink of it, as a
rule one of f, and differences across a kink are no slopes: so each place is asked a little aside. And
whether f is convex is not known. If it is, no tangent is above f anywhere; one that is gets a look behind its
place. If that agrees with it, f is not convex, and nothing is claimed.
"""

from __future__ import annotations

import math
from operator import itemgetter

import numpy as np

from gracezo.core.asks import Point, Steps
from gracezo.core.types import FloatArray, IntArray
from gracezo.methods.along import Along
from gracezo.methods.auto import constants
from gracezo.updates.bundle import Bundle


class _Trust:
    """How far the model is trusted: the t of its |d|²/2t (after Kiwiel).

    Parameters
    ----------
    t
        At first.
    patience
        Places in a row that do not lead down, after which it is trusted too far in any case.
    """

    def __init__(self, t: float, patience: int) -> None:
        self.t = t
        self._patience = patience
        self._fell = self._held = 0  # steps in a row that led down, and others

    def fell(self, share: float) -> None:
        """Note that f fell, by such a share of what the model had promised."""
        self.t *= 2.0 if self._fell and share >= 0.5 else 1.0
        self._fell, self._held = self._fell + 1, 0

    def held(self, share: float) -> None:
        """Note that f did not; the tangent from there is so far below it, as a share of the promise.

        The tangent that was missing is known now: that is progress, unless it is too far below to be of use.
        """
        self._fell, self._held = 0, self._held + 1
        self.t *= 0.5 if (share > 1.0 and self._held > 1) or self._held > self._patience else 1.0

    def cut(self) -> None:
        """Note that f is far above the model, or has no value."""
        self.t, self._fell = constants.CLEARLY * self.t, 0


class Bundled:
    """One descent along coordinates, from a little off the best point.

    Parameters
    ----------
    along
        The coordinates, and what was met along them.
    start
        Where the run began.
    rounding
        The error of a difference of f.
    rng
        Where directions aside are drawn from.
    """

    def __init__(self, along: Along, start: Point, rounding: float, rng: np.random.Generator) -> None:
        self._along = along
        self._start = start
        self._rounding = rounding
        self._rng = rng
        # As many as meet in a minimum, from each of its sides.
        memory = constants.PARTS * (len(along) + 1)
        self._blur = rounding / (along.near * along.way)  # of a slope
        self._bundle = Bundle(len(along), memory, rounding, constants.TRUST * self._blur)
        self.convex = True
        """Whether f is, as far as tangents have shown."""

    def descend(self) -> Steps[float]:
        """Go down as far as the model leads; return by how much f can fall from the lowest point.

        No coordinate going farther than one has come since the run began, and if f is as convex as it has
        shown itself. Infinite where nothing tells.
        """
        along = self._along
        here = yield from self._tangent(along.best, along.of(along.best), constants.SMALL * along.way)
        if here is None:
            return math.inf
        trust = _Trust(along.way / constants.PARTS / self._bundle.steepest, len(along))
        for _ in range(constants.DRAWN):
            here = yield from self._go_down(here, trust)
            if not len(self._bundle):
                break
            bound, rests = min(
                (self._bound(here, 10.0**k * self._least) for k in range(-1, 4)), key=itemgetter(0)
            )
            if not self.convex:
                break
            if (yield from self._shown(here, rests)):
                return bound
        return math.inf

    def _go_down(self, here: Point, trust: _Trust) -> Steps[Point]:
        """Go down until the model shows that nothing is left, or for long has not led to what matters."""
        along, in_vain, lowest = self._along, 0, self._along.best.value
        while len(self._bundle) and in_vain < len(along) + constants.DRAWN:
            if self._bound(here, self._least)[0] <= self._least:
                break
            planes = self._bundle.around(along.of(here), here.value)
            step, promise = planes.step(trust.t, *along.room(here, constants.PARTS * self._reach))
            length = float(np.linalg.norm(step))
            if not promise > 0.0 or length <= float(np.linalg.norm(along.nearest(here))):
                break
            highest = here.value + constants.PARTS * promise
            there = yield from self._tangent(here, along.of(here) + step, constants.SMALL * length, highest)
            if there is None:
                trust.cut()
                continue
            in_vain += 1
            if lowest - along.best.value > self._least:
                lowest, in_vain = along.best.value, 0
            fallen = here.value - there.value
            if fallen >= constants.UNSEEN * promise:
                trust.fell(fallen / promise)
                here = there
            else:
                trust.held(self._bundle.last_below(along.of(here), here.value) / promise)
        return here

    # ------------------------------------------------------------ what is left

    @property
    def _least(self) -> float:
        """A decrease that is left where it is."""
        return max(constants.NEGLIGIBLE * (self._start.value - self._along.best.value), self._rounding)

    @property
    def _reach(self) -> float:
        """How far a coordinate may have to go, as that which has come farthest tells."""
        return max(
            float(np.abs(self._along.of(self._along.best) - self._along.of(self._start)).max()),
            self._along.way,
        )

    def _bound(self, here: Point, left: float) -> tuple[float, IntArray]:
        """Return by how much f can fall below the best point, from tangents that are to show that `left` is.

        And which these are.
        """
        along, n, reach = self._along, len(self._along), self._reach
        planes = self._bundle.around(along.of(here), here.value)
        t = n * reach**2 / max(left, self._rounding)
        bound, rests = planes.bound(t, *along.room(here, reach))
        rounded = n * self._blur * reach  # what it makes of slopes, on that way
        return max(bound - (here.value - along.best.value), 0.0) + rounded, rests

    def _shown(self, here: Point, rests: IntArray) -> Steps[bool]:
        """Whether tangents that a bound rests on are right, and all there are around the place.

        If f is convex, the others hold it up against the slope of each; one that was taken far away may not.
        """
        along, tangents, kept = self._along, self._bundle.tangents(rests), len(self._bundle)
        for place, slopes in tangents:
            there = yield from along.at(here, place)
            if not (yield from self._stands(there, slopes)):
                self._bundle.drop(place)
        if len(self._bundle) < kept:
            return False
        length = max(
            constants.SMALL * along.way, float(np.linalg.norm(along.nearest(here))) / constants.UNSEEN
        )
        for _, slopes in tangents:
            steep = float(np.linalg.norm(slopes)) or 1.0
            there = yield from along.at(here, along.of(here) - length / steep * slopes)
            if (yield from self._refuted(there)):
                return False
        return True

    # ------------------------------------------------------------ tangents

    def _tangent(
        self, base: Point, places: FloatArray, aside: float, highest: float = math.inf
    ) -> Steps[Point | None]:
        """Take in f and its slopes a little beside these places; None where f is too high or has no value.

        Nor where slopes stay wrong: beside a cone f bends over less than a difference takes.
        """
        along = self._along
        for _ in range(constants.FEW):
            away = np.maximum(aside / math.sqrt(len(along)), along.nearest(base) / constants.UNSEEN)
            here = yield from along.at(base, places + away * self._rng.standard_normal(len(along)))
            if not here.value <= highest or here.value == math.inf:
                return None
            slopes = yield from along.slopes(here)
            if not np.isfinite(slopes).all():
                return None
            if not (self.convex and self._bundle.above(along.of(here), here.value, slopes)):
                break
            if (yield from self._stands(here, slopes)):
                self.convex = False
                break
        else:
            return None
        if self.convex:
            yield from self._refuted(here)
        self._bundle.add(along.of(here), here.value, slopes)
        return here

    def _refuted(self, here: Point) -> Steps[bool]:
        """Whether f is below a tangent here: drop those that are wrong; of another one f is not convex."""
        along, refuted = self._along, self._bundle.refuted(self._along.of(here), here.value)
        for place, slopes in refuted:
            there = yield from along.at(here, place)
            if (yield from self._stands(there, slopes)):
                self.convex = False
                break
            self._bundle.drop(place)
        return bool(refuted)

    def _stands(self, here: Point, slopes: FloatArray) -> Steps[bool]:
        """Whether slopes hold behind a place, too: no kink lies in the differences, then."""
        along = self._along
        behind = yield from along.at(here, along.of(here) - along.nearest(here))
        changes = slopes * (along.of(behind) - along.of(here))
        missed = abs(behind.value - here.value - float(changes.sum()))
        return missed <= constants.SMALL * float(np.abs(changes).sum()) + constants.TRUST * self._rounding
