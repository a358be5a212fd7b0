"""Memory: the coordinates met so far, what is known of them at the present point, and their kinks.

The slopes are predicted from point to point, and measured again as far as that pays (`refresh.py`).

**Kinks** in single coordinates: found where slopes jump, and then treated as walls.

A quasi-Newton model cannot hold a slope that jumps: each step crosses the kink, and what the slope on either
side promises is not there. So a kink is suspected where a coordinate has shown slopes of both signs, farther
apart than its curvature explains, and where a step was cut short before one that had promised much. The
suspicion is priced as everything else: by what it promises, by how often there was something behind it, and
by what a query brings elsewhere. `Corner` then looks for the kink.

From then on steps end at it. A coordinate that stands there, uphill on both sides, is *fixed*: it takes no
part in steps, as if at a wall. The smooth rest of f adds the same to both of its slopes, so that one of them
is refreshed, and the other follows by the jump. When either leads downhill, it is let go.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from gracezo.core.asks import Point, Steps
from gracezo.core.precision import TINY
from gracezo.core.types import BoolArray, FloatArray, IntArray
from gracezo.core.walls import Walls
from gracezo.methods.auto import constants
from gracezo.methods.auto.belief import counted
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.corner import Corner

N = TypeVar("N", np.int64, np.float64)


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
        self._blind: FloatArray = np.zeros(0)  # how far it has gone by a guessed curvature,
        self._before: FloatArray = np.zeros(0)  # and its slope before that
        self.kinks = Kinks()

    def __len__(self) -> int:
        return len(self.indices)

    def add(self, coordinate: int, slope: float, curvature: float) -> None:
        """Take in a coordinate; its slope is measured again before long, so its error does not matter."""
        self.indices = _longer(self.indices, coordinate)
        self.slopes = _longer(self.slopes, slope)
        self.curvatures = _longer(self.curvatures, curvature)
        self._stiff = _longer(self._stiff, 0.0)
        self._blind, self._before = _longer(self._blind, 0.0), _longer(self._before, 0.0)

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
        typical = differences.curvatures.typical
        if not differences.curvatures.known and positive.any():  # those met were forgotten with the size of f
            typical = max(typical, float(np.median(curvatures[positive])))
        least = np.maximum(self.slopes**2 / (2.0 * differences.scale), max(typical, TINY))
        return np.where(positive, curvatures, least)

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

    def correct(self, members: IntArray, misses: FloatArray, seen: bool = True) -> None:
        """Add to slopes what their prediction has missed; `seen` if that is no share of a larger sum.

        Of one that went by a guessed curvature, its slope now tells the true one.
        """
        self.slopes[members] += misses
        if not seen:
            return
        if len(members) == 1 and (gone := self._blind[members[0]]):
            j, curvatures = members[0], self._differences.curvatures
            curvature = float(self.slopes[j] - self._before[j]) / float(gone)
            if curvature > 0.0 and not curvatures.odd(curvature):  # across a kink it would be without measure
                self.curvatures[j] = curvature
        self._blind[members] = 0.0

    def flatten(self, member: int, curvature: float) -> None:
        """Take a lesser curvature, where f is of another size."""
        self.curvatures[member] = curvature

    def bent(self, member: int, curvature: float) -> None:
        """Take in a curvature that a look has shown."""
        self.curvatures[member] = curvature
        self._differences.curvatures.meet(curvature)

    def predict(self, slopes: FloatArray, ways: FloatArray) -> None:
        """Take what a model says of the slopes after a step, until they are measured."""
        unknown = np.isnan(self.curvatures)
        if np.count_nonzero(unknown):
            np.copyto(self._before, self.slopes, where=unknown & (self._blind == 0.0))
            self._blind += np.where(unknown, ways, 0.0)
        self.slopes = slopes

    @property
    def hidden(self) -> FloatArray:
        """The decrease that each slope may hide, where it went by a guessed curvature."""
        return 0.5 * self._differences.curvatures.varied * self.smooth * self._blind**2

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
        self.predict(self.slopes + self.smooth * ways, ways)

    def give_up(self) -> FloatArray:
        """Give all slopes up, because no step along them brings anything; return them."""
        given_up, self.slopes = self.slopes, np.zeros(len(self))
        return given_up


def _longer(array: npt.NDArray[N], value: float) -> npt.NDArray[N]:
    """Return an array with one more number at its end."""
    longer = np.empty(len(array) + 1, array.dtype)
    longer[:-1], longer[-1] = array, value
    return longer


# ---------------------------------------------------------------- kinks


class Suspect(NamedTuple):
    """A member of the support that may have a kink on its way down.

    Attributes
    ----------
    member
        Which one.
    far
        A place before which the kink may lie.
    depth
        How deep below it may lie: half of what the slope promises.
    """

    member: int
    far: float
    depth: float


# "seen" is where the slope was last negative, and that slope; the same where it was positive.
_COLUMNS = np.dtype(
    [
        ("seen", np.float64, 4),
        ("place", np.float64),
        ("jump", np.float64),
        ("ahead", np.float64),  # where a kink may lie before; NaN where nothing says so
        ("side", np.float64),
        ("blur", np.float64),  # how far from its place the kink may be
        ("located", np.bool_),
        ("fixed", np.bool_),
    ],
    align=True,
)
_UNMET = np.array([((math.nan,) * 4, math.nan, 0.0, math.nan, 0.0, 0.0, False, False)], _COLUMNS)


class Kinks:
    """What is known of kinks, coordinate by coordinate of a support that may grow.

    Slopes are those of the support: they are taken, and returned as kinks change them.
    """

    def __init__(self) -> None:
        self._record = (1.0, 1.0)  # searches that brought something, and all
        self._hold(np.zeros(0, _COLUMNS))

    def _hold(self, table: npt.NDArray[np.void]) -> None:
        """Keep all that is known, a row a coordinate: what follows are its columns."""
        self._table = table
        self._seen: FloatArray = table["seen"]
        self.places: FloatArray = table["place"]
        """Where the kink is; NaN where none is known."""
        self._jumps: FloatArray = table["jump"]
        self.located: BoolArray = table["located"]
        """Which kinks were located since slopes were measured."""
        self._ahead: FloatArray = table["ahead"]
        self.sides: FloatArray = table["side"]
        """Of those that stand on a kink: the side that their slope is of. Zero for the others."""
        self._blurs: FloatArray = table["blur"]
        self.fixed: BoolArray = table["fixed"]
        """Which coordinates stand on a kink, uphill on both sides."""

    @property
    def any(self) -> bool:
        """Whether any kink is known."""
        return not np.logical_and.reduce(np.isnan(self.places))

    @property
    def reach(self) -> FloatArray:
        """How far each coordinate has to go to show the slope of one side: beyond the kink it stands on."""
        return np.where(self.sides != 0.0, self._blurs, 0.0)

    @property
    def rate(self) -> float:
        """How often the search behind a suspicion brought a kink, or at least a decrease."""
        return self._record[0] / self._record[1]

    def grow(self, n: int) -> None:
        """Make room for a support of n coordinates."""
        more = n - len(self.places)
        if more > 0:
            self._hold(np.concatenate([self._table, np.repeat(_UNMET, more)]))

    # ------------------------------------------------------------ slopes at a kink

    def update(self, x: FloatArray, slopes: FloatArray) -> FloatArray:
        """Take slopes measured at x: pin what stands on a kink, or let it go, and note the others."""
        slopes = slopes.copy()
        for j in np.flatnonzero(self.sides).tolist():
            slopes[j] = self._stand(j, float(slopes[j] + self._jumps[j] * (self.sides[j] < 0.0)))
        elsewhere = self.sides == 0.0
        for column, signed in ((0, slopes < 0.0), (2, slopes > 0.0)):
            seen = signed & elsewhere
            np.copyto(self._seen[:, column], x, where=seen)
            np.copyto(self._seen[:, column + 1], slopes, where=seen)
        self.located[:] = False
        return slopes

    def moved(self, x: FloatArray, slopes: FloatArray) -> FloatArray:
        """Note where the coordinates are, and predict the slopes of those that have come to their kink."""
        self.grow(len(x))
        slopes, away = slopes.copy(), x != self.places
        self.sides[away] = 0.0
        self.fixed[away] = False
        for j in np.flatnonzero(~away & (self.sides == 0.0)).tolist():
            # It came downhill: a negative slope was that on the left.
            slopes[j] = self._stand(j, float(slopes[j] + self._jumps[j] * (slopes[j] < 0.0)))
        return slopes

    def _stand(self, j: int, right: float) -> float:
        """Decide what becomes of a coordinate on its kink, given its slope to the right; return its slope."""
        left = right - self._jumps[j]
        self.fixed[j] = left < 0.0 < right
        if self.fixed[j]:
            # Each side in its turn, so that a jump that has changed does not stay hidden.
            self.sides[j] = -1.0 if self.sides[j] > 0.0 else 1.0
        else:
            self.sides[j] = 1.0 if right <= 0.0 else -1.0
        return float(right if self.sides[j] > 0.0 else left)

    # ------------------------------------------------------------ finding kinks

    def blame(self, culprits: IntArray, places: FloatArray) -> None:
        """Suspect a kink before these places: a step there did not bring what these coordinates promised."""
        self._ahead[:] = math.nan
        self._ahead[culprits] = places

    def suspects(
        self, x: FloatArray, slopes: FloatArray, curvatures: FloatArray, most: float
    ) -> list[Suspect]:
        """Return the members that may have a kink on their way down, the largest depth first.

        None is looked for farther than a decrease of `most` would take it.
        """
        low, down, high, up = self._seen.T
        if not (np.count_nonzero(high > low) or np.count_nonzero(self._ahead == self._ahead)):
            return []  # the usual case: nothing was seen of both signs, and no step was cut short
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            jumped = (up - down > constants.LIKELY * curvatures * (high - low)) & (high > low)
            # The present place is one of the two, or it says nothing.
            jumped &= np.where(slopes < 0.0, low, high) == x
            blamed = ((self._ahead - x) * slopes < 0.0) & (self._ahead != self.places)
            (chosen,) = ((jumped | blamed) & ~self.fixed).nonzero()
            if len(chosen) == 0:
                return []
            far = np.where(jumped, np.where(slopes < 0.0, high, low), np.where(blamed, self._ahead, x))
            reach = most / np.abs(slopes)
            far = np.where(jumped, far, np.clip(far, x - reach, x + reach))
            beyond = np.where(jumped, np.where(slopes < 0.0, up, down), math.nan)
        depths = 0.5 * np.fmin(np.abs(slopes), np.abs(beyond)) * np.abs(far - x)
        ranked = chosen[np.argsort(-depths[chosen], kind="stable")]
        return [Suspect(j, float(far[j]), float(depths[j])) for j in ranked.tolist()]

    def locate(
        self, at: Point, coordinate: int, suspect: Suspect, slope: float, start: float, rounding: float
    ) -> Steps[tuple[Point, float]]:
        """Look for the kink of one suspect, given its slope; return the best point met, and the slope there.

        Where the run began is tried first: that is where penalties on a change have their kinks.
        """
        j = suspect.member
        self._seen[j] = self._ahead[j] = math.nan
        corner = Corner(at, coordinate, slope, suspect.far, rounding=rounding)
        found = yield from corner.find(start)
        if math.isfinite(corner.slope):  # beside it an evaluation may have failed
            slope = corner.slope
        success = found is not None or corner.best is not at
        self._record = counted(self._record, success, constants.FORGET)
        if found is not None:
            left, right = found
            self.places[j], self._jumps[j] = corner.best.x[coordinate], right - left
            self.sides[j], self.located[j], self._blurs[j] = 0.0, True, corner.blur
            slope = self._stand(j, right)
        return corner.best, slope
