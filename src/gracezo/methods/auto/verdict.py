"""Why a run has come to its end, and whether that may be called a success.

Where f is smooth, no slope left is reason enough. Among kinks it is not: a slope may be left that no step
makes use of, because the coordinate stands on a kink that was not located, or because something is wrong; and
where kinks couple coordinates, each of them leads uphill though several together may lead down. So a few
queries make sure before success is claimed. Where f is noisy, no slope seen is reason enough only if the
noise could not hide one that matters; and where it is coarse, lower values may lie beyond all that was seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gracezo.core.asks import Point, Role, Steps
from gracezo.core.box import Box
from gracezo.core.precision import SHOWN
from gracezo.core.rest import Rest, written
from gracezo.core.result import Finish, Status
from gracezo.core.types import FloatArray, IntArray
from gracezo.methods.auto import constants
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.search import Search
from gracezo.methods.auto.support.coordinates import Support
from gracezo.methods.kinks import coupled, uphill

MIXED = "coordinates differ by orders of magnitude, rounding hides the flat ones: scale= helps; or f jumps"
_ACROSS = "each coordinate leads uphill, but f has kinks across them"


@dataclass(frozen=True, eq=False)
class Verdict:
    """What is known of a run that has nothing left to ask.

    Attributes
    ----------
    support, search, differences
        What it has met and learned.
    given_up
        The slopes, of those met first, that were given up because no step along them brought anything.
    fallen
        The decrease so far.
    spent
        The queries so far.
    free, box
        The coordinates that can move, and how far.
    sized
        Whether sizes are no question: told, shown by bounds, or the coordinates outside of the support leave
        f as it is, far away and near.
    hidden
        Whether these may matter all the same: sums over them show slopes, or their sizes differ.
    """

    support: Support
    search: Search
    differences: Differences
    given_up: FloatArray
    fallen: float
    spent: int
    free: IntArray | Rest
    box: Box | None
    sized: bool
    hidden: bool = False

    def told(self, at: Point, kinks_across: bool, bound: float, rng: np.random.Generator) -> Steps[Finish]:
        """Say why the run ends here, given whether kinks are known to couple coordinates.

        And by how much f can fall along those, if slopes on all sides of the kinks tell.
        """
        if self.search.flat and not len(self.support):
            flat = "all probes left the objective unchanged, up to the scales of the coordinates"
            return Finish(Status.NOTHING_TO_FIND, f"nothing to find: {flat}")
        if bound < math.inf and not (self._mixed() or self._hides()):
            share = max(bound / self.fallen, constants.NEGLIGIBLE) if self.fallen > bound else 1.0
            left = f"{share:.1g} of the decrease so far" if share < 1.0 else "its rounding error"
            shown = f"{left}: slopes around its kinks show that"
            return Finish(Status.CONVERGED, f"f does not fall any further from here by more than {shown}")
        if (why := (yield from self._stuck(at, kinks_across, rng))) is not None:
            return Finish(Status.STUCK, why)
        return Finish(
            Status.CONVERGED, f"f does not fall any further from here by more than {self._left(at)}"
        )

    def _left(self, at: Point) -> str:
        """Say what was not looked for: a share of the decrease, or what is below an error of f.

        Where little of f is left, its error was not looked at anew, so that it is that of the f before.
        """
        differences, share = self.differences, self.differences.tol
        rounded = differences.noise == 0.0 or differences.values.coarse
        if rounded and abs(at.value) <= constants.SMALL * differences.scale:
            share = max(share, SHOWN)
        kinked = rounded and (self.support.kinks.any or bool(self.search.kinks))
        if kinked:
            share = max(share, constants.NEGLIGIBLE)
        if share * self.fallen > differences.rounding:
            finely = ", as finely as its kinks were located" * kinked
            return f"{share:.1g} of the decrease so far{finely}"
        return "its rounding error" if rounded else "its noise"

    def _stuck(self, at: Point, kinks_across: bool, rng: np.random.Generator) -> Steps[str | None]:
        """Say why lower values may be near though none is in sight; None where that is not so."""
        exact = self.differences.noise == 0.0
        # Steps that are nothing beside the decrease hide no more than rounding does.
        step = self.differences.noise > constants.PRECISE * constants.SMALL * self.fallen
        if self.differences.values.coarse and step:
            return "f is coarse (few digits, or counts), and falls no further by more than one of its steps"
        mixed = exact and self._mixed()
        if mixed or self._hides():
            return (yield from self._hidden(at, mixed, rng))
        dropped = np.zeros(len(self.support))
        dropped[: len(self.given_up)] = self.given_up
        promised = max(self.support.promise_of(dropped), self.support.held_back if exact else 0.0)
        if promised > constants.NEGLIGIBLE * self.fallen and not (
            exact and (yield from self._stands(at, dropped))
        ):
            share = f"{promised / self.fallen:.1g} of that so far" if promised < self.fallen else "much"
            return f"slopes promise a decrease by {share}, but no step brings any: f may have kinks, or jump"
        if kinks_across:
            return f"{_ACROSS}, and the way along these leads no further: this may be the minimum, or not"
        if (exact or self.differences.values.coarse) and (yield from self._crossed(at, rng)):
            return f"{_ACROSS}: several together may lead down"
        return None

    def _hidden(self, at: Point, mixed: bool, rng: np.random.Generator) -> Steps[str]:
        """Say what hides a decrease. Where f is small beside what it was, its rounding may be far larger."""
        differences, coarse = self.differences, self.differences.values.coarse
        if coarse and (yield from self._crossed(at, rng)):
            return f"{_ACROSS}: several together may lead down"
        if mixed:
            return MIXED
        # Of a smooth f rounding hides no slope that is worth a thousand million times as much.
        sharp = differences.rounding < constants.SMALL * constants.NEGLIGIBLE * self.fallen
        hider = "the rounding error" if coarse or not differences.noise else "the noise"
        if sharp and not differences.noise and abs(at.value) > constants.SMALL * differences.scale:
            hider = "a jump or a sharp bend"
        return f"{hider} of f hides what may be left to be found"

    def _hides(self) -> bool:
        """Whether noise or rounding may hide a decrease that matters: above itself, or all of a small one."""
        noise, partition = self.differences.noise, self.search.partition
        if self.hidden and noise:
            return True
        error = max(noise, self.differences.values.rounding_error)
        if error > constants.LITTLE * self.fallen or partition is None:
            return error > constants.LITTLE * self.fallen
        unseen = self.differences.promise(constants.TRUST * partition.error)
        if noise == 0.0:
            moved = self.fallen > 0.0 and len(self.support) < len(self.free)
            return moved and unseen > max(constants.PRECISE**2 * self.fallen, self.differences.negligible)
        return max(self.search.promise, unseen) > max(noise, constants.SMALL * self.fallen)

    def _mixed(self) -> bool:
        """Whether coordinates are of such different sizes that steep ones may hide the slopes of flat ones.

        The flattest one met says how much farther than the steepest one a coordinate may have to go; others
        may be flatter still. What a slope that cannot be seen would bring on such a way is not to matter.
        """
        curvatures, partition = self.differences.curvatures, self.search.partition
        if self.hidden:
            return True
        if self.sized or partition is None or not curvatures.flattest > 0.0:
            return False
        farther = math.sqrt(curvatures.largest / curvatures.flattest)
        hidden = farther * constants.TRUST * partition.error
        return curvatures.mixed and hidden > constants.SMALL * self.fallen

    def _stands(self, at: Point, dropped: FloatArray) -> Steps[bool]:
        """Return whether those that promise what steps do not bring stand on kinks that were not located."""
        support = self.support
        steepest = np.maximum(np.abs(support.slopes), np.abs(dropped))
        promises = steepest**2 / (2.0 * support.smooth)
        suspects = np.flatnonzero(promises * len(support) > constants.NEGLIGIBLE * self.fallen)
        if not 0 < 2 * len(suspects) <= constants.CLEARLY * self.spent:
            return False
        lengths, rounding = support.lengths()[suspects], self.differences.rounding
        most = max(constants.SMALL * self.fallen, rounding / constants.PRECISE)
        return (yield from uphill(at, support.indices[suspects], lengths, rounding, self.box, most))

    def _crossed(self, at: Point, rng: np.random.Generator) -> Steps[bool]:
        """Return whether f has kinks here that couple coordinates, as far as differences can show it.

        Where f is rounded to steps, none were looked for before: they are now, so far away that what one
        coordinate changes f by stands out from the steps.
        """
        support, coarse = self.support, self.differences.values.coarse
        outside = np.setdiff1d(np.array(sorted(self.search.kinks.all), np.int64), support.indices)
        if not (coarse or support.kinks.any or len(outside) or self.given_up.any()):
            return False
        # Those that have no slope here may have one beside it: all of them take part, but beside steps.
        free = support.indices if coarse else written(self.free)
        if not len(free):
            return False
        lengths = np.zeros(int(free.max()) + 1)
        lengths[free] = self.differences.single(1.0, 0.0)
        lengths[support.indices] = support.lengths()
        lengths[free] *= constants.TRUST if coarse else 1.0
        return (yield from coupled(at, free, lengths[free], self.differences.rounding, rng, role=Role.PROBE))
