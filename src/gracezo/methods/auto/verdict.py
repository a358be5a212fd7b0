"""Why a run has come to its end, and whether that may be called a success.

Where f is smooth, no slope left is reason enough. Among kinks it is not: a slope may be left that no step
makes use of, because the coordinate stands on a kink that was not located, or because something is wrong; and
where kinks couple coordinates, each of them leads uphill though several together may lead down. So a few
queries make sure before success is claimed. Where f is noisy, no slope seen is reason enough only if the
noise could not hide one that matters; and where it is coarse, lower values may lie beyond all that was seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gracezo.core.asks import Point, Steps
from gracezo.core.box import Box
from gracezo.core.result import Finish, Status
from gracezo.core.types import FloatArray, IntArray
from gracezo.methods.auto.constants import FORGONE, LOUD, SMALL
from gracezo.methods.auto.instrument.forward import Differences
from gracezo.methods.auto.search import Search
from gracezo.methods.auto.support import Support
from gracezo.methods.auto.ways.coupling import coupled, uphill

_CHECK = 0.25  # share of all queries that it may take to make sure
_ACROSS = "each coordinate leads uphill, but f has kinks across them"


@dataclass(frozen=True, eq=False)
class Verdict:
    """What is known of a run that has nothing left to ask.

    Attributes
    ----------
    support, search, differences
        What it has met and learned.
    forgone
        The slopes, of those met first, that were given up because no step along them brought anything.
    fallen
        The decrease so far.
    spent
        The queries so far.
    free, box
        The coordinates that can move, and how far.
    trust
        Standard errors beyond which a slope would have been seen.
    """

    support: Support
    search: Search
    differences: Differences
    forgone: FloatArray
    fallen: float
    spent: int
    free: IntArray
    box: Box | None
    trust: float

    def told(self, at: Point, kinks_across: bool, rng: np.random.Generator) -> Steps[Finish]:
        """Say why the run ends here, given whether kinks are known to couple coordinates."""
        if self.search.flat and not len(self.support):
            flat = "all probes left the objective unchanged, up to the scales of the coordinates"
            return Finish(Status.NOTHING_TO_FIND, f"nothing to find: {flat}")
        if (why := (yield from self._stuck(at, kinks_across, rng))) is not None:
            return Finish(Status.STUCK, why)
        what = "noise" if self.differences.noise else "rounding"
        return Finish(Status.CONVERGED, f"no decrease above the {what} of f is in sight")

    def _stuck(self, at: Point, kinks_across: bool, rng: np.random.Generator) -> Steps[str | None]:
        """Say why lower values may be near though none is in sight; None where that is not so."""
        exact = self.differences.noise == 0.0
        if self.differences.coarse:
            return "f is coarse, and no decrease above its steps is in sight"
        if self._hides():
            return f"the {'rounding' if exact else 'noise'} of f hides what may be left to be found"
        given_up = np.zeros(len(self.support))
        given_up[: len(self.forgone)] = self.forgone
        forgone = max(self.support.promise_of(given_up), self.support.held_back if exact else 0.0)
        if forgone > FORGONE * self.fallen and not (exact and (yield from self._stands(at, given_up))):
            share = f"{min(forgone / self.fallen, 1.0):.1g} of that so far" if self.fallen > 0.0 else "f"
            return f"slopes promise a decrease by {share}, but no step brings any: f may have kinks, or jump"
        if kinks_across:
            return f"{_ACROSS}, and the way along these leads no further: this may be the minimum, or not"
        if exact and (yield from self._crossed(at, rng)):
            return f"{_ACROSS}: several together may lead down"
        return None

    def _hides(self) -> bool:
        """Whether noise or rounding may hide a decrease that matters: above itself, or all of a small one."""
        noise, search = self.differences.noise, self.search
        if noise > LOUD * self.fallen or search.order is None:
            return noise > LOUD * self.fallen
        unseen = self.differences.promise(self.trust * search.error)
        if noise == 0.0:
            moved = self.fallen > 0.0 and len(self.support) < len(self.free)
            return moved and unseen > max(SMALL * self.fallen, self.differences.negligible)
        return max(self.search.promise, unseen) > max(noise, LOUD * self.fallen)

    def _stands(self, at: Point, given_up: FloatArray) -> Steps[bool]:
        """Return whether those that promise what steps do not bring stand on kinks that were not located."""
        support = self.support
        steepest = np.maximum(np.abs(support.slopes), np.abs(given_up))
        promises = steepest**2 / (2.0 * support.smooth)
        suspects = np.flatnonzero(promises * len(support) > FORGONE * self.fallen)
        if not 0 < 2 * len(suspects) <= _CHECK * self.spent:
            return False
        lengths, rounding = support.lengths()[suspects], self.differences.rounding
        return (yield from uphill(at, support.indices[suspects], lengths, rounding, self.box))

    def _crossed(self, at: Point, rng: np.random.Generator) -> Steps[bool]:
        """Return whether f has kinks here that couple coordinates, as far as differences can show it."""
        support = self.support
        outside = np.setdiff1d(np.array(self.search.kinks, np.int64), support.indices)
        if not (support.kinks.any or len(outside) or self.forgone.any()):
            return False
        # Those that have no slope here may have one beside it: all of them take part.
        lengths = np.zeros(int(self.free[-1]) + 1)
        lengths[self.free] = self.differences.single(1.0, 0.0)
        lengths[support.indices] = support.lengths()
        return (yield from coupled(at, self.free, lengths[self.free], self.differences.rounding, rng))
